//! `iree/tensor` with `along`: the figures at each index of an axis are NumPy's.
//! `iree/tensorHistory`: those of a tensor at each execution of its dispatch, after which the
//! program stands where it stood.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{nans, perceptron};

/// Writes tensors of several types, and prints what NumPy makes of each of their axes.
const ORACLE: &str = r"
import json, sys, numpy as np
folder = sys.argv[1]
random = np.random.default_rng(11)
f32 = random.normal(2.0, 3.0, (3, 40, 50)).astype(np.float32)
f32[1, 7, 9], f32[2, 0, 0], f32[2, 39, 49], f32[1, 7, 10] = np.nan, np.inf, -np.inf, np.nan
f32[0, 5] = np.nan
f16 = (60000 + random.normal(0, 2000, (30, 20))).astype(np.float16)
i8 = random.integers(-128, 128, (5, 7, 9)).astype(np.int8)
truth = random.integers(0, 2, (16, 11)).astype(np.bool_)
i64 = random.integers(-2**62, 2**62, (4, 6))
tensors = {'f32': f32, 'f16': f16, 'i8': i8, 'truth': truth, 'i64': i64}
answers = {}
for name, tensor in tensors.items():
    np.save(f'{folder}/{name}.npy', tensor)
    answers[name] = []
    for axis in range(tensor.ndim):
        rows = []
        for part in np.moveaxis(tensor, axis, 0):
            wide = part.astype(np.float64).ravel()
            finite = wide[np.isfinite(wide)]
            has = finite.size > 0
            exact = tensor.dtype == np.int64
            end = lambda of: (str(of(part)) if exact else float(of(finite))) if has else None
            rows.append({
                'count': part.size, 'nans': int(np.isnan(wide).sum()),
                'positiveInfinities': int((wide == np.inf).sum()),
                'negativeInfinities': int((wide == -np.inf).sum()),
                'minimum': end(np.min), 'maximum': end(np.max),
                'mean': finite.mean() if has else None, 'deviation': finite.std() if has else None,
            })
        answers[name].append(rows)
print(json.dumps(answers))
";

fn oracle(folder: &Path) -> Value {
    let output =
        Command::new("python").args(["-c", ORACLE]).arg(folder).output().expect("python of .venv");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn assert_same(told: &Value, known: &Value, what: &str) {
    for name in ["count", "nans", "positiveInfinities", "negativeInfinities"] {
        assert_eq!(told[name], known[name], "{name} of {what}");
    }
    for name in ["minimum", "maximum"] {
        let is_same = told[name] == known[name] || told[name].as_f64() == known[name].as_f64();
        assert!(is_same, "{name} of {what}: {} {}", told[name], known[name]);
    }
    let scale = known["deviation"].as_f64().unwrap_or(0.0);
    for name in ["mean", "deviation"] {
        let [Some(told), Some(known)] = [told[name].as_f64(), known[name].as_f64()] else {
            assert_eq!(told[name], known[name], "{name} of {what}");
            continue;
        };
        let far = (told - known).abs();
        assert!(far <= 1e-12 * scale.max(known.abs()), "{name} of {what}: {told} {known}");
    }
}

#[test]
fn figures_along_each_axis_are_those_of_numpy() {
    let folder = tempfile::tempdir().unwrap();
    let known = oracle(folder.path());
    let mut client = launched(&perceptron(), false);
    for (name, axes) in known.as_object().unwrap() {
        for (axis, rows) in axes.as_array().unwrap().iter().enumerate() {
            let rows = rows.as_array().unwrap();
            let file = folder.path().join(format!("{name}.npy"));
            let mut asked = json!({"file": file, "along": {"axis": axis}});
            let along = client.request("iree/tensor", &asked)["along"].clone();
            assert_eq!([&along["from"], &along["length"]], [&json!(0), &json!(rows.len())]);
            let told = along["rows"].as_array().unwrap();
            assert_eq!(told.len(), rows.len(), "{name} {axis}");
            for (index, (told, known)) in told.iter().zip(rows).enumerate() {
                assert_same(told, known, &format!("{name}, index {index} of axis {axis}"));
            }
            // From some index on.
            asked["along"]["from"] = json!(rows.len() - 1);
            let last = client.request("iree/tensor", &asked)["along"]["rows"].clone();
            assert_eq!(last, json!([told.last()]));
            asked["along"]["from"] = json!(usize::MAX);
            assert_eq!(client.request("iree/tensor", &asked)["along"]["rows"], json!([]));
        }
    }
    let none = json!({"file": folder.path().join("i8.npy"), "along": {"axis": 3}});
    let error = client.fails("iree/tensor", &none);
    assert!(error.contains("there is no axis 3: the tensor has 3"), "{error}");
    // Of the difference from itself, all is 0.
    let file = folder.path().join("i8.npy");
    let pair = json!({
        "file": file, "with": {"file": file}, "measure": "difference", "along": {"axis": 1},
    });
    let rows = client.request("iree/tensor", &pair)["along"]["rows"].clone();
    assert_eq!(rows.as_array().unwrap().len(), 7);
    assert!(rows.as_array().unwrap().iter().all(|it| it["maximum"] == 0.0), "{rows}");
    client.disconnect_from_stop();
}

#[test]
fn elements_are_told_as_their_bits() {
    let folder = tempfile::tempdir().unwrap();
    oracle(folder.path());
    let mut client = launched(&perceptron(), false);
    let mut bits = |name: &str, slice: &str| {
        let file = folder.path().join(format!("{name}.npy"));
        let asked = json!({"file": file, "slice": slice, "texts": true, "bits": true});
        client.request("iree/tensor", &asked)["texts"].clone()
    };
    assert_eq!(bits("f32", "[2, 0, 0]"), json!(["0x7f800000"]));
    assert_eq!(bits("f32", "[2, 39, 49]"), json!(["0xff800000"]));
    for (name, width) in [("f16", 4), ("i8", 2), ("truth", 2), ("i64", 16)] {
        let text = bits(name, if name == "i8" { "[0, 0, 0]" } else { "[0, 0]" })[0].clone();
        assert_eq!(text.as_str().unwrap().len(), 2 + width, "{name} {text}");
    }
    client.disconnect_from_stop();
}

fn launched(arguments: &Value, is_recorded: bool) -> Client {
    let mut arguments = arguments.clone();
    arguments["record"] = is_recorded.into();
    arguments["stopOnEntry"] = true.into();
    let mut client = Client::new();
    client.launch(&arguments);
    client.request("configurationDone", &json!({}));
    if is_recorded {
        client.event("capabilities");
    }
    client.event("stopped");
    client
}

/// All executions, a part at a time.
fn history(client: &mut Client, expression: &str, frame: &Value) -> (Value, Vec<Value>) {
    let mut all = Vec::new();
    loop {
        let asked = json!({"expression": expression, "frameId": frame, "from": all.len()});
        let part = client.request("iree/tensorHistory", &asked);
        let executions = part["executions"].as_array().unwrap().clone();
        all.extend(executions.iter().cloned());
        let is_all = all.len() as u64 == part["total"].as_u64().unwrap();
        if executions.is_empty() || is_all {
            return (part, all);
        }
    }
}

/// What the loop of the model makes of 0.3, turn by turn: all elements are alike.
fn turns() -> Vec<f64> {
    let mut carried: f64 = 0.3;
    let turn = |_| {
        let product = 16.0 * 0.3 * carried;
        carried = product / (product - 1.0) + (product - 1.0).sqrt();
        carried
    };
    (0..3).map(turn).collect()
}

/// A stop in the last turn of the loop, before the dispatch that leaves `%s`.
fn in_last_turn(is_machine_code: bool, is_recorded: bool) -> Client {
    let mut client = launched(&nans(is_machine_code), is_recorded);
    let names = json!({"breakpoints": [{"name": "dispatch:*matmul*"}]});
    client.request("setFunctionBreakpoints", &names);
    for _ in 0..3 {
        client.request("continue", &json!({"threadId": 1}));
        assert_eq!(client.event("stopped")["reason"], "function breakpoint");
    }
    client
}

#[track_caller]
fn assert_near(told: &Value, known: f64) {
    let told = told.as_f64().unwrap();
    assert!((told - known).abs() < known.abs() * 1e-5, "{told} {known}");
}

#[test]
fn each_execution_of_a_recorded_program_is_known_and_it_stands_where_it_stood() {
    for is_machine_code in [false, true] {
        let mut client = in_last_turn(is_machine_code, true);
        let (place, frame) = (client.top(), client.top_frame());
        let asked = json!({"expression": "%s", "frameId": frame});
        let counted = client.request("iree/tensorHistory", &asked);
        assert_eq!([&counted["total"], &counted["executions"]], [&json!(2), &json!([])]);
        let (answer, all) = history(&mut client, "%s", &frame);
        assert_eq!([&answer["isLeft"], &answer["isRecorded"]], [true, true]);
        assert_eq!(all.len(), 2, "{answer}");
        for (it, known) in all.iter().zip(turns()) {
            for name in ["mean", "minimum", "maximum"] {
                assert_near(&it["figures"][name], known);
            }
            assert_eq!([&it["figures"]["count"], &it["figures"]["nans"]], [256, 0]);
        }
        // What is shown is as it was, and so is what comes.
        assert_eq!((client.top(), client.top_frame()), (place.clone(), frame.clone()));
        let value =
            client.request("evaluate", &json!({"expression": "%x[0, 0]", "frameId": frame}));
        assert!(value["result"].as_str().unwrap().contains("0.3"), "{value}");

        // To before the first of them, where there is none yet; and on to the same stops.
        client.request("iree/goTo", &json!({"command": all[0]["command"]}));
        client.event("continued");
        client.event("stopped");
        let asked = json!({"expression": "%s", "frameId": client.top_frame()});
        let error = client.fails("iree/tensorHistory", &asked);
        assert!(error.contains("no dispatch that leaves or reads %s has run yet"), "{error}");
        for _ in 0..2 {
            client.request("continue", &json!({"threadId": 1}));
            client.event("stopped");
        }
        assert_eq!(client.top(), place);
        let here = client.top_frame();
        let (_, again) = history(&mut client, "%s", &here);
        assert_eq!(again, all);

        // An argument is what the first dispatch reads.
        let frame = client.top_frame();
        let (answer, reads) = history(&mut client, "%x", &frame);
        assert_eq!(answer["isLeft"], false);
        assert!(!reads.is_empty());
        assert_near(&reads[0]["figures"]["mean"], 0.3);
        for (text, part) in [
            ("1 + 1", "1 + 1 is not a tensor"),
            ("%none", "nothing is called"),
            ("%n", "%n is not a tensor"),
        ] {
            let asked = json!({"expression": text, "frameId": frame, "from": 0});
            let error = client.fails("iree/tensorHistory", &asked);
            assert!(error.contains(part), "{text}: {error}");
        }
        client.disconnect_from_stop();
    }
}

#[test]
fn without_a_recording_what_is_gone_says_so() {
    let mut client = in_last_turn(false, false);
    let frame = client.top_frame();
    let (answer, all) = history(&mut client, "%s", &frame);
    assert_eq!([&answer["total"], &answer["isRecorded"]], [&json!(2), &json!(false)]);
    let known = all.iter().zip(turns()).filter(|(it, known)| match it["lost"].as_str() {
        Some(why) => {
            assert!(why.ends_with("; the program is not recorded"), "{why}");
            false
        }
        None => {
            assert_near(&it["figures"]["mean"], *known);
            true
        }
    });
    let numbers: Vec<u64> = known.map(|(it, _)| it["command"].as_u64().unwrap()).collect();
    assert!(!numbers.is_empty(), "the last is still carried by the loop: {all:?}");
    client.disconnect_from_stop();
}

//! `iree/tensor` of two tensors: NumPy computes the same differences. And tensors as they were at
//! earlier stops.

use std::path::Path;
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{chain, machine_layers, module, scaled, source_of};
use crate::tensor::looking;

/// Writes the tensors and what they are compared with, and prints what NumPy says of each pair.
const ORACLE: &str = r#"
import json, sys, numpy as np
folder = sys.argv[1]
random = np.random.default_rng(5)
a = random.normal(2.0, 3.0, (3, 50, 70)).astype(np.float32)
a2 = (a * (1 + random.normal(0, 1e-6, a.shape))).astype(np.float32)
a[1, 7, 9] = a2[1, 7, 9] = np.nan
a[1, 7, 10], a2[0, 0, 0] = np.nan, 0
a[2, 3, 4] = a2[2, 3, 4] = np.inf
a2[2, 3, 5] = -np.inf
b = random.integers(-2**62, 2**62, (4, 6))
b2 = b + random.integers(-2, 3, b.shape)
b2[3, 3] = -b[3, 3]
c = (1000 + random.normal(0, 0.5, 901)).astype(np.float16)
c2 = c + (random.random(901) < 0.1).astype(np.float16)
for name in ['a', 'a2', 'b', 'b2', 'c', 'c2']:
    np.save(f'{folder}/{name}.npy', globals()[name])
np.save(f'{folder}/d.npy', np.float32(0.1).reshape(()))

def ordered(t):
    kind = {2: np.int16, 4: np.int32}[t.dtype.itemsize]
    bits = t.view(kind).astype(np.int64)
    return np.where(bits < 0, -(bits & np.int64(np.iinfo(kind).max)), bits)

def said(a, b):
    one = np.isnan(a) != np.isnan(b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if a.dtype.kind == 'i':
        difference = [float(abs(int(x) - int(y))) for x, y in zip(a.ravel(), b.ravel())]
        difference = np.array(difference).reshape(a.shape)
        ulps = None
    else:
        difference = np.where(same, 0, np.abs(a.astype(np.float64) - b.astype(np.float64)))
        ulps = np.where(one, np.nan, np.where(same, 0, np.abs(ordered(a) - ordered(b))))
    relative = difference / np.abs(b.astype(np.float64))
    relative = np.where(same, 0, np.where(np.isinf(difference), difference, relative))
    finite = difference[np.isfinite(difference)]
    def worst(measure):
        if measure is None:
            return None
        return [int(i) for i in np.unravel_index(np.argmax(measure), a.shape)]
    def shown(measure):
        if measure is None:
            return None
        plane = measure.reshape(-1, a.shape[-2], a.shape[-1])[0] if a.ndim > 1 else measure
        return [float(np.float32(v)) if np.isfinite(v) else None for v in plane.ravel()]
    return {
        'different': int((~same).sum()), 'nans': int(one.sum()),
        'mean': finite.mean(), 'rootMeanSquare': np.sqrt((finite ** 2).mean()),
        'worst': worst(difference), 'worstRelative': worst(relative), 'worstUlps': worst(ulps),
        'first': [int(i) for i in np.unravel_index(np.argmax(~same), a.shape)],
        'difference': shown(difference), 'relative': shown(relative), 'ulps': shown(ulps),
    }

np.seterr(all='ignore')
print(json.dumps([said(a, a2), said(b, b2), said(c, c2)]))
"#;

fn oracle(folder: &Path) -> Vec<Value> {
    let output =
        Command::new("python").args(["-c", ORACLE]).arg(folder).output().expect("python of .venv");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The cells of an answer; none for what is not finite.
fn values(answer: &Value) -> Vec<Option<f64>> {
    let bytes = STANDARD.decode(answer["cells"]["values"].as_str().unwrap()).unwrap();
    let floats = bytes.chunks_exact(4).map(|it| f32::from_le_bytes(it.try_into().unwrap()));
    floats.map(|it| it.is_finite().then_some(f64::from(it))).collect()
}

#[test]
fn two_tensors_differ_as_numpy_says() {
    let folder = tempfile::tempdir().unwrap();
    let said = oracle(folder.path());
    let mut client = looking(folder.path());
    for (name, said) in ["a", "b", "c"].iter().zip(&said) {
        let with = json!({"file": folder.path().join(format!("{name}2.npy"))});
        let ask = |measure: &str| {
            json!({
                "expression": format!("%{name}"), "with": with, "measure": measure,
                "cells": {"height": 64, "width": 1000}, "statistics": 8,
                "find": {"what": "different"},
            })
        };
        for measure in ["difference", "relative", "ulps"] {
            if said[measure].is_null() {
                let error = client.fails("iree/tensor", &ask(measure));
                assert!(error.contains("floats of one type, not "), "{error}");
                continue;
            }
            let answer = client.request("iree/tensor", &ask(measure));
            let expected: Vec<Option<f64>> =
                said[measure].as_array().unwrap().iter().map(Value::as_f64).collect();
            let told = values(&answer);
            assert_eq!(told.len(), expected.len());
            for (index, (told, said)) in told.into_iter().zip(expected).enumerate() {
                // JSON rounds the last digit.
                let is_it = match (told, said) {
                    (Some(told), Some(said)) => (told - said).abs() <= 1e-12 * said,
                    (told, said) => told == said,
                };
                assert!(is_it, "{measure} of %{name}, cell {index}: {told:?}, not {said:?}");
            }
            let told = &answer["differences"];
            for figure in ["different", "nans"] {
                assert_eq!(told[figure], said[figure], "{figure} of %{name}");
            }
            for figure in ["mean", "rootMeanSquare"] {
                let (told, said) = (told[figure].as_f64().unwrap(), said[figure].as_f64().unwrap());
                assert!((told - said).abs() <= 1e-12 * said, "{figure} of %{name}: {told} {said}");
            }
            for figure in ["worst", "worstRelative", "worstUlps"] {
                let said = &said[figure];
                assert_eq!(told[figure]["index"], *said, "{figure} of %{name}");
            }
            assert_eq!(answer["found"], said["first"]);
        }
        let other = client.request("iree/tensor", &ask("b"));
        let file = json!({"file": folder.path().join(format!("{name}2.npy"))});
        let same = json!({"expression": format!("%{name}"), "with": file});
        assert_eq!(client.request("iree/tensor", &same)["other"]["type"], other["type"]);
        // A tensor is the same as itself.
        let itself = json!({"expression": format!("%{name}")});
        let mut asked = ask("difference");
        asked["with"] = itself;
        let answer = client.request("iree/tensor", &asked);
        assert_eq!(answer["differences"]["different"], 0, "%{name}");
        assert_eq!(answer["found"], Value::Null);
    }
    for (with, part) in [
        (json!({"expression": "%b"}), "have different shapes"),
        (json!({"file": "/none.npy"}), "/none.npy"),
        (json!({"moment": 7}), "no longer kept"),
        (json!({"twin": true}), "no dispatch has just run as bytecode and as machine code"),
    ] {
        let asked = json!({"expression": "%a", "with": with, "measure": "difference"});
        let error = client.fails("iree/tensor", &asked);
        assert!(error.contains(part), "{error}");
    }
    client.disconnect_from_stop();
}

#[test]
fn tensors_of_earlier_stops_are_kept_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    oracle(folder.path());
    let mut client = looking(folder.path());
    let keep = json!({"expression": "%d", "keep": true});
    let one = json!({"expression": "%c[0:4]", "pin": true});
    let first = client.request("iree/tensorMoments", &one);
    assert_eq!(first["moments"].as_array().unwrap().len(), 1);
    assert_eq!(first["moments"][0]["type"], "4xf16");
    assert_eq!(first["moments"][0]["isPinned"], true);
    let place = first["moments"][0]["place"].as_str().unwrap();
    assert!(place.starts_with("tensors.mlir:"), "{place}");
    let set = json!({"expression": "%c[1]", "value": "7"});
    client.request("setExpression", &set);
    let looked = json!({"expression": "%c[0:4]", "keep": true});
    let moments = client.request("iree/tensorMoments", &looked);
    assert_eq!(moments["moments"].as_array().unwrap().len(), 2, "{moments}");
    let again = client.request("iree/tensorMoments", &looked);
    assert_eq!(again["moments"][1]["repeated"], 1, "{again}");
    let with = json!({"moment": moments["moments"][0]["moment"]});
    let asked = json!({
        "expression": "%c[0:4]", "with": with, "measure": "b", "texts": true, "statistics": 4,
    });
    let answer = client.request("iree/tensor", &asked);
    assert_eq!(answer["differences"]["different"], 1);
    assert_eq!(answer["differences"]["worst"]["index"], json!([1]));
    assert_eq!(answer["differences"]["worst"]["a"], "7");
    assert_ne!(answer["texts"][1], "7", "the pin has what it was");
    let then = json!({"moment": moments["moments"][0]["moment"], "texts": true});
    assert_eq!(client.request("iree/tensor", &then)["texts"], answer["texts"]);
    // A number is not a tensor; nothing is kept, and that is no failure unless it is to be pinned.
    assert_eq!(client.request("iree/tensorMoments", &keep)["moments"], json!([]));
    let pin = json!({"expression": "%none", "pin": true});
    assert!(client.fails("iree/tensorMoments", &pin).contains("nothing is called"));
    client.disconnect_from_stop();
}

#[test]
fn machine_code_is_compared_with_its_bytecode_until_another_command_runs() {
    if !trap::IS_SUPPORTED {
        return;
    }
    let _ = module();
    let mut client = Client::new();
    client.launch_to_line(&machine_layers(), &source_of("twins"), 18);
    let source = json!({"path": source_of("twins")});
    client.request("setBreakpoints", &json!({"source": source, "breakpoints": []}));
    let step = |client: &mut Client, how: &str| {
        client.request(how, &json!({"threadId": 1}));
        client.event("stopped");
    };
    step(&mut client, "stepIn");
    let (mut name, mut steps) = client.top();
    while !name.ends_with(", done") && steps >= 0 {
        step(&mut client, "stepOut");
        (name, steps) = client.top();
    }
    let asked = json!({
        "expression": "operand[2]", "with": {"twin": true}, "measure": "ulps", "statistics": 4,
    });
    let answer = client.request("iree/tensor", &asked);
    let differences = &answer["differences"];
    assert_eq!(differences["count"], 64, "{answer}");
    assert_eq!(differences["nans"], 0);
    assert!(differences["worstUlps"]["ulps"].as_u64().unwrap_or(0) < 64, "{differences}");
    let said = client.printed("console");
    let is_same = said.contains("have left the same bytes");
    assert_eq!(is_same, differences["different"] == 0, "{said} {differences}");
    client.disconnect_from_stop();
}

/// Writes the inputs of a chain of products; or says what the product of a tensor with the second
/// one is, as 32-bit floats.
const PRODUCTS: &str = r#"
import json, sys, numpy as np
folder, given = sys.argv[1], json.loads(sys.argv[2])
if given is None:
    random = np.random.default_rng(3)
    np.save(f'{folder}/x.npy', random.normal(0, 1, (16, 8)).astype(np.float32))
    np.save(f'{folder}/w.npy', random.normal(0, 1, (8, 8)).astype(np.float32))
    print(json.dumps([]))
else:
    left = np.array(given, dtype=np.float32).reshape(16, 8).astype(np.float64)
    product = left @ np.load(f'{folder}/w.npy').astype(np.float64)
    print(json.dumps([float(it) for it in product.astype(np.float32).ravel()]))
"#;

fn products(folder: &Path, given: &Value) -> Vec<f32> {
    let mut python = Command::new("python");
    let output = python.args(["-c", PRODUCTS]).arg(folder).arg(given.to_string()).output();
    let output = output.expect("python of .venv");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// All elements, in order.
fn elements(client: &mut Client, asked: &Value) -> Vec<f32> {
    let mut asked = asked.clone();
    (asked["texts"], asked["exact"]) = (json!(true), json!(true));
    let answer = client.request("iree/tensor", &asked);
    let texts = answer["texts"].as_array().unwrap().iter();
    texts.map(|it| it.as_str().unwrap().parse().unwrap()).collect()
}

#[test]
fn what_a_dispatch_has_left_is_compared_with_its_text_in_float64() {
    let folder = tempfile::tempdir().unwrap();
    products(folder.path(), &Value::Null);
    let inputs = ["x", "w"].map(|it| format!("@{}", folder.path().join(it).display()) + ".npy");
    let mut client = Client::new();
    client.launch(&chain(&inputs));
    let names = json!({"breakpoints": [{"name": "dispatch:*", "hitCondition": "4"}]});
    client.request("setFunctionBreakpoints", &names);
    client.request("configurationDone", &json!({}));
    client.event("stopped");
    // The program stands before the fourth product; the third has left %c.
    let left = elements(&mut client, &json!({"expression": "%c"}));
    let read = elements(&mut client, &json!({"expression": "%b"}));
    let said = products(folder.path(), &json!(read));
    let with = json!({"reference": true});
    let asked = json!({"expression": "%c", "with": with, "measure": "b", "statistics": 4});
    let expected = elements(&mut client, &asked);
    let is_it = |(told, said): (&f32, &f32)| told.to_bits().abs_diff(said.to_bits()) <= 1;
    assert_eq!(expected.len(), 128);
    assert!(expected.iter().zip(&said).all(is_it), "{expected:?}, not {said:?}");
    let answer = client.request("iree/tensor", &asked);
    let others = left.iter().zip(&expected).filter(|(left, expected)| left != expected);
    assert_eq!(answer["differences"]["different"], others.count());
    let evaluated = &answer["evaluated"];
    assert_eq!(evaluated["dispatch"], "chain_dispatch_0_matmul_16x8x8_f32");
    assert_eq!([&evaluated["count"], &evaluated["known"]], [&json!(128), &json!(128)]);
    assert_eq!([&evaluated["beyond"], &evaluated["first"]], [&json!(0), &Value::Null]);
    let reason = evaluated["reason"].as_str().unwrap();
    assert!(reason.starts_with("sum over 8 products of f32"), "{reason}");
    // A part is compared with its part.
    let part = json!({"expression": "%c[3:12:2, 1]", "with": with, "measure": "b"});
    let parts = elements(&mut client, &part);
    let rows = [3, 5, 7, 9, 11];
    assert_eq!(parts, rows.map(|row| expected[row * 8 + 1]));
    let answer = client.request("iree/tensor", &part);
    assert_eq!(answer["evaluated"]["known"], 5);

    let mut refused = |expression: &str, reason: &str| {
        let asked = json!({"expression": expression, "with": with, "measure": "difference"});
        let error = client.fails("iree/tensor", &asked);
        assert!(error.contains(reason), "{expression}: {error}");
    };
    refused(
        "%b",
        "operand[0], which @chain_dispatch_0_matmul_16x8x8_f32 has read, was overwritten",
    );
    refused("%x", "no dispatch has left it");
    refused("%c + 1", "no dispatch has left it");
    // What the dispatch has read may be something else now.
    client.request("setExpression", &json!({"expression": "%c[0, 0]", "value": "7"}));
    let asked = json!({"expression": "%c", "with": with, "measure": "difference"});
    let error = client.fails("iree/tensor", &asked);
    assert!(error.contains("you have changed values since it ran"), "{error}");
    client.disconnect_from_stop();
}

#[test]
fn elements_that_are_not_what_the_text_says_are_outside_of_their_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::new();
    // 0 times any number is 0. The dispatch has the tensor with one axis.
    client.launch(&scaled(
        folder.path(),
        &["4x8xf32=0 0 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 \
        16 17 18 19 20 21 22 23 24 25 26 27 28 29"],
    ));
    let after = json!({"expression": "break dispatch '*' after", "context": "repl"});
    client.request("evaluate", &after);
    client.event("breakpoint");
    client.request("configurationDone", &json!({}));
    client.event("stopped");
    let with = json!({"reference": true});
    let asked = json!({"expression": "operand[1]", "with": with, "measure": "b"});
    let answer = client.request("iree/tensor", &asked);
    let found = &answer["evaluated"];
    assert_eq!([&found["known"], &found["beyond"]], [&json!(32), &json!(29)], "{found}");
    assert_eq!(found["first"], json!([3]));
    let expected = elements(&mut client, &asked);
    assert_eq!(expected[3], 0.126);
    client.disconnect_from_stop();
}

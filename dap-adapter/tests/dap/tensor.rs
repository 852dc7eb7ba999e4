//! `iree/tensor`: cells, texts, figures and places are those that NumPy computes.

use std::path::Path;
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::client::Client;
use crate::program::tensors;

/// Writes the tensors, and prints what NumPy makes of each request.
const ORACLE: &str = r#"
import json, sys, numpy as np
folder, requests = sys.argv[1], json.loads(sys.argv[2])
random = np.random.default_rng(3)
a = random.normal(2.0, 3.0, (3, 50, 70)).astype(np.float32)
a[1, 7, 9], a[2, 0, 0], a[2, 49, 69], a[1, 7, 10] = np.nan, np.inf, -np.inf, np.nan
b = random.integers(-2**62, 2**62, (4, 6))
b[2, 3] = 0
c = (1000 + random.normal(0, 0.5, 901)).astype(np.float16)
tensors = {'%a': a, '%b': b, '%c': c, '%d': np.float32(0.1).reshape(())}
for name, tensor in tensors.items():
    np.save(f'{folder}/{name[1:]}.npy', tensor)

def profile(t):
    f = t.astype(np.float64).ravel()
    f = f[np.isfinite(f)]
    at = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99]
    low, high = np.argmin(t), np.argmax(t)
    if t.dtype.kind == 'f':
        inf = t.dtype.type(np.inf)
        low = np.argmin(np.where(np.isfinite(t), t, inf))
        high = np.argmax(np.where(np.isfinite(t), t, -inf))
    index = lambda at: [int(i) for i in np.unravel_index(at, t.shape)]
    return {
        'count': t.size, 'nans': int(np.isnan(t).sum()),
        'positiveInfinities': int((t == np.inf).sum()),
        'negativeInfinities': int((t == -np.inf).sum()), 'zeros': int((t == 0).sum()),
        'mean': f.mean(), 'deviation': f.std(),
        'quantiles': [{'at': q, 'value': np.quantile(f, q)} for q in at],
        'minimum': index(low), 'maximum': index(high),
        'histogram': np.histogram(f, bins=16)[0].tolist(),
    }

def cells(plane, height, width, reduction):
    plane = plane.astype(np.float64)
    rows, columns = plane.shape
    values, marks = [], []
    for y in range(height):
        ys = [r for r in range(rows) if r * height // rows == y]
        for x in range(width):
            xs = [k for k in range(columns) if k * width // columns == x]
            part = plane[np.ix_(ys, xs)].ravel()
            has = [np.isnan(part), part == np.inf, part == -np.inf]
            marks.append(sum(int(it.any()) << bit for bit, it in enumerate(has)))
            first = part[:1][np.isfinite(part[:1])]
            part = part[np.isfinite(part)]
            ways = {
                'mean': lambda: part.mean(),
                'extreme': lambda: part[np.argmax(np.abs(part))],
                'first': lambda: first[0],
            }
            has_value = len(part) and (reduction != 'first' or len(first))
            values.append(float(np.float32(ways[reduction]())) if has_value else None)
            if reduction == 'first':
                marks[-1] = 0 if len(first) else marks[-1]
    return {'values': values, 'marks': marks}

answers = []
for request in requests:
    t = tensors[request['expression']]
    part = eval('t' + request['slice'])
    plane = np.atleast_2d(part)
    w = request['window']
    plane = plane[w['row']:w['row'] + w['rows'], w['column']:w['column'] + w['columns']]
    wanted = request['cells']
    answers.append({
        'rows': np.atleast_2d(part).shape[0], 'columns': np.atleast_2d(part).shape[1],
        'cells': cells(
            plane,
            min(wanted['height'], plane.shape[0]),
            min(wanted['width'], plane.shape[1]),
            wanted['reduction'],
        ),
        'texts': [str(v) for v in plane.ravel()],
        'statistics': profile(part if request['ofSlice'] else t),
    })
print(json.dumps(answers))
"#;

fn oracle(folder: &Path, requests: &[Value]) -> Vec<Value> {
    let output = Command::new("python")
        .args(["-c", ORACLE])
        .arg(folder)
        .arg(json!(requests).to_string())
        .output()
        .expect("python of .venv");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn assert_near(left: &Value, right: &Value, scale: f64) {
    let (left, right) = (left.as_f64().unwrap(), right.as_f64().unwrap());
    let tolerance = 1e-12 * scale.max(right.abs());
    assert!((left - right).abs() <= tolerance, "{left} is not {right}");
}

fn request(
    expression: &str,
    slice: &str,
    window: [usize; 4],
    cells: [usize; 2],
    reduction: &str,
) -> Value {
    let [row, column, rows, columns] = window;
    json!({
        "expression": expression, "slice": slice, "texts": true, "statistics": 16,
        "ofSlice": reduction == "extreme",
        "window": {"row": row, "column": column, "rows": rows, "columns": columns},
        "cells": {"height": cells[0], "width": cells[1], "reduction": reduction},
    })
}

/// A session in a function whose arguments are the oracle's tensors.
pub(crate) fn looking(folder: &Path) -> Client {
    let inputs: Vec<String> = ["a", "b", "c", "d"]
        .map(|it| format!("@{}", folder.join(format!("{it}.npy")).display()))
        .into();
    let mut arguments = tensors(&inputs);
    arguments["stopOnEntry"] = json!(true);
    let mut client = Client::new();
    client.launch(&arguments);
    client.request("configurationDone", &json!({}));
    client.event("stopped");
    client
}

#[test]
fn what_is_told_of_tensors_is_what_numpy_says() {
    let folder = tempfile::tempdir().unwrap();
    let requests = [
        request("%a", "[0, :, :]", [0, 0, 50, 70], [50, 70], "mean"),
        request("%a", "[1, :, :]", [0, 0, 50, 70], [7, 9], "mean"),
        request("%a", "[2, :, :]", [0, 0, 50, 70], [16, 32], "extreme"),
        request("%a", "[1, :, :]", [3, 5, 20, 33], [6, 8], "first"),
        request("%a", "[:, 7, :]", [0, 0, 3, 70], [3, 10], "mean"),
        request("%a", "[-1, 1:40:3, 60:]", [0, 0, 13, 10], [13, 10], "extreme"),
        request("%b", "[:, :]", [1, 2, 3, 4], [3, 4], "mean"),
        request("%c", "[:]", [0, 100, 1, 700], [1, 30], "mean"),
    ];
    let expected = oracle(folder.path(), &requests);
    let mut client = looking(folder.path());
    for (asked, expected) in requests.iter().zip(&expected) {
        let answer = client.request("iree/tensor", asked);
        assert_eq!(
            [&answer["rows"], &answer["columns"]],
            [&expected["rows"], &expected["columns"]]
        );
        let bytes = |name: &str| match answer["cells"][name].as_str() {
            Some(text) => STANDARD.decode(text).unwrap(),
            None => vec![0; expected["cells"]["marks"].as_array().unwrap().len()],
        };
        let values: Vec<Option<f64>> = bytes("values")
            .as_chunks::<4>()
            .0
            .iter()
            .map(|bytes| Some(f64::from(f32::from_le_bytes(*bytes))).filter(|it| it.is_finite()))
            .collect();
        assert_eq!(json!(bytes("marks")), expected["cells"]["marks"], "{asked}");
        for (index, (value, expected)) in
            values.iter().zip(expected["cells"]["values"].as_array().unwrap()).enumerate()
        {
            let is_near = match (value, expected.as_f64()) {
                // Sums are added in another order, so a mean may round the other way.
                (Some(value), Some(expected)) => (value - expected).abs() <= expected.abs() * 2e-7,
                (value, expected) => value.is_none() && expected.is_none(),
            };
            assert!(is_near, "{asked}: cell {index} is {value:?}, not {expected}");
        }
        // Texts are ours: the same numbers in fewer digits.
        let texts = answer["texts"].as_array().unwrap();
        let numbers = expected["texts"].as_array().unwrap();
        assert_eq!(texts.len(), numbers.len());
        for (text, number) in texts.iter().zip(numbers) {
            let (text, number) = (text.as_str().unwrap(), number.as_str().unwrap());
            if asked["expression"] == "%b" {
                assert_eq!(text, number);
                continue;
            }
            let [text, number] = [text, number].map(|it| it.to_lowercase().parse::<f64>().unwrap());
            let is_near = (text - number).abs() <= number.abs() * 1e-5;
            assert!(
                is_near || text == number || text.is_nan() && number.is_nan(),
                "{text} {number}"
            );
        }
        let (told, known) = (&answer["statistics"], &expected["statistics"]);
        for name in
            ["count", "nans", "positiveInfinities", "negativeInfinities", "zeros", "histogram"]
        {
            assert_eq!(told[name], known[name], "{name} of {asked}");
        }
        let scale = known["deviation"].as_f64().unwrap();
        assert_near(&told["mean"], &known["mean"], scale);
        assert_near(&told["deviation"], &known["deviation"], scale);
        let quantiles = told["quantiles"].as_array().unwrap();
        for (told, known) in quantiles.iter().zip(known["quantiles"].as_array().unwrap()) {
            assert_near(&told["value"], &known["value"], scale);
        }
        for name in ["minimum", "maximum"] {
            assert_eq!(told[name]["index"], known[name], "{name} of {asked}");
        }
    }
    client.disconnect_from_stop();
}

#[test]
fn elements_are_found_and_what_is_no_slice_is_told() {
    let folder = tempfile::tempdir().unwrap();
    oracle(folder.path(), &[]);
    let mut client = looking(folder.path());
    let mut find = |what: &str, after: Value| {
        let asked = json!({"expression": "%a", "find": {"what": what, "after": after}});
        client.request("iree/tensor", &asked)["found"].clone()
    };
    assert_eq!(find("nan", json!(null)), json!([1, 7, 9]));
    assert_eq!(find("nan", json!([1, 7, 9])), json!([1, 7, 10]));
    assert_eq!(find("nan", json!([1, 7, 10])), json!([1, 7, 9]), "from the beginning again");
    assert_eq!(find("infinity", json!([2, 0, 0])), json!([2, 49, 69]));
    for (asked, part) in [
        (json!({"expression": "%a", "slice": "[3, :, :]"}), "3 is no index of axis 0, which has 3"),
        (json!({"expression": "%a", "slice": "[:, :, :]"}), "3 axes are left"),
        (json!({"expression": "%a", "slice": "[0, 0, 0, 0]"}), "4 indices for 3 axes"),
        (json!({"expression": "%a", "slice": "[0, ::0, :]"}), "0 is no step"),
        (json!({"expression": "%a", "slice": "[x]"}), "x is no index"),
        (json!({"expression": "1 + 1"}), "1 + 1 is 2"),
        (json!({"expression": "%d"}), "%d is f32 0.1"),
        (json!({"expression": "%none"}), "nothing is called"),
        (json!({}), "needs an `expression`"),
    ] {
        let error = client.fails("iree/tensor", &asked);
        assert!(error.contains(part), "{asked}: {error}");
    }
    // More cells than a message takes are not made, however many are asked for.
    let most = usize::MAX;
    let huge =
        json!({"expression": "%a", "cells": {"height": most, "width": most}, "statistics": most});
    let answer = client.request("iree/tensor", &huge);
    assert_eq!([&answer["cells"]["height"], &answer["slice"]], [&json!(1), &json!("[0, :, :]")]);
    // Rows of tensors can be opened by their number.
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    let frame = &trace["stackFrames"][0]["id"];
    let evaluated = client.request("evaluate", &json!({"expression": "%a", "frameId": frame}));
    let by_number = json!({"variablesReference": evaluated["variablesReference"]});
    assert_eq!(client.request("iree/tensor", &by_number)["type"], "3x50x70xf32");
    client.disconnect_from_stop();
}

//! What a launched program runs on: device, parameters, limits, native code.

use std::fs;

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{call, perceptron, perceptron_source};

/// The arguments of a launch, with more fields.
fn with(mut launch: Value, more: &Value) -> Value {
    let more = more.as_object().unwrap().clone();
    launch.as_object_mut().unwrap().extend(more);
    launch
}

/// Runs a program to its end. Returns its output.
#[track_caller]
fn runs(launch: &Value) -> String {
    let mut client = Client::new();
    client.launch(launch);
    client.request("configurationDone", &json!({}));
    client.ends(0);
    let printed = client.printed("stdout").to_owned();
    client.disconnect();
    printed
}

/// Runs a program to its failure. Returns the message.
#[track_caller]
fn fails(launch: &Value) -> String {
    let mut client = Client::new();
    client.launch(launch);
    client.request("setExceptionBreakpoints", &json!({"filters": []}));
    client.request("configurationDone", &json!({}));
    client.ends(1);
    let printed = client.printed("stderr").to_owned();
    client.disconnect();
    printed
}

#[test]
fn both_devices_run_a_model() {
    let results = ["local-sync", "local-task", "local"]
        .map(|device| runs(&with(perceptron(), &json!({"device": device, "threads": 2}))));
    assert!(results[0].contains("4x4xf32="), "{results:?}");
    assert!(results.iter().all(|result| *result == results[0]), "{results:?}");
    let mut client = Client::new();
    client.initialize();
    let error = client.fails("launch", &with(perceptron(), &json!({"device": "metal"})));
    assert!(error.contains("no device `metal`"), "{error}");
    client.event("terminated");
    client.disconnect();
}

#[test]
fn machine_code_runs_if_it_may() {
    let compiled = json!({
        "program": perceptron_source(), "function": "perceptron", "inputs": ["4x8xf32=1"],
        "compilerFlags": [
            "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic",
        ],
    });
    assert!(runs(&compiled).contains("4x4xf32="));
    let refused = fails(&with(compiled, &json!({"native": false})));
    assert!(refused.contains("executable") || refused.contains("native"), "{refused}");
    // Bytecode is no machine code.
    assert!(runs(&with(perceptron(), &json!({"native": false}))).contains("4x4xf32="));
}

#[test]
fn limits_end_a_program_that_takes_too_much() {
    let endless = with(call("forever", &["2"]), &json!({"maxSteps": 1000}));
    let failure = fails(&endless);
    assert!(failure.contains("RESOURCE_EXHAUSTED"), "{failure}");
    for little in [json!(1024), json!("1024"), json!("1KiB")] {
        let hungry = with(call("list", &["100000"]), &json!({"maxMemory": little}));
        let failure = fails(&hungry);
        assert!(failure.contains("(limit 1 KiB: --max_memory)"), "{failure}");
    }
    let enough = with(call("list", &["1000"]), &json!({"maxMemory": "1GiB"}));
    assert!(!runs(&enough).is_empty());
    let mut client = Client::new();
    client.initialize();
    let wrong = with(call("list", &["1"]), &json!({"maxMemory": "1 pound"}));
    let error = client.fails("launch", &wrong);
    assert!(error.contains("`maxMemory`: `pound` is not a unit"), "{error}");
    client.event("terminated");
    client.disconnect();
    assert!(runs(&with(call("sum", &["3"]), &json!({"maxSteps": 1000}))).contains("i32=6"));
}

/// A safetensors archive of one tensor `w` of four floats.
fn archive(values: [f32; 4]) -> Vec<u8> {
    let header = r#"{"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

#[test]
fn parameters_come_from_archives() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("scaled.mlir");
    let text = r#"util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = util.global.load @w : tensor<4xf32>
  %y = arith.mulf %x, %w : tensor<4xf32>
  return %y : tensor<4xf32>
}
"#;
    fs::write(&program, text).unwrap();
    fs::write(directory.path().join("w.safetensors"), archive([1.0, 2.0, 3.0, 4.5])).unwrap();
    let launch = json!({
        "program": "scaled.mlir", "inputs": ["4xf32=2"], "cwd": directory.path(),
        "parameters": ["model=w.safetensors"],
    });
    assert!(runs(&launch).contains("4xf32=2 4 6 9"));
    let missing = fails(&with(launch.clone(), &json!({"parameters": []})));
    assert!(missing.contains("model"), "{missing}");
    let mut client = Client::new();
    client.initialize();
    let nowhere = with(launch, &json!({"parameters": ["model=nowhere.irpa"]}));
    let error = client.fails("launch", &nowhere);
    assert!(error.contains("nowhere.irpa"), "{error}");
    client.event("terminated");
    client.disconnect();
}

#[test]
fn inputs_may_be_numbers() {
    for inputs in [json!([4]), json!(4), json!("4")] {
        let launch = with(call("sum", &[]), &json!({"inputs": inputs}));
        assert!(runs(&launch).contains("i32=12"));
    }
    let mut client = Client::new();
    client.initialize();
    let error = client.fails("launch", &with(call("sum", &[]), &json!({"inputs": [[4]]})));
    assert!(error.contains("an input is text"), "{error}");
    client.event("terminated");
    client.disconnect();
}

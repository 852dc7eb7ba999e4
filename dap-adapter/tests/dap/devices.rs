//! Models that a device executes: steps into the dispatch, its workgroups, and out again.

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{perceptron, perceptron_source};

#[track_caller]
fn stack(client: &mut Client) -> Vec<(String, i64)> {
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    let frames = trace["stackFrames"].as_array().unwrap().iter();
    let frame = |frame: &Value| {
        (frame["name"].as_str().unwrap().to_owned(), frame["line"].as_i64().unwrap())
    };
    frames.map(frame).collect()
}

#[track_caller]
fn step(client: &mut Client, command: &str) -> String {
    client.request(command, &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "step");
    client.top().0
}

#[track_caller]
fn evaluate(client: &mut Client, expression: &str) -> Value {
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    let frame = &trace["stackFrames"][0]["id"];
    client.request("evaluate", &json!({"expression": expression, "frameId": frame}))
}

/// Launches the model and stops before the first dispatch.
fn before_dispatch(client: &mut Client) {
    client.launch(&perceptron());
    let names = json!({"breakpoints": [{"name": "dispatch:*_0_matmul_*"}]});
    let set = client.request("setFunctionBreakpoints", &names);
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
    client.request("configurationDone", &Value::Null);
    assert_eq!(client.event("stopped")["reason"], "function breakpoint");
}

const DISPATCH: &str =
    "perceptron, command 1: dispatch @perceptron_dispatch_0_matmul_4x256x8_f32 [4,1,1]";

#[test]
fn the_stack_leads_from_the_program_into_a_workgroup() {
    let mut client = Client::new();
    before_dispatch(&mut client);
    let names: Vec<String> = stack(&mut client).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [DISPATCH]);
    assert_eq!(step(&mut client, "stepIn"), "workgroup (0,0,0)");
    assert_eq!(step(&mut client, "next"), "workgroup (1,0,0)");
    let function = "perceptron_dispatch_0_matmul_4x256x8_f32";
    assert_eq!(step(&mut client, "stepIn"), function);
    let frames = stack(&mut client);
    let names: Vec<&str> = frames.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, [function, "workgroup (1,0,0)", DISPATCH]);
    // The dispatch is the first matmul, and the frame shows its line.
    assert_eq!(frames[2].1, 9);
    // The VM's own frames are at its own levels.
    client.request("evaluate", &json!({"expression": "level source", "context": "repl"}));
    client.event("stopped");
    let frames = stack(&mut client);
    let names: Vec<&str> = frames.iter().map(|(name, _)| name.as_str()).skip(3).collect();
    assert_eq!(names, ["hal.device.queue.execute.indirect", "perceptron"]);
    client.request("evaluate", &json!({"expression": "level model", "context": "repl"}));
    client.event("stopped");
    assert_eq!(step(&mut client, "stepOut"), "workgroup (2,0,0)");
    assert_eq!(step(&mut client, "stepOut"), format!("{DISPATCH}, done"));
    assert_eq!(step(&mut client, "stepOut"), "perceptron");
    client.request("continue", &json!({"threadId": 1}));
    client.ends(0);
    client.disconnect();
}

#[test]
fn rows_in_vscode_say_what_matters_first_and_fold_what_is_passed() {
    let mut client = Client::new();
    client.initialize_as("vscode");
    client.request("launch", &perceptron());
    client.event("initialized");
    let names = json!({"breakpoints": [{"name": "dispatch:*_0_matmul_*"}]});
    client.request("setFunctionBreakpoints", &names);
    client.request("configurationDone", &Value::Null);
    client.event("stopped");
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    let name = trace["stackFrames"][0]["name"].as_str().unwrap();
    assert!(name.starts_with('%') && name.ends_with(&format!(" · {DISPATCH}")), "{name}");
    let frame = &trace["stackFrames"][0]["id"];
    let scopes = client.request("scopes", &json!({"frameId": frame}));
    let variables = |client: &mut Client, reference: &Value| {
        let found = client.request("variables", &json!({"variablesReference": reference}));
        found["variables"].as_array().unwrap().clone()
    };
    let dispatch = variables(&mut client, &scopes["scopes"][0]["variablesReference"]);
    let text = |row: &Value| format!("{} = {}", row["name"], row["value"]).replace('"', "");
    let rows: Vec<String> = dispatch.iter().map(text).collect();
    assert!(rows.iter().all(|row| !row.starts_with("binding[")), "{rows:?}");
    let operand = rows.iter().find(|row| row.contains("4x8xf32")).expect("the input");
    assert!(operand.contains("4x8xf32 · μ 1 σ 0 · [1, 1,"), "{rows:?}");
    let passed = dispatch.last().unwrap();
    assert_eq!(passed["name"], "bindings", "{rows:?}");
    let passed = variables(&mut client, &passed["variablesReference"]);
    assert_eq!(passed[0]["name"], "binding[0]");
    // A row of these is an expression like any other.
    assert_eq!(passed[0]["evaluateName"], "binding[0]");
    let watched = json!({
        "variablesReference": dispatch.last().unwrap()["variablesReference"], "name": "binding[0]",
    });
    assert!(client.request("dataBreakpointInfo", &watched)["dataId"].is_string());
    client.request("continue", &json!({"threadId": 1}));
    client.ends(0);
    client.disconnect();
}

#[test]
fn what_a_dispatch_works_on_are_tensors() {
    let mut client = Client::new();
    before_dispatch(&mut client);
    let binding = evaluate(&mut client, "binding[0]");
    assert_eq!(binding["type"], "4x8xf32");
    assert_eq!(binding["result"], "[1, 1, 1, 1, 1, 1, 1, 1, …]");
    assert_eq!(binding["indexedVariables"], 4);
    let rows = json!({
        "variablesReference": binding["variablesReference"],
        "filter": "indexed", "start": 1, "count": 2,
    });
    let rows = client.request("variables", &rows);
    let names: Vec<&Value> =
        rows["variables"].as_array().unwrap().iter().map(|row| &row["name"]).collect();
    assert_eq!(names, ["[1]", "[2]"]);
    assert_eq!(rows["variables"][0]["type"], "8xf32");
    assert_eq!(evaluate(&mut client, "binding[0] as 16x2xf32")["indexedVariables"], 16);
    assert_eq!(evaluate(&mut client, "binding[0][3][7]")["result"], "1");
    assert_eq!(evaluate(&mut client, "workgroup_count")["result"], "[4, 1, 1]");

    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    let frame = &trace["stackFrames"][0]["id"];
    let names = |client: &mut Client, frame: &Value| -> (Vec<String>, Value) {
        let scopes = client.request("scopes", &json!({"frameId": frame}));
        let scopes = scopes["scopes"].as_array().unwrap().clone();
        let names = scopes.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect();
        (names, scopes.last().unwrap()["variablesReference"].clone())
    };
    assert_eq!(names(&mut client, frame).0, ["Dispatch", "Locals", "Arguments", "Constants"]);
    // The memory of the device is a level below the model.
    client.request("evaluate", &json!({"expression": "level source", "context": "repl"}));
    client.event("stopped");
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    let (names, device) = names(&mut client, &trace["stackFrames"][0]["id"]);
    assert_eq!(names.last().map(String::as_str), Some("Device"));
    let device = client.request("variables", &json!({"variablesReference": device}));
    let allocations = device["variables"].as_array().unwrap();
    let alloca = |it: &&Value| it["value"].as_str().unwrap().contains("hal.device.queue.alloca");
    assert!(allocations.iter().any(|it| alloca(&it)), "{allocations:?}");
    client.disconnect_from_stop();
}

#[test]
fn lines_that_became_dispatches_have_breakpoints_before_anything_runs() {
    let mut client = Client::new();
    client.launch(&perceptron());
    let set = client.set_line(&perceptron_source(), 21);
    assert_eq!((&set["verified"], &set["line"]), (&json!(true), &json!(21)), "{set}");
    client.request("configurationDone", &Value::Null);
    client.event("stopped");
    let frames = stack(&mut client);
    assert_eq!(frames[0], ("perceptron_dispatch_1_matmul_4x4x256_f32".to_owned(), 21));
    assert_eq!(frames[1].0, "workgroup (0,0,0)");
    client.request("setBreakpoints", &json!({"source": {"path": perceptron_source()}}));
    client.request("continue", &json!({"threadId": 1}));
    client.ends(0);
    let printed = client.printed("stdout");
    assert!(printed.contains("4x4xf32=[192 192 192 192]"), "{printed}");
    client.disconnect();
}

#[test]
fn a_name_without_a_value_tells_the_kind_of_its_reason() {
    let mut client = Client::new();
    before_dispatch(&mut client);
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    let frame = &trace["stackFrames"][0]["id"];
    let mut evaluate = |expression: &str| {
        client.request("evaluate", &json!({"expression": expression, "frameId": frame}))
    };
    let absent = evaluate("%h");
    assert_eq!(
        (&absent["result"], &absent["ireeAbsent"]),
        (&json!("<not yet computed>"), &json!("notYetComputed"))
    );
    assert_eq!(evaluate("%x").get("ireeAbsent"), None);
    let scopes = client.request("scopes", &json!({"frameId": frame}));
    let scopes = scopes["scopes"].as_array().unwrap();
    let scope = scopes.iter().find(|it| it["name"] == "Dispatch").unwrap();
    let reference = json!({"variablesReference": scope["variablesReference"]});
    let variables = client.request("variables", &reference);
    let kind = |name: &str| {
        let mut all = variables["variables"].as_array().unwrap().iter();
        all.find(|it| it["name"] == name).and_then(|it| it.get("ireeAbsent"))
    };
    assert_eq!(kind("out %h"), Some(&json!("notYetComputed")), "{variables}");
    assert_eq!(kind("in %x"), None);
    client.disconnect_from_stop();
}

#[test]
fn a_model_is_listed_by_its_dispatches_and_tensors() {
    let mut client = Client::new();
    before_dispatch(&mut client);
    let listed = client.request("iree/dispatches", &Value::Null);
    let dispatches = listed["dispatches"].as_array().unwrap();
    assert_eq!(dispatches.len(), 2, "{listed}");
    assert_eq!(dispatches[0]["isCurrent"], true);
    let operands: Vec<&Value> =
        dispatches[0]["operands"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(operands, ["%x", "%h"]);
    assert!(step(&mut client, "next").contains("dispatch_1"));
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    let frame = &trace["stackFrames"][0]["id"];
    let tensors = client.request("iree/tensors", &json!({"frameId": frame}));
    let tensors = tensors["tensors"].as_array().unwrap();
    assert_eq!((&tensors[0]["names"][0], &tensors[0]["max"]), (&json!("%h"), &json!("3")));
    assert_eq!(tensors[1]["missing"], "<not yet computed>");
    let asked = json!({"name": "%h", "frameId": frame});
    let told = client.request("iree/evidence", &asked);
    assert_eq!(told["evidence"]["maker"], "tensors", "{told}");
    assert_eq!(told["evidence"]["grounds"], json!({"kind": "term"}), "{told}");
    let operations = told["evidence"]["operations"].as_array().unwrap();
    assert!(operations[0]["compiled"].as_str().unwrap().contains("dispatch_0"), "{told}");
    assert!(told["text"].as_str().unwrap().contains("proven: both sides"), "{told}");
    assert!(told["short"].as_str().unwrap().ends_with(", proven by structure"), "{told}");
    let unknown = json!({"name": "%nothing", "frameId": frame});
    assert!(client.fails("iree/evidence", &unknown).contains("nothing is called"));
    let listed = client.request("iree/dispatches", &Value::Null);
    assert_eq!(
        (&listed["dispatches"][0]["runs"], &listed["dispatches"][1]["runs"]),
        (&json!(1), &json!(0))
    );
    client.disconnect_from_stop();
}

#[test]
fn what_has_run_is_told_at_each_stop_and_at_the_end() {
    let mut client = Client::new();
    before_dispatch(&mut client);
    let map = client.request("iree/runMap", &json!({"subscribe": true}));
    assert_eq!((&map["version"], &map["total"]), (&json!(1), &json!(0)));
    let told = |map: &Value, field: &str| -> Vec<Value> {
        map["dispatches"].as_array().unwrap().iter().map(|it| it[field].clone()).collect()
    };
    assert_eq!(told(&map, "runs"), [0, 0]);
    assert_eq!(told(&map, "isCurrent"), [true, false]);
    assert_eq!(map["commands"], json!([]));
    client.request("next", &json!({"threadId": 1}));
    let map = client.event("iree/runMap");
    client.event("stopped");
    assert_eq!(told(&map, "runs"), [1, 0]);
    assert_eq!(told(&map, "isCurrent"), [false, true]);
    assert_eq!(told(&map, "nans"), [json!(0), Value::Null]);
    client.request("continue", &json!({"threadId": 1}));
    let map = client.event("iree/runMap");
    assert_eq!(told(&map, "runs"), [1, 1]);
    assert_eq!(told(&map, "isCurrent"), [false, false]);
    // The identities are those of the boxes in the dispatch graph.
    let ids = told(&map, "id");
    assert!(ids.iter().all(|id| id.as_str().is_some_and(|id| id.starts_with('d'))), "{ids:?}");
    let commands = map["commands"].as_array().unwrap();
    let of = |index: u64| {
        let mut own = commands.iter().filter(|it| it["dispatch"] == index);
        let time = |it: &Value| (it["start"].as_u64().unwrap(), it["took"].as_u64().unwrap());
        own.next().map(time).unwrap()
    };
    let (first, second) = (of(0), of(1));
    assert!(first.1 > 0 && second.1 > 0 && first.0 + first.1 <= second.0, "{map}");
    assert_eq!(told(&map, "took"), [first.1, second.1]);
    client.ends(0);
    client.disconnect();
}

#[test]
fn a_program_runs_to_a_box_of_the_graph() {
    let mut client = Client::new();
    before_dispatch(&mut client);
    let ids = |map: &Value, field: &str| -> Vec<Value> {
        map["dispatches"].as_array().unwrap().iter().map(|it| it[field].clone()).collect()
    };
    let map = client.request("iree/runMap", &json!({}));
    let second = ids(&map, "id")[1].clone();
    for wrong in ["d9.9", "second"] {
        let refused = client.answered("iree/runTo", &json!({"id": wrong}));
        assert_eq!(refused["success"], false, "{refused}");
    }
    client.request("iree/runTo", &json!({"id": second}));
    // The client does not know this request, so it is told.
    client.event("continued");
    let stopped = client.event("stopped");
    assert_eq!((&stopped["reason"], &stopped["hitBreakpointIds"]), (&json!("step"), &Value::Null));
    let map = client.request("iree/runMap", &json!({}));
    assert_eq!(ids(&map, "isCurrent"), [false, true]);
    assert_eq!(ids(&map, "runs"), [1, 0]);
    // It does not run again, and nothing of it is left.
    client.request("iree/runTo", &json!({"id": second}));
    client.event("continued");
    client.ends(0);
    client.disconnect();
}

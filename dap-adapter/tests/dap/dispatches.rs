//! Requests during a dispatch that never ends: each is answered, breakpoints work, and `pause`
//! stops inside the workgroup, in bytecode and in machine code, on one thread and on many.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{endless_dispatch, endless_machine_code, source_of};

const DISPATCH: &str = "endless_dispatch_0_elementwise_4_i32";

/// How long a prompt answer may take.
const PROMPT: Duration = Duration::from_secs(1);

/// How long the program may take to reach the workgroup.
const LONG: Duration = Duration::from_secs(60);

/// The line that computes in the workgroup's loop.
fn looping() -> i64 {
    let text = std::fs::read_to_string(source_of("dispatches")).unwrap();
    let index = text.lines().position(|line| line.contains("%square = arith.muli")).unwrap();
    i64::try_from(index).unwrap() + 1
}

/// Sends every request that is allowed while a program runs.
fn send_every_request(client: &mut Client) {
    let source = json!({"path": source_of("dispatches")});
    for (command, arguments, succeeds) in [
        ("threads", json!({}), true),
        ("stackTrace", json!({"threadId": 1}), false),
        ("evaluate", json!({"expression": "1 + 1"}), false),
        ("setFunctionBreakpoints", json!({"breakpoints": [{"name": "nothing"}]}), true),
        ("setExceptionBreakpoints", json!({"filters": ["failed"]}), true),
        ("setBreakpoints", json!({"source": source, "breakpoints": []}), true),
        ("modules", json!({}), true),
    ] {
        let response = client.answered(command, &arguments);
        assert_eq!(response["success"], succeeds, "{response}");
    }
}

/// Pauses the program. Returns its frames.
#[track_caller]
fn pause(client: &mut Client) -> Vec<Value> {
    let start = Instant::now();
    client.request("pause", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "pause");
    assert!(start.elapsed() < PROMPT, "{:?}", start.elapsed());
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    trace["stackFrames"].as_array().unwrap().clone()
}

/// Pauses the program until the stop is inside the workgroup.
#[track_caller]
fn pause_inside(client: &mut Client) {
    let start = Instant::now();
    let mut frames = pause(client);
    while frames.len() < 3 {
        assert!(start.elapsed() < LONG, "{frames:?}");
        client.request("continue", &json!({"threadId": 1}));
        frames = pause(client);
    }
    let names: Vec<&str> = frames.iter().map(|frame| frame["name"].as_str().unwrap()).collect();
    assert_eq!(names[..2], [DISPATCH, "workgroup (0,0,0)"]);
    let command = format!("command 1: dispatch @{DISPATCH} [1,1,1]");
    assert!(names[2].ends_with(&command), "{names:?}");
    let line = frames[0]["line"].as_i64().unwrap();
    // The operation of the dispatch, or one inside it.
    assert!((looping() - 15..looping() + 4).contains(&line), "{line}");
    client.request("evaluate", &json!({"expression": "level source", "context": "repl"}));
    client.event("stopped");
    let frames = client.request("stackTrace", &json!({"threadId": 1}))["stackFrames"].clone();
    let scopes = client.request("scopes", &json!({"frameId": frames[0]["id"]}));
    client.request("evaluate", &json!({"expression": "level model", "context": "repl"}));
    client.event("stopped");
    let names: Vec<&Value> =
        scopes["scopes"].as_array().unwrap().iter().map(|scope| &scope["name"]).collect();
    assert!(names.contains(&&json!("Registers")), "{names:?}");
}

fn session(device: &str, has_breakpoint: bool) {
    let mut client = Client::new();
    client.launch(&endless_dispatch(device));
    if has_breakpoint {
        let names = json!({"breakpoints": [{"name": "nothing"}, {"name": "dispatch:none"}]});
        client.request("setFunctionBreakpoints", &names);
    }
    client.request("configurationDone", &json!({}));
    pause_inside(&mut client);
    client.request("next", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "step");
    assert_eq!(client.top().0, DISPATCH);
    client.request("continue", &json!({"threadId": 1}));
    send_every_request(&mut client);

    // A breakpoint that is set now stops the running workgroup.
    let source = json!({"path": source_of("dispatches")});
    let breakpoints = json!({"source": source, "breakpoints": [{"line": looping()}]});
    let set = client.answered("setBreakpoints", &breakpoints);
    assert_eq!(set["body"]["breakpoints"][0]["verified"], true, "{set}");
    assert_eq!(client.event("stopped")["reason"], "breakpoint");
    assert_eq!(client.top(), (DISPATCH.to_owned(), looping()));
    client.answered("setBreakpoints", &json!({"source": source, "breakpoints": []}));
    client.request("continue", &json!({"threadId": 1}));
    pause_inside(&mut client);
    client.request("continue", &json!({"threadId": 1}));
    let start = Instant::now();
    client.disconnect_from_stop();
    assert!(start.elapsed() < PROMPT, "{:?}", start.elapsed());
}

#[test]
fn an_endless_workgroup_is_paused_on_one_thread() {
    session("local-sync", false);
    session("local-sync", true);
}

#[test]
fn an_endless_workgroup_is_paused_on_many_threads() {
    session("local-task", false);
    session("local-task", true);
}

/// Machine code has neither breakpoints nor registers of the VM, but it can be paused, and every
/// request is answered.
fn machine_code(device: &str) {
    let mut client = Client::new();
    client.launch(&endless_machine_code(device));
    client.request("configurationDone", &json!({}));
    let start = Instant::now();
    while !stack(&mut client).iter().any(|name| name.starts_with("workgroup (")) {
        assert!(start.elapsed() < LONG);
        client.request("continue", &json!({"threadId": 1}));
    }
    client.request("continue", &json!({"threadId": 1}));
    send_every_request(&mut client);
    let source = json!({"path": source_of("dispatches")});
    let breakpoints = json!({"source": source, "breakpoints": [{"line": looping()}]});
    let set = client.answered("setBreakpoints", &breakpoints);
    assert_eq!(set["success"], true, "{set}");
    assert!(stack(&mut client).iter().any(|name| name.starts_with("workgroup (")));
    client.request("continue", &json!({"threadId": 1}));
    let start = Instant::now();
    client.disconnect_from_stop();
    assert!(start.elapsed() < PROMPT, "{:?}", start.elapsed());
}

/// Pauses the program. Returns the names of its frames.
#[track_caller]
fn stack(client: &mut Client) -> Vec<String> {
    let frames = pause(client);
    frames.iter().map(|frame| frame["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn machine_code_that_never_ends_is_paused() {
    machine_code("local-sync");
    machine_code("local-task");
}

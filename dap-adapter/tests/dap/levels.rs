//! How far a step goes (an operation, a line, an instruction) at each level: the source, the VM
//! program, the disassembly.

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{perceptron, several, source_of};

/// The place of the innermost frame.
#[track_caller]
fn place(client: &mut Client) -> (u64, u64) {
    let trace = client.request("stackTrace", &json!({"threadId": 1, "levels": 1}));
    let frame = &trace["stackFrames"][0];
    (frame["line"].as_u64().unwrap(), frame["column"].as_u64().unwrap())
}

/// Steps over. Returns the place after the step.
#[track_caller]
fn next(client: &mut Client, granularity: Option<&str>) -> (u64, u64) {
    let mut arguments = json!({"threadId": 1});
    if let Some(granularity) = granularity {
        arguments["granularity"] = Value::from(granularity);
    }
    client.request("next", &arguments);
    assert_eq!(client.event("stopped")["reason"], "step");
    place(client)
}

#[test]
fn steps_go_by_operation_or_by_line() {
    let source = source_of("several").canonicalize().unwrap();
    let at_loop = |client: &mut Client, arguments: &Value| {
        client.launch_to_line(arguments, &source, 10);
        assert_eq!(place(client), (10, 10));
    };
    let mut client = Client::new();
    at_loop(&mut client, &several());
    assert_eq!(next(&mut client, Some("statement")), (10, 61));
    assert_eq!(next(&mut client, Some("line")), (9, 1));
    client.disconnect_from_stop();

    let mut client = Client::new();
    at_loop(&mut client, &several());
    assert_eq!(next(&mut client, None), (9, 1), "a step is by line by default");
    client.disconnect_from_stop();

    let mut client = Client::new();
    let mut by_statement = several();
    by_statement["stepBy"] = "statement".into();
    at_loop(&mut client, &by_statement);
    assert_eq!(next(&mut client, None), (10, 61));
    assert_eq!(next(&mut client, Some("instruction")), (9, 1));
    assert_eq!(next(&mut client, Some("instruction")), (9, 1), "one of several instructions");
    client.disconnect_from_stop();
}

/// A client that handles `invalidated` events, as VS Code does.
fn refreshing(arguments: &Value) -> Client {
    let mut client = Client::new();
    client.request("initialize", &json!({"adapterID": "iree", "supportsInvalidatedEvent": true}));
    client.request("launch", arguments);
    client.event("initialized");
    client.request("configurationDone", &json!({}));
    client
}

fn at_level(program: Value, level: &str) -> Value {
    let mut arguments = program;
    arguments["level"] = level.into();
    arguments["stopOnEntry"] = true.into();
    arguments
}

#[track_caller]
fn frame(client: &mut Client) -> Value {
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    trace["stackFrames"][0].clone()
}

/// Changes the level in the console, as a user or a button does.
#[track_caller]
fn choose(client: &mut Client, level: &str) -> Value {
    let said = json!({"expression": format!("level {level}"), "context": "repl"});
    let answer = client.request("evaluate", &said);
    assert_eq!(answer["result"], level);
    assert_eq!(client.event("invalidated")["areas"], json!(["stacks", "variables"]));
    frame(client)
}

#[track_caller]
fn locals(client: &mut Client, frame: &Value) -> Vec<String> {
    let scopes = client.request("scopes", &json!({"frameId": frame["id"]}));
    assert_eq!(scopes["scopes"][0]["name"], "Locals");
    let reference = scopes["scopes"][0]["variablesReference"].clone();
    let shown = client.request("variables", &json!({"variablesReference": reference}));
    let shown = shown["variables"].as_array().unwrap().iter();
    shown.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

fn text_of(client: &mut Client, source: &Value) -> String {
    let asked = json!({"source": source, "sourceReference": source["sourceReference"]});
    client.request("source", &asked)["content"].as_str().unwrap().to_owned()
}

#[track_caller]
fn step_to_line(client: &mut Client, line: u64) {
    client.request("next", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "step");
    assert_eq!(place(client).0, line);
}

#[test]
fn the_vm_program_is_shown_and_stepped() {
    let mut client = refreshing(&at_level(several(), "vm"));
    assert_eq!(client.event("stopped")["reason"], "entry");
    let entry = frame(&mut client);
    assert_eq!(entry["source"]["name"], "module.vm.mlir");
    let text = text_of(&mut client, &entry["source"]);
    let line_with = |part: &str| text.lines().position(|it| it.contains(part)).unwrap() as u64 + 1;
    assert_eq!(entry["line"], line_with("vm.const.i32.zero"));
    assert!(!text.contains("loc(") && !text.contains("live ="));
    // Each operation is on a line of its own.
    step_to_line(&mut client, line_with("vm.const.i32 1"));
    step_to_line(&mut client, line_with("vm.br ^bb1(%zero"));

    // Lines of the VM program take breakpoints.
    let call = line_with("vm.call @mix");
    let lines = json!({"source": entry["source"], "line": 1, "endLine": text.lines().count()});
    let sites = client.request("breakpointLocations", &lines);
    let sites: Vec<u64> = sites["breakpoints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["line"].as_u64().unwrap())
        .collect();
    let operations = text.lines().zip(1_u64..).filter(|(line, _)| {
        let is_operation = line.starts_with("    ");
        is_operation && line.contains("vm.")
    });
    assert_eq!(sites, operations.map(|(_, number)| number).collect::<Vec<_>>());
    let breakpoint = json!({
        "source": entry["source"], "breakpoints": [{"line": call, "condition": "%0 == 1"}],
    });
    let set = client.request("setBreakpoints", &breakpoint)["breakpoints"][0].clone();
    assert_eq!((&set["verified"], &set["line"]), (&json!(true), &json!(call)));
    client.request("continue", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "breakpoint");
    let at_call = frame(&mut client);
    assert_eq!(at_call["line"], call);
    assert_eq!(locals(&mut client, &at_call), ["%arg0", "%c1", "%0", "%1"]);

    // The same stop at the other levels.
    let in_source = choose(&mut client, "source");
    assert_eq!(in_source["source"]["path"], json!(source_of("several")));
    assert_eq!((&in_source["line"], &in_source["column"]), (&json!(10), &json!(10)));
    assert_eq!(locals(&mut client, &in_source), ["%n", "%c0", "%c1", "%i", "%acc"]);
    assert_eq!(next(&mut client, None), (9, 1));
    let in_code = choose(&mut client, "disassembly");
    assert_eq!(in_code["source"]["name"], "module.vmasm");
    let text = text_of(&mut client, &in_code["source"]);
    let shown = text.lines().nth(in_code["line"].as_u64().unwrap() as usize - 1).unwrap();
    assert!(shown.contains("vm.add.i32"), "{shown}");
    step_to_line(&mut client, in_code["line"].as_u64().unwrap() + 1);

    // The level and the breakpoint stay.
    choose(&mut client, "vm");
    let asked = client.request("evaluate", &json!({"expression": "level", "context": "repl"}));
    assert_eq!(asked["result"], "vm");
    let wrong = json!({"expression": "level asm", "context": "repl"});
    assert!(client.fails("evaluate", &wrong).contains("source, vm and disassembly"));
    let elsewhere = json!({"expression": "level vm", "context": "watch"});
    client.fails("evaluate", &elsewhere);
    choose(&mut client, "disassembly");
    client.request("restart", &json!({}));
    client.event("continued");
    assert_eq!(client.event("stopped")["reason"], "entry");
    assert_eq!(frame(&mut client)["source"]["name"], "module.vmasm");
    client.request("continue", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "breakpoint");
    assert_eq!(choose(&mut client, "vm")["line"], call);
    client.disconnect_from_stop();
}

#[test]
fn dispatches_have_a_vm_program_of_their_own() {
    let mut client = Client::new();
    client.launch(&at_level(perceptron(), "vm"));
    let stop_in_dispatch = json!({"breakpoints": [{"name": "perceptron_dispatch_0*"}]});
    client.request("setFunctionBreakpoints", &stop_in_dispatch);
    client.request("configurationDone", &json!({}));
    assert_eq!(client.event("stopped")["reason"], "entry");
    client.request("continue", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "function breakpoint");
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    let names: Vec<&Value> =
        trace["stackFrames"].as_array().unwrap().iter().map(|it| &it["source"]["name"]).collect();
    let (inside, outside) = (json!("linked_module.vm.mlir"), json!("module.vm.mlir"));
    assert_eq!(names, [&inside, &inside, &inside, &Value::Null, &outside]);
    step_to_line(&mut client, 4);

    // A client without `invalidated` events gets a second `stopped` event.
    let said = json!({"expression": "level source", "context": "repl"});
    client.request("evaluate", &said);
    assert_eq!(client.event("stopped")["reason"], "step");
    assert_eq!(frame(&mut client)["source"]["name"], "perceptron.mlir");
    client.disconnect_from_stop();
}

#[test]
fn a_level_that_is_not_there_is_refused() {
    let mut client = Client::new();
    client.initialize();
    let error = client.fails("launch", &at_level(several(), "asm"));
    assert!(error.contains("source, vm and disassembly"), "{error}");
    client.event("terminated");
    client.disconnect();

    let bare = tempfile::tempdir().unwrap();
    let module = bare.path().join("bare.vmfb");
    let program = several();
    std::fs::copy(program["program"].as_str().unwrap(), &module).unwrap();
    let mut without_companion = at_level(program, "vm");
    without_companion["program"] = json!(module);
    let mut client = Client::new();
    client.initialize();
    let error = client.fails("launch", &without_companion);
    assert!(error.contains("no module has its VM program as text"), "{error}");
    client.event("terminated");
    client.disconnect();
}

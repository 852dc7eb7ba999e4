//! The values of a stopped program.

use std::fs;

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{call, call_across_modules, line, line_of, module, source, source_of};

/// The variables of a scope of a frame.
#[track_caller]
fn scope(client: &mut Client, frame: &Value, name: &str) -> Vec<Value> {
    let scopes = client.request("scopes", &json!({"frameId": frame["id"]}));
    let scopes = scopes["scopes"].as_array().unwrap();
    let scope = scopes.iter().find(|scope| scope["name"] == name);
    let scope = scope.unwrap_or_else(|| panic!("no {name} in {scopes:?}"));
    children(client, &scope["variablesReference"])
}

#[track_caller]
fn children(client: &mut Client, reference: &Value) -> Vec<Value> {
    let body = client.request("variables", &json!({"variablesReference": reference}));
    body["variables"].as_array().unwrap().clone()
}

#[track_caller]
fn named<'a>(variables: &'a [Value], name: &str) -> &'a Value {
    let found = variables.iter().find(|variable| variable["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {variables:?}"))
}

#[track_caller]
fn frames(client: &mut Client) -> Vec<Value> {
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    trace["stackFrames"].as_array().unwrap().clone()
}

#[test]
fn the_stack_crosses_calls_and_comes_in_parts() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("doubling"));
    let all = frames(&mut client);
    let names: Vec<&Value> = all.iter().map(|frame| &frame["name"]).collect();
    assert_eq!(names, ["twice", "sum"]);
    assert_eq!(all[0]["line"], line("doubling"));
    assert_eq!(all[1]["line"], line("calling"));
    assert_eq!(all[1]["source"]["path"], json!(source()));
    assert_eq!(all[1]["source"]["name"], "program.mlir");
    let part = json!({"threadId": 1, "startFrame": 1, "levels": 20});
    let part = client.request("stackTrace", &part);
    assert_eq!(part, json!({"stackFrames": [all[1]], "totalFrames": 2}));
    let beyond = client.request("stackTrace", &json!({"threadId": 1, "startFrame": 9}));
    assert_eq!(beyond, json!({"stackFrames": [], "totalFrames": 2}));
    client.disconnect_from_stop();
}

#[test]
fn the_stack_crosses_modules() {
    let mut client = Client::new();
    let doubling = line_of("provider", "doubling");
    client.launch_to_line(&call_across_modules("4"), &source_of("provider"), doubling);
    let all = frames(&mut client);
    let modules: Vec<&Value> = all.iter().map(|frame| &frame["moduleId"]).collect();
    assert_eq!(modules, ["provider", "module"]);
    assert_eq!(all[0]["line"], doubling);
    assert_eq!(all[1]["line"], line_of("caller", "calling"));
    client.request("stepOut", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "step");
    assert_eq!(client.top().0, "main");
    client.request("continue", &json!({"threadId": 1}));
    client.ends(0);
    assert_eq!(client.printed("stdout"), "EXEC @main\nresult[0]: i32=9\n");
    client.disconnect();
}

#[test]
fn values_have_names_types_and_registers() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["5"]), &source(), line("adding"));
    client.request("continue", &json!({"threadId": 1}));
    client.event("stopped");
    let frame = frames(&mut client).remove(0);
    let locals = scope(&mut client, &frame, "Locals");
    assert_eq!(named(&locals, "%double")["value"], "2");
    assert_eq!(named(&locals, "%double")["type"], "i32");
    let registers = scope(&mut client, &frame, "Registers");
    assert!(registers.iter().any(|register| register["value"] == "2"), "{registers:?}");
    let globals = scope(&mut client, &frame, "Globals");
    assert!(globals.iter().any(|global| global["value"] == "2"), "{globals:?}");

    // A name in the list can be evaluated.
    let all = locals.iter().chain(&registers).chain(&globals);
    for variable in all.filter(|variable| variable.get("evaluateName").is_some()) {
        for context in ["hover", "watch", "repl"] {
            let arguments = json!({
                "expression": variable["evaluateName"], "frameId": frame["id"], "context": context,
            });
            let answer = client.request("evaluate", &arguments);
            assert_eq!(answer["result"], variable["value"], "{variable}");
        }
    }
    // A hover says how the value of a name is known; other expressions have their type alone.
    let hover = |expression: &str| json!({"expression": expression, "frameId": frame["id"], "context": "hover"});
    let shown = client.request("evaluate", &hover("%double"))["type"].clone();
    let shown = shown.as_str().unwrap();
    assert!(shown.starts_with("i32 (%i") && shown.ends_with("proven by structure)"), "{shown}");
    let computed = client.request("evaluate", &hover("%double + 1"))["type"].clone();
    assert!(!computed.as_str().unwrap_or_default().contains("proven"), "{computed}");
    let unknown = json!({"expression": "nothing", "frameId": frame["id"], "context": "hover"});
    assert!(client.fails("evaluate", &unknown).contains("nothing"));

    // Numbers of this stop are not valid at the next.
    client.request("next", &json!({"threadId": 1}));
    client.event("stopped");
    let error = client.fails("scopes", &json!({"frameId": frame["id"]}));
    assert!(error.contains("is not on the stack"), "{error}");
    client.disconnect_from_stop();
}

#[test]
fn long_lists_come_in_parts() {
    let mut client = Client::new();
    client.launch_to_line(&call("list", &["30000"]), &source(), line("filled"));
    let list = client.request("evaluate", &json!({"expression": "r0"}));
    assert_eq!(list["indexedVariables"], 30000);
    assert_eq!(list["result"], "[7, 7, 7, 7, 7, 7, 7, 7, … 29992 more]");
    let mut part = |arguments: Value| {
        let mut arguments = arguments;
        arguments["variablesReference"] = list["variablesReference"].clone();
        client.request("variables", &arguments)["variables"].as_array().unwrap().clone()
    };
    let some = part(json!({"filter": "indexed", "start": 29_998, "count": 100}));
    assert_eq!(some.len(), 2);
    assert!(some.iter().all(|element| element["value"] == "7"), "{some:?}");
    assert_eq!(part(json!({"filter": "named"})), Vec::<Value>::new());
    assert_eq!(part(json!({"start": 30_000, "count": 100})), Vec::<Value>::new());
    let all = part(json!({}));
    assert_eq!(all.len(), 10_001);
    assert_eq!(all[10_000]["value"], "20000 more, for clients that ask in parts");
    client.disconnect_from_stop();
}

#[test]
fn steps_go_by_line_and_by_instruction() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("calling"));
    let step = |client: &mut Client, how: &str, granularity: &str| {
        client.request(how, &json!({"threadId": 1, "granularity": granularity}));
        let stopped = client.event("stopped");
        (stopped["reason"].clone(), client.top())
    };
    client.request("setBreakpoints", &json!({"source": {"path": source()}}));
    let (reason, (function, _)) = step(&mut client, "stepIn", "statement");
    assert_eq!((reason, function.as_str()), (json!("step"), "twice"));
    let before = frames(&mut client)[0]["instructionPointerReference"].clone();
    let (_, (function, _)) = step(&mut client, "stepIn", "instruction");
    assert_eq!(function, "twice");
    assert_ne!(frames(&mut client)[0]["instructionPointerReference"], before);
    let (_, (function, at)) = step(&mut client, "stepOut", "line");
    assert_eq!((function.as_str(), at), ("sum", i64::from(line("adding"))));
    let (reason, (function, at)) = step(&mut client, "next", "line");
    assert_eq!((reason, function.as_str()), (json!("step"), "sum"));
    assert_ne!(at, i64::from(line("adding")));
    client.disconnect_from_stop();
}

#[test]
fn code_is_disassembled_in_exact_counts() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("adding"));
    let here = frames(&mut client)[0]["instructionPointerReference"].clone();
    let mut disassemble = |offset: i64, count: usize| {
        let arguments = json!({
            "memoryReference": here, "instructionOffset": offset, "instructionCount": count,
            "resolveSymbols": true,
        });
        let body = client.request("disassemble", &arguments);
        let instructions = body["instructions"].as_array().unwrap().clone();
        assert_eq!(instructions.len(), count, "{offset} {count}");
        instructions
    };
    let first = disassemble(0, 1).remove(0);
    assert_eq!(first["address"], here);
    assert!(first["instruction"].as_str().unwrap().contains("vm.add.i32"), "{first}");
    assert_eq!(first["location"]["path"], json!(source()));
    assert_eq!(first["line"], line("adding"));
    let around = disassemble(-50, 100);
    assert_eq!(around[50]["address"], here);
    assert!(around.iter().any(|it| it["symbol"] == "twice"), "{around:?}");
    let far = disassemble(-200, 400);
    assert_eq!(far[150]["address"], around[0]["address"]);
    assert!(far.iter().any(|it| it["presentationHint"] == "invalid"));
    let addresses = |from: &[Value]| -> Vec<u64> {
        let hexadecimal = |it: &Value| it["address"].as_str().unwrap()[2..].to_owned();
        let valid = from.iter().filter(|it| it["presentationHint"] != "invalid");
        valid.map(|it| u64::from_str_radix(&hexadecimal(it), 16).unwrap()).collect()
    };
    assert!(addresses(&far).is_sorted());
    for (offset, count) in [(i64::MAX, 3), (i64::MIN, 3), (0, 0), (5000, 10)] {
        disassemble(offset, count);
    }
    let nowhere = json!({"memoryReference": "0x7", "instructionCount": 20});
    let body = client.request("disassemble", &nowhere);
    assert_eq!(body["instructions"].as_array().unwrap().len(), 20);
    client.disconnect_from_stop();
}

#[test]
fn without_its_source_a_program_shows_what_its_debug_file_keeps() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("program.mlir");
    fs::copy(source(), &program).unwrap();
    let mut client = Client::new();
    let arguments =
        json!({"program": program, "function": "sum", "inputs": ["3"], "stopOnEntry": true});
    client.launch(&arguments);
    fs::remove_file(&program).unwrap();
    client.request("configurationDone", &json!({}));
    client.event("stopped");
    let frame = frames(&mut client).remove(0);
    let reference = frame["source"]["sourceReference"].clone();
    assert!(reference.is_i64(), "{frame}");
    let arguments = json!({"source": frame["source"], "sourceReference": reference});
    let text = client.request("source", &arguments)["content"].as_str().unwrap().to_owned();
    let shown = text.lines().nth(frame["line"].as_u64().unwrap() as usize - 1).unwrap();
    assert!(shown.contains("scf.for"), "{shown}");
    // That text takes breakpoints.
    let at = i64::from(line("adding"));
    let arguments = json!({"source": frame["source"], "breakpoints": [{"line": at}]});
    let answer = client.request("setBreakpoints", &arguments);
    assert_eq!(answer["breakpoints"][0]["verified"], true, "{answer}");
    client.request("continue", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "breakpoint");
    assert_eq!(client.top(), ("sum".into(), at));
    client.disconnect_from_stop();
}

#[test]
fn lines_count_from_zero_for_clients_that_do() {
    let mut client = Client::new();
    let arguments = json!({"adapterID": "iree", "linesStartAt1": false, "columnsStartAt1": false});
    client.request("initialize", &arguments);
    client.request("launch", &json!({"program": module(), "function": "sum", "inputs": ["3"]}));
    client.event("initialized");
    let breakpoint = client.set_line(&source(), line("adding") - 1);
    assert_eq!(breakpoint["line"], line("adding") - 1);
    client.request("configurationDone", &json!({}));
    client.event("stopped");
    assert_eq!(client.top().1, i64::from(line("adding")) - 1);
    client.disconnect_from_stop();
}

#[test]
fn integers_are_hexadecimal_for_clients_that_want_that() {
    let mut client = Client::new();
    let capabilities = client.initialize();
    assert_eq!(capabilities["supportsValueFormattingOptions"], true);
    client.disconnect();
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["45"]), &source(), line("adding"));
    let frame = frames(&mut client)[0].clone();
    let hex = json!({"hex": true});
    let mut evaluate = |expression: &str, format: &Value| {
        let arguments = json!({"expression": expression, "frameId": frame["id"], "format": format});
        client.request("evaluate", &arguments)["result"].as_str().unwrap().to_owned()
    };
    assert_eq!(evaluate("%n", &hex), "0x2d");
    assert_eq!(evaluate("%n", &json!({"hex": false})), "45");
    assert_eq!(evaluate("%n", &json!({})), "45");
    assert_eq!(evaluate("0 - %n", &hex), "0xffffffffffffffd3");
    // The user's choice overrides the client's.
    assert_eq!(evaluate("%n,d", &hex), "45");
    assert_eq!(evaluate("1.5", &hex), "1.5");
    let scopes = client.request("scopes", &json!({"frameId": frame["id"]}));
    let mut in_hex = |name: &str| {
        let scopes = scopes["scopes"].as_array().unwrap().iter();
        let scope = scopes.clone().find(|scope| scope["name"] == name).unwrap();
        let arguments = json!({"variablesReference": scope["variablesReference"], "format": hex});
        (arguments.clone(), client.request("variables", &arguments)["variables"].clone())
    };
    let (arguments, variables) = in_hex("Arguments");
    assert_eq!(named(variables.as_array().unwrap(), "%n")["value"], "0x2d");
    let (_, registers) = in_hex("Registers");
    for register in registers.as_array().unwrap().iter().filter(|it| it["type"] == "i32") {
        assert!(register["value"].as_str().unwrap().starts_with("0x"), "{register}");
    }
    let (locals, _) = in_hex("Locals");
    let set = json!({
        "variablesReference": locals["variablesReference"], "name": "%double",
        "value": "0xff", "format": {"hex": true},
    });
    assert_eq!(client.request("setVariable", &set)["value"], "0xff", "{arguments}");
    let set = json!({"expression": "%double", "value": "0 - 1", "format": {"hex": true}});
    assert_eq!(client.request("setExpression", &set)["value"], "0xffffffff");
    client.disconnect_from_stop();
}

#[test]
fn frames_are_called_what_a_client_wants() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["45"]), &source(), line("doubling"));
    let mut names = |format: Value| {
        let trace = client.request("stackTrace", &json!({"threadId": 1, "format": format}));
        let frames = trace["stackFrames"].as_array().unwrap().iter();
        frames.map(|it| it["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(json!({})), ["twice", "sum"]);
    assert_eq!(names(json!({"hex": null, "line": null})), ["twice", "sum"]);
    assert_eq!(names(json!({"includeAll": true, "hex": true})), ["twice", "sum"]);
    let parameters = json!({"parameters": true});
    assert_eq!(names(parameters), ["twice(%x)", "sum(%n)"]);
    let parameters = json!({"parameters": true, "parameterTypes": true});
    assert_eq!(names(parameters), ["twice(i32)", "sum(i32)"]);
    let all = json!({
        "parameters": true, "parameterTypes": true, "parameterNames": true,
        "parameterValues": true, "line": true, "module": true, "hex": true,
    });
    let [doubling, calling] = [line("doubling"), line("calling")];
    let expected = [
        format!("module.twice(%x: i32 = 0x0) line {doubling}"),
        format!("module.sum(%n: i32 = 0x2d) line {calling}"),
    ];
    assert_eq!(names(all), expected);
    client.disconnect_from_stop();
}

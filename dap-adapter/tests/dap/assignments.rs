//! Changes of values, memory and places in a stopped program; conditions and log messages.

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{call, line, perceptron, source};

/// A client that shows memory and handles `invalidated` events.
fn watchful(arguments: &Value) -> Client {
    let mut client = Client::new();
    client.request(
        "initialize",
        &json!({
            "adapterID": "iree", "supportsVariablePaging": true, "supportsMemoryReferences": true,
            "supportsInvalidatedEvent": true, "supportsMemoryEvent": true,
        }),
    );
    client.request("launch", arguments);
    client.event("initialized");
    client
}

#[track_caller]
fn frame(client: &mut Client, index: usize) -> Value {
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    trace["stackFrames"][index].clone()
}

#[track_caller]
fn scope(client: &mut Client, name: &str) -> Value {
    let frame = frame(client, 0);
    let scopes = client.request("scopes", &json!({"frameId": frame["id"]}));
    let scopes = scopes["scopes"].as_array().unwrap();
    let scope = scopes.iter().find(|scope| scope["name"] == name);
    scope.unwrap_or_else(|| panic!("no {name} in {scopes:?}"))["variablesReference"].clone()
}

#[track_caller]
fn evaluate(client: &mut Client, expression: &str, context: &str) -> Value {
    let frame = frame(client, 0)["id"].clone();
    client.request(
        "evaluate",
        &json!({"expression": expression, "frameId": frame, "context": context}),
    )
}

/// Sets the only breakpoint of the program's source, with more than a line.
#[track_caller]
fn set(client: &mut Client, mut breakpoint: Value, line: u32) -> Value {
    breakpoint["line"] = line.into();
    let arguments = json!({"source": {"path": source()}, "breakpoints": [breakpoint]});
    client.request("setBreakpoints", &arguments)["breakpoints"][0].clone()
}

#[track_caller]
fn everything_is_asked_again(client: &mut Client) {
    assert_eq!(client.event("invalidated"), json!({"areas": ["variables"]}));
}

#[test]
fn a_variable_that_is_set_is_what_the_program_goes_on_with() {
    let mut client = watchful(&call("sum", &["4"]));
    set(&mut client, json!({}), line("adding"));
    client.request("configurationDone", &json!({}));
    client.event("stopped");
    let locals = scope(&mut client, "Locals");
    let arguments = json!({"variablesReference": locals, "name": "%double", "value": "40 + 2"});
    let answer = client.request("setVariable", &arguments);
    assert_eq!((&answer["value"], &answer["type"]), (&json!("42"), &json!("i32")));
    everything_is_asked_again(&mut client);
    assert_eq!(evaluate(&mut client, "%double", "watch")["result"], "42");
    let frame = frame(&mut client, 0)["id"].clone();
    let arguments = json!({"expression": "%double", "value": "%double + 100", "frameId": frame});
    assert_eq!(client.request("setExpression", &arguments)["value"], "142");
    everything_is_asked_again(&mut client);
    // The console takes assignments too.
    assert_eq!(evaluate(&mut client, "%double = 1000", "repl")["result"], "1000");
    everything_is_asked_again(&mut client);
    for (name, value) in [("%double", "\"text\""), ("%double", "1 +"), ("%nothing", "1")] {
        let arguments = json!({"variablesReference": locals, "name": name, "value": value});
        client.fails("setVariable", &arguments);
    }
    client.request("setBreakpoints", &json!({"source": {"path": source()}}));
    client.request("continue", &json!({"threadId": 1}));
    client.ends(0);
    // 2 * (0 + 1 + 2 + 3), and 1000 for the first element.
    assert!(client.printed("stdout").contains("i32=1012"), "{}", client.printed("stdout"));
    client.disconnect();
}

#[test]
fn memory_is_read_and_written_where_a_value_is() {
    let mut client = watchful(&perceptron());
    let names = json!({"breakpoints": [{"name": "dispatch:*_0_matmul_*"}]});
    client.request("setFunctionBreakpoints", &names);
    client.request("configurationDone", &json!({}));
    client.event("stopped");
    let binding = evaluate(&mut client, "binding[0]", "watch");
    let reference = binding["memoryReference"].clone();
    let read = |client: &mut Client, offset: i64, count: i64| {
        let arguments = json!({"memoryReference": reference, "offset": offset, "count": count});
        client.request("readMemory", &arguments)
    };
    // 1.0 is 00 00 80 3f.
    let bytes = read(&mut client, 0, 4);
    assert_eq!((&bytes["data"], &bytes["address"]), (&json!("AACAPw=="), &reference));
    assert_eq!(read(&mut client, 126, 8)["unreadableBytes"], 6);
    assert_eq!(read(&mut client, 1 << 40, 8).get("data"), None);
    assert_eq!(read(&mut client, 0, 0).get("data"), None);
    // 2.0 in the second element.
    let two = json!({"memoryReference": reference, "offset": 4, "data": "AAAAQA=="});
    assert_eq!(client.request("writeMemory", &two)["bytesWritten"], 4);
    let changed = json!({"memoryReference": reference, "offset": 4, "count": 4});
    assert_eq!(client.event("memory"), changed);
    everything_is_asked_again(&mut client);
    assert_eq!(evaluate(&mut client, "binding[0][0][1]", "watch")["result"], "2");
    // Setting an element changes the memory that the client shows.
    let frame = frame(&mut client, 0)["id"].clone();
    let arguments = json!({"expression": "binding[0][0][2]", "value": "3", "frameId": frame});
    assert_eq!(client.request("setExpression", &arguments)["value"], "3");
    assert_eq!(client.event("memory")["memoryReference"], reference);
    everything_is_asked_again(&mut client);
    assert_eq!(read(&mut client, 8, 4)["data"], "AABAQA==");
    for (arguments, expected) in [
        (json!({"memoryReference": "0x1", "data": ""}), "is no memory that was shown"),
        (json!({"memoryReference": reference, "data": "?"}), "is not base64"),
        (json!({"memoryReference": reference, "offset": 126, "data": "AAAAQA=="}), "do not fit"),
        (json!({"memoryReference": reference, "offset": -4, "data": "AAAAQA=="}), "no byte -4"),
    ] {
        let error = client.fails("writeMemory", &arguments);
        assert!(error.contains(expected), "{arguments}: {error}");
    }
    client.disconnect_from_stop();
}

#[test]
fn a_tensor_says_what_it_is_like_as_a_whole_when_asked() {
    let mut client = watchful(&perceptron());
    let names = json!({"breakpoints": [{"name": "dispatch:*_0_matmul_*"}]});
    client.request("setFunctionBreakpoints", &names);
    client.request("configurationDone", &json!({}));
    client.event("stopped");
    let binding = evaluate(&mut client, "binding[0]", "watch");
    assert_eq!((&binding["namedVariables"], &binding["indexedVariables"]), (&json!(1), &json!(4)));
    let ask = |client: &mut Client, reference: &Value, filter: &str| {
        let arguments = json!({"variablesReference": reference, "filter": filter});
        client.request("variables", &arguments)["variables"].as_array().unwrap().clone()
    };
    let named = ask(&mut client, &binding["variablesReference"], "named");
    assert_eq!(named.len(), 1);
    assert_eq!(named[0]["presentationHint"], json!({"kind": "virtual", "lazy": true}));
    let summary =
        client.request("variables", &json!({"variablesReference": named[0]["variablesReference"]}));
    let summary = summary["variables"].as_array().unwrap();
    assert_eq!(summary.len(), 1);
    assert_eq!(summary[0]["value"], "min 1, max 1, mean 1, 0 zero, 0 NaN, 0 inf");
    // The expression for an element consists of the whole and the index.
    let rows = ask(&mut client, &binding["variablesReference"], "indexed");
    assert_eq!(rows[3]["evaluateName"], "binding[0][3]");
    let elements = ask(&mut client, &rows[3]["variablesReference"], "indexed");
    assert_eq!(elements[7]["evaluateName"], "binding[0][3][7]");
    let arguments =
        json!({"variablesReference": rows[3]["variablesReference"], "name": "[7]", "value": "nan"});
    client.request("setVariable", &arguments);
    everything_is_asked_again(&mut client);
    assert_eq!(evaluate(&mut client, "nan(binding[0])", "watch")["result"], "1");
    // The clipboard gets all elements.
    let ones = |count: usize| vec!["1"; count].join(", ");
    let whole = format!("[[{0}], [{0}], [{0}], [{1}, nan]]", ones(8), ones(7));
    let copied = evaluate(&mut client, "binding[0]", "clipboard")["result"].clone();
    assert_eq!(copied.as_str().unwrap().to_lowercase(), whole);
    client.disconnect_from_stop();
}

#[test]
fn conditions_decide_and_messages_are_printed() {
    let mut client = Client::new();
    client.launch(&call("sum", &["10"]));
    for (wrong, expected) in [
        (json!({"condition": "%double =="}), "the condition is wrong"),
        (json!({"condition": "%nothing == 3"}), "the condition is wrong"),
        (json!({"logMessage": "{%double"}), "the log message is wrong"),
    ] {
        let refused = set(&mut client, wrong, line("adding"));
        assert_eq!((&refused["verified"], &refused["reason"]), (&json!(false), &json!("failed")));
        assert!(refused["message"].as_str().unwrap().contains(expected), "{refused}");
    }
    let condition = json!({"condition": "%double > 10 && %double % 4 == 0"});
    assert_eq!(set(&mut client, condition, line("adding"))["verified"], true);
    client.request("configurationDone", &json!({}));
    for expected in ["12", "16"] {
        assert_eq!(client.event("stopped")["reason"], "breakpoint");
        assert_eq!(evaluate(&mut client, "%double", "watch")["result"], expected);
        client.request("continue", &json!({"threadId": 1}));
    }
    client.ends(0);
    client.disconnect();

    let mut client = Client::new();
    client.launch(&call("sum", &["3"]));
    set(&mut client, json!({"logMessage": "double is {%double}"}), line("adding"));
    client.request("configurationDone", &json!({}));
    client.ends(0);
    let printed = client.printed("console");
    assert!(printed.contains("double is 0\ndouble is 2\ndouble is 4\n"), "{printed}");
    client.disconnect();

    let mut client = Client::new();
    client.launch(&call("list", &["3"]));
    set(&mut client, json!({"logMessage": "before {%i}: {%list}"}), line("filling"));
    client.request("configurationDone", &json!({}));
    client.ends(0);
    let printed = client.printed("console");
    let lines = "before 0: [0, 0, 0]\nbefore 1: [7, 0, 0]\nbefore 2: [7, 7, 0]\n";
    assert!(printed.contains(lines), "{printed}");
    client.disconnect();
}

#[test]
fn a_flood_of_messages_leaves_the_client_in_charge() {
    let mut client = Client::new();
    client.launch(&call("forever", &["2"]));
    set(&mut client, json!({"logMessage": "at {%next}"}), line("turning"));
    client.request("configurationDone", &json!({}));
    client.request("pause", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "pause");
    client.disconnect_from_stop();
}

#[test]
fn the_console_completes_what_there_is() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("adding"));
    let frame = frame(&mut client, 0)["id"].clone();
    let mut complete = |text: &str, column: usize| {
        let arguments = json!({"frameId": frame, "text": text, "column": column});
        let targets = client.request("completions", &arguments)["targets"].clone();
        targets.as_array().unwrap().clone()
    };
    let targets = complete("1 + %dou", 9);
    let double = targets.iter().find(|it| it["label"] == "%double").expect("a local");
    assert_eq!((&double["start"], &double["length"]), (&json!(5), &json!(4)));
    assert!(complete("", 1).len() > 5);
    assert_eq!(complete("%nosuch", 8), Vec::<Value>::new());
    complete("\u{1f600}%d", 99);
    client.disconnect_from_stop();
}

#[test]
fn the_console_calls_what_is_pure_and_a_watch_calls_nothing() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("adding"));
    let frame = frame(&mut client, 0)["id"].clone();
    let arguments = |text: &str, context: &str| {
        json!({
            "expression": text, "frameId": frame, "context": context,
        })
    };
    // The function stores a global.
    let error = client.fails("evaluate", &arguments("@twice(3)", "repl"));
    assert!(error.contains("is not pure"), "{error}");
    client.fails("evaluate", &arguments("@twice(3)", "watch"));
    let error = client.fails("evaluate", &arguments("%double +", "repl"));
    assert!(error.contains('^'), "{error}");
    client.disconnect_from_stop();
}

#[test]
fn a_step_goes_into_a_chosen_call() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("calling"));
    client.request("setBreakpoints", &json!({"source": {"path": source()}}));
    let id = frame(&mut client, 0)["id"].clone();
    let targets = client.request("stepInTargets", &json!({"frameId": id}));
    let target = targets["targets"][0].clone();
    assert_eq!(target["label"], "twice");
    client.request("stepIn", &json!({"threadId": 1, "targetId": target["id"]}));
    assert_eq!(client.event("stopped")["reason"], "step");
    assert_eq!(client.top().0, "twice");
    let error = client.fails("stepIn", &json!({"threadId": 1, "targetId": target["id"]}));
    assert!(error.contains("is not of this stop"), "{error}");
    client.disconnect_from_stop();
}

#[test]
fn the_program_goes_on_elsewhere() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("adding"));
    client.request("setBreakpoints", &json!({"source": {"path": source()}}));
    let arguments = json!({"source": {"path": source()}, "line": line("calling")});
    let targets = client.request("gotoTargets", &arguments);
    let target = targets["targets"][0].clone();
    assert_eq!(target["line"], line("calling"));
    client.request("goto", &json!({"threadId": 1, "targetId": target["id"]}));
    assert_eq!(client.event("stopped")["reason"], "goto");
    assert_eq!(client.top(), ("sum".into(), i64::from(line("calling"))));
    let elsewhere = json!({"source": {"path": source()}, "line": line("turning")});
    let error = client.fails("gotoTargets", &elsewhere);
    assert!(error.contains("not in sum"), "{error}");
    client.request("continue", &json!({"threadId": 1}));
    client.ends(0);
    client.disconnect();
}

#[test]
fn a_frame_restarts() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("back"));
    let frames = client.request("stackTrace", &json!({"threadId": 1}))["stackFrames"].clone();
    assert_eq!(frames[0]["canRestart"], true);
    client.request("restartFrame", &json!({"frameId": frames[0]["id"]}));
    assert_eq!(client.event("stopped")["reason"], "step");
    let (name, at) = client.top();
    assert_eq!(name, "twice");
    assert!(at <= i64::from(line("doubling")), "{at}");
    let error = client.fails("restartFrame", &json!({"frameId": frames[0]["id"]}));
    assert!(error.contains("is not on the stack"), "{error}");
    client.disconnect_from_stop();
}

/// What an editor evaluates by itself, as for a hover, reads no file; and memory of the process is
/// for launches that allow it.
#[test]
fn expressions_read_the_program_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.npy");
    let tensor = abi::tensor::Tensor::parse("2xf32=4242 1", 8).unwrap();
    std::fs::write(&file, abi::npy::write(&tensor).unwrap()).unwrap();
    for allowed in [false, true] {
        let mut client = Client::new();
        let mut arguments = call("sum", &["3"]);
        arguments["foreignMemory"] = json!(allowed);
        client.launch_to_line(&arguments, &source(), line("adding"));
        let frame = frame(&mut client, 0)["id"].clone();
        let arguments = |text: &str, context: &str| json!({"expression": text, "frameId": frame, "context": context});
        let read = format!("@{}[0]", file.display());
        let typed = client.request("evaluate", &arguments(&read, "repl"))["result"].clone();
        assert!(typed.as_str().unwrap().contains("4242"), "{typed}");
        for context in ["watch", "hover", "variables", "clipboard"] {
            let error = client.fails("evaluate", &arguments(&read, context));
            assert!(error.contains("files are read for what is typed"), "{context}: {error}");
        }
        // The number is no memory; what is refused is refused before that is seen.
        for context in ["watch", "repl"] {
            let error = client.fails("evaluate", &arguments("(1 as memref<?xf32>)", context));
            assert_eq!(error.contains("foreignMemory"), !allowed, "{context}: {error}");
        }
        client.disconnect_from_stop();
    }
}

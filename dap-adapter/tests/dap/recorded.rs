//! Recorded programs go back: the buttons of a client, lines of the console, and moments of a time
//! line.

use std::path::Path;

use debug::{Debugger, LaunchOptions, ModuleSource, RecordOptions, Resume};
use recording::Writer;
use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{call, line, machine_layers, perceptron, perceptron_source, source};

fn launched(arguments: &Value) -> Client {
    let mut arguments = arguments.clone();
    arguments["record"] = true.into();
    arguments["stopOnEntry"] = true.into();
    let mut client = Client::new();
    client.launch(&arguments);
    client.request("configurationDone", &json!({}));
    let told = client.event("capabilities");
    assert_eq!(told["capabilities"], json!({"supportsStepBack": true}));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "entry", "{stopped}");
    client
}

/// Sends a request that moves the program; returns where it stands then.
#[track_caller]
fn goes(client: &mut Client, command: &str, arguments: &Value) -> (String, i64) {
    client.request(command, arguments);
    client.event("stopped");
    client.top()
}

#[test]
fn steps_back_lead_where_steps_came_from() {
    let thread = json!({"threadId": 1});
    let mut client = launched(&call("sum", &["3"]));
    let entry = client.top();
    let mut way = Vec::new();
    for _ in 0..6 {
        way.push(goes(&mut client, "next", &thread));
    }
    way.pop();
    while let Some(expected) = way.pop() {
        assert_eq!(goes(&mut client, "stepBack", &thread), expected);
    }
    client.request("stepBack", &thread);
    assert_eq!(client.event("stopped")["description"], "The beginning of the recording");
    assert_eq!(client.top(), entry);

    // Breakpoints hold in both directions.
    client.set_line(&source(), line("adding"));
    let hits: Vec<i64> = (0..2).map(|_| goes(&mut client, "continue", &thread).1).collect();
    assert_eq!(hits, [i64::from(line("adding")); 2]);
    client.request("reverseContinue", &thread);
    assert_eq!(client.event("stopped")["reason"], "breakpoint");
    client.request("reverseContinue", &thread);
    assert_eq!(client.event("stopped")["description"], "The beginning of the recording");
    client.disconnect_from_stop();
}

#[test]
fn a_recorded_program_stops_at_its_end() {
    let thread = json!({"threadId": 1});
    let mut client = launched(&perceptron());
    client.request("continue", &thread);
    let stopped = client.event("stopped");
    assert_eq!(stopped["description"], "The end of the recorded run");
    assert!(client.printed("stdout").contains("EXEC @perceptron"));
    let end = client.top();
    let text = std::fs::read_to_string(perceptron_source()).unwrap();
    let returns = text.lines().position(|line| line.contains("return %m2")).unwrap();
    assert_eq!(end.1, i64::try_from(returns).unwrap() + 1);

    let line = json!({"expression": "`bookmark end", "context": "repl"});
    client.request("evaluate", &line);

    // The time line: to before the second command, and who has written an element there.
    let map = client.request("iree/runMap", &json!({}));
    assert_eq!(map["isRecorded"], true);
    let last = map["commands"].as_array().unwrap().last().unwrap()["number"].clone();
    client.request("iree/goTo", &json!({"command": last}));
    // The client does not know this request, so it is told.
    client.event("continued");
    client.event("stopped");
    let (name, _) = client.top();
    assert!(name.contains("dispatch_1_matmul"), "{name}");
    let frame = client.top_frame();
    let line = json!({"expression": "`who-wrote %h[1, 5]", "context": "repl", "frameId": frame});
    client.request("evaluate", &line);
    client.event("continued");
    let stopped = client.event("stopped");
    let text = stopped["text"].as_str().unwrap();
    assert!(text.starts_with("%h[1, 5] was written by perceptron, command 1"), "{text}");

    // It comes to its end again, and from there it ends.
    client.request("continue", &thread);
    assert_eq!(client.event("stopped")["description"], "The end of the recorded run");
    assert_eq!(client.top(), end);
    client.request("continue", &thread);
    client.ends(0);
    client.disconnect();
}

#[test]
fn what_is_not_recorded_cannot_go_back() {
    let mut client = Client::new();
    client.launch(&call("sum", &["3"]));
    client.set_line(&source(), line("adding"));
    client.request("configurationDone", &json!({}));
    client.event("stopped");
    for command in ["stepBack", "reverseContinue"] {
        let error = client.fails(command, &json!({"threadId": 1}));
        assert!(error.starts_with("the program is not recorded: launch with"), "{error}");
    }
    // The console can begin to record, and the client hears of it.
    let line = json!({"expression": "`record", "context": "repl"});
    client.request("evaluate", &line);
    let told = client.event("capabilities");
    assert_eq!(told["capabilities"], json!({"supportsStepBack": true}));
    goes(&mut client, "next", &json!({"threadId": 1}));
    goes(&mut client, "stepBack", &json!({"threadId": 1}));
    client.disconnect_from_stop();
}

/// Records a run from its beginning to its end.
fn recorded(arguments: &Value, path: &Path, with_results: bool) {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let options = LaunchOptions {
        modules: vec![ModuleSource::Path(text(&arguments["program"]).into())],
        function: arguments["function"].as_str().map(str::to_owned),
        inputs: arguments["inputs"].as_array().expect("inputs").iter().map(text).collect(),
        record: Some(RecordOptions::default()),
        ..LaunchOptions::default()
    };
    let mut debugger = Debugger::load(options.clone()).expect("it loads");
    let writer = Writer::begin(path, &options, &mut debugger).expect("it can be written");
    if with_results {
        writer.keep_results(&debugger);
    }
    let reason = debugger.resume(Resume::Continue);
    writer.end(&mut debugger, &reason).expect("it is written");
}

/// A recording that `run --record=FILE` has left is a program like others.
#[test]
fn the_file_of_a_recorded_run_is_launched() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("run");
    recorded(&perceptron(), &path, false);

    let mut client = launched(&json!({"program": path}));
    client.request("continue", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["description"], "The end of the recorded run");
    assert!(client.printed("stdout").contains("EXEC @perceptron"));
    let end = client.top();
    goes(&mut client, "stepBack", &json!({"threadId": 1}));
    assert_eq!(goes(&mut client, "next", &json!({"threadId": 1})), end);
    client.disconnect_from_stop();

    let mut client = Client::new();
    client.initialize();
    let refused = client.fails("launch", &json!({"program": path, "inputs": ["4xf32=1"]}));
    assert!(refused.contains("are those of the recording"), "{refused}");
}

/// A recording with results runs no machine code, unless that is asked for.
#[test]
fn a_recording_with_results_is_launched_without_them() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("run");
    recorded(&machine_layers(), &path, true);
    let thread = json!({"threadId": 1});
    let results = [false, true].map(|without| {
        let launch = json!({"program": path, "withoutResults": without, "sandbox": "off"});
        let mut client = launched(&launch);
        client.request("iree/goTo", &json!({"command": 2}));
        client.event("continued");
        client.event("stopped");
        let set = json!({
            "expression": "operand[0][0,0] = 5", "context": "repl", "frameId": client.top_frame()
        });
        let answer = client.answered("evaluate", &set).to_string();
        assert_eq!(answer.contains("withoutResults"), !without, "{answer}");
        client.request("continue", &thread);
        assert_eq!(client.event("stopped")["description"], "The end of the recorded run");
        let printed = client.printed("stdout").to_owned();
        client.disconnect_from_stop();
        printed
    });
    // What was set has had a part in what ran after it.
    assert_ne!(results[0], results[1]);
}

/// A value that is set begins a line of time, however it is asked for; the line before stays.
#[test]
fn a_value_that_is_set_in_the_past_begins_a_line() {
    let thread = json!({"threadId": 1});
    let mut client = launched(&call("sum", &["6"]));
    client.set_line(&source(), line("adding"));
    let kinds = ["setVariable", "setExpression", "assignment", "command"];
    for (index, kind) in kinds.into_iter().enumerate() {
        goes(&mut client, "continue", &thread);
        let frame = client.top_frame();
        let value = (40 + index).to_string();
        let scopes = client.request("scopes", &json!({"frameId": frame}));
        let locals = scopes["scopes"][0]["variablesReference"].clone();
        let console =
            |text: String| json!({"expression": text, "context": "repl", "frameId": frame});
        let (command, arguments) = match kind {
            "setVariable" => {
                (kind, json!({"variablesReference": locals, "name": "%double", "value": value}))
            }
            "setExpression" => {
                (kind, json!({"expression": "%double", "value": value, "frameId": frame}))
            }
            "assignment" => ("evaluate", console(format!("%double = {value}"))),
            _ => ("evaluate", console(format!("`set var %double = {value}"))),
        };
        let shown = json!({"expression": "%double", "context": "watch", "frameId": frame});
        let before = client.request("evaluate", &shown)["result"].clone();
        assert_ne!(before, value, "{kind}");
        let answer = client.request(command, &arguments);
        assert_eq!(client.request("evaluate", &shown)["result"], value, "{kind}");
        let told = [client.printed("console"), answer["result"].as_str().unwrap_or_default()];
        let begins = format!("line {} begins here", index + 2);
        assert!(told.concat().contains(&begins), "{kind}: {told:?}");
        goes(&mut client, "next", &thread);
        client.request("stepBack", &thread);
        let stopped = client.event("stopped");
        assert!(stopped["text"].as_str().unwrap_or_default().starts_with(&begins), "{stopped}");
        assert_eq!(evaluated_text(&mut client, "%double"), value, "{kind}");
        // The line before has the value that was there.
        goes_to_line(&mut client, index + 1);
        assert_eq!(evaluated_text(&mut client, "%double"), before, "{kind}");
        goes_to_line(&mut client, index + 2);
        assert_eq!(evaluated_text(&mut client, "%double"), value, "{kind}");
    }
    let lines = json!({"expression": "`lines", "context": "repl"});
    let lines = client.request("evaluate", &lines)["result"].clone();
    assert_eq!(lines.as_str().unwrap_or_default().lines().count(), 5, "{lines}");
    client.disconnect_from_stop();
}

fn goes_to_line(client: &mut Client, number: usize) {
    let line = json!({"expression": format!("`line {number}"), "context": "repl"});
    client.request("evaluate", &line);
    client.event("continued");
    client.event("stopped");
}

fn evaluated_text(client: &mut Client, expression: &str) -> Value {
    let frame = client.top_frame();
    let shown = json!({"expression": expression, "context": "watch", "frameId": frame});
    client.request("evaluate", &shown)["result"].clone()
}

#[test]
fn memory_that_is_written_in_the_past_begins_a_line() {
    let mut client = launched(&perceptron());
    let names = json!({"breakpoints": [{"name": "dispatch:*_0_matmul_*"}]});
    client.request("setFunctionBreakpoints", &names);
    goes(&mut client, "continue", &json!({"threadId": 1}));
    let frame = client.top_frame();
    let element = json!({"expression": "binding[0][0][1]", "context": "watch", "frameId": frame});
    let before = client.request("evaluate", &element)["result"].clone();
    let binding = json!({"expression": "binding[0]", "context": "watch", "frameId": frame});
    let reference = client.request("evaluate", &binding)["memoryReference"].clone();
    let two = json!({"memoryReference": reference, "offset": 4, "data": "AAAAQA=="});
    client.request("writeMemory", &two);
    assert_eq!(client.request("evaluate", &element)["result"], "2");
    assert!(client.printed("console").contains("line 2 begins here"));
    goes_to_line(&mut client, 1);
    assert_eq!(evaluated_text(&mut client, "binding[0][0][1]"), before);
    goes_to_line(&mut client, 2);
    assert_eq!(evaluated_text(&mut client, "binding[0][0][1]"), "2");
    client.disconnect_from_stop();
}

/// Goes to before a command. The client does not know this request, so it is told.
fn goes_to(client: &mut Client, command: u64) {
    client.request("iree/goTo", &json!({"command": command}));
    client.event("continued");
    client.event("stopped");
}

/// What a number is made of leads to the commands that have left it: after each of them, the
/// element is what the tree says.
#[test]
fn what_a_number_is_made_of_leads_to_its_commands() {
    let mut client = launched(&perceptron());
    client.request("continue", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["description"], "The end of the recorded run");
    let frame = client.top_frame();
    let why = client.request("iree/why", &json!({"of": "%m2[0, 0]", "frameId": frame}));
    let mut made = Vec::new();
    made_by_commands(&why["madeOf"], &mut made);
    let commands: Vec<u64> = made.iter().map(|(command, ..)| *command).collect();
    assert!(commands.contains(&1) && commands.contains(&2), "{why}");
    for (command, element, value) in made {
        goes_to(&mut client, command);
        client.request("next", &json!({"threadId": 1}));
        client.event("stopped");
        let after = evaluated(&mut client, &element);
        assert!((after.unwrap() - value).abs() < 1e-6, "{element} after command {command}");
    }
    let frame = client.top_frame();
    let unknown = json!({"of": "%nothing[0]", "frameId": frame});
    assert!(client.fails("iree/why", &unknown).contains("%nothing"));
    client.disconnect_from_stop();
}

/// The elements of a tree that commands have left, each with its command and value.
fn made_by_commands(node: &Value, found: &mut Vec<(u64, String, f64)>) {
    if let Some(command) = node["tensor"]["command"].as_u64() {
        let name = node["tensor"]["names"][0].as_str().unwrap();
        found.push((
            command,
            format!("{name}{}", node["element"]),
            node["value"].as_f64().unwrap(),
        ));
    }
    for largest in node["origin"]["largest"].as_array().into_iter().flatten() {
        // The terms of a sum have elements, or these are elements themselves.
        match largest["of"].as_array() {
            Some(of) => of.iter().for_each(|it| made_by_commands(it, found)),
            None => made_by_commands(largest, found),
        }
    }
}

/// A number where the program stands, if it is there.
fn evaluated(client: &mut Client, expression: &str) -> Option<f64> {
    let frame = client.top_frame();
    let asked = json!({"expression": expression, "context": "watch", "frameId": frame});
    client.answered("evaluate", &asked)["body"]["result"].as_str()?.parse().ok()
}

/// A view of memory that was opened shows the same tensor when the program was elsewhere meanwhile;
/// a data breakpoint stops in both directions.
#[test]
fn memory_stays_where_it_was_shown() {
    let mut client = launched(&perceptron());
    goes_to(&mut client, 2);
    let frame = client.top_frame();
    let evaluated = json!({"expression": "operand[0]", "context": "watch", "frameId": frame});
    let shown = client.request("evaluate", &evaluated);
    let reference = shown["memoryReference"].clone();
    assert!(reference.is_string(), "{shown}");
    let memory = json!({"memoryReference": reference, "count": 64});
    let bytes = client.request("readMemory", &memory)["data"].clone();
    let asked = json!({"name": "operand[0][0, 0]", "frameId": frame});
    let id = client.request("dataBreakpointInfo", &asked)["dataId"].clone();
    let watched = json!({"breakpoints": [{"dataId": id, "accessType": "write"}]});
    client.request("setDataBreakpoints", &watched);

    goes_to(&mut client, 1);
    goes_to(&mut client, 2);
    assert_eq!(client.request("readMemory", &memory)["data"], bytes);
    client.request("reverseContinue", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "data breakpoint");
    let mut stopped = Value::Null;
    while stopped["description"] != "The beginning of the recording" {
        client.request("reverseContinue", &json!({"threadId": 1}));
        stopped = client.event("stopped");
    }
    // There, it was not made yet.
    let error = client.fails("readMemory", &memory);
    assert!(error.contains("does not have the memory"), "{error}");
    client.request("continue", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "data breakpoint");
    client.disconnect_from_stop();
}

/// One dispatch again: its request and its event, and the same by a line of the console.
#[test]
fn a_dispatch_runs_again_on_what_was_set() {
    let mut client = Client::new();
    client.launch(&perceptron());
    let names = json!({"breakpoints": [{"name": "dispatch:*_1_*"}]});
    client.request("setFunctionBreakpoints", &names);
    client.request("configurationDone", &json!({}));
    client.event("stopped");
    let refused = client.answered("iree/rerun", &json!({}));
    assert_eq!(refused["success"], false);
    let why = refused["message"].as_str().unwrap();
    assert!(why.contains("has not run yet; `finish` runs it"), "{why}");
    client.request("stepOut", &json!({"threadId": 1}));
    client.event("stopped");
    let frame = client.top_frame();
    let set = "`set var operand[0][0, 0] = 1000";
    client.request("evaluate", &json!({"expression": set, "context": "repl", "frameId": frame}));

    client.request("iree/rerun", &json!({}));
    client.event("continued");
    let rerun = client.event("iree/rerun");
    client.event("stopped");
    assert_eq!((&rerun["command"], &rerun["isSame"]), (&json!(2), &json!(false)), "{rerun}");
    let result = &rerun["results"][0];
    assert_eq!(result["name"], "%m2", "{rerun}");
    let row = result["different"].as_u64().unwrap();
    assert!(row > 0 && row < result["elements"].as_u64().unwrap(), "{rerun}");
    assert_eq!(result["largest"]["index"][0], 0, "{rerun}");

    let frame = client.top_frame();
    let line = json!({"expression": "`rerun", "context": "repl", "frameId": frame});
    client.request("evaluate", &line);
    client.event("continued");
    assert_eq!(client.event("iree/rerun")["isSame"], true);
    client.event("stopped");
    let frame = client.top_frame();
    client.request("restartFrame", &json!({"frameId": frame}));
    client.event("stopped");
    let (name, _) = client.top();
    assert!(!name.contains("done"), "{name}");
    client.disconnect_from_stop();
}

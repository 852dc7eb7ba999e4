//! The program stops at breakpoints.

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{call, line, module, source};

#[track_caller]
fn go_on(client: &mut Client) -> Value {
    client.request("continue", &json!({"threadId": 1}));
    client.event("stopped")
}

#[test]
fn lines_stop_every_time_they_are_reached() {
    let mut client = Client::new();
    client.launch(&call("sum", &["3"]));
    let breakpoint = client.set_line(&source(), line("adding"));
    assert_eq!(breakpoint["verified"], true, "{breakpoint}");
    assert_eq!(breakpoint["line"], line("adding"));
    assert_eq!(breakpoint["source"]["path"], json!(source()));
    assert!(breakpoint["instructionReference"].as_str().unwrap().starts_with("0x"));
    client.request("configurationDone", &json!({}));
    for turn in 0..3 {
        let stopped = client.event("stopped");
        assert_eq!(stopped["reason"], "breakpoint", "turn {turn}");
        assert_eq!(stopped["hitBreakpointIds"], json!([breakpoint["id"]]));
        assert_eq!(client.top(), ("sum".into(), i64::from(line("adding"))));
        client.request("continue", &json!({"threadId": 1}));
    }
    client.ends(0);
    assert_eq!(client.printed("stdout"), "EXEC @sum\nresult[0]: i32=6\n");
    client.disconnect();
}

#[test]
fn breakpoints_that_stay_keep_their_numbers() {
    let mut client = Client::new();
    client.launch(&call("sum", &["3"]));
    let set = |client: &mut Client, lines: &[u32]| -> Vec<i64> {
        let lines: Vec<Value> = lines.iter().map(|line| json!({"line": line})).collect();
        let arguments = json!({"source": {"path": source()}, "breakpoints": lines});
        let answer = client.request("setBreakpoints", &arguments);
        let all = answer["breakpoints"].as_array().unwrap();
        all.iter().map(|breakpoint| breakpoint["id"].as_i64().unwrap()).collect()
    };
    let (calling, adding) = (line("calling"), line("adding"));
    let first = set(&mut client, &[adding]);
    let both = set(&mut client, &[calling, adding]);
    assert_eq!(both[1], first[0]);
    assert_ne!(both[0], both[1]);
    assert_eq!(set(&mut client, &[calling]), [both[0]]);
    client.request("configurationDone", &json!({}));
    assert_eq!(client.event("stopped")["hitBreakpointIds"], json!([both[0]]));
    assert_eq!(client.top().1, i64::from(calling));
    assert_eq!(go_on(&mut client)["hitBreakpointIds"], json!([both[0]]));
    client.disconnect_from_stop();
}

#[test]
fn breakpoints_that_are_nowhere_say_why() {
    let mut client = Client::new();
    client.launch(&call("sum", &["3"]));
    let cases = [
        (
            "setBreakpoints",
            json!({"source": {"path": "/else/where.mlir"}, "breakpoints": [{"line": 3}]}),
        ),
        (
            "setBreakpoints",
            json!({
                "source": {"path": "iree-vmfb:/else/where.vmfb.vmasm"},
                "breakpoints": [{"line": 3}],
            }),
        ),
        ("setBreakpoints", json!({"source": {"name": "?"}, "breakpoints": [{"line": 3}]})),
        (
            "setBreakpoints",
            json!({"source": {"path": source()}, "breakpoints": [{"line": 1_000_000}]}),
        ),
        ("setFunctionBreakpoints", json!({"breakpoints": [{"name": "nothing"}]})),
        ("setInstructionBreakpoints", json!({"breakpoints": [{"instructionReference": "0x7"}]})),
        ("setInstructionBreakpoints", json!({"breakpoints": [{"instructionReference": "here"}]})),
        ("setExceptionBreakpoints", json!({"filters": ["all"]})),
    ];
    for (command, arguments) in cases {
        let breakpoint = client.request(command, &arguments)["breakpoints"][0].clone();
        assert_eq!(breakpoint["verified"], false, "{command} {arguments}");
        assert!(!breakpoint["message"].as_str().unwrap().is_empty());
    }
    assert_eq!(
        client.request("setExceptionBreakpoints", &json!({"filters": []})),
        json!({"breakpoints": []})
    );
    client.request("configurationDone", &json!({}));
    client.ends(0);
    client.disconnect();
}

#[test]
fn functions_stop_at_their_first_instruction() {
    let mut client = Client::new();
    client.launch(&call("sum", &["2"]));
    let names = json!({"breakpoints": [{"name": "twice"}]});
    let breakpoint = client.request("setFunctionBreakpoints", &names)["breakpoints"][0].clone();
    assert_eq!(breakpoint["verified"], true, "{breakpoint}");
    client.request("configurationDone", &json!({}));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "function breakpoint");
    assert_eq!(stopped["hitBreakpointIds"], json!([breakpoint["id"]]));
    assert_eq!(client.top().0, "twice");
    client.request("setFunctionBreakpoints", &json!({"breakpoints": []}));
    client.request("continue", &json!({"threadId": 1}));
    client.ends(0);
    client.disconnect();
}

#[test]
fn instructions_stop_the_program() {
    let mut client = Client::new();
    client.launch(&call("sum", &["2"]));
    let place = client.set_line(&source(), line("adding"));
    let reference = place["instructionReference"].clone();
    client.request("setBreakpoints", &json!({"source": {"path": source()}}));
    let arguments = json!({"breakpoints": [{"instructionReference": reference, "offset": 0}]});
    let answer = client.request("setInstructionBreakpoints", &arguments);
    assert_eq!(answer["breakpoints"][0]["verified"], true, "{answer}");
    client.request("configurationDone", &json!({}));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "instruction breakpoint");
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    assert_eq!(trace["stackFrames"][0]["instructionPointerReference"], reference);
    client.disconnect_from_stop();
}

#[test]
fn a_disassembly_that_an_editor_shows_takes_breakpoints() {
    let mut client = Client::new();
    client.launch(&call("sum", &["2"]));
    let path = module().canonicalize().unwrap();
    let uri = format!("iree-vmfb:{}.vmasm", path.display()).replace("program", "pr%6Fgram");
    let text = client.request("source", &json!({"source": {"path": uri}, "sourceReference": 0}));
    let text = text["content"].as_str().unwrap().to_owned();
    let call = text.lines().position(|line| line.contains("vm.call @")).unwrap() + 1;
    let arguments = json!({"source": {"path": uri}, "breakpoints": [{"line": call}]});
    let breakpoint = client.request("setBreakpoints", &arguments)["breakpoints"][0].clone();
    assert_eq!((&breakpoint["verified"], &breakpoint["line"]), (&json!(true), &json!(call)));
    client.request("configurationDone", &json!({}));
    assert_eq!(client.event("stopped")["reason"], "breakpoint");
    assert_eq!(client.top(), ("sum".into(), i64::from(line("calling"))));
    client.disconnect_from_stop();
}

#[test]
fn some_hits_stop_and_others_do_not() {
    let mut client = Client::new();
    client.launch(&call("sum", &["10"]));
    let set = |client: &mut Client, condition: &str| {
        let breakpoint = json!({"line": line("adding"), "hitCondition": condition});
        let arguments = json!({"source": {"path": source()}, "breakpoints": [breakpoint]});
        client.request("setBreakpoints", &arguments)["breakpoints"][0].clone()
    };
    let refused = set(&mut client, "often");
    assert_eq!((&refused["verified"], &refused["reason"]), (&json!(false), &json!("failed")));
    assert!(refused["message"].as_str().unwrap().contains("no condition on a count"), "{refused}");
    assert_eq!(set(&mut client, "% 4")["verified"], true);
    client.request("configurationDone", &json!({}));
    for iteration in [3, 7] {
        client.event("stopped");
        let double = json!({"expression": "%double"});
        assert_eq!(client.request("evaluate", &double)["result"], (2 * iteration).to_string());
        client.request("continue", &json!({"threadId": 1}));
    }
    client.ends(0);
    client.disconnect();
}

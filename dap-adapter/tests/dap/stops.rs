//! The texts of stops: the operation, the values, the breakpoint, and the reason.

use std::path::Path;

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{bytes, scalars, scalars_source, wrong_layers};

/// Launches the program with breakpoints on lines, each with an optional condition.
fn launched_with(lines: &Value) -> Client {
    let mut client = Client::new();
    client.launch(&scalars());
    let source = json!({"path": scalars_source()});
    client.request("setBreakpoints", &json!({"source": source, "breakpoints": lines}));
    client.request("configurationDone", &json!({}));
    client
}

fn go_on(client: &mut Client) -> Value {
    client.request("continue", &json!({"threadId": 1}));
    client.event("stopped")
}

#[track_caller]
fn text(stopped: &Value) -> &str {
    stopped["text"].as_str().unwrap()
}

#[test]
fn an_integer_that_overflows_stops_the_dispatch_that_adds_it() {
    let mut client = Client::new();
    client.launch(&bytes());
    let filters =
        json!({"filters": [], "filterOptions": [{"filterId": "overflow", "condition": "every"}]});
    let set = client.request("setExceptionBreakpoints", &filters);
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
    client.request("configurationDone", &json!({}));
    // Those of the eight elements that do not fit a byte when doubled.
    let mut stopped = client.event("stopped");
    for value in [100, -100, 64, 65] {
        assert_eq!(stopped["reason"], "exception");
        let said = text(&stopped);
        let start = format!("%sum = arith.addi %i, %i overflows i8: %i = {value} (");
        assert!(said.starts_with(&start), "{said}");
        let shown = client.request("evaluate", &json!({"expression": "%i"}));
        assert_eq!(shown["result"], value.to_string());
        client.request("continue", &json!({"threadId": 1}));
        stopped = if value == 65 { Value::Null } else { client.event("stopped") };
    }
    client.ends(0);
    client.disconnect();
}

/// For bytecode, IREE 3.13 rounds in `arith.fptosi`, which truncates.
#[test]
fn a_dispatch_that_leaves_something_else_than_its_text_means_stops_the_program() {
    let mut client = Client::new();
    client.launch(&wrong_layers());
    let set = client.request("setExceptionBreakpoints", &json!({"filters": ["difference"]}));
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
    client.request("configurationDone", &json!({}));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "exception");
    let said = text(&stopped).to_owned();
    assert!(said.starts_with("dispatch @layers_dispatch_1_matmul"), "{said}");
    assert!(said.contains("[0, 0]: -0.21875 instead of 0.78125"), "{said}");
    assert_eq!(client.top().1, 10);
    let info = client.request("exceptionInfo", &json!({"threadId": 1}));
    assert_eq!(info["description"], said.as_str());
    let command = json!({"expression": "expected operand[2]", "context": "repl"});
    let shown = client.request("evaluate", &command);
    let shown = shown["result"].as_str().unwrap();
    assert!(shown.contains("expected [0.78125, 0.0625, 0.125, 0.5, "), "{shown}");
    assert!(shown.contains("left     [-0.21875, 0.0625, 0.125, -0.5, "), "{shown}");
    // A view compares with the same.
    let with = json!({"reference": true});
    let view = json!({"expression": "operand[2]", "with": with, "measure": "difference"});
    let found = client.request("iree/tensor", &view)["evaluated"].clone();
    assert_eq!([&found["known"], &found["beyond"]], [&json!(8), &json!(2)], "{found}");
    assert_eq!(found["first"], json!([0, 0]));
    client.request("continue", &json!({"threadId": 1}));
    client.ends(0);
    client.disconnect();
}

#[test]
fn a_bad_float_stops_at_the_operation_that_makes_it() {
    let mut client = Client::new();
    client.launch(&scalars());
    let filters =
        json!({"filters": [], "filterOptions": [{"filterId": "nan", "condition": "every"}]});
    let set = client.request("setExceptionBreakpoints", &filters);
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
    client.request("configurationDone", &json!({}));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "exception");
    let said = text(&stopped).to_owned();
    let start = "%ratio = arith.divf %less, %less is NaN: %less = 0 (";
    assert!(said.starts_with(start) && said.ends_with("scalars.mlir:11)"), "{said}");
    assert_eq!(client.top().1, 11);
    let less = client.request("evaluate", &json!({"expression": "%less"}));
    assert_eq!(less["result"], "0");
    let info = client.request("exceptionInfo", &json!({"threadId": 1}));
    assert_eq!(info["description"], said.as_str());
    client.request("next", &json!({"threadId": 1}));
    let stepped = client.event("stopped");
    assert!(text(&stepped).starts_with("stepped, in main at "), "{stepped}");
    let ratio = client.request("evaluate", &json!({"expression": "%ratio"}));
    assert_eq!(ratio["result"], "NaN");
    let wrong =
        json!({"filters": [], "filterOptions": [{"filterId": "nan", "condition": "often"}]});
    let set = client.request("setExceptionBreakpoints", &wrong);
    let message = set["breakpoints"][0]["message"].as_str().unwrap();
    assert!(message.contains("does not say how often"), "{message}");
    client.disconnect_from_stop();
}

#[test]
fn a_condition_that_fails_stops_once_and_says_which() {
    let lines = json!([{"line": 16, "condition": "4 / (%i - 1) > 100"}]);
    let mut client = launched_with(&lines);
    let changed = client.event("breakpoint");
    let message = &changed["breakpoint"]["message"];
    assert_eq!(message, "the condition failed: division by zero");
    let stopped = client.event("stopped");
    let said = text(&stopped);
    assert!(said.contains("the condition of breakpoint ") && said.contains("division by zero"));
    assert_eq!(stopped["description"], "Paused on a condition that failed");
    client.request("continue", &json!({"threadId": 1}));
    assert_eq!(client.event("iree/verdict")["text"], "Result 0 is NaN.");
    client.ends(0);
    client.disconnect();
}

#[test]
fn a_watched_value_changes_where_it_is_made_and_ends_with_a_note() {
    let mut client = launched_with(&json!([{"line": 16}, {"line": 25}]));
    client.event("stopped");
    go_on(&mut client);
    let info = client.request("dataBreakpointInfo", &json!({"name": "%square"}));
    assert_eq!(info["description"], "%square");
    let set = json!({"breakpoints": [{"dataId": info["dataId"], "accessType": "write"}]});
    client.request("setDataBreakpoints", &set);
    let stopped = go_on(&mut client);
    let said = text(&stopped);
    assert!(said.starts_with("%square changed: 1 → 4, by arith.muli at "), "{said}");
    assert_eq!(client.top().1, 15);
    // A stop after the write is still to come.
    let stopped = go_on(&mut client);
    assert_eq!((&stopped["reason"], client.top().1), (&json!("breakpoint"), 16));
    client.request("setDataBreakpoints", &json!({"breakpoints": []}));
    let source = json!({"path": scalars_source()});
    let lines = json!([{"line": 25}]);
    client.request("setBreakpoints", &json!({"source": source, "breakpoints": lines}));
    go_on(&mut client);
    let info = client.request("dataBreakpointInfo", &json!({"name": "%twice"}));
    let set = json!({"breakpoints": [{"dataId": info["dataId"], "accessType": "write"}]});
    client.request("setDataBreakpoints", &set);
    client.request("continue", &json!({"threadId": 1}));
    let changed = client.event("breakpoint");
    let ended = "%twice is gone: its register is used for something else now";
    assert_eq!(changed["breakpoint"]["message"], ended);
    assert_eq!(client.event("iree/verdict")["text"], "Result 0 is NaN.");
    client.ends(0);
    let printed = client.printed("console");
    assert!(printed.contains(ended), "{printed}");
    client.disconnect();
}

#[test]
fn calls_are_as_narrow_as_on_old_runtimes_if_a_launch_says_so() {
    let module = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/versions/program-3.10.0.vmfb")
        .canonicalize()
        .unwrap();
    // The result of 3.10's own iree-run-module, and the correct one.
    for (is_narrow, expected) in [(true, "i64=4294967296"), (false, "i64=30000000042")] {
        let mut client = Client::new();
        let launch = json!({
            "program": module,
            "function": "wide",
            "inputs": [6, 7],
            "imitateNarrowCalls": is_narrow,
        });
        client.launch(&launch);
        client.request("configurationDone", &json!({}));
        client.ends(0);
        assert!(client.printed("stdout").contains(expected), "{}", client.printed("stdout"));
        let is_told = client.printed("console").contains("passes 32 of the 64 bits");
        assert_eq!(is_told, !is_narrow);
        client.disconnect();
    }
}

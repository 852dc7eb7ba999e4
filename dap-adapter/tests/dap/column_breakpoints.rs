//! Breakpoints on one of several operations of a line.

use std::fs;

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{columns, columns_source};

/// The line with three operations.
const LINE: u32 = 8;

/// The columns on that line where a text begins and after its end.
fn columns_of(text: &str) -> (u32, u32) {
    let source = fs::read_to_string(columns_source()).unwrap();
    let at = source.lines().nth(LINE as usize - 1).unwrap().find(text).unwrap() as u32 + 1;
    (at, at + text.len() as u32)
}

fn set(client: &mut Client, columns: &[u32]) -> Vec<Value> {
    let breakpoints: Vec<Value> =
        columns.iter().map(|column| json!({"line": LINE, "column": column})).collect();
    let arguments = json!({"source": {"path": columns_source()}, "breakpoints": breakpoints});
    let answer = client.request("setBreakpoints", &arguments);
    answer["breakpoints"].as_array().unwrap().clone()
}

#[test]
fn every_operation_of_a_line_is_a_place_for_a_breakpoint() {
    let mut client = Client::new();
    client.launch(&columns());
    let operations = [
        columns_of("arith.addi %a, %b : i32"),
        columns_of("arith.subi %a, %b : i32"),
        columns_of("arith.muli %s, %d : i32"),
    ];
    let arguments = json!({"source": {"path": columns_source()}, "line": LINE});
    let places = client.request("breakpointLocations", &arguments);
    let expected =
        operations.map(|(start, end)| json!({"line": LINE, "column": start, "endColumn": end}));
    assert_eq!(places["breakpoints"], json!(expected));
    // Part of a line.
    let arguments = json!({
        "source": {"path": columns_source()},
        "line": LINE, "column": operations[0].0 + 1, "endLine": LINE, "endColumn": operations[2].0,
    });
    let places = client.request("breakpointLocations", &arguments);
    assert_eq!(places["breakpoints"], json!([expected[1], expected[2]]));

    let breakpoints = set(&mut client, &operations.map(|(start, _)| start));
    for (breakpoint, (start, _)) in breakpoints.iter().zip(operations) {
        assert_eq!((&breakpoint["verified"], &breakpoint["line"]), (&json!(true), &json!(LINE)));
        assert_eq!((&breakpoint["column"], &breakpoint["message"]), (&json!(start), &Value::Null));
    }
    client.request("configurationDone", &json!({}));
    for (breakpoint, (start, _)) in breakpoints.iter().zip(operations) {
        let stopped = client.event("stopped");
        assert_eq!(stopped["hitBreakpointIds"], json!([breakpoint["id"]]));
        let trace = client.request("stackTrace", &json!({"threadId": 1}));
        let frame = &trace["stackFrames"][0];
        assert_eq!((&frame["line"], &frame["column"]), (&json!(LINE), &json!(start)));
        client.request("continue", &json!({"threadId": 1}));
    }
    client.ends(0);
    client.disconnect();
}

#[test]
fn a_column_between_operations_moves_and_says_so() {
    let mut client = Client::new();
    client.launch(&columns());
    let (addition, _) = columns_of("arith.addi");
    let (subtraction, _) = columns_of("arith.subi");
    let (inside, _) = columns_of("%b : i32 %d");
    let (last, _) = columns_of("arith.muli");
    let (comment, _) = columns_of("// three");
    let breakpoints = set(&mut client, &[1, inside, subtraction - 3, comment, u32::MAX, 0]);
    let found: Vec<&Value> = breakpoints.iter().map(|it| &it["column"]).collect();
    assert_eq!(json!(found), json!([addition, addition, subtraction, last, last, null]));
    let message = |index: usize| breakpoints[index]["message"].as_str().unwrap_or_default();
    assert_eq!(
        message(0),
        format!("no code came from column 1; the operation next to the right is at {addition}")
    );
    assert_eq!([message(1), message(2)], ["", ""]);
    assert!(message(3).ends_with(&format!("the last operation of the line is at {last}")));
    // On a line without code, columns do not matter.
    let arguments = json!({
        "source": {"path": columns_source()}, "breakpoints": [{"line": LINE - 1, "column": 30}],
    });
    let moved = client.request("setBreakpoints", &arguments)["breakpoints"][0].clone();
    assert_eq!(moved["verified"], true, "{moved}");
    client.request("terminate", &json!({}));
    client.ends(1);
    client.disconnect();
}

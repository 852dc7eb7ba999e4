//! Stops without a place: changes of data, failures, NaN.

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{call, line, perceptron, source};

#[track_caller]
fn scope(client: &mut Client, name: &str) -> Value {
    let trace = client.request("stackTrace", &json!({"threadId": 1, "levels": 1}));
    let frame = trace["stackFrames"][0]["id"].clone();
    let scopes = client.request("scopes", &json!({"frameId": frame}));
    let scopes = scopes["scopes"].as_array().unwrap();
    let scope = scopes.iter().find(|scope| scope["name"] == name);
    scope.unwrap_or_else(|| panic!("no {name} in {scopes:?}"))["variablesReference"].clone()
}

/// Stops at the first call of `twice`, then removes the breakpoint.
fn in_twice(n: &str) -> Client {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &[n]), &source(), line("doubling"));
    client.request("setBreakpoints", &json!({"source": {"path": source()}}));
    client
}

#[test]
fn a_global_that_changes_stops_the_program() {
    let mut client = in_twice("3");
    let globals = scope(&mut client, "Globals");
    let variables = client.request("variables", &json!({"variablesReference": globals}));
    let name = variables["variables"][0]["name"].clone();
    let info =
        client.request("dataBreakpointInfo", &json!({"variablesReference": globals, "name": name}));
    assert_eq!(info["accessTypes"], json!(["read", "write", "readWrite"]), "{info} {variables}");
    let again =
        client.request("dataBreakpointInfo", &json!({"variablesReference": globals, "name": name}));
    assert_eq!(again["dataId"], info["dataId"]);
    let set = json!({"breakpoints": [{"dataId": info["dataId"], "accessType": "write"}]});
    let breakpoint = client.request("setDataBreakpoints", &set)["breakpoints"][0].clone();
    assert_eq!(breakpoint["verified"], true, "{breakpoint}");
    for calls in 1..=3 {
        client.request("continue", &json!({"threadId": 1}));
        let stopped = client.event("stopped");
        assert_eq!(stopped["reason"], "data breakpoint");
        assert_eq!(stopped["hitBreakpointIds"], json!([breakpoint["id"]]));
        let text = stopped["text"].as_str().unwrap();
        let changed = format!("changed: {} → {calls}, by util.global.store at ", calls - 1);
        assert!(text.contains(&changed), "{text}");
        assert_eq!(client.top().1, i64::from(line("storing")));
        assert_eq!(client.top().0, "twice");
    }
    client.request("setDataBreakpoints", &json!({"breakpoints": []}));
    client.request("continue", &json!({"threadId": 1}));
    client.ends(0);
    client.disconnect();
}

#[test]
fn what_cannot_be_watched_says_why() {
    let mut client = in_twice("3");
    let info = client.request("dataBreakpointInfo", &json!({"name": "%x + 1"}));
    assert_eq!(info["dataId"], Value::Null);
    assert!(info["description"].as_str().unwrap().contains("computed"), "{info}");
    let info = client.request("dataBreakpointInfo", &json!({"name": "%nothing"}));
    assert_eq!(info["dataId"], Value::Null);
    let set = json!({"breakpoints": [{"dataId": "4711"}, {"dataId": "%x"}]});
    for breakpoint in client.request("setDataBreakpoints", &set)["breakpoints"].as_array().unwrap()
    {
        assert_eq!(breakpoint["verified"], false);
        assert!(breakpoint["message"].as_str().unwrap().contains("is no data"), "{breakpoint}");
    }
    client.disconnect_from_stop();
}

#[test]
fn data_is_watched_for_one_run() {
    let mut client = in_twice("3");
    let info = client.request("dataBreakpointInfo", &json!({"name": "%x"}));
    let set = json!({"breakpoints": [{"dataId": info["dataId"], "accessType": "read"}]});
    let breakpoint = client.request("setDataBreakpoints", &set)["breakpoints"][0].clone();
    assert_eq!(breakpoint["verified"], true, "{info} {breakpoint}");
    client.request("restart", &json!({}));
    let removed = client.event("breakpoint");
    assert_eq!(
        (&removed["reason"], &removed["breakpoint"]["id"]),
        (&json!("removed"), &breakpoint["id"])
    );
    client.event("continued");
    client.ends(0);
    client.disconnect();
}

#[test]
fn failures_stop_if_they_are_to() {
    let filters =
        |filters: &[&str], options: Value| json!({"filters": filters, "filterOptions": options});
    let cases = [
        (filters(&["failure"], json!([])), true),
        (filters(&[], json!([])), false),
        (filters(&[], json!([{"filterId": "failure"}])), true),
        (filters(&[], json!([{"filterId": "failure", "condition": "OUT_OF_RANGE"}])), false),
        (filters(&["nan"], json!([])), false),
    ];
    for (arguments, stops) in cases {
        let mut client = Client::new();
        client.launch(&call("check", &["-1"]));
        let set = client.request("setExceptionBreakpoints", &arguments);
        assert!(set["breakpoints"].as_array().unwrap().iter().all(|it| it["verified"] == true));
        client.request("configurationDone", &json!({}));
        if stops {
            assert_eq!(client.event("stopped")["reason"], "exception");
            client.request("continue", &json!({"threadId": 1}));
        }
        client.ends(1);
        assert!(client.printed("stderr").contains("the number is below zero"));
        client.disconnect();
    }
    let mut client = Client::new();
    client.launch(&call("check", &["-1"]));
    let wrong = filters(&["thunder"], json!([{"filterId": "failure", "condition": "SEGFAULT"}]));
    let set = client.request("setExceptionBreakpoints", &wrong);
    let messages: Vec<&str> = set["breakpoints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["message"].as_str().unwrap())
        .collect();
    assert!(messages[0].contains("there is no filter"), "{messages:?}");
    assert!(messages[1].contains("there is no status"), "{messages:?}");
    client.request("terminate", &json!({}));
    client.ends(1);
    client.disconnect();
}

/// Stops before the first dispatch of the model, which writes `binding[1]`, a tensor of 4x256xf32.
fn before_dispatch() -> Client {
    let mut client = Client::new();
    client.launch(&perceptron());
    let names = json!({"breakpoints": [{"name": "dispatch:*_0_matmul_*"}]});
    client.request("setFunctionBreakpoints", &names);
    client.request("configurationDone", &json!({}));
    client.event("stopped");
    client.request("setFunctionBreakpoints", &json!({"breakpoints": []}));
    client
}

/// Watches the data that was asked about and continues. Returns the text of the stop.
#[track_caller]
fn watched(client: &mut Client, asked: &Value, access: &str) -> String {
    let info = client.request("dataBreakpointInfo", asked);
    assert!(info["dataId"].is_string(), "{asked}: {info}");
    let set = json!({"breakpoints": [{"dataId": info["dataId"], "accessType": access}]});
    let breakpoint = client.request("setDataBreakpoints", &set)["breakpoints"][0].clone();
    assert_eq!(breakpoint["verified"], true, "{breakpoint}");
    client.request("continue", &json!({"threadId": 1}));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "data breakpoint");
    assert_eq!(stopped["hitBreakpointIds"], json!([breakpoint["id"]]));
    let text = stopped["text"].as_str().unwrap();
    let (what, by) = text.split_once(", by ").unwrap();
    assert!(by.starts_with("linalg.") && by.contains("perceptron.mlir:"), "{text}");
    what.to_owned()
}

#[test]
fn parts_of_tensors_are_watched() {
    let cases = [
        (json!({"name": "binding[1][2]"}), "write", "binding[1][2][0] changed: 0 → 3"),
        (json!({"name": "binding[1][1:3, 5]"}), "write", "binding[1][1:3, 5][0] changed: 0 → 3"),
        (json!({"name": "binding[0][3, 7]"}), "read", "binding[0][3, 7] was read: 1"),
        (
            json!({"name": "binding[1]", "bytes": 8}),
            "write",
            "8 bytes from binding[1], element 0 changed: 0 → 3",
        ),
        (
            json!({"name": "binding[1][1]", "bytes": 6}),
            "write",
            "6 bytes from binding[1][1], byte 2 and 1 more changed: 00 00 00 00 → 40 40 00 00",
        ),
    ];
    for (asked, access, expected) in cases {
        let mut client = before_dispatch();
        assert_eq!(watched(&mut client, &asked, access), expected);
        client.disconnect_from_stop();
    }
}

#[test]
fn rows_in_the_variables_view_and_addresses_are_watched() {
    let mut client = before_dispatch();
    let written = client.request("evaluate", &json!({"expression": "binding[1]"}));
    let row = json!({"variablesReference": written["variablesReference"], "name": "[1]"});
    assert_eq!(watched(&mut client, &row, "write"), "binding[1][1][0] changed: 0 → 3");
    client.disconnect_from_stop();

    let mut client = before_dispatch();
    let written = client.request("evaluate", &json!({"expression": "binding[1]"}));
    let address = written["memoryReference"].as_str().unwrap();
    let start = u64::from_str_radix(address.trim_start_matches("0x"), 16).unwrap();
    let asked = json!({"name": (start + 16).to_string(), "asAddress": true, "bytes": 4});
    let text = watched(&mut client, &asked, "write");
    assert_eq!(
        text,
        format!("4 bytes at {:#x}, byte 2 and 1 more changed: 00 00 → 40 40", start + 16)
    );
    client.disconnect_from_stop();

    // An address that the client has never seen.
    let mut client = before_dispatch();
    let shown = client.request("evaluate", &json!({"expression": "binding[1]"}));
    let address = shown["memoryReference"].clone();
    client.request("next", &json!({"threadId": 1}));
    client.event("stopped");
    let info = json!({"name": address, "asAddress": true});
    let info = client.request("dataBreakpointInfo", &info);
    assert_eq!(info["description"], format!("8 bytes at {}", address.as_str().unwrap()));
    client.disconnect_from_stop();
}

#[test]
fn ranges_that_are_not_there_say_why() {
    let mut client = before_dispatch();
    let cases = [
        (json!({"name": "binding[1]", "bytes": 0}), "0 bytes cannot be watched"),
        (json!({"name": "binding[1]", "bytes": -1}), "-1 bytes cannot be watched"),
        (json!({"name": "binding[1]", "bytes": 1_000_000}), "there are"),
        (json!({"name": "1 + 2", "bytes": 4}), "computed"),
        (json!({"name": "0x10", "asAddress": true, "bytes": 4}), "0x10 is in no memory"),
        (json!({"name": "zebra", "asAddress": true}), "is no address"),
    ];
    for (asked, expected) in cases {
        let info = client.request("dataBreakpointInfo", &asked);
        let description = info["description"].as_str().unwrap();
        assert!(info["dataId"].is_null() && description.contains(expected), "{asked}: {info}");
    }
    client.disconnect_from_stop();
    let mut client = in_twice("3");
    let info = client.request("dataBreakpointInfo", &json!({"name": "%x", "bytes": 4}));
    assert!(info["dataId"].is_string(), "{info}");
    let info = client.request("dataBreakpointInfo", &json!({"name": "%x", "bytes": 8}));
    assert!(info["description"].as_str().unwrap().contains("is not in memory"), "{info}");
    client.disconnect_from_stop();
}

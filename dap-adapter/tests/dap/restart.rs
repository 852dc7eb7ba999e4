//! Restarts, cancelled launches, and the progress of both.

use std::fs;

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{call, call_across_modules, line, module, source};

/// After a restart the client hears that the program runs.
fn restarted(client: &mut Client, arguments: &Value) {
    client.request("restart", arguments);
    let continued = client.event("continued");
    assert_eq!(continued, json!({"threadId": 1, "allThreadsContinued": true}));
}

#[test]
fn a_restart_keeps_breakpoints_and_their_names() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("adding"));
    let by_name = json!({"breakpoints": [{"name": "twice"}]});
    let id = client.request("setFunctionBreakpoints", &by_name)["breakpoints"][0]["id"].clone();
    let before = client.request("stackTrace", &json!({"threadId": 1}));
    restarted(&mut client, &json!({}));
    // The call comes before the line, so the program has begun again.
    let stopped = client.event("stopped");
    assert_eq!(
        (&stopped["reason"], &stopped["hitBreakpointIds"]),
        (&json!("function breakpoint"), &json!([id]))
    );
    client.request("continue", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "breakpoint");
    assert_eq!(client.top(), ("sum".into(), i64::from(line("adding"))));
    let frame = json!({"frameId": before["stackFrames"][0]["id"]});
    assert!(client.fails("scopes", &frame).contains("is not on the stack"));
    client.request("setFunctionBreakpoints", &json!({"breakpoints": []}));
    client.request("setBreakpoints", &json!({"source": {"path": source()}}));
    client.request("continue", &json!({"threadId": 1}));
    client.ends(0);
    let error = client.fails("restart", &json!({}));
    assert_eq!(error, "`restart` came too late: the program has ended");
    client.disconnect();
}

#[test]
fn a_running_program_is_restarted() {
    let mut client = Client::new();
    client.launch(&call("forever", &["2"]));
    client.request("configurationDone", &json!({}));
    for _ in 0..3 {
        restarted(&mut client, &json!({}));
    }
    client.set_line(&source(), line("turning"));
    assert_eq!(client.event("stopped")["reason"], "breakpoint");
    client.disconnect_from_stop();
}

#[test]
fn a_restart_takes_the_program_as_it_is_now() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("program.mlir");
    let text = |comment: &str, factor: u32| {
        format!(
            "{comment}func.func @main(%n: i32) -> i32 {{\n  \
             %factor = arith.constant {factor} : i32\n  \
             %more = arith.muli %n, %factor : i32 // here\n  return %more : i32\n}}\n"
        )
    };
    fs::write(&program, text("", 3)).unwrap();
    let mut client = Client::new();
    let arguments = json!({"program": program, "inputs": ["5"]});
    client.launch_to_line(&arguments, &program, 3);
    // The line with the breakpoint now has a constant, so the breakpoint moves to the next line.
    fs::write(&program, text("// A comment.\n", 4)).unwrap();
    let latest = json!({"arguments": {"program": program, "inputs": ["6"]}});
    client.request("restart", &latest);
    assert_eq!(client.event("breakpoint")["reason"], "changed");
    client.event("continued");
    client.event("stopped");
    client.request("continue", &json!({"threadId": 1}));
    client.ends(0);
    assert!(client.printed("stdout").contains("result[0]: i32=24"), "{}", client.printed("stdout"));
    client.disconnect();
}

#[test]
fn a_restart_that_fails_ends_the_program() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("adding"));
    let error = client.fails("restart", &json!({"arguments": {"program": "/no/such.vmfb"}}));
    assert!(error.contains("there is no file"), "{error}");
    client.ends(1);
    client.disconnect();

    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("adding"));
    let wrong = json!({"program": module(), "function": "nothing"});
    let error = client.fails("restart", &json!({ "arguments": wrong }));
    assert!(error.contains("there is no function"), "{error}");
    client.ends(1);
    client.disconnect();
}

#[test]
fn a_launch_is_cancelled_by_its_request() {
    let mut client = Client::new();
    client.initialize();
    let launch = client.send("launch", &json!({"program": source(), "function": "sum"}));
    let cancel = client.send("cancel", &json!({"requestId": launch}));
    let response = client.response(launch);
    assert_eq!((&response["success"], &response["message"]), (&json!(false), &json!("cancelled")));
    assert_eq!(client.response(cancel)["success"], true);
    // Cancelled while it compiles, or before it begins.
    if response["body"]["error"]["format"] == "cancelled" {
        client.request("cancel", &json!({"requestId": 4711}));
    }
    client.request("disconnect", &json!({}));
    client.leave_after_events(&["terminated"]);
}

#[test]
fn what_takes_long_is_shown_and_can_be_stopped() {
    let mut client = Client::new();
    let arguments = json!({"adapterID": "iree", "supportsProgressReporting": true});
    client.request("initialize", &arguments);
    client.request("launch", &call("forever", &["2"]));
    client.event("initialized");
    client.request("configurationDone", &json!({}));
    let start = client.event("progressStart");
    assert_eq!((&start["title"], &start["cancellable"]), (&json!("Running forever"), &json!(true)));
    let update = client.event("progressUpdate");
    assert_eq!(update["progressId"], start["progressId"]);
    client.request("cancel", &json!({"progressId": start["progressId"]}));
    loop {
        match client.any_event() {
            (name, body) if name == "progressEnd" => {
                assert_eq!(body["progressId"], start["progressId"]);
                break;
            }
            (name, _) => assert_eq!(name, "progressUpdate"),
        }
    }
    assert_eq!(client.event("stopped")["reason"], "pause");
    client.disconnect_from_stop();
}

#[test]
fn functions_that_are_still_to_come_are_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("program.mlir");
    let main = "func.func @main(%n: i32) -> i32 {\n  \
                %more = util.call @later(%n) : (i32) -> i32\n  \
                return %more : i32\n}\n";
    let later = |name: &str| {
        format!(
            "util.func private @{name}(%x: i32) -> i32 attributes {{inlining_policy = \
             #util.inline.never}} {{\n  %y = arith.muli %x, %x : i32\n  util.return %y : i32\n}}\n"
        )
    };
    fs::write(&program, main.replace("later", "early") + &later("early")).unwrap();
    let mut client = Client::new();
    client.launch_to_line(&json!({"program": program, "inputs": ["5"]}), &program, 2);
    client.request("setBreakpoints", &json!({"source": {"path": program}}));
    let names = json!({"breakpoints": [
        {"name": "later", "condition": "%x == 7"}, {"name": "lat*"}, {"name": "provider.twice"},
    ]});
    let set = client.request("setFunctionBreakpoints", &names)["breakpoints"].clone();
    for breakpoint in set.as_array().unwrap() {
        assert_eq!(
            (&breakpoint["verified"], &breakpoint["reason"]),
            (&json!(false), &json!("pending")),
            "{breakpoint}"
        );
    }
    fs::write(&program, main.to_owned() + &later("later")).unwrap();
    client.request("restart", &json!({"arguments": {"program": program, "inputs": ["7"]}}));
    for index in 0..2 {
        let changed = client.event("breakpoint");
        assert_eq!(changed["reason"], "changed");
        let breakpoint = &changed["breakpoint"];
        assert_eq!((&breakpoint["id"], &breakpoint["verified"]), (&set[index]["id"], &json!(true)));
        assert!(breakpoint["message"].is_null() && breakpoint["reason"].is_null(), "{breakpoint}");
    }
    client.event("continued");
    let stopped = client.event("stopped");
    assert_eq!(stopped["hitBreakpointIds"], json!([set[0]["id"], set[1]["id"]]));
    assert_eq!(client.top().0, "later");
    // Another module, named by the configuration of the restart.
    client.request("restart", &json!({"arguments": call_across_modules("4")}));
    let mut last = client.event("breakpoint");
    while last["breakpoint"]["id"] != set[2]["id"] {
        assert_eq!(last["breakpoint"]["verified"], false);
        last = client.event("breakpoint");
    }
    assert_eq!(last["breakpoint"]["verified"], true, "{last}");
    client.event("continued");
    assert_eq!(client.event("stopped")["hitBreakpointIds"], json!([set[2]["id"]]));
    assert_eq!(client.top().0, "provider.twice");
    client.disconnect_from_stop();
}

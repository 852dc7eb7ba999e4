//! The client is served while the program runs.

use serde_json::json;

use crate::client::Client;
use crate::program::{call, line, source};

fn endless() -> Client {
    let mut client = Client::new();
    client.launch(&call("forever", &["2"]));
    client.request("configurationDone", &json!({}));
    client
}

#[test]
fn an_endless_loop_is_paused_and_goes_on() {
    let mut client = endless();
    for _ in 0..3 {
        client.request("pause", &json!({"threadId": 1}));
        let stopped = client.event("stopped");
        assert_eq!(stopped["reason"], "pause");
        assert_eq!(client.top().0, "forever");
        assert_eq!(
            client.fails("pause", &json!({"threadId": 1})),
            "`pause` does not fit: the program stands still",
        );
        client.request("continue", &json!({"threadId": 1}));
    }
    client.disconnect_from_stop();
}

#[test]
fn breakpoints_are_set_while_the_program_runs() {
    let mut client = endless();
    let breakpoint = client.set_line(&source(), line("turning"));
    assert_eq!(breakpoint["verified"], true, "{breakpoint}");
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "breakpoint");
    assert_eq!(stopped["hitBreakpointIds"], json!([breakpoint["id"]]));
    assert_eq!(client.top(), ("forever".into(), i64::from(line("turning"))));

    client.request("setBreakpoints", &json!({"source": {"path": source()}, "breakpoints": []}));
    client.request("continue", &json!({"threadId": 1}));
    // Nothing stops the program now, though many requests interrupt it.
    for _ in 0..20 {
        client.request("setFunctionBreakpoints", &json!({"breakpoints": [{"name": "twice"}]}));
    }
    client.request("pause", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "pause");
    client.disconnect_from_stop();
}

#[test]
fn questions_about_a_stop_need_one() {
    let mut client = endless();
    let cases = [
        ("stackTrace", json!({"threadId": 1})),
        ("scopes", json!({"frameId": 1})),
        ("variables", json!({"variablesReference": 1})),
        ("evaluate", json!({"expression": "i0"})),
        ("continue", json!({"threadId": 1})),
        ("next", json!({"threadId": 1})),
    ];
    for (command, arguments) in cases {
        assert_eq!(
            client.fails(command, &arguments),
            format!("`{command}` needs a program that stands still; send `pause` first"),
        );
    }
    assert_eq!(client.request("threads", &json!({}))["threads"][0]["name"], "main");
    client.disconnect_from_stop();
}

#[test]
fn stepping_fast_loses_nothing() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["100"]), &source(), line("adding"));
    client.request("setBreakpoints", &json!({"source": {"path": source()}, "breakpoints": []}));
    let steps: Vec<i64> = (0..50)
        .map(|_| {
            let step = client.send("next", &json!({"threadId": 1, "granularity": "instruction"}));
            assert_eq!(client.event("stopped")["reason"], "step");
            step
        })
        .collect();
    for step in steps {
        assert_eq!(client.response(step)["success"], true);
    }
    client.disconnect_from_stop();
}

#[test]
fn breakpoints_are_set_during_a_step() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["1000000"]), &source(), line("calling"));
    client.request("setBreakpoints", &json!({"source": {"path": source()}}));
    // A step out of the outermost function, which takes a while.
    let step = client.send("stepOut", &json!({"threadId": 1}));
    let mut requests = Vec::new();
    for _ in 0..20 {
        let unknown = json!({"breakpoints": [{"name": "nothing"}]});
        requests.push(client.send("setFunctionBreakpoints", &unknown));
    }
    for request in requests.into_iter().chain([step]) {
        assert_eq!(client.response(request)["success"], true);
    }
    client.set_line(&source(), line("doubling"));
    assert_eq!(client.event("stopped")["reason"], "breakpoint");
    assert_eq!(client.top().0, "twice");

    // A step out of a called function: interrupted or not, it ends after the call.
    client.request("setBreakpoints", &json!({"source": {"path": source()}}));
    let step = client.send("stepOut", &json!({"threadId": 1}));
    let request = client.send("setFunctionBreakpoints", &json!({"breakpoints": []}));
    assert_eq!(client.event("stopped")["reason"], "step");
    assert_eq!(client.response(step)["success"], true);
    assert_eq!(client.response(request)["success"], true);
    assert_eq!(client.top(), ("sum".into(), i64::from(line("adding"))));
    client.disconnect_from_stop();
}

#[test]
fn a_step_that_does_not_end_is_paused() {
    let mut client = Client::new();
    client.launch_to_line(&call("forever", &["2"]), &source(), line("turning"));
    client.request("setBreakpoints", &json!({"source": {"path": source()}, "breakpoints": []}));
    client.request("stepOut", &json!({"threadId": 1}));
    client.request("pause", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "pause");
    client.disconnect_from_stop();
}

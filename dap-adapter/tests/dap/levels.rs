//! How far a step goes: operations, lines, instructions.

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{several, source_of};

/// Where the innermost frame stands.
#[track_caller]
fn place(client: &mut Client) -> (u64, u64) {
    let trace = client.request("stackTrace", &json!({"threadId": 1, "levels": 1}));
    let frame = &trace["stackFrames"][0];
    (frame["line"].as_u64().unwrap(), frame["column"].as_u64().unwrap())
}

/// Steps over, and says where that leads.
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
    assert_eq!(next(&mut client, Some("line")), (9, 8));
    client.disconnect_from_stop();

    let mut client = Client::new();
    at_loop(&mut client, &several());
    assert_eq!(next(&mut client, None), (9, 8), "a step is by line unless somebody says otherwise");
    client.disconnect_from_stop();

    let mut client = Client::new();
    let mut by_statement = several();
    by_statement["stepBy"] = "statement".into();
    at_loop(&mut client, &by_statement);
    assert_eq!(next(&mut client, None), (10, 61));
    assert_eq!(next(&mut client, Some("instruction")), (9, 8));
    assert_eq!(next(&mut client, Some("instruction")), (9, 8), "one of several instructions");
    client.disconnect_from_stop();
}

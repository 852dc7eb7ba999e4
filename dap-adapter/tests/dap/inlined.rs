//! Calls that were inlined: frames of their own, which steps pass and leave.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{inlined, inlined_source};

#[track_caller]
fn frames(client: &mut Client) -> Vec<(String, u64)> {
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    let frames = trace["stackFrames"].as_array().unwrap();
    let shown = |frame: &Value| {
        (frame["name"].as_str().unwrap().to_owned(), frame["line"].as_u64().unwrap())
    };
    frames.iter().map(shown).collect()
}

#[track_caller]
fn step(client: &mut Client, command: &str) -> Vec<(String, u64)> {
    client.request(command, &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "step");
    frames(client)
}

#[test]
fn inlined_calls_are_frames_of_their_own() {
    let mut client = Client::new();
    client.launch_to_line(&inlined(), &inlined_source(), 5);
    let expect = |frames: Vec<(String, u64)>, expected: &[(&str, u64)]| {
        let frames: Vec<_> = frames.iter().map(|(name, line)| (&**name, *line)).collect();
        assert_eq!(frames, expected);
    };
    let whole = [("mix [inlined]", 5), ("twice [inlined]", 10), ("main", 16)];
    expect(frames(&mut client), &whole);
    let trace = || json!({"threadId": 1});
    let before = client.request("stackTrace", &trace());
    assert_eq!(client.request("stackTrace", &trace()), before);
    let numbered = before["stackFrames"].as_array().unwrap().iter();
    let ids: BTreeSet<i64> = numbered.map(|it| it["id"].as_i64().unwrap()).collect();
    assert_eq!(ids.len(), 3);
    for id in ids {
        let scopes = client.request("scopes", &json!({"frameId": id}));
        assert_eq!(scopes["scopes"][0]["name"], "Locals");
    }
    expect(step(&mut client, "stepOut"), &[("twice [inlined]", 11), ("main", 16)]);
    let inside = [("mix [inlined]", 4), ("twice [inlined]", 11), ("main", 16)];
    expect(step(&mut client, "stepIn"), &inside);
    client.disconnect_from_stop();
}

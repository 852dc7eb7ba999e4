//! Inlined calls have frames of their own, and steps pass and leave them.

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

/// The variables of a scope of one of the frames, as text.
#[track_caller]
fn values(client: &mut Client, frame: usize, scope: &str) -> Vec<String> {
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    let id = trace["stackFrames"][frame]["id"].clone();
    let scopes = client.request("scopes", &json!({"frameId": id}));
    let mut scopes = scopes["scopes"].as_array().unwrap().iter();
    let Some(found) = scopes.find(|it| it["name"] == scope) else { return Vec::new() };
    let arguments = json!({"variablesReference": found["variablesReference"]});
    let variables = client.request("variables", &arguments);
    let text = |it: &Value| {
        format!("{} = {}", it["name"].as_str().unwrap(), it["value"].as_str().unwrap())
    };
    variables["variables"].as_array().unwrap().iter().map(text).collect()
}

#[test]
fn every_frame_has_its_own_values() {
    let mut client = Client::new();
    client.launch_to_line(&inlined(), &inlined_source(), 5);
    client.request("setBreakpoints", &json!({"source": {"path": inlined_source()}}));
    assert_eq!(values(&mut client, 0, "Locals"), ["%x = 7", "%square = 49"]);
    assert_eq!(values(&mut client, 0, "Arguments"), ["%x = 7"]);
    assert_eq!(values(&mut client, 1, "Locals"), ["%x = 7"]);
    assert_eq!(values(&mut client, 2, "Locals"), ["%a = 7", "%b = 3"]);
    assert_eq!(values(&mut client, 2, "Arguments"), ["%a = 7", "%b = 3"]);
    let mut evaluate = |frame: usize, expression: &str| {
        let trace = client.request("stackTrace", &json!({"threadId": 1}));
        let id = trace["stackFrames"][frame]["id"].clone();
        let arguments = json!({"expression": expression, "frameId": id});
        client.request("evaluate", &arguments)["result"].as_str().unwrap().to_owned()
    };
    assert_eq!([evaluate(0, "%x + %square"), evaluate(2, "%a")], ["56", "7"]);
    step(&mut client, "stepOut");
    // The result of the call has its name after the return.
    assert_eq!(values(&mut client, 0, "Locals"), ["%x = 7", "%once = 54"]);
    step(&mut client, "stepIn");
    assert_eq!(values(&mut client, 0, "Arguments"), ["%x = 54"]);
    let format = json!({"threadId": 1, "format": {"parameters": true, "parameterValues": true}});
    let trace = client.request("stackTrace", &format);
    assert_eq!(trace["stackFrames"][0]["name"], "mix [inlined](54)");
    let inlined = json!({"frameId": trace["stackFrames"][0]["id"]});
    assert!(client.fails("restartFrame", &inlined).contains("an inlined call"));
    let line = json!({"source": {"path": inlined_source()}, "line": 17, "column": 0});
    let target = client.request("gotoTargets", &line)["targets"][0].clone();
    assert_eq!((&target["line"], &target["column"]), (&json!(17), &Value::Null), "{target}");
    client.disconnect_from_stop();
}

#[test]
fn a_call_that_was_inlined_is_stepped_into_by_choice() {
    let mut client = Client::new();
    client.launch_to_line(&inlined(), &inlined_source(), 16);
    let mut into = |label: &str| {
        let trace = client.request("stackTrace", &json!({"threadId": 1}));
        let frame = json!({"frameId": trace["stackFrames"][0]["id"]});
        let targets = client.request("stepInTargets", &frame);
        let targets = targets["targets"].as_array().unwrap();
        let labels: Vec<&Value> = targets.iter().map(|it| &it["label"]).collect();
        assert_eq!(labels, [label], "{targets:?}");
        let arguments = json!({"threadId": 1, "targetId": targets[0]["id"]});
        client.request("stepIn", &arguments);
        assert_eq!(client.event("stopped")["reason"], "step");
        let goto = json!({"threadId": 1, "targetId": targets[0]["id"]});
        assert!(client.fails("goto", &goto).contains("is not of this stop, or no place"));
        frames(&mut client)
    };
    assert_eq!(into("twice"), [("twice [inlined]".to_owned(), 10), ("main".to_owned(), 16)]);
    assert_eq!(into("mix").first(), Some(&("mix [inlined]".to_owned(), 4)));
    client.disconnect_from_stop();
}

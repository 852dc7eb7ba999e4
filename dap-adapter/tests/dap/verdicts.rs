//! A program that ends with wrong results says so, and leads to where they began.

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{call, nans, perceptron};

/// Launches a program that runs to its end or its first stop.
fn runs(arguments: &Value, more: &Value) -> Client {
    let mut arguments = arguments.clone();
    for (name, value) in more.as_object().expect("settings") {
        arguments[name] = value.clone();
    }
    let mut client = Client::new();
    client.launch(&arguments);
    client.request("configurationDone", &json!({}));
    if more.get("record").is_some() {
        let told = client.event("capabilities");
        assert_eq!(told["capabilities"], json!({"supportsStepBack": true}));
    }
    client
}

/// Goes to where something first went wrong. Returns the text of the stop.
fn goes_to_first(client: &mut Client, of: &str) -> String {
    client.request("iree/first", &json!({"of": of}));
    client.event("continued");
    client.event("stopped")["text"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_cause_of_a_nan_is_one_request_away() {
    let thread = json!({"threadId": 1});
    for is_machine_code in [false, true] {
        let mut client = runs(&nans(is_machine_code), &json!({"record": "auto"}));
        assert_eq!(client.event("stopped")["description"], "The end of the recorded run");
        let verdict = client.event("iree/verdict");
        let text = "Result 2 has 256 NaN among 256 elements.";
        assert_eq!(verdict, json!({"of": "nan", "text": text, "canGoBack": true}));
        assert!(client.printed("stderr").contains(text));

        let found = goes_to_first(&mut client, "nan");
        assert!(found.starts_with("%l = arith.divf %d, %d is NaN: %d = 0"), "{found}");
        assert_eq!(client.top().1, 27, "{found}");
        let before = client.top();

        // It is asked again, and finds the same; so it does while breakpoints are set, and from
        // the beginning.
        assert_eq!(goes_to_first(&mut client, "nan"), found);
        assert_eq!(client.top(), before);

        // From there, it comes to its end again.
        client.request("continue", &thread);
        assert_eq!(client.event("stopped")["description"], "The end of the recorded run");
        assert_eq!(client.event("iree/verdict"), verdict);
        client.request("continue", &thread);
        client.ends(0);
        client.disconnect();
    }
}

#[test]
fn a_program_with_the_right_results_ends() {
    let expected = json!({"record": "auto", "expected": ["i32=6"]});
    for more in [json!({"record": "auto"}), expected] {
        let mut client = runs(&call("sum", &["3"]), &more);
        // Neither a stop nor a verdict comes before that.
        client.ends(0);
        client.disconnect();
    }
}

#[test]
fn results_that_are_not_expected_are_told() {
    let thread = json!({"threadId": 1});
    let zeros = json!({"record": "auto", "expected": "4x4xf32=0"});
    let mut client = runs(&perceptron(), &zeros);
    assert_eq!(client.event("stopped")["description"], "The end of the recorded run");
    let verdict = client.event("iree/verdict");
    assert_eq!(verdict["of"], "difference", "{verdict}");
    assert_eq!(verdict["text"], "The results are not the expected ones.");
    assert!(client.printed("stderr").contains("[FAILED] result[0]: "));
    // No dispatch is wrong, so there is no such place, and the program stays at its end.
    let end = client.top();
    goes_to_first(&mut client, "difference");
    let told = client.printed("important").to_owned();
    assert!(told.contains("each dispatch has left what its text means"), "{told}");
    assert_eq!(client.top(), end);
    client.request("continue", &thread);
    client.ends(1);
    client.disconnect();
}

#[test]
fn a_nan_of_an_input_has_no_first_operation() {
    let inputs = json!({"record": "auto", "inputs": ["4x8xf32=nan"]});
    let mut client = runs(&perceptron(), &inputs);
    assert_eq!(client.event("stopped")["description"], "The end of the recorded run");
    assert_eq!(client.event("iree/verdict")["of"], "nan");
    goes_to_first(&mut client, "nan");
    let told = client.printed("important").to_owned();
    assert!(told.contains("it comes from an input or from a constant"), "{told}");
    client.disconnect_from_stop();
}

#[test]
fn without_a_recording_the_verdict_comes_with_the_end() {
    let mut client = runs(&nans(false), &json!({}));
    let verdict = client.event("iree/verdict");
    assert_eq!((&verdict["of"], &verdict["canGoBack"]), (&json!("nan"), &json!(false)));
    client.ends(0);
    client.disconnect();
}

#[test]
fn what_is_expected_is_read_before_the_program_runs() {
    for (name, value, why) in [
        ("expected", json!(["banana"]), "`expected`: "),
        ("expected", json!(["i32=1", "i32=2"]), "`expected`: "),
        ("expected", json!([[1]]), "an input is text as for `--input=`, or a number"),
        ("record", json!("always"), "`record` is true, false or \"auto\""),
    ] {
        let mut client = Client::new();
        client.initialize();
        let mut arguments = call("sum", &["3"]);
        arguments[name] = value;
        let error = client.fails("launch", &arguments);
        assert!(error.contains(why), "{error}");
        client.event("terminated");
        client.leave();
    }
}

/// In a recording that the client has not asked for, a value is set at once, too: a line of time
/// begins there.
#[test]
fn a_value_is_set_at_once_in_a_program_that_is_recorded_without_being_asked() {
    let mut arguments = call("sum", &["3"]);
    arguments["stopOnEntry"] = true.into();
    let mut client = runs(&arguments, &json!({"record": "auto"}));
    assert_eq!(client.event("stopped")["reason"], "entry");
    client.request("next", &json!({"threadId": 1}));
    client.event("stopped");
    let frame = client.top_frame();
    let line = json!({"expression": "%n = 5", "context": "repl", "frameId": frame});
    client.request("evaluate", &line);
    client.request("next", &json!({"threadId": 1}));
    client.event("stopped");
    client.request("stepBack", &json!({"threadId": 1}));
    let stopped = client.event("stopped");
    assert!(stopped["text"].as_str().unwrap_or_default().starts_with("line 2 begins"), "{stopped}");
    client.request("continue", &json!({"threadId": 1}));
    client.ends(0);
    // The sum of twice each number below 5.
    assert!(client.printed("stdout").contains("result[0]: i32=20"));
    client.disconnect();
}

/// What one client has found, another one opens at the same stop: a launch says the moment.
#[test]
fn a_launch_opens_at_a_moment() {
    for is_machine_code in [false, true] {
        let mut client = runs(&nans(is_machine_code), &json!({"record": "auto"}));
        client.event("stopped");
        client.event("iree/verdict");
        goes_to_first(&mut client, "nan");
        let there = client.top();
        let moment = client.request("iree/moment", &json!({}));
        assert_eq!(moment["isRepeatable"], true);

        let mut other =
            runs(&nans(is_machine_code), &json!({"record": true, "moment": moment["moment"]}));
        other.event("stopped");
        assert_eq!(other.top(), there);
        assert_eq!(other.request("iree/moment", &json!({})), moment);
        // From there, it goes back and forward as any other.
        other.request("reverseContinue", &json!({"threadId": 1}));
        assert_eq!(other.event("stopped")["description"], "The beginning of the recording");
        other.disconnect_from_stop();

        // After a change by hand, a launch does not come there.
        let frame = client.top_frame();
        let line = json!({"expression": "`set i0 = 5", "context": "repl", "frameId": frame});
        client.request("evaluate", &line);
        assert_eq!(client.request("iree/moment", &json!({}))["isRepeatable"], false);
        client.disconnect_from_stop();
    }
    let mut client = Client::new();
    client.initialize();
    let mut arguments = nans(false);
    arguments["moment"] = "noon".into();
    let error = client.fails("launch", &arguments);
    assert!(error.contains("`moment`: "), "{error}");
    client.event("terminated");
    client.leave();
}

//! Sessions from their beginning to every possible end.

use std::fs;

use dap_adapter::Options;
use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{call, line, module, source};

/// The arguments of the test program with further settings.
fn with(mut arguments: Value, settings: &Value) -> Value {
    for (name, value) in settings.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    arguments
}

#[test]
fn what_is_advertised_is_what_is_handled() {
    let mut client = Client::new();
    let mut capabilities = client.initialize();
    let filters = capabilities.as_object_mut().unwrap().remove("exceptionBreakpointFilters");
    let names: Vec<Value> =
        filters.unwrap().as_array().unwrap().iter().map(|it| it["filter"].clone()).collect();
    assert_eq!(names, ["failure", "nan", "infinity", "difference"]);
    let expected = json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsSetVariable": true,
        "supportsSetExpression": true,
        "supportsReadMemoryRequest": true,
        "supportsWriteMemoryRequest": true,
        "supportsCompletionsRequest": true,
        "completionTriggerCharacters": ["%", "@", "."],
        "supportsStepInTargetsRequest": true,
        "supportsGotoTargetsRequest": true,
        "supportsRestartFrame": true,
        "supportsEvaluateForHovers": true,
        "supportsDelayedStackTraceLoading": true,
        "supportsTerminateRequest": true,
        "supportsDisassembleRequest": true,
        "supportsSteppingGranularity": true,
        "supportsInstructionBreakpoints": true,
        "supportTerminateDebuggee": true,
        "supportsRestartRequest": true,
        "supportsCancelRequest": true,
        "supportsModulesRequest": true,
        "supportsLoadedSourcesRequest": true,
        "supportsBreakpointLocationsRequest": true,
        "supportsExceptionInfoRequest": true,
        "supportsExceptionFilterOptions": true,
        "supportsDataBreakpoints": true,
        "supportsClipboardContext": true, "supportsValueFormattingOptions": true,
        "supportsDataBreakpointBytes": true,
        "supportsIreeAbsent": true,
    });
    assert_eq!(capabilities, expected);
    assert_eq!(
        client.fails("initialize", &json!({"adapterID": "iree"})),
        "`initialize` came twice"
    );
    client.disconnect();
}

#[test]
fn a_program_runs_to_its_end_and_prints_its_results() {
    let mut client = Client::new();
    client.launch(&call("sum", &["5"]));
    assert_eq!(
        client.request("threads", &json!({})),
        json!({"threads": [{"id": 1, "name": "main"}]})
    );
    client.request("configurationDone", &json!({}));
    client.ends(0);
    assert_eq!(client.printed("stdout"), "EXEC @sum\nresult[0]: i32=20\n");
    assert_eq!(client.request("threads", &json!({})), json!({"threads": []}));
    client.disconnect();
}

#[test]
fn a_program_stops_on_entry_if_asked_to() {
    let mut client = Client::new();
    client.launch(&with(call("sum", &["3"]), &json!({"stopOnEntry": true})));
    client.request("configurationDone", &json!({}));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "entry");
    assert_eq!((&stopped["threadId"], &stopped["allThreadsStopped"]), (&json!(1), &json!(true)));
    assert_eq!(client.top().0, "sum");
    assert_eq!(
        client.fails("configurationDone", &json!({})),
        "`configurationDone` came twice: the program is on"
    );
    assert_eq!(
        client.request("continue", &json!({"threadId": 1})),
        json!({"allThreadsContinued": true})
    );
    client.ends(0);
    client.disconnect();
}

#[test]
fn without_debugging_nothing_stops_the_program() {
    let settings = json!({"noDebug": true, "stopOnEntry": true});
    let mut client = Client::new();
    client.launch(&with(call("sum", &["3"]), &settings));
    let breakpoint = client.set_line(&source(), line("adding"));
    assert_eq!(breakpoint["verified"], false);
    client.request("configurationDone", &json!({}));
    client.ends(0);
    client.disconnect();

    let mut client = Client::new();
    client.launch(&with(call("check", &["-1"]), &settings));
    client.request("configurationDone", &json!({}));
    client.ends(1);
    assert!(client.printed("stderr").contains("the number is below zero"));
    client.disconnect();
}

#[test]
fn a_failure_can_be_looked_at_and_then_ends_the_program() {
    let mut client = Client::new();
    client.launch(&call("check", &["-1"]));
    client.request("configurationDone", &json!({}));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "exception");
    let text = stopped["text"].as_str().unwrap();
    assert!(text.contains("the number is below zero"), "{text}");
    assert_eq!(client.top(), ("check".into(), i64::from(line("failing"))));
    let info = client.request("exceptionInfo", &json!({"threadId": 1}));
    assert_eq!(info["breakMode"], "unhandled");
    assert!(info["description"].as_str().unwrap().contains("the number is below zero"), "{info}");
    assert!(info["details"]["stackTrace"].as_str().unwrap().starts_with("check at "), "{info}");
    client.request("continue", &json!({"threadId": 1}));
    client.ends(1);
    client.disconnect();
}

#[test]
fn a_source_is_compiled_first() {
    let mut client = Client::new();
    let arguments = json!({"program": source(), "function": "sum", "inputs": ["4"]});
    let stopped = client.launch_to_line(&arguments, &source(), line("adding"));
    assert_eq!(stopped["reason"], "breakpoint");
    assert_eq!(client.top(), ("sum".into(), i64::from(line("adding"))));
    client.disconnect_from_stop();
}

/// The importer is a script beside a compiler, and makes of any model the test program.
#[cfg(unix)]
#[test]
fn a_model_of_onnx_is_imported_first() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let write_program = |name: &str, script: String| {
        let path = directory.path().join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    write_program(
        "iree-import-onnx",
        format!("#!/bin/sh\n[ \"$2\" = --opset-version=17 ] && cp {} \"$4\"\n", source().display()),
    );
    let compiler =
        write_program("iree-compile", "#!/bin/sh\nexec iree-compile \"$@\"\n".to_owned());
    let model = directory.path().join("model.onnx");
    fs::write(&model, b"a model").unwrap();
    let mut client = Client::new();
    client.initialize();
    let arguments = json!({"program": model, "function": "sum", "inputs": ["4"],
                           "ireeCompile": compiler, "opsetVersion": 17, "stopOnEntry": true});
    client.request("launch", &arguments);
    client.event("initialized");
    client.request("configurationDone", &json!({}));
    client.event("stopped");
    assert_eq!(client.top().0, "sum");
    client.disconnect_from_stop();
}

#[test]
fn what_the_compiler_says_reaches_the_user() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("wrong.mlir");
    fs::write(&program, "func.func @main() -> i32 {\n  return %nowhere : i32\n}\n").unwrap();
    let mut client = Client::new();
    client.initialize();
    let error = client.fails("launch", &json!({"program": program}));
    assert!(error.contains("undeclared SSA value"), "{error}");
    assert!(client.printed("stderr").contains("undeclared SSA value"));
    client.event("terminated");
    client.disconnect();
}

#[test]
fn a_launch_that_cannot_be_says_why() {
    let damaged = tempfile::tempdir().unwrap();
    let damaged = damaged.path();
    fs::write(damaged.join("damaged.vmfb"), b"no module").unwrap();
    let cases = [
        (json!({}), "`program` is missing"),
        (json!({"program": "nowhere.vmfb"}), "there is no file"),
        (json!({"program": module(), "cwd": "/no/such/directory"}), "is not a directory"),
        (json!({"program": "damaged.vmfb", "cwd": damaged}), "not an IREE VM module"),
        (json!({"program": module()}), "name the function to debug"),
        (json!({"program": module(), "function": "main"}), "there is no function \"main\""),
        (call("sum", &["1", "2"]), "input"),
        (call("sum", &["x"]), "input"),
        (json!({"program": module(), "log": damaged}), "cannot be written"),
        (json!({"program": ["a"]}), "bad arguments of `launch`"),
    ];
    for (arguments, expected) in cases {
        let mut client = Client::new();
        client.initialize();
        let error = client.fails("launch", &arguments);
        assert!(error.contains(expected), "{arguments}: {error}");
        client.event("terminated");
        client.disconnect();
    }
}

#[test]
fn requests_that_need_a_program_say_so() {
    let mut client = Client::new();
    client.initialize();
    for command in
        ["configurationDone", "setBreakpoints", "stackTrace", "continue", "pause", "source"]
    {
        let error = client.fails(command, &json!({}));
        assert_eq!(error, format!("`{command}` needs a program; send `launch` first"));
    }
    assert_eq!(client.request("threads", &json!({})), json!({"threads": []}));
    client.request("terminate", &json!({}));
    client.disconnect();
}

#[test]
fn a_program_is_terminated_in_every_state() {
    // Before the program begins.
    let mut client = Client::new();
    client.launch(&call("sum", &["3"]));
    client.request("terminate", &json!({}));
    client.ends(1);
    let error = client.fails("stackTrace", &json!({"threadId": 1}));
    assert_eq!(error, "`stackTrace` came too late: the program has ended");
    client.disconnect();

    // While the program stands still.
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("adding"));
    client.request("terminate", &json!({}));
    client.ends(1);
    client.disconnect();

    // While the program runs.
    let mut client = Client::new();
    client.launch(&call("forever", &["2"]));
    client.request("configurationDone", &json!({}));
    client.request("terminate", &json!({}));
    client.ends(1);
    client.disconnect();

    // When the program is over.
    let mut client = Client::new();
    client.launch(&call("sum", &["3"]));
    client.request("configurationDone", &json!({}));
    client.ends(0);
    client.request("terminate", &json!({}));
    client.disconnect();
}

#[test]
fn disconnecting_ends_the_program_in_every_state() {
    // While the program is compiled.
    let mut client = Client::new();
    client.initialize();
    let launch = client.send("launch", &json!({"program": source(), "function": "sum"}));
    client.request("disconnect", &json!({}));
    assert_eq!(client.response(launch)["body"]["error"]["format"], "the launch was cancelled");
    client.event("terminated");
    client.leave();

    // While the program stands still.
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("adding"));
    client.disconnect_from_stop();

    // While the program runs.
    let mut client = Client::new();
    client.launch(&call("forever", &["2"]));
    client.request("configurationDone", &json!({}));
    client.disconnect_from_stop();
}

#[test]
fn a_client_may_just_vanish() {
    let mut client = Client::new();
    client.launch(&call("forever", &["2"]));
    client.request("configurationDone", &json!({}));
    client.vanish();
}

#[test]
fn the_log_has_both_directions() {
    let directory = tempfile::tempdir().unwrap();
    let by_option = directory.path().join("option.log");
    let by_launch = directory.path().join("launch.log");
    let mut client =
        Client::with_options(Options { log: Some(by_option.clone()), ..Options::default() });
    client.launch(&call("sum", &["3"]));
    client.request("terminate", &json!({}));
    client.ends(1);
    client.disconnect();
    let mut client = Client::new();
    client.launch(&with(call("sum", &["3"]), &json!({"log": by_launch})));
    client.request("terminate", &json!({}));
    client.ends(1);
    client.disconnect();
    for log in [by_option, by_launch] {
        let log = fs::read_to_string(log).unwrap();
        let has = |arrow: &str, text: &str| {
            log.lines().any(|line| line.contains(arrow) && line.contains(text))
        };
        assert!(has("-->", "\"command\":\"initialize\""), "{log}");
        assert!(has("<--", "\"event\":\"initialized\""), "{log}");
        assert!(has("<--", "\"command\":\"disconnect\""), "{log}");
    }
}

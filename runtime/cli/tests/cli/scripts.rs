//! `iree-dbg debug` without a prompt: the order of scripts, its exit status, and answers as JSON.

use std::process::Output;

use crate::program::IREE_DBG;

use serde_json::Value;

fn debug(arguments: &[&str]) -> Output {
    let mut command = IREE_DBG.command();
    command.arg("debug").args(arguments).output().expect("the debugger starts")
}

#[test]
fn scripts_run_in_the_order_of_the_command_line() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let script = scratch.path().join("a script");
    std::fs::write(&script, "echo second\n").expect("it is written");
    let path = script.to_str().expect("it is text");
    let output = debug(&["--batch", "-ex", "echo first", "-x", path, "-ex", "echo third"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let said: Vec<&str> = text.lines().filter(|line| !line.contains(' ')).collect();
    assert_eq!(said, ["first", "second", "third"], "{text}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_exit_status_says_whether_something_failed() {
    let status = |commands: &[&str]| {
        let mut arguments = vec!["--batch"];
        arguments.extend(commands.iter().flat_map(|command| ["-ex", command]));
        debug(&arguments).status.code()
    };
    assert_eq!(status(&["run"]), Some(0));
    assert_eq!(status(&["braek 3", "run"]), Some(1));
    // Steps of -1 make a list of that size, which fails.
    assert_eq!(status(&["run 2.0 -1"]), Some(1));
    assert_eq!(status(&["run 2.0 -1", "run 2.0 5"]), Some(0));
}

#[test]
fn answers_and_stops_are_objects() {
    let commands = ["break improve", "run", "bt", "p %guess", "info b", "p %no", "locals"];
    let mut arguments = vec!["--batch", "--json-lines"];
    arguments.extend(commands.iter().flat_map(|command| ["-ex", command]));
    let output = debug(&arguments);
    let text = String::from_utf8_lossy(&output.stdout);
    let parse = |line| serde_json::from_str::<Value>(line).expect("each line is JSON");
    let lines: Vec<Value> = text.lines().map(parse).collect();
    let answer = |command: &str| {
        let found = lines.iter().find(|line| line["command"] == command);
        found.unwrap_or_else(|| panic!("no answer to {command}: {text}"))
    };
    assert_eq!(answer("break improve")["breakpoint"]["number"], 1);
    let stop = lines.iter().find(|line| line["kind"] == "stop").expect("it stops");
    assert_eq!((&stop["reason"], &stop["breakpoints"][0]), (&"breakpoint".into(), &1.into()));
    assert_eq!(stop["frame"]["source"]["line"], 13);
    assert_eq!(answer("bt")["frames"][1]["name"], "main");
    assert_eq!(answer("p %guess")["value"]["value"], "2");
    assert_eq!(answer("info b")["breakpoints"][0]["hits"], 1);
    assert_eq!(answer("p %no")["ok"], false);
    assert!(answer("p %no")["error"].as_str().is_some_and(|text| text.contains("no")));
    let values = answer("locals")["values"].as_array().expect("there are some").clone();
    assert!(values.iter().any(|value| value["name"] == "%guess"), "{values:?}");
    assert_eq!(output.status.code(), Some(1));
}

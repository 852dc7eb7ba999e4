//! The commands of the debugger in the console.

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{call, line, source};

/// A line of the console, typed while a frame is selected.
#[track_caller]
fn typed(client: &mut Client, text: &str) -> String {
    let frame = client.top_frame();
    let arguments = json!({"expression": text, "context": "repl", "frameId": frame});
    client.request("evaluate", &arguments)["result"].as_str().unwrap().to_owned()
}

#[test]
fn commands_answer_as_in_a_terminal() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("doubling"));
    let stack = typed(&mut client, "bt");
    assert!(stack.starts_with("#0 twice [") && stack.contains("\n#1 sum ["), "{stack}");
    assert!(typed(&mut client, "info args").starts_with("%x = 0 : i32"));
    assert!(typed(&mut client, "help").contains("  bt"));
    assert!(typed(&mut client, "up").starts_with("#1 sum ["));
    // The selection lasts until the client selects another frame.
    assert!(typed(&mut client, "locals").contains("%n = 3"), "{}", typed(&mut client, "locals"));
    client.disconnect_from_stop();
}

#[test]
fn commands_that_run_the_program_are_seen_by_the_client() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("doubling"));
    assert_eq!(typed(&mut client, "finish"), "");
    client.event("continued");
    assert_eq!(client.event("stopped")["reason"], "step");
    assert!(client.printed("console").contains("#0 sum ["), "{}", client.printed("console"));
    assert_eq!(client.top().0, "sum");
    typed(&mut client, "until 8");
    client.event("continued");
    client.event("stopped");
    typed(&mut client, "delete");
    assert_eq!(client.event("breakpoint")["reason"], "removed");
    typed(&mut client, "continue");
    client.event("continued");
    client.ends(0);
    client.disconnect();
}

#[test]
fn breakpoints_of_commands_are_the_clients_too() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("doubling"));
    let adding = line("adding");
    typed(&mut client, &format!("break program.mlir:{adding} if %i == 1"));
    let new = client.event("breakpoint");
    assert_eq!(new["reason"], "new");
    let breakpoint = &new["breakpoint"];
    assert_eq!((&breakpoint["line"], &breakpoint["verified"]), (&json!(adding), &json!(true)));
    assert_eq!(breakpoint["source"]["path"], json!(source()));
    // A client that sends it as its own gets the same one.
    let lines = json!([{"line": adding, "condition": "%i == 1"}, {"line": line("doubling")}]);
    let asked = json!({"source": {"path": source()}, "breakpoints": lines});
    let set = client.request("setBreakpoints", &asked);
    assert_eq!(set["breakpoints"][0]["id"], breakpoint["id"]);
    typed(&mut client, &format!("delete {}", breakpoint["id"]));
    let removed = client.event("breakpoint");
    assert_eq!(
        (&removed["reason"], &removed["breakpoint"]["id"]),
        (&json!("removed"), &breakpoint["id"])
    );
    client.disconnect_from_stop();
}

#[test]
fn a_value_comes_before_a_command_of_its_name() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("doubling"));
    // %x is a value here, x a command.
    assert_eq!(typed(&mut client, "x"), "0");
    assert_eq!(typed(&mut client, "p x + 1"), "$1 = x + 1 = 1 : integer");
    assert!(client.printed("console").contains("`x"), "{}", client.printed("console"));
    let arguments = json!({"expression": "`x", "context": "repl"});
    assert!(client.fails("evaluate", &arguments).contains("the bytes of what?"));
    let arguments = json!({"expression": "nothing", "context": "repl"});
    assert!(client.fails("evaluate", &arguments).contains("nothing is called"));
    // Watches take no commands.
    let arguments = json!({"expression": "bt", "context": "watch"});
    assert!(client.fails("evaluate", &arguments).contains("nothing is called"));
    client.disconnect_from_stop();
}

#[test]
fn run_loads_the_program_again() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("doubling"));
    typed(&mut client, "start");
    client.event("continued");
    let stopped: Value = client.event("stopped");
    assert_eq!(stopped["reason"], "entry");
    typed(&mut client, "continue");
    client.event("continued");
    assert_eq!(client.event("stopped")["reason"], "breakpoint");
    client.disconnect_from_stop();
}

#[test]
fn run_takes_new_inputs() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("doubling"));
    assert_eq!(typed(&mut client, "show args"), "@sum: 3");
    typed(&mut client, "disable");
    assert_eq!(client.event("breakpoint")["reason"], "changed");
    typed(&mut client, "run 5");
    client.event("continued");
    client.ends(0);
    assert_eq!(client.printed("stdout"), "EXEC @sum\nresult[0]: i32=20\n");
    client.disconnect();
}

#[test]
fn several_lines_are_performed_one_after_the_other() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("doubling"));
    typed(&mut client, "define what\np %x + $arg0\nend");
    assert_eq!(typed(&mut client, "what 40"), "$1 = %x + 40 = 40 : integer");
    typed(&mut client, "continue\np %x");
    client.event("continued");
    client.event("stopped");
    // What follows a stop is printed.
    typed(&mut client, "help continue");
    assert!(client.printed("console").contains("%x = 1 : i32"), "{}", client.printed("console"));
    let arguments = json!({"expression": "`shell ls", "context": "repl"});
    assert!(client.fails("evaluate", &arguments).contains("for terminals"));
    client.disconnect_from_stop();
}

#[test]
fn commands_are_completed() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("doubling"));
    let mut labels = |text: &str| -> Vec<String> {
        let column = text.len() + 1;
        let found = client.request("completions", &json!({"text": text, "column": column}));
        let targets = found["targets"].as_array().unwrap().clone();
        targets.iter().map(|it| it["label"].as_str().unwrap().to_owned()).collect()
    };
    assert!(labels("break tw").contains(&"twice".to_owned()));
    assert!(labels("`backt").contains(&"backtrace".to_owned()));
    assert!(labels("info fun").contains(&"info functions".to_owned()));
    client.disconnect_from_stop();
}

#[test]
fn a_program_that_runs_is_interrupted_from_the_console() {
    let mut client = Client::new();
    client.launch(&call("forever", &["2"]));
    client.request("configurationDone", &json!({}));
    let typed = |text: &str| json!({"expression": text, "context": "repl"});
    let refused = client.fails("evaluate", &typed("p 1"));
    assert!(refused.contains("`interrupt` stops it"), "{refused}");
    client.request("evaluate", &typed("interrupt"));
    assert_eq!(client.event("stopped")["reason"], "pause");
    let refused = client.fails("evaluate", &typed("interrupt"));
    assert!(refused.contains("stands still already"), "{refused}");
    client.disconnect_from_stop();
}

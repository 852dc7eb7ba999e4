//! Requests while the program is in native code that nothing can interrupt. They are answered, the
//! console says what the program is busy with, and breakpoints work after it has returned.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use dap_adapter::{Beginning, Options, Reach, TcpServer};
use debug::{Debugger, LaunchOptions, ModuleSource};
use hal::{Config, Host, NativeLibrary};
use serde_json::json;

use crate::client::Client;
use crate::program::{line_of, slow, source_of};

/// How long the native function takes.
const LONG: Duration = Duration::from_secs(3);

/// How long a prompt answer may take.
const PROMPT: Duration = Duration::from_secs(1);

/// `slow.wait` waits, then returns its argument.
#[derive(Debug)]
struct Slow;

impl NativeLibrary for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn module(&self, _host: &Host, _imports: &[(&str, &str)]) -> vm::NativeModule {
        let wait = |call: vm::NativeCall<'_>| {
            thread::sleep(LONG);
            call.i32(0)
        };
        vm::NativeModule::builder("slow").function("wait", "0i_i", wait).build()
    }
}

/// Starts the program, to which clients can attach.
fn start() -> SocketAddr {
    let debugger = Debugger::load(LaunchOptions {
        modules: vec![ModuleSource::Path(slow())],
        inputs: vec!["5".to_owned()],
        host: Config { libraries: vec![Arc::new(Slow)], ..Config::default() },
        ..LaunchOptions::default()
    });
    let debugger = debugger.unwrap_or_else(|error| panic!("{error}"));
    let server = TcpServer::bind("127.0.0.1:0", Reach::Loopback).unwrap();
    let address = server.local_addr().unwrap();
    let options = Options::default();
    thread::spawn(move || server.run_program(debugger, Beginning::WithFirstClient, &options));
    address
}

fn attach(address: SocketAddr) -> Client {
    let mut client = Client::connect(&TcpStream::connect(address).unwrap());
    client.initialize();
    client.request("attach", &json!({}));
    client.event("capabilities");
    client.event("initialized");
    client.request("configurationDone", &json!({}));
    // Until the program is in the function.
    thread::sleep(LONG / 10);
    client
}

#[test]
fn breakpoints_are_answered_early_and_set_late() {
    let mut client = attach(start());
    let (adding, multiplying) = (line_of("slow", "adding"), line_of("slow", "multiplying"));
    let lines = json!([{"line": adding}, {"line": multiplying}, {"line": 1, "hitCondition": "?"}]);
    let arguments = json!({"source": {"path": source_of("slow")}, "breakpoints": lines});
    let set = client.answered("setBreakpoints", &arguments);
    let set = set["body"]["breakpoints"].as_array().unwrap().clone();
    assert_eq!(set.len(), 3);
    for breakpoint in &set {
        assert_eq!(breakpoint["verified"], false, "{breakpoint}");
        let message = breakpoint["message"].as_str().unwrap();
        assert!(message.contains("in slow.wait, which is native"), "{message}");
    }
    let filters = json!({"filters": ["failed"]});
    let caught = client.answered("setExceptionBreakpoints", &filters);
    assert_eq!(caught["success"], true, "{caught}");
    for command in ["modules", "stackTrace"] {
        let refused = client.answered(command, &json!({"threadId": 1}));
        assert_eq!(refused["message"], "notStopped", "{refused}");
    }
    assert_eq!(client.answered("threads", &json!({}))["success"], true);
    let printed = client.printed("console").to_owned();
    let expected = "The program is still in slow.wait, which is native; stops when it returns\n";
    assert_eq!(printed.matches(expected).count(), 1, "{printed}");

    // The program returns, and the client hears of its breakpoints by the numbers that it has.
    for (index, early) in set.iter().enumerate() {
        let changed = client.event("breakpoint");
        assert_eq!(changed["reason"], "changed");
        assert_eq!(changed["breakpoint"]["id"], early["id"]);
        assert_eq!(changed["breakpoint"]["verified"], index < 2, "{changed}");
    }
    let stopped = client.event("stopped");
    assert_eq!(stopped["hitBreakpointIds"], json!([set[0]["id"]]));
    assert_eq!(client.top(), ("main".to_owned(), i64::from(adding)));
    // A second request gives them the numbers of its answer.
    let set = client.request("setBreakpoints", &arguments);
    client.request("continue", &json!({"threadId": 1}));
    let stopped = client.event("stopped");
    assert_eq!(stopped["hitBreakpointIds"], json!([set["breakpoints"][1]["id"]]));
    client.request("continue", &json!({"threadId": 1}));
    client.ends(0);
    client.request("disconnect", &json!({}));
    client.leave();
}

#[test]
fn a_late_pause_says_why() {
    let mut client = attach(start());
    let start = Instant::now();
    client.request("pause", &json!({"threadId": 1}));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "pause");
    let printed = client.printed("console").to_owned();
    assert!(printed.contains("still in slow.wait, which is native"), "{printed}");
    assert!(start.elapsed() > PROMPT, "it was not busy");

    client.request("continue", &json!({"threadId": 1}));
    client.ends(0);
    client.request("disconnect", &json!({}));
    client.leave();
}

#[test]
fn a_client_leaves_at_once() {
    let mut client = attach(start());
    assert_eq!(client.answered("disconnect", &json!({}))["success"], true);
    client.event("terminated");
    client.leave();
}

//! Clients that attach to a running program, and leave it.

use std::net::{SocketAddr, TcpStream};
use std::thread::{self, JoinHandle};

use dap_adapter::{Beginning, Options, Reach, TcpServer};
use debug::{Debugger, LaunchOptions, ModuleSource, StopReason};
use serde_json::json;

use crate::client::Client;
use crate::program::{line, module, source};

type Running = JoinHandle<Option<StopReason>>;

/// Starts a function of the test program, to which clients can attach.
fn start(function: &str, input: &str, beginning: Beginning) -> (SocketAddr, Running) {
    let debugger = Debugger::load(LaunchOptions {
        modules: vec![ModuleSource::Path(module())],
        function: Some(function.to_owned()),
        inputs: vec![input.to_owned()],
        ..LaunchOptions::default()
    });
    let debugger = debugger.unwrap_or_else(|error| panic!("{error}"));
    let server = TcpServer::bind("127.0.0.1:0", Reach::Loopback).unwrap();
    let address = server.local_addr().unwrap();
    let running = thread::spawn(move || {
        server.run_program(debugger, beginning, &Options::default()).unwrap()
    });
    (address, running)
}

fn attach(address: SocketAddr) -> Client {
    let mut client = Client::connect(&TcpStream::connect(address).unwrap());
    client.initialize();
    client.request("attach", &json!({}));
    let capabilities = client.event("capabilities");
    assert_eq!(capabilities, json!({"capabilities": {"supportsRestartRequest": false}}));
    client.event("initialized");
    assert_eq!(client.announced("process")[0]["startMethod"], "attach");
    client
}

fn results(reason: Option<StopReason>) -> String {
    match reason {
        Some(StopReason::Completed(results)) => vm::value_text::format_values("result", &results),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_waits_for_its_client_and_goes_on_without_it() {
    let (address, running) = start("sum", "5", Beginning::WithFirstClient);
    // A client that does not attach does not begin the program.
    let mut visitor = Client::connect(&TcpStream::connect(address).unwrap());
    visitor.initialize();
    let error = visitor.fails("launch", &json!({"program": module()}));
    assert!(error.contains("a program is running here already"), "{error}");
    visitor.event("terminated");
    visitor.request("disconnect", &json!({}));
    visitor.leave();

    let mut client = attach(address);
    client.set_line(&source(), line("adding"));
    client.request("configurationDone", &json!({}));
    assert_eq!(client.event("stopped")["reason"], "breakpoint");
    let error = client.fails("restart", &json!({}));
    assert!(error.contains("the program was started elsewhere"), "{error}");
    // The breakpoint is removed with its client.
    client.request("disconnect", &json!({}));
    client.event("terminated");
    client.leave();
    assert_eq!(results(running.join().unwrap()), "result[0]: i32=20\n");
}

#[test]
fn clients_come_and_go_while_the_program_runs() {
    let (address, running) = start("forever", "2", Beginning::AtOnce);
    for _ in 0..3 {
        let mut client = attach(address);
        client.request("configurationDone", &json!({}));
        client.request("pause", &json!({"threadId": 1}));
        assert_eq!(client.event("stopped")["reason"], "pause");
        assert_eq!(client.top().0, "forever");
        client.request("continue", &json!({"threadId": 1}));
        client.request("disconnect", &json!({}));
        client.event("terminated");
        client.leave();
    }
    // A client that vanishes leaves the program too; one that asks for it ends the program.
    let stream = TcpStream::connect(address).unwrap();
    let mut client = Client::connect(&stream);
    client.initialize();
    client.request("attach", &json!({"stopOnEntry": true}));
    client.event("capabilities");
    client.event("initialized");
    client.request("configurationDone", &json!({}));
    assert_eq!(client.event("stopped")["reason"], "pause");
    stream.shutdown(std::net::Shutdown::Both).unwrap();
    let mut client = attach(address);
    client.request("disconnect", &json!({"terminateDebuggee": true}));
    client.ends(1);
    client.leave();
    assert!(running.join().unwrap().is_none());
}

#[test]
fn a_program_that_ends_under_a_client_has_its_results() {
    let (address, running) = start("sum", "3", Beginning::WithFirstClient);
    let mut client = attach(address);
    client.request("configurationDone", &json!({}));
    client.ends(0);
    assert!(client.printed("stdout").contains("result[0]: i32=6"));
    client.disconnect();
    assert_eq!(results(running.join().unwrap()), "result[0]: i32=6\n");

    let (address, running) = start("check", "-1", Beginning::WithFirstClient);
    let mut client = attach(address);
    client.request("configurationDone", &json!({}));
    assert_eq!(client.event("stopped")["reason"], "exception");
    client.request("disconnect", &json!({}));
    client.event("terminated");
    client.leave();
    assert!(matches!(running.join().unwrap(), Some(StopReason::Failed(_))));
}

#[test]
fn without_a_program_there_is_nothing_to_attach_to() {
    let mut client = Client::new();
    client.initialize();
    let error = client.fails("attach", &json!({}));
    assert!(error.contains("--wait-for-debugger"), "{error}");
    client.event("terminated");
    client.disconnect();
}

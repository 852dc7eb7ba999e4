//! Clients over TCP, one after the other, and connections that are refused.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use dap_adapter::{Options, Reach, TcpServer, Token};
use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{call, line, source};

/// Starts a server.
fn start(options: Options) -> SocketAddr {
    let server = TcpServer::bind("127.0.0.1:0", Reach::Loopback).unwrap();
    let address = server.local_addr().unwrap();
    thread::spawn(move || server.serve(&options));
    address
}

/// The error that a connection with these bytes gets before it is closed.
fn refused(address: SocketAddr, said: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // The server may close before all bytes are sent.
    let _ = stream.write_all(said);
    let mut heard = String::new();
    stream.read_to_string(&mut heard).unwrap();
    let (_, body) = heard.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{heard:?}"));
    let response: Value = serde_json::from_str(body).unwrap();
    assert_eq!(response["success"], false, "{response}");
    response["message"].as_str().unwrap().to_owned()
}

fn framed(body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[test]
fn clients_are_served_in_turn() {
    let address = start(Options::default());
    let first = TcpStream::connect(address).unwrap();
    let mut client = Client::connect(&first);
    client.launch_to_line(&call("sum", &["3"]), &source(), line("adding"));
    let initialize = json!({"seq": 7, "type": "request", "command": "initialize",
        "arguments": {"adapterID": "iree"}});
    let error = refused(address, &framed(&initialize));
    assert!(error.starts_with("another client is being served here"), "{error}");
    client.disconnect_from_stop();

    let second = TcpStream::connect(address).unwrap();
    let mut client = Client::connect(&second);
    client.launch(&call("forever", &["2"]));
    client.request("configurationDone", &json!({}));
    // The client leaves while its program runs.
    second.shutdown(Shutdown::Both).unwrap();

    let third = TcpStream::connect(address).unwrap();
    let mut client = Client::connect(&third);
    client.launch(&call("sum", &["3"]));
    client.request("configurationDone", &json!({}));
    client.ends(0);
    client.disconnect();
}

#[test]
fn what_browsers_send_is_refused() {
    let address = start(Options::default());
    let launch = framed(&json!({"seq": 1, "type": "request", "command": "launch",
        "arguments": call("sum", &["3"])}));
    let post = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://a\r\nContent-Type: text/plain";
    let length = launch.len();
    let request = format!("{post}\r\nContent-Length: {length}\r\n\r\n").into_bytes();
    let error = refused(address, &[request, launch.clone()].concat());
    assert!(error.contains("its first message begins with \"POST / HTTP/1.1\""), "{error}");
    let upgrade = b"GET /x HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
    let error = refused(address, upgrade);
    assert!(error.contains("its first message begins with \"GET /x HTTP/1.1\""), "{error}");
    // No program starts for a connection that does not begin with `initialize`.
    let error = refused(address, &launch);
    assert_eq!(error, "a session begins with `initialize`, not with `launch`");
}

#[test]
fn whoever_is_silent_is_not_waited_for() {
    let address = start(Options::default());
    let silent = TcpStream::connect(address).unwrap();
    let mut client = Client::connect(&TcpStream::connect(address).unwrap());
    client.launch(&call("sum", &["3"]));
    client.request("configurationDone", &json!({}));
    client.ends(0);
    client.disconnect();
    drop(silent);
    assert_eq!(refused(address, b"Content-Le"), "the client stays silent");
}

/// However many stay silent: the oldest of them is told, and makes room.
#[test]
fn many_silent_clients_keep_no_other_out() {
    let address = start(Options::default());
    let silent: Vec<TcpStream> =
        (0..60).map(|_| TcpStream::connect(address).expect("it listens")).collect();
    let mut client = Client::connect(&TcpStream::connect(address).unwrap());
    client.launch(&call("sum", &["3"]));
    client.request("configurationDone", &json!({}));
    client.ends(0);
    client.disconnect();
    let mut answer = String::new();
    (&silent[0]).read_to_string(&mut answer).expect("it is closed in order");
    assert!(answer.contains("many connections stay silent"), "{answer}");
}

#[test]
fn programs_are_for_clients_with_the_token() {
    let address = start(Options { token: Token::new("sesame"), ..Options::default() });
    for (token, expected) in [(json!(null), "is missing"), (json!("sesam"), "is wrong")] {
        for command in ["launch", "attach"] {
            let mut client = Client::connect(&TcpStream::connect(address).unwrap());
            client.initialize();
            let mut arguments = call("sum", &["3"]);
            arguments["token"] = token.clone();
            let error = client.fails(command, &arguments);
            assert!(error.contains(expected) && error.contains("--listen"), "{error}");
            client.event("terminated");
            client.leave();
        }
    }
    let mut client = Client::connect(&TcpStream::connect(address).unwrap());
    let mut arguments = call("sum", &["3"]);
    arguments["token"] = json!("sesame");
    client.launch(&arguments);
    client.request("configurationDone", &json!({}));
    client.ends(0);
    client.disconnect();
}

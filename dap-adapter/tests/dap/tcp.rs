//! Clients over TCP, one after the other.

use std::net::{Shutdown, TcpStream};
use std::thread;

use dap_adapter::{Options, TcpServer};
use serde_json::json;

use crate::client::Client;
use crate::program::{call, line, source};

#[test]
fn clients_are_served_in_turn() {
    let server = TcpServer::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    thread::spawn(move || server.serve(&Options::default()));

    let first = TcpStream::connect(address).unwrap();
    let second = TcpStream::connect(address).unwrap();
    let mut waiting = Client::connect(&second);
    let early = waiting.send("initialize", &json!({"adapterID": "iree"}));

    let mut client = Client::connect(&first);
    client.launch_to_line(&call("sum", &["3"]), &source(), line("adding"));
    client.disconnect_from_stop();

    assert_eq!(waiting.response(early)["success"], true);
    waiting.request("launch", &call("forever", &["2"]));
    waiting.event("initialized");
    waiting.request("configurationDone", &json!({}));
    // Leaves while its program runs.
    second.shutdown(Shutdown::Both).unwrap();

    let third = TcpStream::connect(address).unwrap();
    let mut client = Client::connect(&third);
    client.launch(&call("sum", &["3"]));
    client.request("configurationDone", &json!({}));
    client.ends(0);
    client.disconnect();
}

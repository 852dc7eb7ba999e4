//! Unknown requests and unreadable messages: each gets an error, and the session continues.

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{call, line, source};

/// Requests of the protocol that are refused. No capability advertises them.
const UNSUPPORTED: [&str; 4] = ["terminateThreads", "locations", "runInTerminal", "startDebugging"];

#[test]
fn unknown_requests_get_an_error_in_every_state() {
    let mut client = Client::new();
    client.launch(&call("sum", &["3"]));
    for command in UNSUPPORTED {
        let error = client.fails(command, &json!({"threadId": 1}));
        assert!(error.starts_with(&format!("`{command}` is not supported: ")), "{error}");
    }
    client.set_line(&source(), line("adding"));
    client.request("configurationDone", &json!({}));
    client.event("stopped");
    assert_eq!(client.fails("", &Value::Null), "unknown request ``");
    client.request("terminate", &json!({}));
    client.ends(1);
    assert_eq!(client.fails("fly", &json!(3)), "unknown request `fly`");
    client.disconnect();
}

#[test]
fn malformed_messages_get_an_error() {
    let cases = [
        ("{\"seq\": 7, ", 7, "a message is not JSON: "),
        ("[]", 0, "a message needs `request` or `response` as its `type`"),
        ("{\"seq\": 9, \"type\": \"request\"}", 9, "a request needs a text as its `command`"),
        (
            "{\"type\": \"request\", \"command\": \"threads\"}",
            0,
            "a request needs a number as its `seq`",
        ),
        (
            "{\"seq\": 8, \"type\": \"event\"}",
            8,
            "a message needs `request` or `response` as its `type`",
        ),
    ];
    let mut client = Client::new();
    client.initialize();
    for (text, seq, expected) in cases {
        client.send_raw(text);
        let response = client.response(seq);
        assert_eq!(response["success"], false);
        let message = response["message"].as_str().unwrap();
        assert!(message.starts_with(expected), "{text}: {message}");
    }
    // A response without a request is ignored.
    client.send_raw("{\"seq\": 1, \"type\": \"response\", \"request_seq\": 5, \"success\": true}");
    client.send_bytes(b"Content-Type: text\r\n\r\n{}");
    client.send_bytes(b"Content-Length: 4\r\n\r\n    ");
    assert_eq!(client.response(0)["success"], false);
    assert_eq!(client.response(0)["success"], false);
    client.disconnect();
}

#[test]
fn what_is_no_session_ends_with_an_error() {
    let cases: [(&[u8], &str); 4] = [
        (b"POST / HTTP/1.1\r\n", "its first message begins with \"POST / HTTP/1.1\""),
        (b"Content-Length: 1000000000000000000\r\n\r\n", "1000000000000000000 bytes"),
        (&[b'x'; 100_000], "a message header does not end within 8192 bytes"),
        (
            b"Content-Length: 42\r\n\r\n{\"seq\":1,\"type\":\"request\",\"command\":\"fly\"}",
            "a session begins with `initialize`, not with `fly`",
        ),
    ];
    for (said, expected) in cases {
        let mut output = Vec::new();
        let (mut input, written) = std::io::pipe().unwrap();
        let ended = dap_adapter::serve(said, written, &dap_adapter::Options::default());
        assert!(ended.unwrap_err().to_string().contains(expected));
        std::io::Read::read_to_end(&mut input, &mut output).unwrap();
        let answer = String::from_utf8(output).unwrap();
        let expected = expected.replace('"', "\\\"");
        assert!(answer.contains(&*expected) && answer.contains("\"success\":false"), "{answer}");
    }
}

#[test]
fn bad_arguments_get_an_error() {
    let mut client = Client::new();
    client.launch_to_line(&call("sum", &["3"]), &source(), line("adding"));
    let cases = [
        ("setBreakpoints", json!({"breakpoints": [{"line": 1}]}), "missing field `source`"),
        ("setBreakpoints", json!({"source": {}, "breakpoints": 3}), "invalid type"),
        ("stackTrace", json!({"threadId": "main"}), "invalid type"),
        ("stackTrace", json!({"threadId": 7}), "there is no thread 7"),
        ("scopes", json!({"frameId": 12345}), "frame 12345 is not on the stack"),
        ("variables", json!({"variablesReference": 12345}), "variable 12345 is not of this stop"),
        ("evaluate", json!({"expression": "i0", "frameId": -1}), "frame -1 is not on the stack"),
        ("next", json!({"threadId": 1, "granularity": "page"}), "unknown variant `page`"),
        (
            "disassemble",
            json!({"memoryReference": "x", "instructionCount": 1}),
            "\"x\" is not an instruction's address",
        ),
        (
            "disassemble",
            json!({"memoryReference": "0x0", "offset": -1, "instructionCount": 1}),
            "is not an address",
        ),
        (
            "disassemble",
            json!({"memoryReference": "0x0", "instructionCount": 1i64 << 40}),
            "too many",
        ),
        ("source", json!({"sourceReference": 99}), "does not hold the text"),
    ];
    for (command, arguments, expected) in cases {
        let error = client.fails(command, &arguments);
        assert!(error.contains(expected), "{command} {arguments}: {error}");
    }
    client.disconnect_from_stop();
}

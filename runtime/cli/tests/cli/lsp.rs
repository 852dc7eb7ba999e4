//! `iree-dbg lsp` as a process: it answers on standard output, and `exit` ends it while its input
//! is still open.

use std::io::{BufRead, BufReader, Write};

use crate::program::IREE_DBG;
use std::process::{Child, ChildStdin, Stdio};

fn server() -> Child {
    IREE_DBG
        .command()
        .args(["lsp", "--stdio"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program to start")
}

pub(crate) fn send(input: &mut ChildStdin, body: &str) {
    write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("the server to read");
    input.flush().expect("the server to read");
}

pub(crate) fn receive(output: &mut impl BufRead) -> String {
    let mut length = 0;
    loop {
        let mut line = String::new();
        assert_ne!(output.read_line(&mut line).expect("to read"), 0, "the server to go on");
        match line.trim().strip_prefix("Content-Length: ") {
            Some(value) => length = value.parse().expect("a length"),
            None if line.trim().is_empty() => break,
            None => {}
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).expect("a whole message");
    String::from_utf8(body).expect("UTF-8")
}

const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
const SHUTDOWN: &str = r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#;
const EXIT: &str = r#"{"jsonrpc":"2.0","method":"exit"}"#;

#[test]
fn exit_ends_the_process() {
    for (messages, code) in [(&[INITIALIZE, SHUTDOWN][..], 0), (&[INITIALIZE][..], 1)] {
        let mut server = server();
        let mut input = server.stdin.take().expect("its input");
        let mut output = BufReader::new(server.stdout.take().expect("its output"));
        for message in messages {
            send(&mut input, message);
            let answer = receive(&mut output);
            assert!(answer.contains("\"result\""), "{answer}");
        }
        send(&mut input, EXIT);
        assert_eq!(server.wait().expect("the process to end").code(), Some(code));
        drop(input);
    }
}

//! A small DAP client for `iree-dbg dap`.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The longest wait for the adapter: only a hang takes so long.
const PATIENCE: Duration = Duration::from_secs(240);

/// A session with the adapter, which ends with this.
#[derive(Debug)]
pub struct Client {
    adapter: Child,
    output: ChildStdin,
    messages: Receiver<Value>,
    events: VecDeque<Value>,
    sequence: i64,
    /// The output of the program and the adapter.
    pub printed: String,
}

/// How a run ended.
#[derive(Debug)]
pub enum Halt {
    /// The program stopped, for this reason.
    Stopped(String),
    /// The program has ended.
    Ended,
    /// Not at all: the program still runs.
    Late,
}

impl Client {
    /// Starts the adapter, and says who is there.
    ///
    /// # Errors
    /// It does not start, or does not answer.
    pub fn start(program: &Path) -> Result<Self, String> {
        let spawned = Command::new(program)
            .arg("dap")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut adapter = spawned.map_err(|error| format!("{}: {error}", program.display()))?;
        let (Some(output), Some(input)) = (adapter.stdin.take(), adapter.stdout.take()) else {
            return Err("the adapter has no streams".to_owned());
        };
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut input = BufReader::new(input);
            while let Some(message) = read(&mut input) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let events = VecDeque::new();
        let printed = String::new();
        let mut client = Self { adapter, output, messages, events, sequence: 0, printed };
        client.request(
            "initialize",
            &json!({
                "adapterID": "iree", "clientID": "truth", "linesStartAt1": true,
                "columnsStartAt1": true, "pathFormat": "path", "supportsVariableType": true,
            }),
        )?;
        Ok(client)
    }

    /// The body of the response.
    ///
    /// # Errors
    /// The message of a failed one, or the adapter is not there.
    pub fn request(&mut self, command: &str, arguments: &Value) -> Result<Value, String> {
        self.sequence += 1;
        let sequence = self.sequence;
        let body = json!({
            "seq": sequence, "type": "request", "command": command, "arguments": arguments,
        });
        let body = body.to_string();
        let sent = write!(self.output, "Content-Length: {}\r\n\r\n{body}", body.len())
            .and_then(|()| self.output.flush());
        sent.map_err(|error| format!("{command}: the adapter has left: {error}"))?;
        loop {
            let message = self.next(command)?;
            if message["type"] == "response" && message["request_seq"] == sequence {
                if message["success"] == true {
                    return Ok(message["body"].clone());
                }
                let text = message["body"]["error"]["format"].as_str();
                let text = text.or_else(|| message["message"].as_str()).unwrap_or("no message");
                return Err(text.to_owned());
            }
            self.file(message);
        }
    }

    fn next(&mut self, what: &str) -> Result<Value, String> {
        let message = self.messages.recv_timeout(PATIENCE);
        message.map_err(|error| format!("{what}: no answer of the adapter: {error}"))
    }

    fn file(&mut self, message: Value) {
        if message["event"] == "output" {
            self.printed.push_str(message["body"]["output"].as_str().unwrap_or_default());
        } else if message["type"] == "event" {
            self.events.push_back(message);
        }
    }

    /// Waits until the program stops or ends, at most for `patience`.
    ///
    /// # Errors
    /// The adapter has left.
    pub fn halt(&mut self, patience: Duration) -> Result<Halt, String> {
        let deadline = Instant::now() + patience;
        loop {
            while let Some(event) = self.events.pop_front() {
                if event["event"] == "stopped" {
                    let reason = event["body"]["reason"].as_str().unwrap_or_default();
                    return Ok(Halt::Stopped(reason.to_owned()));
                }
                if event["event"] == "terminated" {
                    return Ok(Halt::Ended);
                }
            }
            match self.messages.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(message) => self.file(message),
                Err(RecvTimeoutError::Timeout) => return Ok(Halt::Late),
                Err(error) => return Err(format!("running: the adapter has left: {error}")),
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.adapter.kill();
        let _ = self.adapter.wait();
    }
}

fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            None => break,
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().ok()?;
            }
            Some(_) => {}
        }
    }
    let mut body = vec![0; length];
    Read::read_exact(input, &mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

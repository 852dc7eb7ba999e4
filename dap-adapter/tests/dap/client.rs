//! A client for tests. It fails on unexpected messages: a test must read every event that the
//! adapter sends, except output and announcements, which the client collects.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dap_adapter::Options;
use serde_json::{Value, json};

use crate::schema;

/// How long to wait for a message that must come. Only an adapter that hangs takes so long.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long the adapter may take for an answer that needs no computation.
const PROMPT: Duration = Duration::from_secs(1);

/// Events that may come at any time, and that few tests look at.
const ANNOUNCEMENTS: [&str; 4] = ["process", "module", "loadedSource", "thread"];

/// See the module documentation.
pub(crate) struct Client {
    output: Option<Box<dyn Write>>,
    messages: Receiver<Value>,
    /// Events that arrived during the wait for a response.
    events: VecDeque<Value>,
    /// Responses that arrived during the wait for an event.
    responses: BTreeMap<i64, Value>,
    /// The announcements: events about processes, modules, sources and threads.
    announced: Vec<Value>,
    /// The printed text, by category.
    printed: BTreeMap<String, String>,
    seq: i64,
    last_seq: i64,
    adapter: Option<JoinHandle<std::io::Result<()>>>,
}

impl Client {
    /// A client of an adapter in this process.
    pub(crate) fn new() -> Self {
        Self::with_options(Options::default())
    }

    pub(crate) fn with_options(options: Options) -> Self {
        let (adapter_input, output) = std::io::pipe().unwrap();
        let (input, adapter_output) = std::io::pipe().unwrap();
        let adapter =
            thread::spawn(move || dap_adapter::serve(adapter_input, adapter_output, &options));
        Self { adapter: Some(adapter), ..Self::on(input, output) }
    }

    /// A client of a server.
    pub(crate) fn connect(stream: &TcpStream) -> Self {
        Self::on(stream.try_clone().unwrap(), stream.try_clone().unwrap())
    }

    fn on(input: impl Read + Send + 'static, output: impl Write + 'static) -> Self {
        let (sender, messages) = channel();
        thread::spawn(move || {
            let mut input = BufReader::new(input);
            while let Some(message) = read(&mut input) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Self {
            output: Some(Box::new(output)),
            messages,
            events: VecDeque::new(),
            responses: BTreeMap::new(),
            announced: Vec::new(),
            printed: BTreeMap::new(),
            seq: 0,
            last_seq: 0,
            adapter: None,
        }
    }

    /// Begins as VS Code does: initialises and launches, up to the `initialized` event.
    pub(crate) fn launch(&mut self, arguments: &Value) {
        self.initialize();
        self.request("launch", arguments);
        self.event("initialized");
    }

    pub(crate) fn initialize(&mut self) -> Value {
        self.initialize_as("test")
    }

    /// The same as a client of that name: `vscode` has menus where others have none.
    pub(crate) fn initialize_as(&mut self, name: &str) -> Value {
        self.request(
            "initialize",
            &json!({
                "adapterID": "iree", "clientID": name, "linesStartAt1": true,
                "columnsStartAt1": true, "pathFormat": "path", "supportsVariableType": true,
                "supportsVariablePaging": true, "supportsMemoryReferences": true,
            }),
        )
    }

    /// Launches a function of the test program and runs it to a breakpoint on a line.
    pub(crate) fn launch_to_line(&mut self, arguments: &Value, source: &Path, line: u32) -> Value {
        self.launch(arguments);
        self.set_line(source, line);
        self.request("configurationDone", &json!({}));
        self.event("stopped")
    }

    /// Sets the only breakpoint of a file.
    pub(crate) fn set_line(&mut self, source: &Path, line: u32) -> Value {
        let arguments = json!({"source": {"path": source}, "breakpoints": [{"line": line}]});
        self.request("setBreakpoints", &arguments)["breakpoints"][0].clone()
    }

    /// Sends a request that must succeed. Returns the body of the response.
    #[track_caller]
    pub(crate) fn request(&mut self, command: &str, arguments: &Value) -> Value {
        let seq = self.send(command, arguments);
        let response = self.response(seq);
        assert_eq!(response["success"], true, "{command} {arguments}: {response}");
        response["body"].clone()
    }

    /// Sends a request that must fail. Returns the message.
    #[track_caller]
    pub(crate) fn fails(&mut self, command: &str, arguments: &Value) -> String {
        let seq = self.send(command, arguments);
        let response = self.response(seq);
        assert_eq!(response["success"], false, "{command} {arguments}: {response}");
        let error = &response["body"]["error"];
        assert!(error["id"].is_u64(), "{response}");
        // The message repeats the text, unless the protocol has a word for it.
        if response["message"] != "cancelled" && response["message"] != "notStopped" {
            assert_eq!(response["message"], error["format"], "{response}");
        }
        error["format"].as_str().unwrap().to_owned()
    }

    /// Sends a request that must be answered promptly. Returns the response.
    #[track_caller]
    pub(crate) fn answered(&mut self, command: &str, arguments: &Value) -> Value {
        let start = Instant::now();
        let seq = self.send(command, arguments);
        let response = self.response(seq);
        assert!(start.elapsed() < PROMPT, "{command} took {:?}", start.elapsed());
        response
    }

    /// Sends a request without waiting. Returns its number.
    pub(crate) fn send(&mut self, command: &str, arguments: &Value) -> i64 {
        self.seq += 1;
        let seq = self.seq;
        let message =
            json!({"seq": seq, "type": "request", "command": command, "arguments": arguments});
        self.send_raw(&message.to_string());
        seq
    }

    /// Sends a text as a message.
    pub(crate) fn send_raw(&mut self, body: &str) {
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    /// Sends bytes.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let output = self.output.as_mut().unwrap();
        output.write_all(bytes).unwrap();
        output.flush().unwrap();
    }

    /// The response to a request, by its number.
    #[track_caller]
    pub(crate) fn response(&mut self, seq: i64) -> Value {
        loop {
            if let Some(response) = self.responses.remove(&seq) {
                return response;
            }
            self.take();
        }
    }

    /// The body of the next event, which must have this name.
    #[track_caller]
    pub(crate) fn event(&mut self, name: &str) -> Value {
        loop {
            if let Some(event) = self.events.pop_front() {
                assert_eq!(event["event"], name, "{event}; printed: {:?}", self.printed);
                return event["body"].clone();
            }
            self.take();
        }
    }

    /// The name and the body of the next event.
    #[track_caller]
    pub(crate) fn any_event(&mut self) -> (String, Value) {
        loop {
            if let Some(event) = self.events.pop_front() {
                return (event["event"].as_str().unwrap().to_owned(), event["body"].clone());
            }
            self.take();
        }
    }

    /// Whether an event with one of these names has come that no test has read.
    pub(crate) fn has_come(&self, names: &[&str]) -> bool {
        self.events.iter().any(|event| names.iter().any(|name| event["event"] == *name))
    }

    /// The adapter ends, and sends no other events than these before it.
    #[track_caller]
    pub(crate) fn leave_after_events(mut self, names: &[&str]) {
        self.gather();
        self.events.retain(|event| names.iter().all(|name| event["event"] != *name));
        self.leave();
    }

    /// Receives a message, which the adapter must send.
    #[track_caller]
    fn take(&mut self) {
        match self.messages.recv_timeout(PATIENCE) {
            Ok(message) => self.file(message),
            Err(RecvTimeoutError::Timeout) => panic!("the adapter stays silent"),
            Err(RecvTimeoutError::Disconnected) => panic!("the adapter has left"),
        }
    }

    fn file(&mut self, message: Value) {
        let seq = message["seq"].as_i64().expect("every message has a number");
        assert_eq!(seq, self.last_seq + 1, "messages are numbered in order: {message}");
        self.last_seq = seq;
        // The protocol lets adapters answer requests of their own, and send events of their own.
        let name = message["command"].as_str().or_else(|| message["event"].as_str());
        let is_own = name.is_some_and(|it| it.starts_with("iree/"));
        if let Err(wrong) = schema::check(&message)
            && !is_own
            // Of VS Code, to VS Code.
            && !wrong.contains("`__vscode")
        {
            panic!("{wrong}\n{message}");
        }
        if message["type"] == "response" {
            self.responses.insert(message["request_seq"].as_i64().unwrap(), message);
        } else if message["event"] == "output" {
            let category = message["body"]["category"].as_str().unwrap().to_owned();
            let text = message["body"]["output"].as_str().unwrap();
            self.printed.entry(category).or_default().push_str(text);
        } else if ANNOUNCEMENTS.iter().any(|name| message["event"] == *name) {
            self.announced.push(message);
        } else {
            self.events.push_back(message);
        }
    }

    /// The bodies of the announcements with this name so far.
    pub(crate) fn announced(&self, name: &str) -> Vec<Value> {
        let named = self.announced.iter().filter(|event| event["event"] == name);
        named.map(|event| event["body"].clone()).collect()
    }

    /// The text printed so far in a category.
    pub(crate) fn printed(&self, category: &str) -> &str {
        self.printed.get(category).map_or("", String::as_str)
    }

    /// The name and the line of the innermost frame.
    #[track_caller]
    pub(crate) fn top(&mut self) -> (String, i64) {
        let trace = self.request("stackTrace", &json!({"threadId": 1, "levels": 1}));
        let frame = &trace["stackFrames"][0];
        (frame["name"].as_str().unwrap().to_owned(), frame["line"].as_i64().unwrap())
    }

    /// The number of the innermost frame.
    #[track_caller]
    pub(crate) fn top_frame(&mut self) -> Value {
        let trace = self.request("stackTrace", &json!({"threadId": 1, "levels": 1}));
        trace["stackFrames"][0]["id"].clone()
    }

    /// The program ends by itself.
    #[track_caller]
    pub(crate) fn ends(&mut self, exit_code: i64) {
        assert_eq!(self.event("exited"), json!({"exitCode": exit_code}));
        self.event("terminated");
    }

    /// Disconnects. The adapter ends without another event.
    #[track_caller]
    pub(crate) fn disconnect(mut self) {
        self.request("disconnect", &json!({}));
        self.leave();
    }

    /// Disconnects from a program that is not over, which ends the program.
    #[track_caller]
    pub(crate) fn disconnect_from_stop(mut self) {
        self.request("disconnect", &json!({}));
        self.ends(1);
        self.leave();
    }

    /// Disconnects. What the adapter then sends is of no interest.
    #[track_caller]
    pub(crate) fn leave_after_disconnecting(mut self) {
        self.request("disconnect", &json!({}));
        self.gather();
    }

    /// Closes the stream without a request. The adapter ends the program.
    #[track_caller]
    pub(crate) fn vanish(mut self) {
        self.output = None;
        self.ends(1);
        self.leave();
    }

    /// The adapter ends, and every message of it was read.
    #[track_caller]
    pub(crate) fn leave(mut self) {
        self.gather();
        assert!(self.events.is_empty(), "unread events: {:?}", self.events);
        assert!(self.responses.is_empty(), "unread responses: {:?}", self.responses);
    }

    /// Receives all remaining messages.
    fn gather(&mut self) {
        self.output = None;
        if let Some(adapter) = self.adapter.take() {
            adapter.join().expect("the adapter does not panic").unwrap();
        }
        while let Ok(message) = self.messages.recv_timeout(PATIENCE) {
            self.file(message);
        }
    }
}

fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => length = line.strip_prefix("Content-Length: ").map(|it| it.parse().unwrap()),
        }
    }
    let mut body = vec![0; length.expect("every message has a length")];
    input.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).expect("every message is JSON"))
}

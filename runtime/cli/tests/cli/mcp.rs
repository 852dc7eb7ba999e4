//! `iree-dbg mcp`, spoken to over pipes, a message of JSON-RPC a line. The tests with a client of
//! others are in `tests/mcp`.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Expected, made_once, text};

use crate::program::{IREE_DBG, data, scratch};

/// A server and its client.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Client {
    fn start(folder: &Path, flags: &[&str]) -> Self {
        let mut command = IREE_DBG.command();
        command.current_dir(folder).arg("mcp").args(flags);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let input = child.stdin.take().expect("it reads");
        let output = BufReader::new(child.stdout.take().expect("it writes"));
        let mut client = Self { child, input, output, id: 0 };
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let welcome = client.request("initialize", &hello);
        assert_eq!(welcome["result"]["serverInfo"]["name"], "iree-dbg", "{welcome}");
        client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        client
    }

    fn write(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("the server reads");
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        self.write(&request.to_string());
        self.id
    }

    /// The next message with this number.
    fn answer(&mut self, id: u64) -> Value {
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("the server writes");
            assert!(!line.is_empty(), "the server has ended");
            let message: Value = serde_json::from_str(&line).expect("each line is a message");
            if message["id"] == id {
                return message;
            }
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// The text of an answer.
    fn said(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.call(tool, arguments);
        let said = answer["result"]["content"][0]["text"].as_str();
        said.unwrap_or_else(|| panic!("{tool} {arguments}: {answer}")).to_owned()
    }

    /// The server ends when its input does.
    fn finish(mut self) {
        drop(self.input);
        assert!(self.child.wait().expect("it is ours").success());
    }
}

/// The modules of the sessions.
fn folder() -> PathBuf {
    made_once(scratch("mcp"), |folder| {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("example");
        for name in ["newton.vmfb", "newton.mlir", "newton.companion.mlir", "classifier.mlir"] {
            std::fs::copy(example.join(name), folder.join(name)).expect("it is copied");
        }
        let flag = "--iree-hal-local-target-device-backends=vmvx";
        IREE_DBG.compile(folder, "classifier.mlir", "classifier.vmfb", &[flag]);
        std::fs::write(folder.join("endless.vmasm"), ENDLESS).expect("it is written");
        let assemble = ["asm", "endless.vmasm", "--output=endless.vmfb"];
        support::succeeded(&IREE_DBG.run(folder, &assemble));
    })
}

const ENDLESS: &str = include_str!("../mcp/endless.vmasm");

/// What a session with these calls answers, call by call.
fn transcript(calls: &str) -> String {
    let mut client = Client::start(&folder(), &[]);
    let mut said = String::new();
    for call in calls.lines().filter(|line| !line.starts_with('#')) {
        let (tool, arguments) = call.split_once(' ').expect(call);
        let arguments: Value = serde_json::from_str(arguments).expect(call);
        let answer = client.said(tool, &arguments);
        writeln!(said, "> {call}\n{answer}\n").expect("a text takes it");
    }
    client.finish();
    said
}

#[test]
fn sessions_answer_as_before() {
    let mut expected = Expected::default();
    for name in ["newton", "classifier"] {
        let file = data("mcp").join(name);
        let calls = std::fs::read_to_string(file.with_extension("calls")).expect("the calls");
        expected.compare(&file.with_extension("expected"), &transcript(&calls));
    }
    expected.finish();
}

#[test]
fn answers_have_the_declared_form() {
    let mut client = Client::start(&folder(), &[]);
    let listed = client.request("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().expect("a list").clone();
    for tool in &tools {
        let name = tool["name"].as_str().expect("a name");
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{name}");
        let arguments = tool["inputSchema"]["properties"].as_object().expect(name);
        for (key, schema) in arguments {
            assert!(schema["description"].is_string(), "{name} says what {key} is");
        }
    }
    let loaded = client.call("load", &json!({"module": "newton.vmfb", "inputs": ["2.0", "3"]}));
    assert_eq!(loaded["result"]["structuredContent"]["recorded"], true, "{loaded}");
    let unknown = client.call("nonsense", &json!({}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    client.finish();
}

#[test]
fn what_is_no_message_does_not_end_the_server() {
    let mut client = Client::start(&folder(), &[]);
    for line in ["", "nonsense", "[1, 2", "{\"jsonrpc\": \"2.0\"}", "\u{1}\u{7f}"] {
        client.write(line);
    }
    let answer = client.request("nonsense/method", &json!({}));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    let answer = client.request("tools/call", &json!({"name": 7}));
    assert!(answer["error"].is_object(), "{answer}");
    let answer = client.call("load", &json!([]));
    assert!(answer["error"].is_object(), "{answer}");
    assert!(client.said("load", &json!({"module": 7})).starts_with("error: the arguments of load"));
    let pong = client.request("ping", &json!({}));
    assert!(pong["result"].is_object(), "{pong}");
    client.finish();
}

#[test]
fn a_cancelled_run_stops_and_the_server_answers_meanwhile() {
    let mut client = Client::start(&folder(), &[]);
    let endless = json!({"module": "endless.vmfb", "function": "spin", "record": false});
    client.said("load", &endless);
    let id = client.send("tools/call", &json!({"name": "run", "arguments": {"seconds": 3000}}));
    let deadline = Instant::now() + Duration::from_secs(60);
    while !client.said("state", &json!({})).contains("`run` has been running") {
        assert!(Instant::now() < deadline, "it runs");
    }
    let pong = client.request("ping", &json!({}));
    assert!(pong["result"].is_object(), "{pong}");
    let cancelled = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id},
    });
    client.write(&cancelled.to_string());
    while client.said("state", &json!({})).contains("has been running") {
        assert!(Instant::now() < deadline, "it stops");
    }
    assert!(client.said("state", &json!({})).contains("spin"));
    let again = client.said("run", &json!({"seconds": 0.2}));
    assert!(again.starts_with("paused"), "{again}");
    // The end of its input ends it, although the program could go on.
    client.send("tools/call", &json!({"name": "run", "arguments": {"seconds": 3000}}));
    client.finish();
}

#[test]
fn no_compiler_is_started_without_permission() {
    let folder = folder();
    let mut client = Client::start(&folder, &[]);
    let said = client.said("load", &json!({"module": "classifier.mlir"}));
    assert!(said.contains("--allow=compile"), "{said}");
    let said = client.said("stages", &json!({"line": 3, "source": "classifier.mlir"}));
    assert!(said.contains("--allow=compile"), "{said}");
    client.said("load", &json!({"module": "classifier.vmfb", "inputs": ["1x16xf32=0.1"]}));
    let said = client.said("diff", &json!({"bytecode": true}));
    assert!(said.contains("--allow=compile"), "{said}");
    client.finish();
}

#[test]
fn the_guide_names_each_tool() {
    let guide = text(&IREE_DBG.run(&folder(), &["mcp", "--agents-md"]).stdout);
    let mut client = Client::start(&folder(), &["--allow=compile,write"]);
    let listed = client.request("tools/list", &json!({}));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcp/README.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let tools = listed["result"]["tools"].as_array().expect("a list");
    assert_eq!(tools.len(), 13);
    for tool in tools {
        let name = format!("`{}`", tool["name"].as_str().expect("a name"));
        assert!(guide.contains(&name), "the guide has no {name}");
        assert!(page.contains(&name), "the page has no {name}");
    }
    assert!(guide.lines().count() < 60, "it is short");
    client.finish();
}

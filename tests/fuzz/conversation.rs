//! Conversations over DAP: requests in any order with any arguments, and damaged streams. Each
//! request must get one answer that is no internal error, and the session must end when the client
//! leaves.

use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use dap_adapter::{Options, serve};
use serde_json::{Value, json};

use crate::random::Random;
use crate::samples::{Program, Samples};

/// The longest that a program of the samples may run. Taking longer is a finding.
const PATIENCE: Duration = Duration::from_secs(20);

const COMMANDS: &[&str] = &[
    "threads",
    "stackTrace",
    "scopes",
    "variables",
    "evaluate",
    "completions",
    "setVariable",
    "setExpression",
    "readMemory",
    "writeMemory",
    "stepInTargets",
    "gotoTargets",
    "goto",
    "restartFrame",
    "next",
    "stepIn",
    "stepOut",
    "continue",
    "pause",
    "disassemble",
    "source",
    "modules",
    "loadedSources",
    "breakpointLocations",
    "exceptionInfo",
    "dataBreakpointInfo",
    "setDataBreakpoints",
    "setBreakpoints",
    "setFunctionBreakpoints",
    "initialize",
    "setInstructionBreakpoints",
    "setExceptionBreakpoints",
    "cancel",
    "restart",
    "terminate",
    "attach",
    "launch",
    "configurationDone",
    "stepBack",
    "unheardOf",
];

/// Names of arguments of various requests.
const NAMES: &[&str] = &[
    "threadId",
    "frameId",
    "variablesReference",
    "startFrame",
    "levels",
    "expression",
    "context",
    "name",
    "value",
    "memoryReference",
    "offset",
    "count",
    "data",
    "targetId",
    "line",
    "column",
    "endLine",
    "source",
    "breakpoints",
    "filters",
    "filterOptions",
    "granularity",
    "instructionOffset",
    "instructionCount",
    "text",
    "start",
    "filter",
    "requestId",
    "progressId",
    "dataId",
    "asAddress",
    "bytes",
    "accessType",
    "condition",
    "hitCondition",
    "logMessage",
    "format",
    "resolveSymbols",
    "singleThread",
    "sourceReference",
    "instructionReference",
    "arguments",
    "body",
];

const TEXTS: &[&str] = &[
    "",
    "i0",
    "%x",
    "%x + i0",
    "binding[0]",
    "max(binding[0])",
    "[0]",
    "gcd",
    "dispatch:*",
    "hal.*",
    "main",
    "0x0",
    "0x10",
    "r0[0]",
    "repl",
    "hover",
    "watch",
    "statement",
    "instruction",
    "line",
    "% 3",
    "%y == 12",
    "of {%x} and {%",
    "euclid.mlir",
    "write",
    "readWrite",
    "AAAA",
    "level vm",
    "every",
    "nan",
    "é😀",
    "\u{0}",
];

/// Tries one conversation. Returns whether the program stopped in it at least once.
///
/// # Panics
/// A request has no answer or two, an answer is an internal error, or the session does not end.
pub(crate) fn exercise(samples: &Samples, random: &mut Random, kept: &mut Vec<u8>) -> bool {
    let program = random.choose::<Program>(&samples.programs[..2]);
    let is_damaged = random.chance(3);
    let mut script = script(program, random);
    if is_damaged {
        damage(&mut script, random);
    }
    for step in &script {
        kept.extend_from_slice(match step {
            Step::Say(bytes) => bytes,
            Step::Hear(_) => b"\n(waits)\n",
        });
    }
    let asked = if is_damaged { HashSet::new() } else { numbers(&script) };
    let said = Said::default();
    let input = Script { steps: script.into(), said: said.clone(), is_damaged };
    let ended = serve(input, said.clone(), &Options::default());
    said.end();
    assert!(is_damaged || ended.is_ok(), "{ended:?}");
    judge(&said.text(), &asked)
}

enum Step {
    Say(Vec<u8>),
    /// Waits until this many events were received in all.
    Hear(usize),
}

fn framed(seq: i64, command: &str, arguments: &Value) -> Step {
    let body = json!({"seq": seq, "type": "request", "command": command, "arguments": arguments});
    let body = body.to_string();
    Step::Say(format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes())
}

fn script(program: &Program, random: &mut Random) -> Vec<Step> {
    let initialize = json!({
        "adapterID": "iree", "linesStartAt1": random.chance(2), "columnsStartAt1": random.chance(2),
        "supportsMemoryEvent": true, "supportsInvalidatedEvent": random.chance(2), "supportsProgressReporting": true,
    });
    let launch = json!({
        "program": program.path, "function": program.function, "inputs": program.inputs, "stopOnEntry": !random.chance(4),
        "level": random.choose(&["source", "vm", "disassembly"]), "maxSteps": 100_000, "foreignMemory": false,
    });
    let mut steps =
        vec![framed(1, "initialize", &initialize), framed(2, "launch", &launch), Step::Hear(1)];
    let mut seq = 2;
    let mut say = |steps: &mut Vec<Step>, command: &str, arguments: &Value| {
        seq += 1;
        steps.push(framed(seq, command, arguments));
    };
    if random.chance(2) {
        let lines: Vec<Value> =
            (0..random.below(4)).map(|_| json!({"line": random.below(25)})).collect();
        let source = program.path.with_extension("mlir");
        let source = json!({"source": {"path": source}, "breakpoints": lines});
        say(&mut steps, "setBreakpoints", &source);
    }
    say(&mut steps, "configurationDone", &json!({}));
    steps.push(Step::Hear(2));
    for _ in 0..random.below(25) {
        // Now and then, in the order in which editors send requests.
        let command = *random.choose(COMMANDS);
        let arguments = arguments(random, 0);
        say(&mut steps, command, &arguments);
    }
    if !random.chance(8) {
        say(&mut steps, "disconnect", &json!({}));
    }
    steps
}

fn arguments(random: &mut Random, depth: usize) -> Value {
    let mut object = json!({"threadId": 1});
    for _ in 0..random.below(5) {
        object[*random.choose(NAMES)] = value(random, depth);
    }
    // The arguments that most requests need.
    if depth == 0 && random.chance(2) {
        object["frameId"] = json!(1 + random.below(4));
        object["variablesReference"] = json!(1 + random.below(30));
        object["expression"] = json!(random.choose(TEXTS));
    }
    object
}

fn value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth < 3 { 9 } else { 6 }) {
        0 | 1 => json!(random.below(30)),
        2 => json!(random.number()),
        3 | 4 => json!(random.choose(TEXTS)),
        5 => random
            .choose(&[json!(null), json!(true), json!(false), json!(-1.5), json!(1e300)])
            .clone(),
        6 => json!([value(random, depth + 1)]),
        _ => arguments(random, depth + 1),
    }
}

/// Damages the stream at one or two places.
fn damage(script: &mut [Step], random: &mut Random) {
    for _ in 0..=random.below(2) {
        let at = random.below(script.len());
        let Some(Step::Say(bytes)) = script.get_mut(at) else { continue };
        let at = random.below(bytes.len());
        match random.below(7) {
            0 => bytes[at] = random.below(256) as u8,
            1 => bytes.truncate(at),
            2 => bytes.insert(at, b'\n'),
            3 => *bytes = b"Content-Length: 99999999999999\r\n\r\n".to_vec(),
            4 => *bytes = b"POST / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
            5 => {
                let deep = "[".repeat(random.below(20_000));
                *bytes = format!("Content-Length: {}\r\n\r\n{deep}", deep.len()).into_bytes();
            }
            _ => *bytes = [&bytes[at..], &bytes[..at]].concat(),
        }
    }
}

fn numbers(script: &[Step]) -> HashSet<i64> {
    let bodies = script.iter().filter_map(|step| match step {
        Step::Say(bytes) => std::str::from_utf8(bytes).ok()?.split_once("\r\n\r\n").map(|it| it.1),
        Step::Hear(_) => None,
    });
    let messages = bodies.filter_map(|body| serde_json::from_str::<Value>(body).ok());
    messages.filter_map(|message| message["seq"].as_i64()).collect()
}

/// Judges the whole output.
fn judge(text: &str, asked: &HashSet<i64>) -> bool {
    let mut answered = HashSet::new();
    let (mut rest, mut seq, mut has_stopped) = (text, 0, false);
    while let Some((header, body)) = rest.split_once("\r\n\r\n") {
        let length = header.strip_prefix("Content-Length: ").and_then(|it| it.parse().ok());
        let length: usize = length.unwrap_or_else(|| panic!("a header is {header:?}"));
        let message: Value = serde_json::from_str(&body[..length]).expect("a message is JSON");
        rest = &body[length..];
        seq += 1;
        assert_eq!(message["seq"], seq, "messages are numbered in order");
        assert!(!message.to_string().contains("the debugger failed"), "{message}");
        has_stopped |= message["event"] == "stopped";
        if message["type"] == "response"
            && let Some(number) = message["request_seq"].as_i64()
        {
            let is_new = answered.insert(number);
            assert!(is_new || asked.is_empty(), "request {number} is answered twice");
        }
    }
    assert!(rest.is_empty(), "the last message is cut: {rest:?}");
    // A client that just leaves receives nothing more; one that disconnects has received all
    // answers by then.
    let unanswered: Vec<&i64> = asked.difference(&answered).collect();
    assert!(unanswered.is_empty(), "no answer to {unanswered:?}");
    has_stopped
}

/// The adapter's output, shared with the thread that waits for it.
#[derive(Clone, Default)]
struct Said(Arc<(Mutex<Heard>, Condvar)>);

#[derive(Default)]
struct Heard {
    bytes: Vec<u8>,
    is_over: bool,
}

impl Said {
    /// Waits for `count` events after which a client may continue.
    fn wait(&self, count: usize, is_damaged: bool) {
        // After a damaged stream, the awaited event may never come.
        let patience = if is_damaged { Duration::from_millis(100) } else { PATIENCE };
        let (heard, changed) = &*self.0;
        let guard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |heard: &mut Heard| {
            let text = String::from_utf8_lossy(&heard.bytes);
            let came: usize = ["initialized", "stopped", "terminated"]
                .iter()
                .map(|name| text.matches(&format!("\"event\":\"{name}\"")).count())
                .sum();
            came < count && !text.contains("\"event\":\"terminated\"") && !heard.is_over
        };
        let (guard, waited) = changed
            .wait_timeout_while(guard, patience, waits)
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() && !is_damaged {
            let text = String::from_utf8_lossy(&guard.bytes);
            let tail = text.char_indices().rev().nth(400).map_or(0, |(at, _)| at);
            eprintln!("the adapter says nothing for {PATIENCE:?} after …{}", &text[tail..]);
            std::process::exit(1);
        }
    }

    fn end(&self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        self.0.1.notify_all();
    }

    fn text(&self) -> String {
        let heard = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&heard.bytes).into_owned()
    }
}

impl Write for Said {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).bytes.extend_from_slice(bytes);
        self.0.1.notify_all();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The client's input, as the adapter reads it.
struct Script {
    steps: std::collections::VecDeque<Step>,
    said: Said,
    is_damaged: bool,
}

impl Read for Script {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.steps.front_mut() {
                None => return Ok(0),
                Some(Step::Hear(count)) => {
                    let count = *count;
                    self.steps.pop_front();
                    self.said.wait(count, self.is_damaged);
                }
                Some(Step::Say(bytes)) => {
                    let count = bytes.len().min(buffer.len());
                    buffer[..count].copy_from_slice(&bytes[..count]);
                    bytes.drain(..count);
                    if bytes.is_empty() {
                        self.steps.pop_front();
                    }
                    if count > 0 {
                        return Ok(count);
                    }
                }
            }
        }
    }
}

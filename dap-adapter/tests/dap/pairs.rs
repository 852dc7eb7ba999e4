//! Two features at once: random commands that run random programs, with random requests while they
//! run. A session ends each command where an undisturbed one does, with the same values, memory and
//! counts of hits.
//!
//! Some seeds are fixed. `PAIRS=100..200 cargo test -p dap-adapter --test dap pairs::more` takes
//! others.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Client;
use crate::interrupted::{Numbers, thread_1, typed};
use crate::program::{call, line, nans, nans_of_machine_code, source, source_of};

/// A program with what a user may ask of it.
struct Program {
    launch: Value,
    file: PathBuf,
    lines: Vec<u32>,
    conditions: &'static [&'static str],
    watched: &'static [&'static str],
}

/// A session: how the program is launched, what may stop it, and what runs it.
struct Plan {
    program: Program,
    breakpoints: Value,
    exceptions: Value,
    commands: Vec<(&'static str, Value)>,
}

/// Requests while a command runs: what they are chosen by, and how long it takes undisturbed.
type Disturbance<'a> = (&'a mut Numbers, &'a [Duration]);

impl Numbers {
    fn choose<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }
}

fn looping() -> Program {
    Program {
        launch: call("sum", &["300"]),
        file: source(),
        lines: ["doubling", "storing", "back", "calling", "adding"].map(line).to_vec(),
        conditions: &["%i == 40", "%i > 200", "%i == 7 || %i == 250"],
        watched: &["@calls", "%so_far", "%i"],
    }
}

fn model(numbers: &mut Numbers) -> Program {
    let mut launch = nans(numbers.chance(2));
    if numbers.chance(2) {
        launch["device"] = "local-task".into();
        launch["threads"] = 3.into();
    }
    Program {
        launch,
        file: source_of("nans").canonicalize().unwrap(),
        lines: (14..=31).collect(),
        conditions: &[],
        watched: &["operand[0][0,0]", "operand[1]", "%x[0,0]", "%m[1,1]"],
    }
}

impl Plan {
    fn new(numbers: &mut Numbers) -> Self {
        let mut program = if numbers.chance(4) { looping() } else { model(numbers) };
        let is_recorded = !numbers.chance(3);
        program.launch["record"] = is_recorded.into();
        program.launch["stopOnEntry"] = true.into();
        if numbers.chance(4) {
            program.launch["level"] = numbers.choose(&["source", "vm", "model"]).into();
        }
        let count = 3 + numbers.below(4);
        let commands = (0..count).map(|_| command(numbers, &program, is_recorded)).collect();
        let breakpoints = (0..numbers.below(3)).map(|_| breakpoint(numbers, &program)).collect();
        let exceptions = exceptions(numbers);
        Self { program, breakpoints, exceptions, commands }
    }

    /// Runs all commands. Where each ends, how long each takes, and what was asked meanwhile.
    fn walk(
        &self,
        mut disturbance: Option<Disturbance<'_>>,
    ) -> (Vec<Value>, Vec<Duration>, Vec<String>) {
        let mut client = self.begin();
        let (mut ends, mut times, mut asked) = (Vec::new(), Vec::new(), Vec::new());
        for (at, (command, arguments)) in self.commands.iter().enumerate() {
            let began = Instant::now();
            let seq = client.send(command, arguments);
            let mut sent = Vec::new();
            if let Some((numbers, expected)) = &mut disturbance {
                let within = expected.get(at).copied().unwrap_or_default();
                sent = self.disturb(&mut client, numbers, within);
                asked.push(format!("{sent:?}"));
            }
            let response = client.response(seq);
            for (seq, _) in sent {
                client.response(seq);
            }
            let end = stop(&mut client, command, &response);
            times.push(began.elapsed());
            let Some(stopped) = end else {
                ends.push(json!("over"));
                client.leave_after_disconnecting();
                return (ends, times, asked);
            };
            let mut moment = moment(&mut client, &stopped);
            moment["said"] = unnumbered(&response["body"]["result"]).into();
            ends.push(moment);
        }
        client.leave_after_disconnecting();
        (ends, times, asked)
    }

    fn begin(&self) -> Client {
        let mut client = Client::new();
        client.launch(&self.program.launch);
        let path = json!({"path": self.program.file});
        let set = json!({"source": path, "breakpoints": self.breakpoints});
        client.request("setBreakpoints", &set);
        client.request("setExceptionBreakpoints", &self.exceptions);
        client.request("configurationDone", &json!({}));
        while client.any_event().0 != "stopped" {}
        client
    }

    /// Sends some requests. Returns their numbers, with what they are.
    fn disturb(
        &self,
        client: &mut Client,
        numbers: &mut Numbers,
        within: Duration,
    ) -> Vec<(i64, &'static str)> {
        let mut sent = Vec::new();
        for _ in 0..1 + numbers.below(5) {
            let part = u32::try_from(numbers.below(40)).unwrap();
            let pause = if numbers.chance(2) { within * part / 100 } else { Duration::ZERO };
            thread::sleep(pause);
            let (command, arguments) = self.question(numbers);
            sent.push((client.send(command, &arguments), command));
        }
        sent
    }

    fn question(&self, numbers: &mut Numbers) -> (&'static str, Value) {
        let path = json!({"path": self.program.file});
        let none = json!({"breakpoints": []});
        let hover = json!({"expression": "%x", "context": "hover"});
        match numbers.below(16) {
            0..4 => ("setBreakpoints", json!({"source": path, "breakpoints": self.breakpoints})),
            4 | 5 => ("setExceptionBreakpoints", self.exceptions.clone()),
            6 => ("setFunctionBreakpoints", none),
            7 => ("setDataBreakpoints", none),
            8 => ("setInstructionBreakpoints", none),
            9 => ("iree/runMap", json!({})),
            10 => ("breakpointLocations", json!({"source": path, "line": 1, "endLine": 40})),
            11 => ("disassemble", json!({"memoryReference": "0x0", "instructionCount": 4})),
            12 => ("loadedSources", json!({})),
            13 => ("evaluate", hover),
            14 => ("completions", json!({"text": "%", "column": 2})),
            _ => ("stackTrace", thread_1()),
        }
    }
}

fn breakpoint(numbers: &mut Numbers, program: &Program) -> Value {
    let mut breakpoint = json!({"line": numbers.choose(&program.lines)});
    if !program.conditions.is_empty() && numbers.chance(2) {
        breakpoint["condition"] = numbers.choose(program.conditions).into();
    } else if numbers.chance(2) {
        breakpoint["hitCondition"] = numbers.choose(&["3", "5", "% 2", "> 4"]).into();
    }
    breakpoint
}

fn exceptions(numbers: &mut Numbers) -> Value {
    let more: &[&str] = numbers.choose(&[&[][..], &["nan"], &["nan", "infinity"], &["infinity"]]);
    let filters = [&["failure"], more].concat();
    let option = json!({"filterId": "nan", "condition": "every"});
    let options = if numbers.chance(5) { vec![option] } else { Vec::new() };
    json!({"filters": filters, "filterOptions": options})
}

fn command(numbers: &mut Numbers, program: &Program, is_recorded: bool) -> (&'static str, Value) {
    let by_instruction = || json!({"threadId": 1, "granularity": "instruction"});
    let watched = numbers.choose(program.watched);
    let ask = |line: String| ("evaluate", typed(&format!("`{line}")));
    if is_recorded && numbers.below(5) < 2 {
        return match numbers.below(9) {
            0 => ("stepBack", thread_1()),
            1 => ("stepBack", by_instruction()),
            2 => ("reverseContinue", thread_1()),
            3 => ask(format!("reverse-step {}", 2 + numbers.below(38))),
            4 => ask(format!("reverse-next {}", 2 + numbers.below(3))),
            5 => ask("reverse-finish".to_owned()),
            6 => ask("goto begin".to_owned()),
            7 => ask(format!("who-wrote {watched}")),
            _ => ask(format!("goto {}", 1 + numbers.below(8))),
        };
    }
    match numbers.below(16) {
        0..4 => ("continue", thread_1()),
        4 | 5 => ("next", thread_1()),
        6 => ("stepIn", thread_1()),
        7 => ("stepOut", thread_1()),
        8 => ("next", by_instruction()),
        9 => ("stepIn", by_instruction()),
        10 => ask(format!("next {}", 2 + numbers.below(198))),
        11 => ask(format!("step {}", 2 + numbers.below(198))),
        12 => ask("finish".to_owned()),
        13 => ask("catch dispatch nan".to_owned()),
        _ => ask(format!("watch {watched}")),
    }
}

/// The `stopped` event that ends a command; nothing, if the program is over. A command that runs
/// nothing ends where it is.
fn stop(client: &mut Client, command: &str, response: &Value) -> Option<Value> {
    const ENDS: [&str; 2] = ["stopped", "terminated"];
    // After it, all events are there that the command has led to at once.
    client.request("threads", &Value::Null);
    let runs = response["success"] == true && command != "evaluate"
        || client.has_come(&[&ENDS[..], &["continued"]].concat());
    if !runs {
        return Some(json!({}));
    }
    loop {
        match client.any_event() {
            (name, mut body) if name == ENDS[0] => {
                body.as_object_mut().unwrap().remove("hitBreakpointIds");
                return Some(body);
            }
            (name, _) if name == ENDS[1] => return None,
            _ => {}
        }
    }
}

/// A text without the numbers that are given in the order of asking.
fn unnumbered(text: &Value) -> String {
    let mut parts = text.as_str().unwrap_or_default().split_inclusive(['#', ' ']);
    let mut result = parts.next().unwrap_or_default().to_owned();
    let mut before = result.clone();
    for part in parts {
        let is_numbered = before.ends_with('#') || before.ends_with("reakpoint ");
        let digits = part.chars().take_while(char::is_ascii_digit).count();
        result.push_str(if is_numbered { &part[digits..] } else { part });
        part.clone_into(&mut before);
    }
    result
}

/// Where the program stands: the stop, its frames, their values with memory, and what breakpoints
/// have counted.
fn moment(client: &mut Client, stopped: &Value) -> Value {
    let mut frames = client.request("stackTrace", &thread_1())["stackFrames"].clone();
    let mut values = Vec::new();
    for frame in frames.as_array_mut().unwrap() {
        let id = frame.as_object_mut().unwrap().remove("id");
        if values.is_empty() {
            values = values_of(client, &id.unwrap());
        }
    }
    let mut said = |line: &str| unnumbered(&client.request("evaluate", &typed(line))["result"]);
    let (breakpoints, dispatches) = (said("`info breakpoints"), said("`info dispatches"));
    json!({
        "stopped": stopped, "frames": frames, "values": values,
        "breakpoints": breakpoints, "dispatches": dispatches,
    })
}

fn values_of(client: &mut Client, frame: &Value) -> Vec<Value> {
    let scopes = client.request("scopes", &json!({"frameId": frame}));
    let mut values = Vec::new();
    for scope in scopes["scopes"].as_array().unwrap() {
        // Memory of a device lives as long as a checkpoint needs it.
        if scope["name"] == "Device" {
            continue;
        }
        let reference = json!({"variablesReference": scope["variablesReference"]});
        let found = client.request("variables", &reference);
        for value in found["variables"].as_array().unwrap() {
            let bytes = value["memoryReference"].as_str().map(|reference| {
                let seq = client
                    .send("readMemory", &json!({"memoryReference": reference, "count": 4096}));
                client.response(seq)["body"]["data"].clone()
            });
            let shown = unnumbered(&value["value"]);
            values.push(json!([scope["name"], value["name"], shown, bytes]));
        }
    }
    values
}

/// The first place in which two values differ.
fn difference(expected: &Value, found: &Value) -> String {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            let differs = expected.keys().find(|key| expected.get(*key) != found.get(*key));
            let of = |it: &serde_json::Map<String, Value>, key| it.get(key).cloned();
            differs.map_or_else(String::new, |key| {
                let [one, other] = [expected, found].map(|it| of(it, key).unwrap_or_default());
                format!("{key}: {}", difference(&one, &other))
            })
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            let differs = expected.iter().zip(found).find(|(one, other)| one != other);
            differs.map_or_else(String::new, |(one, other)| difference(one, other))
        }
        _ => format!("expected {expected}, found {found}"),
    }
}

fn check(seed: u64) {
    let mut numbers = Numbers(seed);
    numbers.below(2);
    let plan = Plan::new(&mut numbers);
    let (expected, times, _) = plan.walk(None);
    for _ in 0..2 {
        let (found, _, asked) = plan.walk(Some((&mut numbers, &times)));
        let differs = (0..expected.len()).find(|at| expected.get(*at) != found.get(*at));
        let Some(at) = differs else { continue };
        let found = found.get(at).cloned().unwrap_or_default();
        panic!(
            "seed {seed}: {}\nbreakpoints {}, {}\ncommands {:?}\nasked {:?}\n{}",
            plan.program.launch,
            plan.breakpoints,
            plan.exceptions,
            &plan.commands[..=at],
            asked.get(at),
            difference(&expected[at], &found),
        );
    }
}

#[test]
fn requests_change_no_run() {
    (1..=16).for_each(check);
}

/// Seeds that the environment gives.
#[test]
fn more() {
    let Ok(seeds) = std::env::var("PAIRS") else { return };
    let (from, to) = seeds.split_once("..").expect("PAIRS=FROM..TO");
    (from.parse().unwrap()..to.parse().unwrap()).for_each(check);
}

/// A model that leaves NaN, recorded, before its first instruction.
fn standing(launch: &Value, breakpoints: Value) -> Plan {
    let mut launch = launch.clone();
    launch["stopOnEntry"] = true.into();
    let file = source_of("nans").canonicalize().unwrap();
    let program = Program { launch, file, lines: Vec::new(), conditions: &[], watched: &[] };
    let exceptions = json!({"filters": ["nan"]});
    Plan { program, breakpoints, exceptions, commands: Vec::new() }
}

/// The line that makes a NaN, and the one before it.
const DIVISION: u32 = 27;

/// Where a session ends, and 20 others in which requests come meanwhile.
#[track_caller]
fn check_often(plan: &Plan) {
    let (expected, times, _) = plan.walk(None);
    let mut numbers = Numbers(9);
    for _ in 0..20 {
        let (found, _, asked) = plan.walk(Some((&mut numbers, &times)));
        assert_eq!(expected.len(), found.len(), "{asked:?}");
        for (at, (expected, found)) in expected.iter().zip(&found).enumerate() {
            assert_eq!(difference(expected, found), "", "{at}, {asked:?}");
        }
    }
}

/// A dispatch that runs again to find its operation meets no breakpoint then, as its user does not
/// see that.
#[test]
fn requests_while_a_search_runs() {
    for is_machine_code in [false, true] {
        let breakpoints = json!([{"line": DIVISION - 1, "hitCondition": "5"}]);
        let mut plan = standing(&nans(is_machine_code), breakpoints);
        plan.commands = vec![("continue", thread_1())];
        check_often(&plan);
    }
}

/// A step out of a dispatch goes on to a line, after an interrupt too.
#[test]
fn requests_while_a_step_leaves_a_dispatch() {
    let mut plan = standing(&nans(true), json!([{"line": 18}]));
    plan.exceptions = json!({"filters": []});
    let leave = || ("stepOut", thread_1());
    plan.commands = vec![("continue", thread_1()), leave(), leave(), leave()];
    check_often(&plan);
}

/// Requests do not cancel the compilation of the bytecode in which a NaN is searched for.
#[test]
fn requests_while_a_search_compiles() {
    let mut launch = nans(true);
    launch["program"] = json!(nans_of_machine_code("nans-fresh"));
    let breakpoints = json!([{"line": DIVISION - 1, "hitCondition": "> 1000"}]);
    let plan = standing(&launch, breakpoints);
    let mut client = plan.begin();
    client.request("continue", &thread_1());
    let path = json!({"path": plan.program.file});
    let set = json!({"source": path, "breakpoints": plan.breakpoints});
    for _ in 0..3 {
        thread::sleep(Duration::from_millis(100));
        client.request("setBreakpoints", &set);
    }
    while !client.has_come(&["stopped"]) {
        client.request("threads", &Value::Null);
        thread::sleep(Duration::from_millis(10));
    }
    let stopped = stop(&mut client, "continue", &json!({"success": true})).unwrap();
    let text = stopped["text"].as_str().unwrap();
    assert!(text.starts_with("%l = arith.divf %d, %d is NaN: %d = 0 ("), "{text}");
    client.leave_after_disconnecting();
}

/// Counting hits is a part of a journey: what interrupts it leads nowhere else.
#[test]
fn requests_while_a_journey_counts() {
    let breakpoints = json!([{"line": 19, "hitCondition": "% 2"}]);
    let mut launch = nans(false);
    launch["record"] = true.into();
    let mut plan = standing(&launch, breakpoints);
    plan.commands = vec![("evaluate", typed("`goto 6"))];
    check_often(&plan);
}

//! Requests at random moments of a run: the program stops where it stops without them, after steps
//! and runs in both directions, jumps to other moments, and lines of the console.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{call, line, perceptron, perceptron_source, source};

/// A program that stands somewhere, and what then makes it run.
struct Run {
    launch: Value,
    file: PathBuf,
    /// The breakpoints of the file: lines with what else they have.
    breakpoints: Value,
    /// Makes it stand there: lines of the console, and requests that each lead to a stop.
    before: Vec<(&'static str, Value)>,
    command: &'static str,
    arguments: Value,
}

/// Numbers that look random, the same ones each time.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

pub(crate) fn thread_1() -> Value {
    json!({"threadId": 1})
}

pub(crate) fn typed(line: &str) -> Value {
    json!({"expression": line, "context": "repl"})
}

/// A loop of `turns` turns, recorded. `before` leads to where the run begins.
fn looping(
    turns: u32,
    breakpoints: Value,
    before: Vec<(&'static str, Value)>,
    command: &'static str,
    arguments: Value,
) -> Run {
    Run {
        launch: call("sum", &[&turns.to_string()]),
        file: source(),
        breakpoints,
        before,
        command,
        arguments,
    }
}

fn model(before: Vec<(&'static str, Value)>, command: &'static str, arguments: Value) -> Run {
    Run {
        launch: perceptron(),
        file: perceptron_source(),
        breakpoints: json!([]),
        before,
        command,
        arguments,
    }
}

/// The `stopped` event that ends a run.
fn stop(client: &mut Client) -> Value {
    loop {
        let (name, body) = client.any_event();
        match name.as_str() {
            "stopped" => return body,
            "continued" | "memory" | "breakpoint" | "iree/runMap" => {}
            _ => panic!("{name}: {body}"),
        }
    }
}

/// Where the program stands, and the values there.
fn moment(client: &mut Client, mut stopped: Value) -> Value {
    let trace = client.request("stackTrace", &thread_1());
    let mut frames = trace["stackFrames"].clone();
    let scopes = client.request("scopes", &json!({"frameId": frames[0]["id"]}));
    let mut values = Vec::new();
    for scope in scopes["scopes"].as_array().unwrap() {
        let reference = &scope["variablesReference"];
        let found = client.request("variables", &json!({"variablesReference": reference}));
        let found = found["variables"].as_array().unwrap().iter();
        values.extend(found.map(|it| json!([scope["name"], it["name"], it["value"]])));
    }
    for frame in frames.as_array_mut().unwrap() {
        frame.as_object_mut().unwrap().remove("id");
    }
    stopped.as_object_mut().unwrap().remove("hitBreakpointIds");
    json!({"stopped": stopped, "frames": frames, "values": values})
}

impl Run {
    fn stops(&self, client: &mut Client) {
        let arguments = json!({"source": {"path": self.file}, "breakpoints": self.breakpoints});
        client.request("setBreakpoints", &arguments);
    }

    /// A client whose program stands where the run begins.
    fn begin(&self) -> Client {
        let mut launch = self.launch.clone();
        launch["record"] = true.into();
        launch["stopOnEntry"] = true.into();
        let mut client = Client::new();
        client.launch(&launch);
        self.stops(&mut client);
        client.request("configurationDone", &json!({}));
        client.event("capabilities");
        client.event("stopped");
        for (command, arguments) in &self.before {
            client.request(command, arguments);
            if *command != "evaluate" {
                stop(&mut client);
            }
        }
        client
    }

    /// Where it ends when nothing comes between, and how long it takes.
    fn undisturbed(&self) -> (Value, Duration) {
        let mut client = self.begin();
        let began = Instant::now();
        client.request(self.command, &self.arguments);
        let stopped = stop(&mut client);
        let took = began.elapsed();
        let moment = moment(&mut client, stopped);
        client.leave_after_disconnecting();
        (moment, took)
    }

    /// Where it ends when requests come at random moments, how long it takes, and what was asked.
    fn disturbed(&self, numbers: &mut Numbers, within: Duration) -> (Value, Duration, String) {
        let mut client = self.begin();
        let frame = client.top_frame();
        let began = Instant::now();
        client.request(self.command, &self.arguments);
        let mut asked = String::new();
        for _ in 0..1 + numbers.below(4) {
            let part = u32::try_from(numbers.below(100)).unwrap();
            let pause = within * part / 200;
            thread::sleep(pause);
            let (command, arguments) = self.question(numbers.below(9), &frame);
            asked += &format!("{command} after {pause:?}, ");
            let seq = client.send(command, &arguments);
            client.response(seq);
        }
        let stopped = stop(&mut client);
        let took = began.elapsed();
        let moment = moment(&mut client, stopped);
        client.leave_after_disconnecting();
        (moment, took, asked)
    }

    fn question(&self, which: usize, frame: &Value) -> (&'static str, Value) {
        let path = json!({"path": self.file});
        match which {
            0 | 1 => ("setBreakpoints", json!({"source": path, "breakpoints": self.breakpoints})),
            2 => ("evaluate", json!({"expression": "%n", "context": "hover", "frameId": frame})),
            3 => ("iree/runMap", json!({})),
            4 => ("threads", Value::Null),
            5 => ("stackTrace", thread_1()),
            6 => ("iree/tensor", json!({"expression": "%x", "frameId": frame})),
            7 => ("loadedSources", json!({})),
            _ => ("disassemble", json!({"memoryReference": "0x0", "instructionCount": 4})),
        }
    }

    #[track_caller]
    fn check(&self, seed: u64, rounds: usize) {
        let (expected, took) = self.undisturbed();
        let mut numbers = Numbers(seed);
        for _ in 0..rounds {
            let (moment, disturbed, asked) = self.disturbed(&mut numbers, took);
            let what = format!("{} {}: {asked}", self.command, self.arguments);
            assert_eq!(
                serde_json::to_string_pretty(&moment).unwrap(),
                serde_json::to_string_pretty(&expected).unwrap(),
                "{what} {took:?}, {disturbed:?}"
            );
        }
    }
}

const ROUNDS: usize = 4;

/// The program stands in a loop, after many turns.
fn in_the_middle(turn: u32) -> (Value, Vec<(&'static str, Value)>) {
    let condition = format!("%i == {turn}");
    let breakpoints = json!([{"line": line("adding"), "condition": condition}]);
    (breakpoints, vec![("continue", thread_1())])
}

#[test]
fn steps_back() {
    let (breakpoints, before) = in_the_middle(1000);
    for (command, arguments) in [
        ("stepBack", thread_1()),
        ("stepBack", json!({"threadId": 1, "granularity": "instruction"})),
        ("evaluate", typed("`reverse-step 40")),
        ("evaluate", typed("`reverse-next 3")),
        ("evaluate", typed("`reverse-finish")),
    ] {
        looping(1200, breakpoints.clone(), before.clone(), command, arguments).check(1, ROUNDS);
    }
}

#[test]
fn runs_back() {
    let (_, before) = in_the_middle(1000);
    let breakpoints = json!([
        {"line": line("adding"), "condition": "%i == 1000 || %i == 40"},
    ]);
    let twice = [before.clone(), before.clone()].concat();
    looping(1200, breakpoints, twice, "reverseContinue", thread_1()).check(2, ROUNDS);
    let breakpoints = json!([{"line": line("adding"), "condition": "%i == 1000"}]);
    looping(1200, breakpoints, before, "reverseContinue", thread_1()).check(3, ROUNDS);
}

#[test]
fn journeys_to_other_moments() {
    let (breakpoints, before) = in_the_middle(1000);
    for text in ["`goto begin", "`first %i == 700", "`who-wrote %so_far", "`who-wrote @calls"] {
        looping(1200, breakpoints.clone(), before.clone(), "evaluate", typed(text))
            .check(4, ROUNDS);
    }
}

#[test]
fn runs_forward() {
    let breakpoints = json!([{"line": line("adding"), "condition": "%i == 9000"}]);
    let counted = json!([{"line": line("doubling"), "hitCondition": "9000"}]);
    let (middle, to_middle) = in_the_middle(100);
    let text = std::fs::read_to_string(source()).unwrap();
    let end = text.lines().position(|line| line.contains("return %sum")).unwrap() + 1;
    let until = format!("`until {end}");
    for (breakpoints, before, command, arguments) in [
        (breakpoints, vec![], "continue", thread_1()),
        (counted, vec![], "continue", thread_1()),
        (middle.clone(), to_middle.clone(), "evaluate", typed("`next 8000")),
        (middle.clone(), to_middle.clone(), "evaluate", typed("`step 8000")),
        (middle.clone(), to_middle.clone(), "evaluate", typed("`finish")),
        (middle, to_middle, "evaluate", typed(&until)),
    ] {
        looping(10_000, breakpoints, before, command, arguments).check(5, ROUNDS);
    }
}

/// A breakpoint that is set on the way counts. Where the way is over before the breakpoint is set,
/// it was too short for this machine.
#[test]
fn breakpoints_of_the_way() {
    assert!([4000, 16_000, 64_000].into_iter().any(meets_breakpoint_of_the_way));
}

/// Sets a breakpoint while a program goes back from this turn of its loop. False: it had come to
/// its beginning before.
fn meets_breakpoint_of_the_way(turn: u32) -> bool {
    let (breakpoints, before) = in_the_middle(turn);
    let run = looping(turn + 100, breakpoints, before, "reverseContinue", thread_1());
    let mut client = run.begin();
    let here = client.send(run.command, &run.arguments);
    let breakpoints = json!([{"line": line("adding"), "condition": "%i == 17"}]);
    let arguments = json!({"source": {"path": run.file}, "breakpoints": breakpoints});
    client.request("setBreakpoints", &arguments);
    client.response(here);
    let is_met = stop(&mut client)["reason"] == "breakpoint";
    if is_met {
        let frame = client.top_frame();
        let turn = client.request("evaluate", &json!({"expression": "%i", "frameId": frame}));
        assert_eq!(turn["result"], "17");
    }
    client.leave_after_disconnecting();
    is_met
}

#[test]
fn watched_runs() {
    let evaluate = |line| ("evaluate", typed(line));
    let go = || ("continue", thread_1());
    let watch = evaluate("`watch @calls");
    let condition = evaluate("`condition 1 @calls == 1000");
    let before = vec![watch.clone(), condition];
    looping(2000, json!([]), before.clone(), "continue", thread_1()).check(7, ROUNDS);
    let back = [before, vec![go(), go()]].concat();
    looping(2000, json!([]), back, "reverseContinue", thread_1()).check(8, ROUNDS);
    let (middle, to_middle) = in_the_middle(46_200);
    let before = [to_middle, vec![evaluate("`catch overflow")]].concat();
    looping(50_000, middle, before, "continue", thread_1()).check(9, ROUNDS);
}

#[test]
fn steps_of_a_device() {
    let to_end = || vec![("continue", thread_1())];
    for (before, command, arguments) in [
        (to_end(), "stepBack", thread_1()),
        (to_end(), "reverseContinue", thread_1()),
        (to_end(), "iree/goTo", json!({"command": 1})),
        (to_end(), "evaluate", typed("`reverse-step 2")),
        (vec![], "next", thread_1()),
        (vec![], "evaluate", typed("`next 3")),
        (vec![], "evaluate", typed("`step 30")),
        (vec![], "continue", thread_1()),
    ] {
        model(before, command, arguments).check(6, ROUNDS);
    }
}

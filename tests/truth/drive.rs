//! Runs a module in the debugger and records what it shows at each stop.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::random::Random;
use conformance::dap_client::{Client, Halt};

/// A module to debug.
pub(crate) struct Target<'a> {
    pub(crate) debugger: &'a Path,
    pub(crate) module: &'a Path,
    pub(crate) source: &'a Path,
    pub(crate) function: &'a str,
    pub(crate) inputs: &'a [String],
    /// How long the program may run between stops.
    pub(crate) patience: Duration,
    /// The most stops of a session.
    pub(crate) enough: usize,
    /// The number of hits after which a line's breakpoint is removed, so that others get their
    /// turn.
    pub(crate) hits: Option<usize>,
}

/// The names to evaluate in a frame of a function.
pub(crate) type Names<'a> = &'a dyn Fn(&str) -> Vec<String>;

/// How a session advances.
pub(crate) enum Manner {
    /// From breakpoint to breakpoint on these lines.
    Breakpoints(Vec<u32>),
    /// By steps, from the entry on.
    Steps(usize),
}

/// A recorded session.
#[derive(Clone, Default)]
pub(crate) struct Session {
    pub(crate) breakpoints: Vec<Breakpoint>,
    pub(crate) stops: Vec<Stop>,
    /// Whether the program ran to its end.
    pub(crate) is_over: bool,
    /// Whether it ran longer than `patience`.
    pub(crate) is_late: bool,
    /// The results that it printed, as text.
    pub(crate) results: Vec<String>,
}

/// A breakpoint, as the debugger answered it.
#[derive(Clone)]
pub(crate) struct Breakpoint {
    pub(crate) asked: u32,
    pub(crate) line: u32,
    pub(crate) is_verified: bool,
    pub(crate) message: String,
}

#[derive(Clone)]
pub(crate) struct Stop {
    pub(crate) reason: String,
    /// The command that led to this stop; `None` for the first.
    pub(crate) command: Option<&'static str>,
    /// Innermost first.
    pub(crate) frames: Vec<Frame>,
}

#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) name: String,
    /// The line in the source; `None` if the frame has no place there.
    pub(crate) line: Option<u32>,
    pub(crate) variables: Vec<Shown>,
    /// The values of its registers, without their names.
    pub(crate) registers: Vec<String>,
    /// The results of evaluating names, or the reasons for having none.
    pub(crate) evaluated: BTreeMap<String, Result<Evaluated, String>>,
}

/// A variable.
#[derive(Clone)]
pub(crate) struct Shown {
    pub(crate) scope: String,
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) kind: String,
    /// Whether the value is the reason for having none.
    pub(crate) is_absent: bool,
}

/// The result of evaluating a name.
#[derive(Clone)]
pub(crate) struct Evaluated {
    pub(crate) value: String,
    /// Whether the value is the reason for having none.
    pub(crate) is_absent: bool,
}

/// Runs a session.
pub(crate) fn session(
    target: &Target<'_>,
    manner: &Manner,
    random: &mut Random,
    names: Names<'_>,
) -> Result<Session, String> {
    let mut client = Client::start(target.debugger)?;
    let steps = matches!(manner, Manner::Steps(_));
    client.request(
        "launch",
        &json!({
            "program": target.module, "function": target.function, "inputs": target.inputs,
            "stopOnEntry": steps,
        }),
    )?;
    let mut session = Session::default();
    if let Manner::Breakpoints(lines) = manner {
        session.breakpoints = set(&mut client, target.source, lines)?;
    }
    client.request("configurationDone", &json!({}))?;
    let enough = if let Manner::Steps(count) = manner { *count } else { target.enough };
    let mut command = None;
    loop {
        match client.halt(target.patience)? {
            Halt::Ended => break,
            Halt::Late => {
                session.is_late = true;
                return Ok(session);
            }
            Halt::Stopped(reason) => {
                let names = random.chance(3).then_some(names);
                let frames = look(&mut client, target.source, names)?;
                session.stops.push(Stop { reason, command, frames });
            }
        }
        if session.stops.len() >= enough {
            return Ok(session);
        }
        if let Some(hits) = target.hits {
            take_away(&mut client, target.source, &mut session, hits)?;
        }
        let next = match (steps, random.below(8)) {
            (false, _) => "continue",
            (true, 0..=3) => "stepIn",
            (true, 4..=6) => "next",
            (true, _) => "stepOut",
        };
        client.request(next, &json!({"threadId": 1}))?;
        command = Some(next);
    }
    session.is_over = true;
    session.results = results(&client.printed);
    Ok(session)
}

fn set(client: &mut Client, source: &Path, lines: &[u32]) -> Result<Vec<Breakpoint>, String> {
    let wanted: Vec<Value> = lines.iter().map(|line| json!({"line": line})).collect();
    let arguments = json!({"source": {"path": source}, "breakpoints": wanted});
    let answered = client.request("setBreakpoints", &arguments)?;
    let answered = list(&answered["breakpoints"]);
    let each = lines.iter().zip(answered).map(|(asked, answer)| Breakpoint {
        asked: *asked,
        line: number(&answer["line"]).unwrap_or(*asked),
        is_verified: answer["verified"] == true,
        message: text(&answer["message"]),
    });
    Ok(each.collect())
}

/// Removes the breakpoint at the current stop if it was hit this often.
fn take_away(
    client: &mut Client,
    source: &Path,
    session: &mut Session,
    hits: usize,
) -> Result<(), String> {
    let line = |stop: &Stop| stop.frames.first().and_then(|top| top.line);
    let count = |of: u32| session.stops.iter().filter(|stop| line(stop) == Some(of)).count();
    let is_due = session.stops.last().and_then(line).is_some_and(|of| count(of) == hits);
    if !is_due {
        return Ok(());
    }
    let left = session.breakpoints.iter().filter(|it| count(it.line) < hits);
    let left: BTreeSet<u32> = left.map(|it| it.asked).collect();
    // The remaining breakpoints may have moved.
    let answered = set(client, source, &left.into_iter().collect::<Vec<_>>())?;
    for breakpoint in answered {
        let is_known = |it: &Breakpoint| (it.asked, it.line) == (breakpoint.asked, breakpoint.line);
        if !session.breakpoints.iter().any(is_known) {
            session.breakpoints.push(breakpoint);
        }
    }
    Ok(())
}

/// Whether a frame is of what a device does: a command, or the call that has submitted it.
pub(crate) fn is_of_device(name: &str) -> bool {
    name.starts_with("hal.") || name.contains("command ")
}

/// Records everything that the debugger shows at a stop.
fn look(
    client: &mut Client,
    source: &Path,
    names: Option<Names<'_>>,
) -> Result<Vec<Frame>, String> {
    let trace = client.request("stackTrace", &json!({"threadId": 1}))?;
    let shown_frames = list(&trace["stackFrames"]);
    // In a dispatch, only the innermost frame is compared.
    let is_dispatch = shown_frames.iter().any(|it| is_of_device(&text(&it["name"])));
    let mut frames = Vec::new();
    for shown in shown_frames {
        let is_source = shown["source"]["path"].as_str().map(Path::new) == Some(source);
        let id = &shown["id"];
        let mut frame = Frame {
            name: plain_name(&text(&shown["name"])),
            line: number(&shown["line"]).filter(|line| is_source && *line > 0),
            variables: Vec::new(),
            registers: Vec::new(),
            evaluated: BTreeMap::new(),
        };
        if is_dispatch && !frames.is_empty() {
            frames.push(frame);
            continue;
        }
        variables(client, id, &mut frame)?;
        for name in names.map(|names| names(&frame.name)).unwrap_or_default() {
            let arguments = json!({"expression": name, "frameId": id, "context": "watch"});
            let answer = client.request("evaluate", &arguments);
            frame.evaluated.insert(
                name,
                answer.map(|answer| Evaluated {
                    value: text(&answer["result"]),
                    is_absent: is_absent(&answer),
                }),
            );
        }
        frames.push(frame);
    }
    Ok(frames)
}

/// A function's name without the additions of frames.
fn plain_name(name: &str) -> String {
    name.strip_suffix(" [inlined]").unwrap_or(name).to_owned()
}

fn variables(client: &mut Client, frame: &Value, into: &mut Frame) -> Result<(), String> {
    let scopes = client.request("scopes", &json!({"frameId": frame}))?;
    for scope in list(&scopes["scopes"]) {
        let name = text(&scope["name"]);
        if !["Locals", "Arguments", "Registers"].contains(&name.as_str()) {
            continue;
        }
        let reference = &scope["variablesReference"];
        let answer = client.request("variables", &json!({"variablesReference": reference}))?;
        for variable in list(&answer["variables"]) {
            let value = text(&variable["value"]);
            if name == "Registers" {
                into.registers.push(value);
                continue;
            }
            let (kind, scope) = (text(&variable["type"]), name.clone());
            let (name, is_absent) = (text(&variable["name"]), is_absent(&variable));
            into.variables.push(Shown { scope, name, value, kind, is_absent });
        }
    }
    Ok(())
}

/// Whether the adapter tells that there is no value.
fn is_absent(variable: &Value) -> bool {
    variable.get("ireeAbsent").is_some()
}

/// The values of `result[0]: i64=21`, or of `result[0]: hal.buffer_view` and the line after it.
pub(crate) fn results(printed: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut lines = printed.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("result[") {
            let value = if line.contains('=') { Some(line) } else { lines.next() };
            let value = value.and_then(|value| value.split_once('='));
            all.push(value.map_or(String::new(), |(_, value)| value.to_owned()));
        }
    }
    all
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok()
}

//! A program in the debugger: what it shows at each dispatch, in this turn of all loops around it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::Path;

use debug::{
    Back, BreakpointId, BreakpointOptions, BreakpointSpec, Debugger, DispatchMoment, Frame,
    LaunchOptions, Machine, ModuleSource, Node, PastOptions, RecordOptions, Resume, StopReason,
};

/// What a name is shown with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shown {
    Number(i64),
    Tensor(Vec<f32>),
    /// Nothing, for this reason.
    Nothing(String),
}

/// A stop at a dispatch.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    /// The lines of the calls that lead to it, outermost first, and its own.
    pub(crate) path: Vec<u32>,
    pub(crate) has_run: bool,
    /// The names of each frame, outermost first.
    pub(crate) frames: Vec<BTreeMap<String, Shown>>,
}

/// What is asked of a program.
pub(crate) struct Asked<'a> {
    pub(crate) module: &'a Path,
    pub(crate) inputs: Vec<String>,
    pub(crate) functions: Vec<Written>,
}

/// A function, by its lines.
pub(crate) struct Written {
    pub(crate) lines: RangeInclusive<u32>,
    pub(crate) names: BTreeSet<String>,
}

/// The stops of a run, in order.
pub(crate) struct Stops {
    pub(crate) forward: Vec<Stop>,
    /// The same going back, last first.
    pub(crate) back: Vec<Stop>,
}

/// The most stops of one run.
const LONGEST: usize = 1_500;

/// Runs a program, and goes back.
pub(crate) fn run(asked: &Asked<'_>) -> Result<Stops, String> {
    let (mut debugger, after) = on_dispatches(asked, true)?;
    let mut forward = Vec::new();
    let is_over = loop {
        match debugger.resume(Resume::Continue) {
            StopReason::Breakpoint(hit) => {
                forward.push(stop(&debugger, asked, hit.contains(&after)));
            }
            StopReason::Completed(_) => break true,
            other => return Err(debugger.sentence(&other)),
        }
        if forward.len() > LONGEST {
            break false;
        }
    };
    let mut back = Vec::new();
    if !is_over {
        return Ok(Stops { forward, back });
    }
    loop {
        match debugger.go_back(Back::Continue) {
            Ok(StopReason::Breakpoint(hit)) => {
                back.push(stop(&debugger, asked, hit.contains(&after)));
            }
            Ok(StopReason::Begin) => break,
            Ok(other) => return Err(debugger.sentence(&other)),
            Err(why) => return Err(why.to_string()),
        }
    }
    Ok(Stops { forward, back })
}

/// The stops of a run at a line, if a condition is true.
pub(crate) fn run_to_line(
    asked: &Asked<'_>,
    line: u32,
    condition: &str,
) -> Result<Vec<Stop>, String> {
    let mut debugger = load(asked, false)?;
    let spec = BreakpointSpec::Line { file: "program.mlir".to_owned(), line, column: None };
    let id = debugger.edit_breakpoints().add(spec);
    let condition = Some(condition.to_owned());
    let options = BreakpointOptions { condition, ..BreakpointOptions::default() };
    let set = debugger.edit_breakpoints().set_options(id, &options);
    set.map_err(|error| error.to_string())?;
    let mut stops = Vec::new();
    while stops.len() < LONGEST {
        match debugger.resume(Resume::Continue) {
            StopReason::Breakpoint(_) => {
                if let Some(why) = debugger.failed_condition() {
                    return Err(why);
                }
                stops.push(stop(&debugger, asked, false));
            }
            StopReason::Completed(_) => break,
            other => return Err(debugger.sentence(&other)),
        }
    }
    Ok(stops)
}

fn load(asked: &Asked<'_>, is_recorded: bool) -> Result<Debugger, String> {
    let memory = 64 << 20;
    let record = RecordOptions { memory, disk: 0, every: None, ..RecordOptions::default() };
    let options = LaunchOptions {
        modules: vec![ModuleSource::Path(asked.module.to_owned())],
        function: Some("main".to_owned()),
        inputs: asked.inputs.clone(),
        past: (!is_recorded).then_some(PastOptions { memory }),
        record: is_recorded.then_some(record),
        ..LaunchOptions::default()
    };
    Debugger::load(options).map_err(|error| error.to_string())
}

/// A program that stops before and after each dispatch, and which breakpoint is after.
fn on_dispatches(asked: &Asked<'_>, is_recorded: bool) -> Result<(Debugger, BreakpointId), String> {
    let mut debugger = load(asked, is_recorded)?;
    let [_, after] = [DispatchMoment::Before, DispatchMoment::After].map(|when| {
        let pattern = "*".to_owned();
        debugger.edit_breakpoints().add(BreakpointSpec::Dispatch { pattern, when })
    });
    Ok((debugger, after))
}

fn stop(debugger: &Debugger, asked: &Asked<'_>, has_run: bool) -> Stop {
    let machine = debugger.machine();
    let mut frames = machine.frames();
    frames.retain(|it| it.source.is_some() && !it.name.starts_with("workgroup"));
    frames.reverse();
    let lines = frames.iter().map(|it| it.source.as_ref().map_or(0, |at| at.line));
    let (path, frames) = (lines.collect(), frames.iter().map(|it| names(machine, it, asked)));
    Stop { path, has_run, frames: frames.collect() }
}

/// All names of the function of a frame.
fn names(machine: &Machine, frame: &Frame, asked: &Asked<'_>) -> BTreeMap<String, Shown> {
    let line = frame.source.as_ref().map_or(0, |at| at.line);
    let function = asked.functions.iter().find(|it| it.lines.contains(&line));
    let Some(names) = function.map(|it| &it.names) else { return BTreeMap::new() };
    let shown = |name: &String| (name.clone(), shown(machine, frame, name));
    names.iter().map(shown).collect()
}

fn shown(machine: &Machine, frame: &Frame, name: &str) -> Shown {
    let variable = match machine.evaluate(frame.id(), &format!("%{name}")) {
        Ok(variable) => variable,
        Err(error) => return Shown::Nothing(error.to_string()),
    };
    if let Some(absent) = variable.absent {
        return Shown::Nothing(format!("{} ({})", absent.kind(), variable.value));
    }
    if let Some(children) = &variable.children
        && let Node::Tensor(tensor) = &children.node
    {
        let Some(tensor) = tensor.tensor() else { return Shown::Nothing("no bytes".to_owned()) };
        let elements = tensor.bytes.chunks_exact(4);
        let elements = elements.map(|it| f32::from_le_bytes([it[0], it[1], it[2], it[3]]));
        return Shown::Tensor(elements.collect());
    }
    match variable.value.parse() {
        Ok(number) => Shown::Number(number),
        Err(_) => Shown::Nothing(variable.value),
    }
}

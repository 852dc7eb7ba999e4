//! A program, command by command.

use std::path::Path;

use debug::{
    BreakpointSpec, Debugger, Granularity, LaunchOptions, ModuleSource, Resume, StepKind,
    StopReason,
};
use hal::Device;

use crate::generate::Program;

/// The most stops of a run.
const MOST: usize = 200_000;

pub(crate) fn load(module: &Path, program: &Program) -> Result<Debugger, String> {
    let options = LaunchOptions {
        modules: vec![ModuleSource::Path(module.to_owned())],
        function: Some("main".to_owned()),
        inputs: program.inputs.clone(),
        ..LaunchOptions::default()
    };
    Debugger::load(options).map_err(|error| error.to_string())
}

pub(crate) fn device(debugger: &Debugger) -> &Device {
    debugger.program().host().device()
}

/// How many commands have run.
pub(crate) fn commands(debugger: &Debugger) -> u64 {
    device(debugger).history().total()
}

/// Where a program stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// Between commands.
    Program,
    /// At the return.
    End,
    /// Before or after a command.
    Command { is_done: bool },
    /// Inside of one.
    Inside,
}

fn place(debugger: &Debugger) -> Place {
    let frames = debugger.machine().frames();
    match frames.first() {
        Some(top) if top.position.is_none() && top.name.contains("command ") => {
            Place::Command { is_done: top.name.ends_with(", done") }
        }
        _ if frames.iter().any(|frame| frame.name.contains("command ")) => Place::Inside,
        _ => Place::Program,
    }
}

/// Runs a program to its return, with a visit at each function of the device that it calls, before
/// each command, and at each use of watched data. A visit that returns false ends the run.
pub(crate) fn walk(
    debugger: &mut Debugger,
    program: &Program,
    mut visit: impl FnMut(&mut Debugger, &StopReason, Place) -> Result<bool, String>,
) -> Result<(), String> {
    let (file, line) = ("program.mlir".to_owned(), program.last_line);
    let end = debugger.edit_breakpoints().add(BreakpointSpec::Line { file, line, column: None });
    let name = "hal.device.queue.*".to_owned();
    debugger.edit_breakpoints().add(BreakpointSpec::Function { name });
    let mut reason = debugger.resume(Resume::Continue);
    for _ in 0..MOST {
        let is_end = matches!(&reason, StopReason::Breakpoint(hit) if hit.contains(&end));
        // A return may have no line of its own.
        if matches!(reason, StopReason::Completed(_)) {
            return Ok(());
        }
        if reason.is_final() {
            return Err(debugger.sentence(&reason));
        }
        let place = if is_end { Place::End } else { place(debugger) };
        if !visit(debugger, &reason, place)? || is_end {
            return Ok(());
        }
        let is_call = matches!(reason, StopReason::Breakpoint(_));
        let step = |kind| Resume::Step(kind, Granularity::Instruction);
        reason = debugger.resume(match place {
            Place::Program if is_call => step(StepKind::Into),
            Place::Program | Place::End => Resume::Continue,
            Place::Command { .. } => step(StepKind::Over),
            Place::Inside => step(StepKind::Out),
        });
    }
    Err("the program does not end".to_owned())
}

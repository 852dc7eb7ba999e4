//! Resuming the program: `continue`, `next`, `stepIn`, `stepOut`; and going back: `stepBack`,
//! `reverseContinue`, and `iree/runTo`, `iree/goTo`, `iree/first` and `iree/rerun` of our own.
//!
//! There is one thread, so `singleThread` does not matter.

use commands::Run;
use dap::requests::{
    ContinueArguments, NextArguments, ReverseContinueArguments, StepBackArguments, StepInArguments,
    StepOutArguments,
};
use dap::types::SteppingGranularity;
use debug::{Back, Granularity, Resume, StepKind};
use serde::Deserialize;
use serde_json::{Value, json};

use super::stack::check_thread;
use crate::client::Client;
use crate::configuration::Settings;
use crate::debuggee::{Debuggee, Target, Wrong};
use crate::protocol::{ContinueBody, Request, RequestError, body};

type Resuming = Result<(Run, Value), RequestError>;

pub(super) fn resume(_debuggee: &mut Debuggee, request: &Request) -> Resuming {
    check_thread(request.arguments::<ContinueArguments>()?.thread_id)?;
    Ok((Run::Resume(Resume::Continue, 1), body(ContinueBody { all_threads_continued: true })?))
}

pub(super) fn next(debuggee: &mut Debuggee, request: &Request) -> Resuming {
    let arguments: NextArguments = request.arguments()?;
    check_thread(arguments.thread_id)?;
    Ok(step(StepKind::Over, arguments.granularity.as_ref(), debuggee.settings))
}

pub(super) fn step_in(debuggee: &mut Debuggee, request: &Request) -> Resuming {
    let arguments: StepInArguments = request.arguments()?;
    check_thread(arguments.thread_id)?;
    if let Some(target) = arguments.target_id {
        let Some(Target::Call(call)) = debuggee.targets.get(target) else {
            let error = format!("target {target} is not of this stop, or no call; ask for targets");
            return Err(RequestError::stale(error));
        };
        return Ok((Run::Resume(Resume::StepInto(*call), 1), Value::Null));
    }
    Ok(step(StepKind::Into, arguments.granularity.as_ref(), debuggee.settings))
}

pub(super) fn step_out(debuggee: &mut Debuggee, request: &Request) -> Resuming {
    let arguments: StepOutArguments = request.arguments()?;
    check_thread(arguments.thread_id)?;
    Ok(step(StepKind::Out, arguments.granularity.as_ref(), debuggee.settings))
}

/// A step of the granularity that the client asks for. A statement of MLIR is an operation. A line
/// of the disassembly is an instruction, so at that level the debugger steps by instructions
/// anyway.
fn step(
    kind: StepKind,
    granularity: Option<&SteppingGranularity>,
    settings: Settings,
) -> (Run, Value) {
    let resume = Resume::Step(kind, size(granularity, settings));
    (Run::Resume(resume, 1), Value::Null)
}

fn size(granularity: Option<&SteppingGranularity>, settings: Settings) -> Granularity {
    match granularity {
        Some(SteppingGranularity::Instruction) => Granularity::Instruction,
        Some(SteppingGranularity::Statement) => Granularity::Statement,
        Some(SteppingGranularity::Line) => Granularity::Line,
        None => settings.step_by.into(),
    }
}

/// One step back, over calls, as clients have no other.
pub(super) fn step_back(debuggee: &mut Debuggee, request: &Request) -> Resuming {
    let arguments: StepBackArguments = request.arguments()?;
    check_thread(arguments.thread_id)?;
    let granularity = size(arguments.granularity.as_ref(), debuggee.settings);
    back(debuggee, Run::Back(Back::Step(StepKind::Over, granularity), 1))
}

pub(super) fn reverse_continue(debuggee: &mut Debuggee, request: &Request) -> Resuming {
    check_thread(request.arguments::<ReverseContinueArguments>()?.thread_id)?;
    back(debuggee, Run::Back(Back::Continue, 1))
}

/// The present moment as text, for a launch that opens there: `moment`, and whether a launch comes
/// there with the same values.
pub(super) fn moment(
    debuggee: &mut Debuggee,
    _client: &Client,
    _request: &Request,
) -> Result<Value, RequestError> {
    let debugger = &debuggee.debugger;
    Ok(json!({
        "moment": debugger.line_moment().map(|moment| moment.to_string()),
        "isRepeatable": debugger.is_repeatable(),
    }))
}

/// The arguments of `iree/goTo`.
#[derive(Deserialize)]
struct GoToArguments {
    /// The number of a command that has run, as in `iree/runMap`.
    command: u64,
}

/// To before a command of the recorded run.
pub(super) fn go_to(debuggee: &mut Debuggee, request: &Request) -> Resuming {
    let GoToArguments { command } = request.arguments()?;
    back(debuggee, Run::ToCommand(command))
}

/// The arguments of `iree/runTo`.
#[derive(Deserialize)]
struct RunToArguments {
    /// The identity of a dispatch, as in `iree/runMap` and in the graph of dispatches.
    id: String,
}

/// On to before a dispatch runs next; any other stop comes first.
pub(super) fn run_to(debuggee: &mut Debuggee, request: &Request) -> Resuming {
    let RunToArguments { id } = request.arguments()?;
    let Debuggee { console, debugger, .. } = debuggee;
    let run = console.to_dispatch(debugger, &id).map_err(RequestError::failed)?;
    Ok((run, Value::Null))
}

/// The arguments of `iree/first`.
#[derive(Deserialize)]
struct FirstArguments {
    of: Wrong,
}

/// To where something first went wrong in the recorded run.
pub(super) fn first(debuggee: &mut Debuggee, request: &Request) -> Resuming {
    let FirstArguments { of } = request.arguments()?;
    back(debuggee, Run::ToFirstTrap(of.traps()))
}

/// The dispatch runs again that has just run; the event `iree/rerun` compares what it leaves.
pub(super) fn rerun(debuggee: &mut Debuggee, _request: &Request) -> Resuming {
    debuggee.debugger.may_rerun().map_err(RequestError::because)?;
    Ok((Run::Again, Value::Null))
}

fn back(debuggee: &Debuggee, run: Run) -> Resuming {
    if debuggee.debugger.record_state().is_none() {
        return Err(RequestError::failed(
            "the program is not recorded: launch with `\"record\": true`, or type `record` in \
             the console",
        ));
    }
    Ok((run, Value::Null))
}

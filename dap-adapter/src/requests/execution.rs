//! Going on and stopping: `continue`, `next`, `stepIn`, `stepOut`, `pause`.
//!
//! There is one thread, so `threadId` and `singleThread` have nothing to choose.

use std::ops::ControlFlow;

use dap::requests::{ContinueArguments, NextArguments, StepInArguments, StepOutArguments};
use dap::types::SteppingGranularity;
use debug::{Granularity, Resume, StepKind};
use serde_json::Value;

use super::arguments;
use crate::debuggee::{Debuggee, Target};
use crate::error::RequestError;
use crate::launch::Settings;
use crate::protocol::{ContinueBody, Request};
use crate::session::{Session, body};

type Resuming = Result<(Resume, Value), RequestError>;

pub(super) fn go_on(_debuggee: &mut Debuggee, request: &Request) -> Resuming {
    arguments::<ContinueArguments>(request)?;
    Ok((Resume::Continue, body(ContinueBody { all_threads_continued: true })?))
}

pub(super) fn next(debuggee: &mut Debuggee, request: &Request) -> Resuming {
    let arguments: NextArguments = arguments(request)?;
    Ok(step(StepKind::Over, arguments.granularity.as_ref(), debuggee.settings))
}

pub(super) fn step_in(debuggee: &mut Debuggee, request: &Request) -> Resuming {
    let arguments: StepInArguments = arguments(request)?;
    if let Some(target) = arguments.target_id {
        let Some(Target::Call(call)) = debuggee.targets.get(target) else {
            let error = format!("target {target} is not of this stop, or no call; ask for targets");
            return Err(RequestError::stale(error));
        };
        return Ok((Resume::StepInto(*call), Value::Null));
    }
    Ok(step(StepKind::Into, arguments.granularity.as_ref(), debuggee.settings))
}

pub(super) fn step_out(debuggee: &mut Debuggee, request: &Request) -> Resuming {
    let arguments: StepOutArguments = arguments(request)?;
    Ok(step(StepKind::Out, arguments.granularity.as_ref(), debuggee.settings))
}

/// A statement of MLIR is an operation. Lines of the disassembly are instructions, and the debugger
/// steps by those at that level.
fn step(
    kind: StepKind,
    granularity: Option<&SteppingGranularity>,
    settings: Settings,
) -> (Resume, Value) {
    let granularity = match granularity {
        Some(SteppingGranularity::Instruction) => Granularity::Instruction,
        Some(SteppingGranularity::Statement) => Granularity::Statement,
        Some(SteppingGranularity::Line) => Granularity::Line,
        None => settings.step_by.into(),
    };
    (Resume::Step(kind, granularity), Value::Null)
}

pub(super) fn pause(session: &mut Session, request: &Request) -> ControlFlow<()> {
    session.pause(request);
    ControlFlow::Continue(())
}

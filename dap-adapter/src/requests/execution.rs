//! Resuming the program: `continue`, `next`, `stepIn`, `stepOut`.
//!
//! There is one thread, so `threadId` and `singleThread` do not matter.

use dap::requests::{ContinueArguments, NextArguments, StepInArguments, StepOutArguments};
use dap::types::SteppingGranularity;
use debug::{Granularity, Resume, StepKind};
use serde_json::Value;

use crate::configuration::Settings;
use crate::debuggee::{Debuggee, Target};
use crate::protocol::{ContinueBody, Request, RequestError, body};

type Resuming = Result<(Resume, Value), RequestError>;

pub(super) fn resume(_debuggee: &mut Debuggee, request: &Request) -> Resuming {
    request.arguments::<ContinueArguments>()?;
    Ok((Resume::Continue, body(ContinueBody { all_threads_continued: true })?))
}

pub(super) fn next(debuggee: &mut Debuggee, request: &Request) -> Resuming {
    let arguments: NextArguments = request.arguments()?;
    Ok(step(StepKind::Over, arguments.granularity.as_ref(), debuggee.settings))
}

pub(super) fn step_in(debuggee: &mut Debuggee, request: &Request) -> Resuming {
    let arguments: StepInArguments = request.arguments()?;
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
    let arguments: StepOutArguments = request.arguments()?;
    Ok(step(StepKind::Out, arguments.granularity.as_ref(), debuggee.settings))
}

/// A step of the granularity that the client asks for. A statement of MLIR is an operation. A line
/// of the disassembly is an instruction, so at that level the debugger steps by instructions
/// anyway.
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

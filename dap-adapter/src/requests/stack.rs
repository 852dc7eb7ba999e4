//! Where the program stands: `threads`, `stackTrace`, `scopes`, `exceptionInfo`.

use std::ops::ControlFlow;

use dap::requests::{ExceptionInfoArguments, ScopesArguments, StackTraceArguments};
use dap::responses::ScopesResponse;
use debug::StopReason;
use serde_json::{Value, json};

use super::arguments;
use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::error::RequestError;
use crate::protocol::{Request, StackTraceBody};
use crate::session::{self, Session, body};
use crate::to_dap;

pub(super) fn threads(session: &mut Session, request: &Request) -> ControlFlow<()> {
    let threads = session::threads(&session.state);
    session.wire.respond(request, Ok(threads));
    ControlFlow::Continue(())
}

pub(super) fn stack_trace(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: StackTraceArguments = arguments(request)?;
    check_thread(arguments.thread_id)?;
    let total_frames = debuggee.frames().len();
    let start = to_dap::count(arguments.start_frame).min(total_frames);
    let levels = match to_dap::count(arguments.levels) {
        0 => total_frames - start,
        levels => levels.min(total_frames - start),
    };
    let frames = debuggee.frames()[start..start + levels].to_vec();
    let Debuggee { debugger, sources, settings, .. } = debuggee;
    let stack_frames = frames
        .iter()
        .map(|(number, frame)| to_dap::frame(*number, frame, debugger, sources, client, *settings))
        .collect();
    body(StackTraceBody { stack_frames, total_frames })
}

pub(super) fn scopes(
    debuggee: &mut Debuggee,
    _client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: ScopesArguments = arguments(request)?;
    let frame = debuggee.frame(arguments.frame_id)?;
    let scopes = debuggee.debugger.scopes(frame);
    let scopes = scopes.into_iter().map(|(kind, node)| to_dap::scope(kind, node, frame, debuggee));
    body(ScopesResponse { scopes: scopes.collect() })
}

/// Why the program cannot go on.
pub(super) fn exception_info(
    debuggee: &mut Debuggee,
    _client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    check_thread(arguments::<ExceptionInfoArguments>(request)?.thread_id)?;
    let (code, description, message, break_mode) = match &debuggee.stopped_for {
        Some(StopReason::Failed(failure)) => {
            let status = &failure.status;
            (status.code.name(), status.to_string(), status.message.as_str(), "unhandled")
        }
        Some(StopReason::Trap(text)) => ("float", text.clone(), text.as_str(), "always"),
        _ => return Err(RequestError::state("the program has not stopped for a failure")),
    };
    let trace: Vec<String> = debuggee.debugger.frames().iter().map(to_dap::frame_line).collect();
    Ok(json!({
        "exceptionId": code,
        "description": description,
        "breakMode": break_mode,
        "details": {
            "message": message,
            "typeName": code,
            "stackTrace": trace.join("\n"),
        },
    }))
}

fn check_thread(thread: i64) -> Result<(), RequestError> {
    if thread == to_dap::THREAD {
        return Ok(());
    }
    Err(RequestError::stale(format!("there is no thread {thread}; the only one is 1")))
}

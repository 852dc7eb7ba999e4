//! Where the program stands: `threads`, `stackTrace`, `scopes`.

use std::ops::ControlFlow;

use dap::requests::{ScopesArguments, StackTraceArguments};
use dap::responses::ScopesResponse;
use serde_json::Value;

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
    if arguments.thread_id != to_dap::THREAD {
        let thread = arguments.thread_id;
        return Err(RequestError::stale(format!("there is no thread {thread}; the only one is 1")));
    }
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
    let scopes = scopes.into_iter().map(|(kind, node)| to_dap::scope(kind, node, debuggee));
    body(ScopesResponse { scopes: scopes.collect() })
}

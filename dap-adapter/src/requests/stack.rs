//! Where the program stands: `stackTrace`, `scopes`, `exceptionInfo`.

use dap::requests::{ExceptionInfoArguments, ScopesArguments};
use dap::responses::ScopesResponse;
use debug::{Debugger, Frame, Node, ScopeKind, StopReason, Trapped, Variable};
use serde_json::{Value, json};

use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::protocol::{
    Format, Request, RequestError, StackFrame, StackTraceArguments, StackTraceBody, body,
};
use crate::to_dap;

pub(super) fn stack_trace(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: StackTraceArguments = request.arguments()?;
    check_thread(arguments.thread_id)?;
    let total_frames = debuggee.frame_count();
    let start = to_dap::count(arguments.start_frame).min(total_frames);
    let levels = match to_dap::count(arguments.levels) {
        0 => total_frames - start,
        levels => levels.min(total_frames - start),
    };
    let frames = debuggee.frames_in(start..start + levels);
    let Debuggee { debugger, sources, .. } = debuggee;
    let format = arguments.format.unwrap_or_default();
    let shown = |(number, frame): &(i64, Frame)| {
        let shown = to_dap::frame(*number, frame, debugger, sources, client);
        let name = frame_name(frame, &shown, format, debugger);
        let name = name.unwrap_or_else(|| shown.name.clone());
        StackFrame { name: with_names_written(name, frame, debugger, client), ..shown }
    };
    let stack_frames = frames.iter().map(shown).collect();
    body(StackTraceBody { stack_frames, total_frames })
}

/// The name of a frame for a client that wants more than the name:
/// `module.function(%x: i32 = 3) line 7`.
fn frame_name(
    frame: &Frame,
    shown: &StackFrame,
    format: Format,
    debugger: &Debugger,
) -> Option<String> {
    if !format.has_parameters() && !format.line && !format.module {
        return None;
    }
    let mut name = shown.name.clone();
    let prefix = format!("{}.", frame.module);
    if format.module && !name.starts_with(&prefix) {
        name.insert_str(0, &prefix);
    }
    if format.has_parameters() {
        let arguments = Node::Scope(frame.id(), ScopeKind::Arguments);
        let arguments = debugger.machine().children(&arguments, None).into_iter();
        let arguments: Vec<String> = arguments.map(|it| parameter(it, format)).collect();
        name.push_str(&format!("({})", arguments.join(", ")));
    }
    if format.line && shown.source.is_some() {
        name.push_str(&format!(" line {}", shown.line));
    }
    Some(name)
}

/// The name of a dispatch's frame begins with what it writes, where a client cuts names off at
/// their end: the symbol of a dispatch says less, and is longer.
fn with_names_written(name: String, frame: &Frame, debugger: &Debugger, client: &Client) -> String {
    // The function of Python says more than a name of the text that was made of it.
    let is_python = frame.source.as_ref().is_some_and(|it| it.file.ends_with(".py"));
    if !client.has_menus_for_variables || is_python || !name.contains("dispatch") {
        return name;
    }
    match debugger.machine().names_written(frame.id()).as_slice() {
        [] => name,
        written => format!("{} · {name}", written.join(", ")),
    }
}

/// A parameter: its name, its type and its value, as far as the client wants them.
fn parameter(argument: Variable, format: Format) -> String {
    let argument = to_dap::formatted(argument, format);
    let mut text = String::new();
    if format.parameter_names || !format.parameter_types && !format.parameter_values {
        text.push_str(&argument.name);
    }
    let between = |text: &str, separator| if text.is_empty() { "" } else { separator };
    if format.parameter_types {
        text = format!("{text}{}{}", between(&text, ": "), argument.type_name);
    }
    if format.parameter_values {
        text = format!("{text}{}{}", between(&text, " = "), argument.value);
    }
    text
}

pub(super) fn scopes(
    debuggee: &mut Debuggee,
    _client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: ScopesArguments = request.arguments()?;
    let frame = debuggee.frame(arguments.frame_id)?;
    let scopes = debuggee.debugger.machine().scopes(frame);
    let scopes = scopes
        .into_iter()
        .map(|(kind, node)| to_dap::scope(kind, node, frame, &mut debuggee.values));
    body(ScopesResponse { scopes: scopes.collect() })
}

/// The most frames in the text of a failure: endless recursion has thousands.
const MAX_TRACED: usize = 100;

/// Why the program has stopped: a failure, or a NaN, an infinity or an overflow.
pub(super) fn exception_info(
    debuggee: &mut Debuggee,
    _client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    check_thread(request.arguments::<ExceptionInfoArguments>()?.thread_id)?;
    let (code, description, message, break_mode) = match &debuggee.stopped_for {
        Some(StopReason::Failed(failure)) => {
            let status = &failure.status;
            (status.code.name(), status.to_string(), status.message.as_str(), "unhandled")
        }
        Some(StopReason::Trap(Trapped { kind, text })) => {
            (kind.name(), text.clone(), text.as_str(), "always")
        }
        _ => return Err(RequestError::state("the program has not stopped for a failure")),
    };
    // What is caught is said in one sentence, and the client shows the stack anyway.
    let trace = if break_mode == "unhandled" { trace(&debuggee.debugger) } else { Vec::new() };
    let mut details = json!({ "message": message, "typeName": code });
    if !trace.is_empty() {
        details["stackTrace"] = trace.join("\n").into();
    }
    Ok(json!({
        "exceptionId": code,
        "description": description,
        "breakMode": break_mode,
        "details": details,
    }))
}

/// The stack in text, for a failure.
fn trace(debugger: &Debugger) -> Vec<String> {
    let count = debugger.machine().frame_count();
    let frames = debugger.machine().frames_in(0..MAX_TRACED);
    let mut trace: Vec<String> = frames.iter().map(to_dap::frame_line).collect();
    if count > MAX_TRACED {
        trace.push(format!("… and {} more frames", count - MAX_TRACED));
    }
    trace
}

pub(super) fn check_thread(thread: i64) -> Result<(), RequestError> {
    if thread == to_dap::THREAD {
        return Ok(());
    }
    Err(RequestError::stale(format!("there is no thread {thread}; the only one is 1")))
}

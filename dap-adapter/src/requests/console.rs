//! The console: `evaluate` with the context `repl`. A line is a command of the debugger, or an
//! expression or assignment.
//!
//! A client with a button for a command, such as `level`, sends its text in the same way.

use commands::{ConsoleLine, assignment};
use dap::requests::EvaluateArguments;
use debug::Limits;

use super::handler::Answered;
use super::variables::{self, evaluated};
use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::protocol::{Answer, Format, Request, RequestError, Variable, body};

/// Evaluates an expression in a frame, by default the innermost. The console may do more than
/// watches and hovers, which clients evaluate unasked: it calls pure functions of the program, sets
/// values, and takes commands.
pub(super) fn evaluate(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Answered, RequestError> {
    let arguments: EvaluateArguments = request.arguments()?;
    if !variables::is_console(&arguments) {
        return variables::evaluate(debuggee, client, request, &arguments).map(Answered::from);
    }
    let frame = debuggee.console_frame(arguments.frame_id)?;
    let text = arguments.expression.as_str();
    match debuggee.console.console_line(&debuggee.debugger, frame, text) {
        ConsoleLine::Command(command) => perform(debuggee, client, command),
        ConsoleLine::Expression { is_command_too } => {
            let format = Format::from(arguments.format.clone());
            let cancel = debuggee.cancelled.begin_evaluation(request.seq);
            let limits = Limits { cancel, ..Limits::default() };
            let outcome = match assignment(text) {
                Some((target, value)) => {
                    let assigned = debuggee.debugger.assign(frame, target, value);
                    debuggee.values_changed(client, None);
                    assigned
                }
                None => debuggee.debugger.evaluate_in_console(frame, text, limits),
            };
            debuggee.cancelled.end_evaluation();
            if is_command_too {
                let note = format!("a value is called so; `{text} with a backtick is the command");
                debuggee.print(note);
            }
            let value = outcome.map_err(|error| RequestError::failed(error.with_caret(text)))?;
            let shown = evaluated(debuggee, client, frame, value, format);
            body(Answer::result(shown)).map(Answered::from)
        }
    }
}

/// Performs a command.
fn perform(debuggee: &mut Debuggee, client: &Client, line: &str) -> Result<Answered, RequestError> {
    let level = debuggee.debugger.machine().level();
    let answer = debuggee.console.answer(&mut debuggee.debugger, line);
    if answer.changed_values {
        debuggee.values_changed(client, None);
    }
    if debuggee.debugger.machine().level() != level {
        debuggee.level_changed(client);
    }
    debuggee.sync_breakpoints(client);
    let text = answer.text.trim_end().to_owned();
    match answer.error {
        Some(error) if text.is_empty() => Err(RequestError::failed(error)),
        error => {
            let error = error.map(|error| format!("\nerror: {error}"));
            let value = text + &error.unwrap_or_default();
            let body = body(Answer::result(Variable { value, ..Variable::default() }))?;
            Ok(Answered { body, action: answer.action })
        }
    }
}

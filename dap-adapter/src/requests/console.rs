//! The console: `evaluate` with the context `repl`. A line is a command of the debugger, or an
//! expression or assignment.
//!
//! A client with a button for a command, such as `level`, sends its text in the same way.

use commands::{Action, ConsoleLine, assignment, is_interrupt};
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
                debuggee.print(&note);
            }
            let value = outcome.map_err(|error| RequestError::failed(error.with_caret(text)))?;
            let value = match format.hex {
                true => value,
                false => variables::matrix(value, &debuggee.debugger),
            };
            let shown = evaluated(debuggee, client, frame, value, format);
            body(Answer::result(shown)).map(Answered::from)
        }
    }
}

/// Whether a request is a line that was typed into the console.
pub(crate) fn is_typed(request: &Request) -> bool {
    let arguments: Result<EvaluateArguments, _> = request.arguments();
    arguments.is_ok_and(|arguments| variables::is_console(&arguments))
}

/// Whether such a line asks to stop a program that runs.
pub(crate) fn asks_to_interrupt(request: &Request) -> bool {
    let arguments: Result<EvaluateArguments, _> = request.arguments();
    arguments.is_ok_and(|it| variables::is_console(&it) && is_interrupt(&it.expression))
}

/// Performs a command, or several lines of them.
fn perform(
    debuggee: &mut Debuggee,
    client: &Client,
    lines: &str,
) -> Result<Answered, RequestError> {
    debuggee.console.type_lines(lines);
    let Performed { text, error, action } = perform_waiting(debuggee, client);
    match error {
        Some(error) if text.is_empty() => Err(RequestError::failed(error)),
        error => {
            let error = error.map(|error| format!("\nerror: {error}")).unwrap_or_default();
            let value = text + &error;
            let body = body(Answer::result(Variable { value, ..Variable::default() }))?;
            Ok(Answered { body, action })
        }
    }
}

/// What the lines that waited have answered.
pub(crate) struct Performed {
    pub(crate) text: String,
    pub(crate) error: Option<String>,
    /// What the session does before the lines that still wait.
    pub(crate) action: Option<Action>,
}

/// Performs the lines that wait, up to one that the session has to act for.
pub(crate) fn perform_waiting(debuggee: &mut Debuggee, client: &Client) -> Performed {
    let level = debuggee.debugger.machine().level();
    let mut performed = Performed { text: String::new(), error: None, action: None };
    while performed.action.is_none()
        && performed.error.is_none()
        && let Some(line) = debuggee.console.next_line()
    {
        let answer = debuggee.console.answer(&mut debuggee.debugger, &line);
        if answer.changed_values {
            debuggee.values_changed(client, None);
        }
        performed.text.push_str(&answer.text);
        (performed.error, performed.action) = (answer.error, answer.action);
        if let Some(Action::Shell(_)) = performed.action {
            performed.action = None;
            performed.error = Some("`shell` is for terminals; editors have one".to_owned());
            debuggee.console.drop_lines();
        }
    }
    if debuggee.debugger.machine().level() != level {
        debuggee.level_changed(client);
    }
    debuggee.sync_breakpoints(client);
    let trimmed = performed.text.trim_end().len();
    performed.text.truncate(trimmed);
    performed
}

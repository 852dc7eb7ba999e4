//! What a request needs, and how its handler is called.

use commands::Run;
use serde_json::Value;

use super::action::{Action, Moved};
use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::panics;
use crate::protocol::{Request, RequestError};

/// Serves a request from the program. Returns the response's body.
pub(crate) type ProgramHandler =
    fn(&mut Debuggee, &Client, &Request) -> Result<Value, RequestError>;
/// Decides how to run the program. Returns the response's body too.
pub(crate) type ResumeHandler = fn(&mut Debuggee, &Request) -> Result<(Run, Value), RequestError>;
/// Serves a line of the console, which may act on the program.
pub(crate) type ConsoleHandler =
    fn(&mut Debuggee, &Client, &Request) -> Result<Answered, RequestError>;
/// Moves the program to another place.
pub(crate) type MoveHandler = fn(&mut Debuggee, &Request) -> Result<Moved, RequestError>;

/// The response's body, and what the session does after it.
pub(crate) struct Answered {
    pub(crate) body: Value,
    pub(crate) action: Option<commands::Action>,
}

impl From<Value> for Answered {
    fn from(body: Value) -> Self {
        Self { body, action: None }
    }
}

/// What a request needs, and its handler.
#[derive(Clone, Copy)]
pub(crate) enum Handler {
    /// The session, in any state.
    Session(fn(&Request) -> Result<Action, RequestError>),
    /// A program, whether it runs or not.
    Program(ProgramHandler),
    /// The same, to change what stops it.
    Setting(ProgramHandler),
    /// A program that stands still.
    Stop(ProgramHandler),
    /// A program that stands still, and may be made to run, move, restart or end.
    Console(ConsoleHandler),
    /// A program that stands still and then moves to another stop.
    Move(MoveHandler),
    /// A program that stands still and then resumes.
    Resume(ResumeHandler),
}

/// Calls a handler. A panic in it fails this request only.
pub(crate) fn serve(
    handler: ProgramHandler,
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    panics::caught(|| handler(debuggee, client, request))
        .unwrap_or_else(|panicked| Err(RequestError::internal(panicked.to_string())))
}

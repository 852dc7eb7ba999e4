//! How a session begins and ends: `initialize`, `launch`, `configurationDone`, `terminate`,
//! `disconnect`.

use std::ops::ControlFlow;

use dap::requests::InitializeArguments;
use dap::types::Capabilities;
use serde_json::Value;

use super::arguments;
use crate::client::Client;
use crate::error::RequestError;
use crate::launch::{self, LaunchArguments};
use crate::protocol::{Event, Request};
use crate::session::{Session, State, body};

/// What is handled, and nothing else: clients believe what they are told.
pub(crate) fn capabilities() -> Capabilities {
    let yes = Some(true);
    Capabilities {
        supports_configuration_done_request: yes,
        supports_function_breakpoints: yes,
        supports_instruction_breakpoints: yes,
        supports_evaluate_for_hovers: yes,
        supports_delayed_stack_trace_loading: yes,
        supports_disassemble_request: yes,
        supports_stepping_granularity: yes,
        supports_terminate_request: yes,
        ..Capabilities::default()
    }
}

pub(super) fn initialize(session: &mut Session, request: &Request) -> ControlFlow<()> {
    let outcome = arguments::<InitializeArguments>(request).and_then(|arguments| {
        if std::mem::replace(&mut session.initialized, true) {
            return Err(RequestError::state("`initialize` came twice"));
        }
        session.client = Client::new(&arguments);
        body(capabilities())
    });
    session.wire.respond(request, outcome);
    ControlFlow::Continue(())
}

/// Begins to load the program. The response comes when that is done.
pub(super) fn launch(session: &mut Session, request: &Request) -> ControlFlow<()> {
    let begun = arguments::<LaunchArguments>(request)
        .and_then(|arguments| check(session, arguments))
        .and_then(|arguments| {
            launch::begin(arguments, request.clone(), session.events.clone())
                .map_err(RequestError::launch)
        });
    match begun {
        Ok(launch) => session.state = State::Launching(launch),
        Err(error) => {
            session.wire.respond(request, Err(error));
            if matches!(session.state, State::Unlaunched) {
                session.state = State::Ended;
                session.wire.event(Event::Terminated);
            }
        }
    }
    ControlFlow::Continue(())
}

fn check(session: &Session, arguments: LaunchArguments) -> Result<LaunchArguments, RequestError> {
    if !matches!(session.state, State::Unlaunched) {
        return Err(RequestError::state("`launch` came twice; one session has one program"));
    }
    let log = arguments.log();
    session.log.decide(log.as_deref()).map_err(|error| {
        let path = log.unwrap_or_default();
        RequestError::launch(format!("the log {} cannot be written: {error}", path.display()))
    })?;
    Ok(arguments)
}

pub(super) fn configuration_done(session: &mut Session, request: &Request) -> ControlFlow<()> {
    session.start(request);
    ControlFlow::Continue(())
}

/// Ends the program; the session goes on until the client disconnects.
pub(super) fn terminate(session: &mut Session, request: &Request) -> ControlFlow<()> {
    session.wire.respond(request, Ok(Value::Null));
    session.end();
    ControlFlow::Continue(())
}

/// Ends the program and the session. A program that we launched never outlives its session, so
/// `terminateDebuggee` has nothing to choose.
pub(super) fn disconnect(session: &mut Session, request: &Request) -> ControlFlow<()> {
    session.end();
    session.wire.respond(request, Ok(Value::Null));
    ControlFlow::Break(())
}

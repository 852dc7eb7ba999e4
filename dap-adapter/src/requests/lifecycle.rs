//! How a session begins and ends: `initialize`, `launch`, `attach`, `configurationDone`, `restart`,
//! `cancel`, `terminate`, `disconnect`.

use std::ops::ControlFlow;
use std::path::PathBuf;

use dap::requests::{CancelArguments, InitializeArguments};
use dap::types::Capabilities;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments;
use crate::client::Client;
use crate::error::RequestError;
use crate::events::{CapabilitiesEvent, Event};
use crate::exceptions;
use crate::launch::{AttachArguments, Launch, LaunchArguments};
use crate::protocol::Request;
use crate::session::{Session, State, body};

/// What names begin with in expressions, and what fields do.
const COMPLETION_TRIGGERS: [&str; 3] = ["%", "@", "."];

/// What is handled, and nothing else: clients believe what they are told.
pub(crate) fn capabilities() -> Capabilities {
    let yes = Some(true);
    Capabilities {
        supports_configuration_done_request: yes,
        supports_function_breakpoints: yes,
        supports_conditional_breakpoints: yes,
        supports_hit_conditional_breakpoints: yes,
        supports_log_points: yes,
        supports_set_variable: yes,
        supports_set_expression: yes,
        supports_read_memory_request: yes,
        supports_write_memory_request: yes,
        supports_completions_request: yes,
        completion_trigger_characters: Some(COMPLETION_TRIGGERS.map(str::to_owned).to_vec()),
        supports_step_in_targets_request: yes,
        supports_goto_targets_request: yes,
        supports_restart_frame: yes,
        supports_instruction_breakpoints: yes,
        supports_evaluate_for_hovers: yes,
        supports_delayed_stack_trace_loading: yes,
        supports_disassemble_request: yes,
        supports_stepping_granularity: yes,
        supports_terminate_request: yes,
        support_terminate_debuggee: yes,
        supports_restart_request: yes,
        supports_cancel_request: yes,
        supports_modules_request: yes,
        supports_loaded_sources_request: yes,
        supports_breakpoint_locations_request: yes,
        supports_exception_info_request: yes,
        supports_exception_filter_options: yes,
        supports_data_breakpoints: yes,
        supports_clipboard_context: yes,
        supports_value_formatting_options: yes,
        ..Capabilities::default()
    }
}

pub(super) fn initialize(session: &mut Session, request: &Request) -> ControlFlow<()> {
    let outcome = arguments::<InitializeArguments>(request).and_then(|arguments| {
        if std::mem::replace(&mut session.initialized, true) {
            return Err(RequestError::state("`initialize` came twice"));
        }
        session.client = Client::new(&arguments);
        let mut capabilities = body(capabilities())?;
        // The `dap` crate writes absent parts of filters as null.
        capabilities["exceptionBreakpointFilters"] = exceptions::filters();
        // It does not know this one.
        capabilities["supportsDataBreakpointBytes"] = true.into();
        Ok(capabilities)
    });
    session.wire.respond(request, outcome);
    ControlFlow::Continue(())
}

/// Begins to load the program. The response comes when that is done.
pub(super) fn launch(session: &mut Session, request: &Request) -> ControlFlow<()> {
    if let Err(error) = admit(session, request) {
        return turn_away(session, request, error);
    }
    let begun = arguments::<LaunchArguments>(request)
        .and_then(|arguments| check(session, arguments))
        .and_then(|arguments| {
            let events = session.events.clone();
            Launch::begin(&arguments, request.clone(), events, None)
                .map(|launch| (launch, arguments))
                .map_err(RequestError::launch)
        });
    match begun {
        Ok((launch, arguments)) => session.launching(launch, arguments),
        Err(error) => {
            fail_to_begin(session, request, error);
        }
    }
    ControlFlow::Continue(())
}

/// A client whose `launch` or `attach` has failed has no other way to know that it is over.
fn fail_to_begin(session: &mut Session, request: &Request, error: RequestError) {
    session.wire.respond(request, Err(error));
    if matches!(session.state, State::Unlaunched) {
        session.state = State::Ended;
        session.wire.event(Event::Terminated);
    }
}

/// Whether a client gives the token that it is asked for, which is not taken for more than it is.
fn admit(session: &mut Session, request: &Request) -> Result<(), RequestError> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Arguments {
        token: Option<String>,
    }
    let given = arguments::<Arguments>(request).unwrap_or_default().token;
    session.admit(given.as_deref())
}

/// Ends the session of a client that may not have a program: each guess costs a connection.
fn turn_away(session: &mut Session, request: &Request, error: RequestError) -> ControlFlow<()> {
    session.wire.respond(request, Err(error));
    session.wire.event(Event::Terminated);
    ControlFlow::Break(())
}

/// Takes over a program that is there already.
pub(super) fn attach(session: &mut Session, request: &Request) -> ControlFlow<()> {
    if let Err(error) = admit(session, request) {
        return turn_away(session, request, error);
    }
    let taken = arguments::<AttachArguments>(request).and_then(|arguments| {
        check_beginning(session, "attach", arguments.log())?;
        let settings = arguments.settings().map_err(RequestError::launch)?;
        let mut debuggee = session.offered.take().ok_or_else(|| {
            RequestError::launch(
                "there is no program here to attach to; start one with `iree-dbg run \
                 --listen=HOST:PORT --wait-for-debugger …` and connect to that address",
            )
        })?;
        if let Err(error) = debuggee.debugger.set_level(settings.level) {
            session.offered = Some(debuggee);
            return Err(RequestError::launch(format!("`level`: {error}")));
        }
        debuggee.settings = settings;
        Ok(debuggee)
    });
    match taken {
        Ok(debuggee) => {
            session.is_attached = true;
            session.wire.respond(request, Ok(Value::Null));
            // The program belongs to who started it.
            let capabilities = json!({ "supportsRestartRequest": false });
            session.wire.event(Event::Capabilities(CapabilitiesEvent { capabilities }));
            session.stand(debuggee, "attach");
        }
        Err(error) => fail_to_begin(session, request, error),
    }
    ControlFlow::Continue(())
}

fn check(session: &Session, arguments: LaunchArguments) -> Result<LaunchArguments, RequestError> {
    if session.offered.is_some() {
        return Err(RequestError::launch(
            "a program is running here already; use a configuration with `\"request\": \"attach\"`",
        ));
    }
    check_beginning(session, "launch", arguments.log())?;
    Ok(arguments)
}

/// What `launch` and `attach` have in common.
fn check_beginning(
    session: &Session,
    command: &str,
    log: Option<PathBuf>,
) -> Result<(), RequestError> {
    if !matches!(session.state, State::Unlaunched) {
        return Err(RequestError::state(format!(
            "`{command}` came twice; one session has one program"
        )));
    }
    session.log.decide(log.as_deref()).map_err(|error| {
        let path = log.unwrap_or_default();
        RequestError::launch(format!("the log {} cannot be written: {error}", path.display()))
    })
}

/// Launches the program anew: a source is compiled again, a module is read again. Breakpoints stay.
pub(super) fn restart(session: &mut Session, request: &Request) -> ControlFlow<()> {
    #[derive(Deserialize)]
    struct Arguments {
        /// The configuration as it is now, from clients that tell.
        #[serde(default)]
        arguments: Option<Value>,
    }
    let latest = arguments::<Arguments>(request).and_then(|arguments| {
        if session.is_attached {
            return Err(RequestError::unsupported(
                "restart",
                "the program was started elsewhere; start it again there",
            ));
        }
        let given = arguments.arguments.filter(|it| it.get("program").is_some());
        match given {
            Some(given) => serde_json::from_value(given)
                .map_err(|error| RequestError::malformed(format!("bad arguments: {error}"))),
            None => session.launched_with.clone().ok_or_else(|| session.not_now(request)),
        }
    });
    match latest {
        Ok(latest) => session.restart(request, latest),
        Err(error) => session.wire.respond(request, Err(error)),
    }
    ControlFlow::Continue(())
}

/// Gives up a request or what progress is shown of. There is no harm in cancelling what is over.
pub(super) fn cancel(session: &mut Session, request: &Request) -> ControlFlow<()> {
    let outcome = arguments::<CancelArguments>(request).map(|arguments| {
        if let Some(seq) = arguments.request_id {
            session.cancelled.take(seq);
        }
        session.cancel(arguments.request_id, arguments.progress_id.as_deref());
        Value::Null
    });
    session.wire.respond(request, outcome);
    ControlFlow::Continue(())
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

/// Ends the session, and the program with it. One that the client was attached to goes on, unless
/// the client wants it to end.
pub(super) fn disconnect(session: &mut Session, request: &Request) -> ControlFlow<()> {
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Arguments {
        terminate_debuggee: Option<bool>,
    }
    // A client that leaves is let go, whatever else it says.
    let arguments = arguments::<Arguments>(request).unwrap_or_default();
    if session.is_attached && arguments.terminate_debuggee != Some(true) {
        return session.leave(Some(request));
    }
    session.end();
    session.wire.respond(request, Ok(Value::Null));
    ControlFlow::Break(())
}

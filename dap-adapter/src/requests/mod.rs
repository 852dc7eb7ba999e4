//! Every request, one file a group, and what each needs of the session.
//!
//! A handler converts the arguments, asks the debugger, and converts the answer. It holds no logic
//! that a terminal debugger would need too. To add a request: write its handler in the file of its
//! group, add a row to [`HANDLERS`], and if clients ask only for what is advertised, say so in
//! [`lifecycle::capabilities`].

mod breakpoints;
mod catalog;
mod changes;
mod code;
mod completions;
mod console;
mod data;
mod execution;
mod lifecycle;
mod memory;
mod moves;
mod stack;
mod variables;

use std::ops::ControlFlow;

use debug::Resume;
use serde_json::Value;

use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::error::RequestError;
use crate::protocol::Request;
use crate::session::Session;

/// Serves a request from the program.
pub(crate) type ProgramHandler =
    fn(&mut Debuggee, &Client, &Request) -> Result<Value, RequestError>;
/// Says how to go on, and the response's body.
pub(crate) type ResumeHandler =
    fn(&mut Debuggee, &Request) -> Result<(Resume, Value), RequestError>;

/// What a request needs, and who serves it.
#[derive(Clone, Copy)]
pub(crate) enum Handler {
    /// Any state will do; the handler answers itself.
    Session(fn(&mut Session, &Request) -> ControlFlow<()>),
    /// A program, whether it runs or not.
    Program(ProgramHandler),
    /// A program that stands still.
    Stop(ProgramHandler),
    /// A program that stands still, and then no longer does.
    Resume(ResumeHandler),
}

/// All requests.
const HANDLERS: &[(&str, Handler)] = &[
    ("initialize", Handler::Session(lifecycle::initialize)),
    ("launch", Handler::Session(lifecycle::launch)),
    ("attach", Handler::Session(lifecycle::attach)),
    ("restart", Handler::Session(lifecycle::restart)),
    ("cancel", Handler::Session(lifecycle::cancel)),
    ("configurationDone", Handler::Session(lifecycle::configuration_done)),
    ("terminate", Handler::Session(lifecycle::terminate)),
    ("disconnect", Handler::Session(lifecycle::disconnect)),
    ("setBreakpoints", Handler::Program(breakpoints::set_breakpoints)),
    ("setFunctionBreakpoints", Handler::Program(breakpoints::set_function_breakpoints)),
    ("setInstructionBreakpoints", Handler::Program(breakpoints::set_instruction_breakpoints)),
    ("setExceptionBreakpoints", Handler::Program(breakpoints::set_exception_breakpoints)),
    ("dataBreakpointInfo", Handler::Stop(data::data_breakpoint_info)),
    ("setDataBreakpoints", Handler::Program(data::set_data_breakpoints)),
    ("breakpointLocations", Handler::Program(catalog::breakpoint_locations)),
    ("exceptionInfo", Handler::Stop(stack::exception_info)),
    ("modules", Handler::Program(catalog::modules)),
    ("loadedSources", Handler::Program(catalog::loaded_sources)),
    ("threads", Handler::Session(stack::threads)),
    ("stackTrace", Handler::Stop(stack::stack_trace)),
    ("scopes", Handler::Stop(stack::scopes)),
    ("variables", Handler::Stop(variables::variables)),
    ("evaluate", Handler::Stop(variables::evaluate)),
    ("completions", Handler::Stop(completions::completions)),
    ("setVariable", Handler::Stop(changes::set_variable)),
    ("setExpression", Handler::Stop(changes::set_expression)),
    ("readMemory", Handler::Stop(memory::read_memory)),
    ("writeMemory", Handler::Stop(memory::write_memory)),
    ("stepInTargets", Handler::Stop(moves::step_in_targets)),
    ("gotoTargets", Handler::Stop(moves::goto_targets)),
    ("goto", Handler::Session(moves::goto)),
    ("restartFrame", Handler::Session(moves::restart_frame)),
    ("continue", Handler::Resume(execution::go_on)),
    ("next", Handler::Resume(execution::next)),
    ("stepIn", Handler::Resume(execution::step_in)),
    ("stepOut", Handler::Resume(execution::step_out)),
    ("pause", Handler::Session(execution::pause)),
    ("disassemble", Handler::Program(code::disassemble)),
    ("source", Handler::Program(code::source)),
];

/// Requests of the protocol that are not for us, and why.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("stepBack", "the program's past is not kept"),
    ("reverseContinue", "the program's past is not kept"),
    ("terminateThreads", "the program has one thread; `terminate` ends it"),
    ("locations", "no value says where it was declared"),
    ("runInTerminal", "adapters ask this of clients"),
    ("startDebugging", "adapters ask this of clients"),
];

/// Who serves a command.
pub(crate) fn handler(command: &str) -> Result<Handler, RequestError> {
    let of = |name: &str| name == command;
    if let Some((_, handler)) = HANDLERS.iter().find(|(name, _)| of(name)) {
        return Ok(*handler);
    }
    let unsupported = UNSUPPORTED.iter().find(|(name, _)| of(name));
    Err(unsupported.map_or_else(
        || RequestError::unknown(command),
        |(name, why)| RequestError::unsupported(name, why),
    ))
}

/// A request's arguments.
fn arguments<'a, A: serde::Deserialize<'a>>(request: &'a Request) -> Result<A, RequestError> {
    request.arguments().map_err(RequestError::malformed)
}

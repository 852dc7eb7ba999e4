//! The table of all requests.

use super::handler::Handler;
use super::{
    assignment, breakpoints, completions, console, data_breakpoints, disassembly, execution, jumps,
    lifecycle, memory, model, modules, sources, stack, tensor, variables,
};
use crate::protocol::RequestError;

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
    ("setBreakpoints", Handler::Setting(breakpoints::set_breakpoints)),
    ("setFunctionBreakpoints", Handler::Setting(breakpoints::set_function_breakpoints)),
    ("setInstructionBreakpoints", Handler::Setting(breakpoints::set_instruction_breakpoints)),
    ("setExceptionBreakpoints", Handler::Setting(breakpoints::set_exception_breakpoints)),
    ("dataBreakpointInfo", Handler::Stop(data_breakpoints::data_breakpoint_info)),
    ("setDataBreakpoints", Handler::Setting(data_breakpoints::set_data_breakpoints)),
    ("breakpointLocations", Handler::Program(sources::breakpoint_locations)),
    ("exceptionInfo", Handler::Stop(stack::exception_info)),
    ("modules", Handler::Program(modules::modules)),
    ("loadedSources", Handler::Program(sources::loaded_sources)),
    ("threads", Handler::Session(lifecycle::threads)),
    ("stackTrace", Handler::Stop(stack::stack_trace)),
    ("scopes", Handler::Stop(stack::scopes)),
    ("variables", Handler::Stop(variables::variables)),
    ("evaluate", Handler::Console(console::evaluate)),
    ("completions", Handler::Stop(completions::completions)),
    ("setVariable", Handler::Stop(assignment::set_variable)),
    ("setExpression", Handler::Stop(assignment::set_expression)),
    ("readMemory", Handler::Stop(memory::read_memory)),
    ("writeMemory", Handler::Stop(memory::write_memory)),
    ("stepInTargets", Handler::Stop(jumps::step_in_targets)),
    ("gotoTargets", Handler::Stop(jumps::goto_targets)),
    ("goto", Handler::Move(jumps::goto)),
    ("restartFrame", Handler::Move(jumps::restart_frame)),
    ("continue", Handler::Resume(execution::resume)),
    ("next", Handler::Resume(execution::next)),
    ("stepIn", Handler::Resume(execution::step_in)),
    ("stepOut", Handler::Resume(execution::step_out)),
    ("stepBack", Handler::Resume(execution::step_back)),
    ("reverseContinue", Handler::Resume(execution::reverse_continue)),
    ("iree/moment", Handler::Stop(execution::moment)),
    ("iree/goTo", Handler::Resume(execution::go_to)),
    ("iree/runTo", Handler::Resume(execution::run_to)),
    ("iree/first", Handler::Resume(execution::first)),
    ("iree/rerun", Handler::Resume(execution::rerun)),
    ("pause", Handler::Session(lifecycle::pause)),
    ("disassemble", Handler::Program(disassembly::disassemble)),
    ("source", Handler::Program(sources::source)),
    ("iree/dispatches", Handler::Stop(model::dispatches)),
    ("iree/tensors", Handler::Stop(model::tensors)),
    ("iree/evidence", Handler::Stop(model::evidence)),
    ("iree/why", Handler::Stop(model::why)),
    ("iree/runMap", Handler::Program(model::run_map)),
    ("iree/tensor", Handler::Stop(tensor::tensor)),
    ("iree/tensorMoments", Handler::Stop(tensor::moments)),
    ("iree/tensorHistory", Handler::Stop(tensor::history)),
];

/// Requests of the protocol that this adapter does not support, and why.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("terminateThreads", "the program has one thread; `terminate` ends it"),
    ("locations", "no value says where it was declared"),
    ("runInTerminal", "adapters ask this of clients"),
    ("startDebugging", "adapters ask this of clients"),
];

/// The handler of a command.
///
/// # Errors
/// The command is unknown or not supported.
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

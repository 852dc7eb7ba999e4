//! The messages of the protocol as Rust types. Nothing here knows a debugger or a stream.

mod error;
pub(crate) mod events;
mod messages;
mod types;

pub(crate) use error::RequestError;
pub(crate) use events::Event;
pub(crate) use messages::{ErrorMessage, Incoming, Outgoing, Request, Response, body};
pub(crate) use types::{
    Answer, Breakpoint, BreakpointsBody, ContinueBody, DisassembleBody, DisassembledInstruction,
    Format, Hint, SetBreakpointsArguments, Source, SourceArguments, StackFrame,
    StackTraceArguments, StackTraceBody, Variable,
};

//! Bytes in and out. Nothing here knows what a message asks for.

mod backlog;
mod framing;
mod protocol_log;
mod wire;

pub(crate) use backlog::{Backlog, Ticket};
pub(crate) use framing::{Fault, Reader};
pub(crate) use protocol_log::{Direction, ProtocolLog};
pub(crate) use wire::Wire;

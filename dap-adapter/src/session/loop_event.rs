//! Everything that wakes the session's loop.

use serde_json::Value;

use crate::transport::{Fault, Ticket};
use crate::workers::{Ran, Report};

/// Everything that wakes the loop.
pub(crate) enum LoopEvent {
    /// A message from the client. The ticket counts it as waiting until it is served.
    Message(Value, Ticket),
    /// An unreadable message from the client.
    Fault(Fault),
    /// The client does not speak the protocol; why.
    Lost(String),
    /// The client is gone.
    ClientGone,
    /// The launch has made progress or has ended.
    Launch(Report),
    /// A logpoint has logged a message.
    Logged,
    /// The program has stopped.
    Ran(Ran),
    /// The program's caller wants it back.
    Recalled,
}

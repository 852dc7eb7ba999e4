//! What the engine and Python's threads tell each other.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use dap_adapter::{Options, TcpServer};
use debug::Debugger;
use serde_json::Value as Json;
use vm::{FunctionId, Status, Value};

use crate::tensors::Lent;

/// Identifies a call of Python's.
pub(crate) type Ticket = u64;

/// Text, with tensors that it names by number.
#[derive(Default)]
pub(crate) struct Said {
    pub(crate) text: Json,
    pub(crate) tensors: Vec<Lent>,
}

/// A call of a function of the program.
pub(crate) struct Call {
    pub(crate) ticket: Ticket,
    /// The call whose Python code makes this one.
    pub(crate) parent: Option<Ticket>,
    pub(crate) function: FunctionId,
    pub(crate) arguments: Vec<Value>,
    pub(crate) to: Sender<Message>,
}

/// The results of a function of Python's, once it has returned.
pub(crate) type Reply = Arc<Mutex<Option<Result<Vec<Value>, Status>>>>;

/// What the engine is told.
pub(crate) enum Command {
    Call(Box<Call>),
    /// What Python code has to say that a call has waited for.
    Answered(Ticket),
    /// Gives a call up.
    Cancel(Ticket),
    /// Looks at the program, which may be in the middle of a call.
    Ask(Box<dyn FnOnce(&mut Debugger) + Send>),
    /// Lets clients debug the program.
    Serve(Box<Serving>),
    /// No longer lets them.
    EndServing,
    /// Something has asked for a pause.
    Wake,
    Close,
}

/// A server of debuggers' clients.
pub(crate) struct Serving {
    pub(crate) server: TcpServer,
    pub(crate) options: Options,
    /// Whether calls wait until a client has attached and set its breakpoints.
    pub(crate) waits: bool,
    /// Is dropped when clients are no longer served.
    pub(crate) ended: Sender<()>,
}

/// What a thread of Python's is told about its call.
pub(crate) enum Message {
    /// The call has returned.
    Done(Vec<Value>),
    /// The call has failed.
    Failed(Failed),
    /// The program calls a function of Python's, by its number.
    Import { number: usize, arguments: Vec<Value>, reply: Reply },
    /// The program stands at breakpoints of Python's.
    Stopped(Said),
}

/// Why a call has failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) status: Status,
    /// The frames of the program, as JSON, innermost first.
    pub(crate) frames: Json,
    pub(crate) is_cancelled: bool,
}

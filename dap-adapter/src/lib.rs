//! The debugger served over the Debug Adapter Protocol.
//!
//! No debugger logic lives here: a handler converts a request, asks `debug::Debugger`, and converts
//! the answer back.
//!
//! ```text
//! client ──bytes──> connections ──LoopEvent──> session ──> requests ──> debuggee
//!        <──bytes── transport::Wire <───────── │   ^                    (debug::Debugger)
//!                                    debuggee  v   │  LoopEvent::Ran
//!                                      workers::Runner: the thread that runs the program
//! ```
//!
//! Each module uses only modules above it in this table.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `panics` | turning a panic into an error |
//! | `protocol` | the messages: envelope, types that the `dap` crate lacks, events, errors |
//! | `transport` | bytes in and out: framing, the outgoing wire, the protocol log, the backlog |
//! | `cancellation` | requests that the client has cancelled |
//! | `access` | who may connect: tokens, reachable addresses |
//! | `client` | how the client counts lines and columns and names files |
//! | `configuration` | the arguments of `launch` and `attach` |
//! | `references` | numbers and names that the client holds: variables, memory, data, sources |
//! | `to_dap` | conversion from the debugger's types to the protocol's |
//! | `tensor_questions` | what a view of a tensor asks, and the answers |
//! | `debuggee` | the loaded program, its breakpoints and exception filters |
//! | `workers` | what runs beside the session's loop: loading, running, collecting log messages |
//! | `requests` | the table of requests and their handlers, one file per group |
//! | `session` | the states of a session, and the loop with everything that wakes it |
//! | `connections` | standard input and output, TCP, and programs that clients attach to |
//!
//! To see a session begin and end, read `session`.

mod access;
mod cancellation;
mod client;
mod configuration;
mod connections;
mod debuggee;
mod panics;
mod protocol;
mod references;
mod requests;
mod session;
pub mod tensor_questions;
mod to_dap;
mod transport;
mod workers;

pub use access::{Reach, Token};
pub use connections::{Beginning, Options, TcpServer, serve, serve_stdio};

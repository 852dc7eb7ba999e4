//! The debugger served over the Debug Adapter Protocol.
//!
//! No debugger logic lives here: a request is converted, `debug::Debugger` is asked, the answer is
//! converted back.
//!
//! ```text
//!   client ──bytes──> framing ──Event──> session ──> requests/* ──> debuggee (debug::Debugger)
//!          <──bytes── wire    <──────────── │  ^
//!                                   debuggee v  │ Event::Ran
//!                                          runner (the thread on which the program runs)
//! ```
//!
//! | file | holds |
//! | --- | --- |
//! | `session`, `session/` | the states of a session, and the loop with everything that wakes it |
//! | `requests/` | every request, one file a group; the table of them is in `requests/mod.rs` |
//! | `launch`, `surroundings` | the launch request: compiling and loading; the device and what else a program finds |
//! | `debuggee`, `handles`, `sources` | the program and the numbers that a client holds |
//! | `runner` | running the program beside the loop |
//! | `to_dap`, `client` | conversions; lines, columns and paths as the client counts and names them |
//! | `protocol`, `events`, `error` | messages; what the `dap` crate lacks |
//! | `progress` | telling that something takes its time |
//! | `logs`, `memories`, `watched` | what breakpoints say; memory and data that clients come back for |
//! | `exceptions` | what stops the program without a breakpoint |
//! | `framing`, `wire`, `log` | bytes in and out, and the protocol log |
//! | `cancel`, `backlog` | requests that the client does not want any more; how many may wait |
//! | `serve`, `door` | standard input and output, TCP; who may come in over it |
//! | `attach` | a program that clients attach to and leave |
//!
//! To see a session begin and end, read `session`.

mod attach;
mod backlog;
mod cancel;
mod client;
mod debuggee;
mod door;
mod error;
mod events;
mod exceptions;
mod framing;
mod handles;
mod launch;
mod log;
mod logs;
mod memories;
mod progress;
mod protocol;
mod requests;
mod runner;
mod serve;
mod session;
mod sources;
mod surroundings;
mod to_dap;
mod watched;
mod wire;

pub use attach::Beginning;
pub use door::{Reach, Token};
pub use serve::{Options, TcpServer, serve, serve_stdio};

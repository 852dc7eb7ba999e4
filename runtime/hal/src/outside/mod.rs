//! What a program gets from outside: results of native libraries and of functions of a host
//! language, and what these write into the program's memory.
//!
//! A program that goes back runs again, and a function outside must not be called again for that:
//! it may have a state of its own, which does not go back. So calls are logged while the program is
//! recorded, and given again instead of made:
//!
//! ```text
//!   call 0      call 1      call 2       position
//!   [ results ] [ results ] [ results ]  v
//!   ─────────────────────────────────────┴──> the next call is made, and logged
//!               ^ put back here: calls 1 and 2 are given again, call 3 is made
//! ```
//!
//! | file | what is in it |
//! | --- | --- |
//! | `plain` | a call as plain data |
//! | `seen` | the objects of the program that something outside has seen, and changes of them |
//! | `convert` | values as plain data, and back |
//! | `log` | the log, and the place in it |
//! | `calls` | calls that are made and logged, or given again |
//!
//! What is seen: results, failures, faults, and writes into any memory that something outside was
//! given since the log began, or has given, and that is alive. What is not: writes at other times
//! than during a call.

mod calls;
mod convert;
mod log;
mod plain;
mod seen;
#[cfg(test)]
mod tests;

pub use log::{LaterCalls, OutsideLog};
pub use plain::{Change, Given, OutsideCall, Place, Plain, PlainMemory, Write};

//! Every request, one file per group. A handler converts the arguments, asks the debugger, and
//! converts the answer. It holds no logic that a terminal debugger would need too, and knows no
//! session: a request that is about the session itself becomes an [`Action`], which the session
//! performs.
//!
//! To add a request: write its handler in the file of its group, add a row to the table in `table`,
//! and if clients ask only for what is advertised, say so in `capabilities`.

mod action;
mod assignment;
mod breakpoints;
mod capabilities;
mod completions;
mod console;
mod data_breakpoints;
mod disassembly;
mod execution;
mod handler;
mod jumps;
mod lifecycle;
mod memory;
mod model;
mod modules;
mod sources;
mod stack;
mod table;
mod tensor;
mod variables;

pub(crate) use action::{Action, Moved};
pub(crate) use capabilities::capabilities;
pub(crate) use console::{Performed, asks_to_interrupt, is_typed, perform_waiting};
pub(crate) use handler::{
    Answered, ConsoleHandler, Handler, MoveHandler, ProgramHandler, ResumeHandler, serve,
};
pub(crate) use model::run_map_of;
pub(crate) use table::handler;

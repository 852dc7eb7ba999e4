//! Work of the runtime as activities on the program's own stack, which can be watched, interrupted
//! and limited. Each file is one `vm::Activity` or a part of one; none is a native module.

mod attach;
mod create_executable;
mod dispatching;
mod finish_commands;
mod queue_activity;
mod race;
mod snapshot;
mod twin;

pub use attach::{attach_bytecode, attach_nested_modules};
pub(crate) use create_executable::CreateExecutable;
pub(crate) use dispatching::Dispatching;
pub(crate) use finish_commands::FinishCommands;
pub use queue_activity::{QueueActivity, Step};
pub use race::{Race, RaceError, RaceKind};
pub use twin::{Twin, TwinOutcome, TwinReport};

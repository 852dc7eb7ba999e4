//! Linked modules with their globals and breakpoints. Uses `machine` and the rooms before it;
//! invocations are in `run`, above.

mod breakpoints;
mod host_context;
mod link;
mod linked;

pub use link::ContextBuilder;
pub use linked::{Context, ModuleKind};

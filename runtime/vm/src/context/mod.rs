//! Linked modules with their globals and breakpoints. Uses `machine` and the rooms before it;
//! invocations are in `run`, above.

mod breakpoints;
mod context;
mod host_context;
mod link;

pub use context::{Context, ModuleKind};
pub use link::ContextBuilder;

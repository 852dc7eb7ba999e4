//! Modules as a context has them: what their imports lead to, their globals. Uses `native` and what is
//! before it; nothing here runs.

mod globals;
mod linked_module;
mod narrow_calls;

pub use narrow_calls::narrow_calls_note;

pub(crate) use globals::{GlobalBytes, Globals};
pub(crate) use linked_module::{LinkedKind, LinkedModule, Target};

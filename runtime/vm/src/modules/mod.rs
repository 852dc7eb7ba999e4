//! Modules as a context holds them: what their imports lead to, and their globals. Uses `native`
//! and the rooms before it; runs nothing.

mod globals;
mod linked_module;
mod narrow_calls;

pub use narrow_calls::narrow_calls_note;

pub(crate) use globals::{GlobalBytes, Globals};
pub(crate) use linked_module::{LinkedKind, LinkedModule, Target};

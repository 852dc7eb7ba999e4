//! What callers use.
//!
//! - `module`: the dispatches of a text, and how many of them are evaluated
//! - `dispatch`: one dispatch, its parameters, evaluating it
//! - `output`: what it computes
//! - `reason`: why a bound is as large as it is, in words

#[allow(clippy::module_inception, reason = "the file of the type with this name")]
mod dispatch;
mod module;
mod output;
mod reason;

pub use dispatch::{Argument, Dispatch, Known, Parameter, Role, Settings};
pub use module::{Coverage, Module, Uncovered};
pub use output::{Elements, Output, OutputError};

//! What callers use.
//!
//! - `module`: the dispatches of a text, and how many of them are evaluated
//! - `dispatch`: one dispatch, its parameters, evaluating it
//! - `output`: what it computes
//! - `parts`: complex tensors as callers have them
//! - `reason`: why a bound is as large as it is, in words
//! - `threads`: a test that results do not depend on how many threads compute them

#[allow(clippy::module_inception, reason = "the file of the type with this name")]
mod dispatch;
mod module;
mod output;
mod parts;
mod reason;
#[cfg(test)]
mod threads;

pub use dispatch::{Argument, Dispatch, Known, Parameter, Role, Settings};
pub use module::{Coverage, Module, Uncovered};
pub use output::{Elements, Output, OutputError};

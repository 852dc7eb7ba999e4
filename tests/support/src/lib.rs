//! What tests of several crates share. Only `[dev-dependencies]` name this crate, and it uses none
//! of ours, so that a change of ours does not build it again.
//!
//! | module | what |
//! | --- | --- |
//! | `text` | what programs print, as text |
//! | `once` | folders and files that several tests need, made once |
//! | `expected` | texts that are expected, in files that `UPDATE_EXPECT=1` writes |
//! | `program` | running `iree-dbg` |
//!
//! A function here fails the test that calls it, as its `expect` would.

mod expected;
mod once;
mod program;
mod text;

pub use expected::Expected;
pub use once::{made_once, written_once};
pub use program::Program;
pub use text::{printed, succeeded, text, words};

//! The instruction set as data: what `table` declares, everything else derives. Uses nothing of
//! the crate.
//!
//! To add an instruction, add a row to `table.rs` and a sentence to `meaning.rs`; the decoder, the
//! printer, the assembler and the verifier then know it, and the interpreter's translation fails to
//! compile until it has a handler. `tests/conformance/coverage.rs` fails unless every row has an
//! example that IREE's own tools print and run as ours do.
//!
//! How each kind of field is encoded is in [`mod@crate::decode`].
//!
//! | file | holds |
//! | --- | --- |
//! | `fields` | register banks, kinds of fields, opcode spaces |
//! | `table` | a row for each instruction |
//! | `meaning` | a sentence for each instruction |
//! | `lookup` | finding instructions |
//! | `templates` | the syntax of instructions that do not print by rule |

mod fields;
mod lookup;
mod meaning;
mod table;
pub(crate) mod templates;

pub use fields::{Bank, Field, FieldKind, OpcodeSet};
pub use table::{Op, OpInfo};

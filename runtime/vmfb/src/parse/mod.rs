//! `.vmasm` text to a [`Listing`]: the text line by line, before names are resolved.
//!
//! The language is what `iree-as-module` accepts and `iree-dump-module --output=disassembly`
//! prints. The latter is wider: names are free text there, and strings hold quotes and newlines
//! without escapes. So a line may be read several times: first without its comment, as the
//! reference reads it, then as it is, then together with the lines that a string spans. A line that
//! cannot be read is reported and left out, and reading continues with the next one.
//!
//! | file | holds |
//! | --- | --- |
//! | `parser` | a whole text, line by line |
//! | `lines` | comments, offset prefixes, lines that belong together |
//! | `cursor` | reading one line from left to right |
//! | `directive` | the lines that are not instructions |
//! | `instruction` | one instruction, by the templates of `isa/templates.rs` |
//! | `operand` | registers, numbers, labels |
//! | `listing` | the result |
//!
//! `assemble`, above, resolves the names.

mod cursor;
mod directive;
mod instruction;
mod lines;
mod listing;
mod operand;
mod parser;

pub(crate) use listing::{
    FunctionLines, Global, InstructionLine, Item, Label, Listing, Name, OperandText, Span,
};
pub(crate) use parser::parse;

//! `.vmasm` text to a [`Listing`]: what is written, line by line, before names mean anything.
//!
//! The language is what `iree-as-module` accepts and `iree-dump-module --output=disassembly`
//! prints; the latter is wider: names are free text there, and strings hold quotes and newlines
//! without escapes. So a line is read twice if need be: first without its comment, as the reference
//! reads it, then as it stands, then together with the lines that a string reaches over. A line
//! that cannot be read is reported and left out, and reading goes on with the next.
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
//! What names mean is the business of `assemble`, above.

mod cursor;
mod directive;
mod instruction;
mod lines;
mod listing;
mod operand;
mod parser;

pub(crate) use listing::{
    FunctionLines, FunctionName, Global, InstructionLine, Item, Label, Listing, Name, OperandText,
    Span,
};
pub(crate) use parser::parse;

//! Formatting, as edits of the white space between tokens: nothing else of a text can change.
//!
//! `.vmasm` has the disassembler's layout (`assembly.rs`). Of `.mlir` the author's lines stay
//! (`mlir.rs`): indentation follows the regions, a continued line may stand where people put it
//! (`layout.rs`), gaps within a line are those of MLIR's printer (`spacing.rs`), and a line that is
//! too long has its attributes below each other (`breaking.rs`). What a key does to the line that
//! it is typed in is in `typing.rs`.

mod assembly;
mod breaking;
mod chunk_view;
mod layout;
mod mlir;
mod spacing;
mod typing;

use syntax::{Language, TextRange};

use crate::Document;
use crate::text::Replacement;

pub use typing::format_on_type;

/// The longest text, in bytes, that is formatted.
const LONGEST: usize = 16 << 20;

/// The replacements that format the lines in `range`. Each is of white space by white space.
pub fn format(document: &Document, range: &TextRange) -> Vec<Replacement> {
    if document.text().len() > LONGEST {
        return Vec::new();
    }
    match document.language() {
        Language::Vmasm => assembly::format(document, range),
        Language::Mlir => mlir::format(document, range),
    }
}

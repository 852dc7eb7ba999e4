//! Go to definition: of symbols.

use syntax::TextRange;

use crate::Document;
use crate::references::{reference_at, resolve};

/// Where the symbol at `offset` is defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The name that was asked about, for the editor to underline.
    pub origin: TextRange,
    /// All of the definition.
    pub range: TextRange,
    /// The name in it, sigil included.
    pub selection: TextRange,
}

/// The definition of the symbol at `offset`.
pub fn definition(document: &Document, offset: usize) -> Option<Target> {
    let reference = reference_at(document, offset)?;
    let found = resolve(document, &reference, offset)?;
    let symbol = found.symbol;
    Some(Target { origin: reference.range, range: symbol.range, selection: symbol.name_token })
}

//! [`Replacement`]: one edit of a text.

use syntax::TextRange;

/// A replacement of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The text to replace.
    pub range: TextRange,
    /// The new text.
    pub text: String,
}

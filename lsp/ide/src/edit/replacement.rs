//! [`Replacement`]: one edit of a text.

use syntax::TextRange;

/// A replacement of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// What goes away.
    pub range: TextRange,
    /// What comes.
    pub text: String,
}

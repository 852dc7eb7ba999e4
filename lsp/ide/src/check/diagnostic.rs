//! [`Diagnostic`]: one fault of a document.

use syntax::TextRange;

/// A fault and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The text to underline.
    pub range: TextRange,
    /// What is wrong and how to mend it.
    pub message: String,
    /// Its severity.
    pub severity: Severity,
    /// A short name for this kind of fault. Repairs go by it.
    pub code: &'static str,
    /// Related places, each with a message.
    pub related: Vec<(TextRange, String)>,
}

/// The severity of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A compiler refuses the text.
    Error,
    /// A compiler accepts the text, but it is probably a mistake.
    Warning,
    /// Nothing is wrong, but the reader should know.
    Information,
}

impl Diagnostic {
    /// An error without related places.
    pub fn error(range: TextRange, code: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { range, message, severity: Severity::Error, code, related: Vec::new() }
    }

    /// A warning without related places.
    pub fn warning(range: TextRange, code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(range, code, message) }
    }
}

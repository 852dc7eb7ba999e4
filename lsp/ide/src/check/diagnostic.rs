//! [`Diagnostic`]: one fault of a document.

use syntax::TextRange;

/// Something wrong and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What to underline.
    pub range: TextRange,
    /// What is wrong and what to do.
    pub message: String,
    /// How bad it is.
    pub severity: Severity,
    /// A short name for the kind of fault, for actions that repair it.
    pub code: &'static str,
    /// Other places that belong to it, and what they are.
    pub related: Vec<(TextRange, String)>,
}

/// How bad a fault is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A compiler refuses it.
    Error,
    /// It is accepted and probably not meant.
    Warning,
}

impl Diagnostic {
    /// An error without other places.
    pub fn error(range: TextRange, code: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { range, message, severity: Severity::Error, code, related: Vec::new() }
    }

    /// A warning without other places.
    pub fn warning(range: TextRange, code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(range, code, message) }
    }
}

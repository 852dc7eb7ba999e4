//! Errors in expressions, with their place in the text.

use std::ops::Range;

/// A mistake in an expression, or a problem that it meets in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// The bytes of the text at fault.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
}

impl ExpressionError {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }

    /// An error that is at no place of the text.
    pub(crate) fn without_place(message: impl Into<String>) -> Self {
        Self::new(usize::MAX..usize::MAX, message)
    }

    /// The message with the text and a line of carets under the place, for terminals.
    #[must_use]
    pub fn with_caret(&self, text: &str) -> String {
        if text.contains('\n') || self.span.end > text.len() {
            return self.message.clone();
        }
        let column = text.get(..self.span.start).map_or(0, |before| before.chars().count());
        let length = text.get(self.span.clone()).map_or(1, |part| part.chars().count()).max(1);
        format!("{}\n  {text}\n  {}{}", self.message, " ".repeat(column), "^".repeat(length))
    }
}

impl std::fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ExpressionError {}

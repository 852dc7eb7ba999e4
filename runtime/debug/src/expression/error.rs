//! Errors in expressions, with their place in the text.

use std::ops::Range;

use super::evaluation_error::EvaluationError;

/// A mistake in an expression, or a problem that it meets in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// The bytes of the text at fault.
    pub span: Range<usize>,
    /// What is wrong.
    pub reason: EvaluationError,
}

impl ExpressionError {
    pub(crate) fn new(span: Range<usize>, reason: EvaluationError) -> Self {
        Self { span, reason }
    }

    /// A mistake in the text itself.
    pub(crate) fn of_text(span: Range<usize>, message: impl Into<String>) -> Self {
        Self::new(span, EvaluationError::Text(message.into()))
    }

    /// An error that is at no place of the text.
    pub(crate) fn without_place(reason: EvaluationError) -> Self {
        Self::new(usize::MAX..usize::MAX, reason)
    }

    /// The message with the text and a line of carets under the place, for terminals.
    #[must_use]
    pub fn with_caret(&self, text: &str) -> String {
        if text.contains('\n') || self.span.end > text.len() {
            return self.reason.to_string();
        }
        let column = text.get(..self.span.start).map_or(0, |before| before.chars().count());
        let length = text.get(self.span.clone()).map_or(1, |part| part.chars().count()).max(1);
        format!("{}\n  {text}\n  {}{}", self.reason, " ".repeat(column), "^".repeat(length))
    }
}

impl std::fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.reason.fmt(f)
    }
}

impl std::error::Error for ExpressionError {}

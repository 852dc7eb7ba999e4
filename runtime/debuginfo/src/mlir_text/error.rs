//! [`MlirTextError`]: a text that cannot be read.

/// The text is not one that iree-compile prints: where, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct MlirTextError {
    /// The line, from one.
    pub line: usize,
    /// The column, from one, in bytes.
    pub column: usize,
    /// What was expected.
    pub message: String,
}

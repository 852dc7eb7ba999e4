//! Errors that cross the boundary of TVM FFI.

/// An error that crosses the boundary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FfiError {
    /// The kind: `ValueError`, `TypeError`, …
    pub(crate) kind: String,
    /// What went wrong.
    pub(crate) message: String,
    /// One line per frame, most recent call first.
    pub(crate) backtrace: String,
}

impl FfiError {
    /// An error without frames.
    pub fn new(kind: &str, message: impl std::fmt::Display) -> Self {
        Self { kind: kind.to_owned(), message: message.to_string(), backtrace: String::new() }
    }

    /// Adds a place in front of the message: `[1]: expected …` becomes `["a"][1]: expected …`.
    pub(crate) fn within(mut self, place: &str) -> Self {
        let separator = if self.message.starts_with('[') { "" } else { ": " };
        self.message = format!("{place}{separator}{}", self.message);
        self
    }
}

impl std::fmt::Display for FfiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)?;
        if !self.backtrace.is_empty() {
            write!(f, "\n{}", self.backtrace.trim_end())?;
        }
        Ok(())
    }
}

impl std::error::Error for FfiError {}

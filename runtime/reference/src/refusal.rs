//! [`Refusal`]: why a dispatch has no third opinion. An evaluator that guessed would be worse than
//! none, so everything that it does not know ends here, with the operation and its line.

/// What kind of refusal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// An operation, a type or an attribute that is not evaluated.
    Unsupported,
    /// The text is not what iree-compile prints.
    Malformed,
    /// The operation has no defined result for these values, such as a division by zero.
    Undefined,
    /// The arguments do not fit the parameters.
    Arguments,
    /// The work is more than the limit that the caller set.
    Limit,
}

/// Why a dispatch is not evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{reason}", at(*line), of(operation))]
pub struct Refusal {
    /// The kind.
    pub kind: RefusalKind,
    /// The line in the text, from 1; 0 if it has none.
    pub line: usize,
    /// The name of the operation, or empty.
    pub operation: String,
    /// What is wrong, and what to do if something can be done.
    pub reason: String,
}

fn at(line: usize) -> String {
    if line == 0 { String::new() } else { format!("line {line}: ") }
}

fn of(operation: &str) -> String {
    if operation.is_empty() { String::new() } else { format!("`{operation}`: ") }
}

impl Refusal {
    pub(crate) fn new(kind: RefusalKind, line: usize, reason: impl Into<String>) -> Self {
        Self { kind, line, operation: String::new(), reason: reason.into() }
    }

    pub(crate) fn unsupported(line: usize, reason: impl Into<String>) -> Self {
        Self::new(RefusalKind::Unsupported, line, reason)
    }

    pub(crate) fn malformed(line: usize, reason: impl Into<String>) -> Self {
        Self::new(RefusalKind::Malformed, line, reason)
    }

    pub(crate) fn undefined(line: usize, reason: impl Into<String>) -> Self {
        Self::new(RefusalKind::Undefined, line, reason)
    }

    pub(crate) fn mismatch() -> Self {
        Self::undefined(0, "operands whose shapes do not fit together")
    }

    pub(crate) fn arguments(reason: impl Into<String>) -> Self {
        Self::new(RefusalKind::Arguments, 0, reason)
    }

    /// Names the operation, if no operation inside it is named yet.
    pub(crate) fn in_operation(mut self, name: &str, line: usize) -> Self {
        if self.operation.is_empty() {
            name.clone_into(&mut self.operation);
        }
        if self.line == 0 {
            self.line = line;
        }
        self
    }
}

impl From<mlir::NoValue> for Refusal {
    fn from(error: mlir::NoValue) -> Self {
        Self::undefined(0, error.to_string())
    }
}

pub(crate) type Result<T> = std::result::Result<T, Refusal>;

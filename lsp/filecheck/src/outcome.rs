//! What a comparison of an output with directives found.

use std::ops::Range;

/// The outcome of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The directives that matched: their index, and the bytes of the output.
    pub matches: Vec<(usize, Range<usize>)>,
    /// The directives that failed, in the order of the output. Between two labels there is at most
    /// one.
    pub failures: Vec<Failure>,
}

impl Outcome {
    /// Whether FileCheck would accept the output.
    pub fn is_right(&self) -> bool {
        self.failures.is_empty()
    }
}

/// A directive that an output does not fulfil.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The index of the directive; `None` if there was no output.
    pub directive: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// The line of the output that the message names, from 1.
    pub line: Option<usize>,
}

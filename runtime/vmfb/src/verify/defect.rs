//! Defects that verification finds.

use std::fmt;

use crate::ordinals::{BytecodeOffset, FunctionOrdinal};

/// No more defects than these are reported.
pub(super) const MOST_DEFECTS: usize = 1000;

/// A rule that a module breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Defect {
    /// The function, if the defect is in one.
    pub function: Option<FunctionOrdinal>,
    /// The instruction, if the defect is in one.
    pub offset: Option<BytecodeOffset>,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = self.function {
            write!(f, "function {}", function.0)?;
            if let Some(offset) = self.offset {
                write!(f, " at {offset}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.reason)
    }
}

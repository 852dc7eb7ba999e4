//! What a comparison is told, and what it tells while it runs.

use crate::kept::Keep;
use crate::tolerance::Overrides;

/// What a comparison is told.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Tolerances that the user has set.
    pub overrides: Overrides,
    /// What is kept of the tensors that are compared.
    pub keep: Keep,
}

/// What a comparison is at.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// Bytecode is compiled.
    Compiling,
    /// The dispatch with a number, by its name.
    Dispatch(usize, &'a str),
    /// The run with a number, of a bisection.
    Run(usize),
}

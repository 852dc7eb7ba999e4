//! [`Expected`]: the results that a launch expects.

use abi::compare::Tolerances;
use debug::Debugger;
use values::{Equality, Input, mismatches};
use vm::Value;

use super::unfit::Unfit;

/// The most elements of each side that are printed of a result that differs.
const MAX_ELEMENTS: usize = 64;

/// The results that a launch expects, and how far floats may be from them.
pub(crate) struct Expected {
    results: Vec<Input>,
    equality: Equality,
}

impl Expected {
    /// Reads the results that a loaded program should have, in the words of `iree-run-module
    /// --expected_output=`; `None` if there are none. `relative` is how far floats may be from
    /// them, relative to them.
    ///
    /// # Errors
    /// One of them is no value of its type, or there is one too many.
    pub(super) fn read(
        texts: &[&str],
        relative: Option<f64>,
        debugger: &Debugger,
    ) -> Result<Option<Self>, Unfit> {
        if texts.is_empty() {
            return Ok(None);
        }
        let results = debugger.parse_results(texts).map_err(Unfit::Expected)?;
        let chosen = Tolerances::default();
        let relative = relative.unwrap_or(chosen.relative);
        let equality = Equality::Approximate(Tolerances { relative, ..chosen });
        Ok(Some(Self { results, equality }))
    }

    /// What is different in the results, a line each; empty if nothing is.
    pub(crate) fn mismatches(&self, results: &[Value]) -> String {
        mismatches(&self.results, results, self.equality, MAX_ELEMENTS)
    }
}

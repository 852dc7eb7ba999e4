//! [`Module`]: the dispatches of a text. [`Coverage`]: how many of them are evaluated.

use std::fmt;

use crate::dispatch::dispatch::Dispatch;
use crate::refusal::{Refusal, Result};
use crate::text::ModuleText;

/// A text with functions, such as the phase `flow` in a debug file. Its lines are read once;
/// each function when it is asked for.
pub struct Module<'t> {
    text: ModuleText<'t>,
}

impl<'t> Module<'t> {
    /// Finds the functions of a text.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        Self { text: ModuleText::new(text) }
    }

    /// The names of the functions, in the order of the text.
    #[must_use]
    pub fn names(&self) -> &[&'t str] {
        self.text.names()
    }

    /// Reads a function, as a dispatch or over tensors.
    ///
    /// # Errors
    /// There is none, or it has an operation that is not evaluated.
    pub fn dispatch(&self, name: &str) -> Result<Dispatch> {
        Dispatch::read(&self.text, name)
    }

    /// Which of the text's dispatches are evaluated. Functions that are no dispatches, which have
    /// no tensor that they are bound to, do not count.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        let mut coverage = Coverage::default();
        for name in self.names() {
            match self.dispatch(name) {
                Ok(dispatch) => coverage.covered += usize::from(dispatch.is_dispatch()),
                Err(refusal) if self.text.is_dispatch(name) => {
                    coverage.uncovered.push(Uncovered { name: (*name).to_owned(), refusal });
                }
                Err(_) => {}
            }
        }
        coverage
    }
}

/// Which dispatches of a text are evaluated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// How many are.
    pub covered: usize,
    /// Those that are not.
    pub uncovered: Vec<Uncovered>,
}

/// A dispatch that is not evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncovered {
    /// Its name.
    pub name: String,
    /// Why not.
    pub refusal: Refusal,
}

impl Coverage {
    /// The share that is evaluated, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        let all = self.covered + self.uncovered.len();
        if all == 0 { 1.0 } else { self.covered as f64 / all as f64 }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.covered + self.uncovered.len();
        write!(f, "{} of {all} dispatches", self.covered)?;
        for it in &self.uncovered {
            write!(f, "\n  {}: {}", it.name, it.refusal)?;
        }
        Ok(())
    }
}

//! What an expression has to know of the program: what its names stand for.

use super::datum::{Datum, Family, Item};
use super::evaluation_error::EvaluationError;
use super::printed::Printed;

/// The meaning of names where an expression is evaluated.
pub(crate) trait Scope {
    /// The value of a name.
    fn find(&self, name: &str) -> Option<Item>;

    /// The tensor that a framework calls so.
    fn node(&self, _name: &str) -> Option<Item> {
        None
    }

    /// The part of a variable of Python, as Python writes it: `layers[0]['w']`.
    fn part(&self, _path: &str) -> Option<Item> {
        None
    }

    /// What was printed before.
    fn printed(&self, which: Printed) -> Result<Item, EvaluationError>;

    /// The global variable with a symbol.
    fn global(&self, _symbol: &str) -> Option<Item> {
        None
    }

    /// A message about a symbol that is no global variable.
    fn unknown_symbol(&self, symbol: &str) -> EvaluationError {
        EvaluationError::Unknown(format!("@{symbol} is a function; call it as @{symbol}(…)"))
    }

    /// The tensor in a file, where files may be read.
    fn file(&self, path: &str) -> Result<Datum, EvaluationError> {
        let what = "is a file; files are read for what is typed into the console";
        Err(EvaluationError::Text(format!("@{path} {what}")))
    }

    /// What is known of the dispatch: its `name`, its `number`, or its `run`.
    fn dispatch_field(&self, _field: &str) -> Option<Datum> {
        None
    }

    /// One member of a family.
    fn member(&self, family: Family, index: usize) -> Result<Item, EvaluationError>;

    /// A message about a name that stands for nothing, with a similar name if there is one.
    fn suggest(&self, name: &str) -> EvaluationError;

    /// Whether this process's memory may be read by address.
    fn reads_foreign_memory(&self) -> bool;

    /// Calls a function of the program.
    fn call(&mut self, function: &str, arguments: Vec<Datum>) -> Result<Datum, EvaluationError>;
}

//! What an expression needs of the program: what its names stand for.

use super::datum::{Datum, Family, Item};

/// What names mean where an expression is evaluated.
pub(crate) trait Scope {
    /// What a name stands for.
    fn find(&self, name: &str) -> Option<Item>;

    /// The global variable with a symbol.
    fn global(&self, _symbol: &str) -> Option<Item> {
        None
    }

    /// One of a family.
    fn member(&self, family: Family, index: usize) -> Result<Item, String>;

    /// What could have been meant by a name that stands for nothing.
    fn suggest(&self, name: &str) -> String;

    /// Whether this process's memory may be read by address.
    fn reads_foreign_memory(&self) -> bool;

    /// Calls a function of the program.
    fn call(&mut self, function: &str, arguments: Vec<Datum>) -> Result<Datum, String>;
}

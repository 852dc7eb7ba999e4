//! The operations of one dispatch, and which of them are its work.

use mlir::linalg::Loops;
use mlir::table::{Meaning, Tensor};

use super::statements::{Statement, definition, operands};
use crate::mlir_text::{CallChain, LocationReader};

/// The operations of one dispatch.
#[derive(Clone, Debug, Default)]
pub(crate) struct DispatchBody {
    operations: Vec<BodyOperation>,
    /// The results of operations whose closing brace is still to come.
    open: Vec<Vec<String>>,
    /// The values that the dispatch stores.
    stored: Vec<String>,
}

/// An operation of a dispatch.
#[derive(Clone, Debug)]
pub(crate) struct BodyOperation {
    results: Vec<String>,
    /// Its call chains.
    pub(crate) paths: Vec<CallChain>,
    /// Whether dispatches repeat it because that is cheaper than reading it, such as a tensor of
    /// zeros.
    is_cheap: bool,
}

impl DispatchBody {
    /// Takes the next statement of the dispatch.
    pub(crate) fn add<'t>(&mut self, statement: &Statement<'t>, places: &mut LocationReader<'t>) {
        let text = statement.text.trim_end();
        let defined = definition(text);
        let operation = match &defined {
            Some((_, operation, _)) => operation,
            None => text.split([' ', '(', '[']).next().unwrap_or(text),
        };
        if operation.ends_with("dispatch.tensor.store") {
            self.stored.extend(operands(text).next());
        }
        let is_closing = text.starts_with('}');
        let mut results = defined.as_ref().map(|(names, ..)| names.clone()).unwrap_or_default();
        if is_closing {
            results = self.open.pop().unwrap_or_default();
        }
        if text.ends_with('{') {
            // Its location follows the brace that closes it; `} else {` does not close it.
            self.open.push(results);
            return;
        }
        // Block arguments are no operations.
        if text.starts_with('^') || (!is_closing && is_plumbing(operation)) {
            return;
        }
        let paths = places.paths_of(statement.location);
        if !paths.is_empty() {
            let is_cheap = !is_closing && is_cheap(operation);
            self.operations.push(BodyOperation { results, paths, is_cheap });
        }
    }

    /// All operations with a source position, in the order of the text.
    pub(crate) fn operations(&self) -> &[BodyOperation] {
        &self.operations
    }

    /// Whether an operation is the dispatch's own work, not only repeated because that is cheaper
    /// than reading its result.
    pub(crate) fn is_work(&self, operation: &BodyOperation) -> bool {
        !operation.is_cheap || self.is_stored(operation)
    }

    /// The operation whose result the dispatch stores; if that is unknown, the last one of its
    /// work.
    pub(crate) fn result(&self) -> Option<&BodyOperation> {
        let stored = self.operations.iter().rev().find(|it| self.is_stored(it));
        stored.or_else(|| self.operations.iter().rev().find(|it| self.is_work(it)))
    }

    fn is_stored(&self, operation: &BodyOperation) -> bool {
        operation.results.iter().any(|result| {
            let is_it = |stored: &String| {
                stored == result || stored.split_once('#').is_some_and(|(name, _)| name == result)
            };
            self.stored.iter().any(is_it)
        })
    }
}

/// Whether an operation only connects a dispatch's work with its bindings and constants.
fn is_plumbing(operation: &str) -> bool {
    const PREFIXES: [&str; 6] = ["hal.", "util.", "flow.", "iree_tensor_ext.", "return", "func."];
    PREFIXES.iter().any(|prefix| operation.starts_with(prefix))
        || mlir::meaning(operation) == Some(Meaning::Constant)
        || mlir::table::is_integer_cast(operation)
}

/// Whether an operation is so cheap that every dispatch that needs its result repeats it.
fn is_cheap(operation: &str) -> bool {
    matches!(
        mlir::meaning(operation),
        Some(Meaning::Tensor(Tensor::Empty | Tensor::Splat) | Meaning::Loops(Loops::Copy))
    ) || operation == "bufferization.alloc_tensor"
}

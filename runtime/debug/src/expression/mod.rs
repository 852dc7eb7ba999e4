//! The expression language of watches, hovers, conditions, log messages and the console.
//!
//! ```text
//!  text --parser--> tree (syntax) --evaluate--> Item (datum): a value, and the place that keeps it
//!                     |                ^ scope: what names stand for
//!                     |                ^ operators, reduce: what is computed
//!                     |                ^ scalars: on numbers; elementwise: on tensors, in blocks
//!                     |                ^ tensor_functions, matrix_product: on tensors in whole
//!                     |                ^ budget: how long it may take
//!                     '--condition--> closures that the interpreter calls
//! ```
//!
//! The language is described for its users in `runtime/debug/expressions.md`; `reduce::FUNCTIONS`
//! and `evaluate::FIELDS` are its tables. Evaluating never changes a value. The folder uses only
//! `tensor` and `view`; it asks a [`Scope`] about the program.

#[cfg(test)]
mod block_tests;
mod budget;
mod check;
mod complete;
mod condition;
mod datum;
mod dense;
mod elementwise;
mod error;
mod evaluate;
mod evaluation_error;
mod foreign;
mod format;
mod matrix_product;
mod operators;
mod parsed;
mod parser;
#[cfg(test)]
mod parser_tests;
mod printed;
mod reduce;
mod scalars;
mod scope;
mod slots;
mod syntax;
mod template;
mod tensor_functions;

pub use budget::{Cancel, Limits};
pub(crate) use complete::completions;
pub use complete::{Completion, CompletionKind};
pub(crate) use condition::{NumberSource, compile};
pub(crate) use datum::{Datum, Family, Item, Place};
pub use error::ExpressionError;
pub use evaluation_error::EvaluationError;
pub(crate) use format::Format;
pub use parsed::Expression;
pub use printed::PrintHistory;
pub(crate) use printed::Printed;
pub(crate) use scalars::computed;
pub(crate) use scope::Scope;
pub(crate) use template::Template;

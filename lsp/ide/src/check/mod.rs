//! Diagnostics: what is wrong with a document.
//!
//! Nothing that iree-opt accepts may be an error. The checks make no repairs; those are in `edit`.

mod abi_attributes;
mod abi_names;
mod affine;
mod chunk;
mod counts;
mod diagnostic;
mod diagnostics;
mod entries;
mod extract;
mod file_names;
mod literals;
mod loops;
mod neighbours;
mod numbers;
mod operations;
mod order;
mod reading;
mod type_text;
mod types;
mod undefined;
mod words;
mod written_types;

pub use diagnostic::{Diagnostic, Severity};
pub use diagnostics::{diagnostics, diagnostics_while};
pub use extract::{Extract, extract};

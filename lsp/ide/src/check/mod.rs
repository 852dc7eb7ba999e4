//! Diagnostics: what is wrong with a document.
//!
//! Nothing that iree-opt accepts may be an error. The checks make no repairs; those are in `edit`.

mod abi_attributes;
mod chunk;
mod diagnostic;
mod diagnostics;
mod file_names;

pub use diagnostic::{Diagnostic, Severity};
pub use diagnostics::{diagnostics, diagnostics_unless};

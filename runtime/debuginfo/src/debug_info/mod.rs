//! [`DebugInfo`] answers every query about a module's debug information. Each file adds one kind of
//! query to it and uses only the other modules and the files before it in this list:
//!
//! - [`completeness`]: which functions have debug information
//! - [`parts`]: the data of lines and functions
//! - [`source_files`]: the texts of the files that a module names
//! - [`tables`]: [`DebugInfo`] itself
//! - [`python`]: the Python on top of the source
//! - [`vm_listings`]: the VM program as text
//! - [`fused_sums`]: lines of fused multiply-adds
//! - [`frames`]: lines, frames and inlined calls of an instruction
//! - [`line_lookup`]: the code of a line
//! - [`values`]: values of the VM program
//! - [`names_in_scope`]: names of the source
//! - [`merge`]: merging companion and debug database

mod completeness;
mod frames;
mod fused_sums;
mod line_lookup;
mod merge;
mod names_in_scope;
mod parts;
mod python;
mod source_files;
mod tables;
mod values;
mod vm_listings;

pub use completeness::{Completeness, FunctionCompleteness, MapSource};
pub use frames::SourceFrame;
pub use line_lookup::Recording;
pub use parts::{CodePlace, ResolvedLine};
pub use python::PythonFrame;
pub use tables::DebugInfo;
pub use values::LocalValue;

//! [`DebugInfo`] answers every question about a module's debug information. Each file here adds
//! one kind of answer to it, from the rooms below and from the files before it in this list:
//!
//! - [`completeness`]: what is known, what is missing
//! - [`parts`]: lines and functions as data
//! - [`source_files`]: the texts of the files that a module names
//! - [`tables`]: [`DebugInfo`] itself
//! - [`vm_listings`]: the VM program as text
//! - [`frames`]: lines, frames and inlined calls of an instruction
//! - [`line_lookup`]: the code of a line
//! - [`values`]: values of the VM program
//! - [`names_in_scope`]: names of the source
//! - [`merge`]: bringing companion and debug database together

mod completeness;
mod frames;
mod line_lookup;
mod merge;
mod names_in_scope;
mod parts;
mod source_files;
mod tables;
mod values;
mod vm_listings;

pub use completeness::{Completeness, FunctionCompleteness, MapSource};
pub use frames::SourceFrame;
pub use line_lookup::Recording;
pub use parts::{CodePlace, ResolvedLine};
pub use tables::DebugInfo;
pub use values::LocalValue;

//! From text to operations. The reader knows the notation that iree-compile 3.10 to 3.13 prints,
//! and refuses what it does not know.
//!
//! It reads what people read, not MLIR's generic form. A debug file would need both, since levels
//! and breakpoints are lines of the pretty text: for magika (6.3 MB of source, 3.8 s to compile)
//! 0.36 s of CPU a phase for `iree-opt` to convert it, and another 6.4 MB in the debug file. Debug
//! files that exist would need `iree-opt` to be evaluated at all. What an operation means is in the
//! table of `mlir` either way; what is here is how each family of them is written.
//!
//! - `cursor`: tokens
//! - `attributes`: dictionaries of attributes
//! - `constants`: numbers and `dense<…>`
//! - `types`: types
//! - `module`: which functions and aliases a text has
//! - `reader`: functions, regions, names of values
//! - `arith`, `complex`, `tensors`, `packing`, `linalg`, `named`, `quantized`, `extensions`,
//!   `control`: operations
//! - `families`: which of these a name belongs to

mod arith;
mod attributes;
mod complex;
mod constants;
mod control;
mod cursor;
mod extensions;
mod families;
mod linalg;
mod module;
mod named;
mod packing;
mod quantized;
mod reader;
mod tensors;
mod types;

pub(crate) use families::read_function;
pub(crate) use module::ModuleText;

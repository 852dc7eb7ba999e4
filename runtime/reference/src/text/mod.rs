//! From text to operations. The reader knows the notation that iree-compile 3.10 to 3.13 prints,
//! and refuses what it does not know.
//!
//! - `cursor`: tokens
//! - `attributes`: dictionaries of attributes
//! - `constants`: numbers and `dense<…>`
//! - `types`: types
//! - `module`: which functions and aliases a text has
//! - `reader`: functions, regions, names of values
//! - `arith`, `tensors`, `linalg`, `named`, `extensions`, `control`: operations
//! - `families`: which of these a name belongs to

mod arith;
mod attributes;
mod constants;
mod control;
mod cursor;
mod extensions;
mod families;
mod linalg;
mod module;
mod named;
mod reader;
mod tensors;
mod types;

pub(crate) use families::read_function;
pub(crate) use module::ModuleText;

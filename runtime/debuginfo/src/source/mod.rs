//! The user's `.mlir`: its text, its functions, and the order of its operations. Nothing here knows
//! a module; what operations mean is [`crate::proof`]'s business.
//!
//! - [`text`]: a file's text, and the names around a position
//! - [`lines`]: from offsets to lines and columns
//! - [`operation_extent`]: the columns that an operation takes on its line
//! - [`constants`]: tensors whose elements are in the text
//! - [`mod@long_constants`]: those that are digits in hexadecimal, by the characters alone
//! - [`folding`]: what an import of ONNX computes from these and from shapes alone
//! - [`elided`]: constants that other texts leave out
//! - [`imported`]: how imports of ONNX are written
//! - [`structure`]: which lines continue or follow a line
//! - [`python`]: the same of a file of Python
//! - [`functions`]: functions with their values and scopes
//! - [`node_names`]: the names that a framework gave
//! - [`named_places`]: positions for locations that only have a name
//! - [`file_names`], [`path_map`]: which file a name means

mod constants;
mod control_flow;
mod elided;
mod file_names;
mod folding;
pub(crate) mod functions;
pub(crate) mod imported;
mod lines;
mod long_constants;
mod named_places;
mod node_names;
mod operation_extent;
mod path_map;
mod python;
mod structure;
mod text;

pub(crate) use constants::writes_constant;
pub use constants::{WrittenTensor, bytes_of_digits, plain_symbol, read_constant, tensor_of_bytes};
pub use control_flow::ControlBlock;
pub use file_names::FileMatch;
pub(crate) use file_names::matching;
pub(crate) use folding::integers as folded_integers;
pub use long_constants::{LongConstant, ModuleWeight, long_constants, module_weights};
pub use named_places::NamedPlaces;
pub(crate) use node_names::{Mismatch, NodeNames};
pub use node_names::{NodeName, model_beside, model_nodes};
pub use path_map::SourceMap;
pub(crate) use python::Becomes;
pub use text::SourceText;

//! What MLIR is, apart from its notation: types, affine maps, and the table of operations.
//!
//! An operation is described once, in [`meaning`]'s table. Everything that computes with MLIR reads
//! that row: the proofs of names (`debuginfo`), the evaluator (`reference`), the counts of work,
//! and the edits that make a program smaller. Two readings cannot disagree on what
//! `arith.maxnumf` does, because none of them knows its name.
//!
//! Text is not read here, but for types and affine maps, which are the same in every text.
//!
//! Lowest first; a module uses only modules above it in this table.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `element` | what one number is |
//! | `types` | types of values |
//! | `affine` | affine expressions and maps |
//! | `tiles` | tensors that lie tile by tile |
//! | `scalar` | functions of numbers, with and without their types |
//! | `bits` | functions of numbers, on bits |
//! | `linalg` | named operations of linalg as loops |
//! | `table` | the table: a row an operation |
//! | `quantized` | floats as integers of few bits, and back |
//! | `structure` | how operations hold blocks, and how blocks end |
//! | `rules` | other forms of functions of numbers, for proofs |
//! | `words` | words that operations and attributes choose from |
//! | `written` | the table backwards: functions of numbers as MLIR writes them |

mod affine;
pub mod bits;
mod element;
pub mod linalg;
pub mod quantized;
pub mod rules;
mod scalar;
pub mod structure;
pub mod table;
mod tiles;
mod types;
pub mod words;
mod written;

pub use affine::{Expression, Linear, Map, MapError, NoValue};
pub use element::{Element, Format};
pub use scalar::{
    Cast, FloatBinary, FloatTest, FloatUnary, IntegerBinary, IntegerUnary, Numbers, Order, Scalar,
};
pub use structure::{ends_block, may_end_block};
pub use table::{Meaning, meaning};
pub use tiles::Tiles;
pub use types::{Access, TensorType, Type};

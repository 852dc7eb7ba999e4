//! Evaluating a function: one operation after the other, each from its definition.
//!
//! - `budget`: how much work is allowed
//! - `indices`: walks over shapes
//! - `callable`: regions that are called with numbers
//! - `strided`: elements at equal distances
//! - `contraction`: products that are added up
//! - `generic`: loop nests over elements
//! - `rounds`: all rounds of such a nest
//! - `shares`: such a nest on several threads
//! - `slices`: parts of tensors, other shapes
//! - `packing`: tensors as tiles
//! - `extensions`: operations of IREE
//! - `attention`: one of them
//! - `fft`: stages of Fourier transforms
//! - `walk`: functions, blocks, scalars, loops
//! - `regions`: regions that are called for each index
//! - `origins`: which elements of parameters an element is made of

mod attention;
mod budget;
mod callable;
mod contraction;
mod extensions;
mod fft;
mod generic;
mod indices;
mod origins;
mod packing;
mod regions;
mod rounds;
mod shares;
mod slices;
mod strided;
mod walk;

pub(crate) use budget::Budget;
pub(crate) use generic::Reduced;
pub(crate) use origins::Origins;
pub use origins::Term;
pub(crate) use walk::{BoundTensor, Evaluator};

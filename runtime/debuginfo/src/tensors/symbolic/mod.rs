//! Tensors as functions of their indices, and when two of them are equal.
//!
//! - [`index`]: index arithmetic
//! - [`reshape`]: the indices of a tensor with another shape
//! - [`terms`]: scalars and tensors
//! - [`maps`]: affine maps, types and numbers, from their text
//! - [`build`], [`elementwise`], [`shapes`], [`concatenation`], [`loops`], [`quantized`],
//!   [`attention`]: terms of operations
//! - [`equal`]: when two terms are equal
//!
//! Terms are equal if their normal forms are; there is no e-graph. One was tried: egg 0.10 with the
//! rules of integer arithmetic and bounds as its analysis, on the index of one dimension that a
//! linear index is divided into again. It finds equal terms in 6 ms (six dimensions, 739 nodes).
//! But of a model nearly all pairs of terms are unequal, and there it has no end: three dimensions
//! take 3.2 million nodes and 49 s without an answer. Normal forms that differ are the answer.

mod attention;
pub(crate) mod build;
mod concatenation;
mod elementwise;
pub(crate) mod equal;
pub(crate) mod index;
mod loops;
pub(crate) mod maps;
mod quantized;
pub(crate) mod reshape;
pub(crate) mod shapes;
pub(crate) mod terms;

//! Tensors as functions of their indices, and when two of them are equal.
//!
//! - [`index`]: index arithmetic
//! - [`reshape`]: the indices of a tensor with another shape
//! - [`terms`]: scalars and tensors
//! - [`maps`]: affine maps, types and numbers, from their text
//! - [`build`], [`elementwise`], [`shapes`], [`concatenation`], [`loops`], [`quantized`],
//!   [`attention`]: terms of operations
//! - [`equal`]: when two terms are equal

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

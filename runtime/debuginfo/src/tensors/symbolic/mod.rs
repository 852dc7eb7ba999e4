//! Tensors as functions of their indices, and when two of them are equal.
//!
//! - [`index`]: index arithmetic
//! - [`terms`]: scalars and tensors
//! - [`maps`]: affine maps, types and numbers, from their text
//! - [`build`], [`shapes`], [`loops`]: terms of operations
//! - [`equal`]: when two terms are equal

pub(crate) mod build;
pub(crate) mod equal;
pub(crate) mod index;
mod loops;
pub(crate) mod maps;
pub(crate) mod shapes;
pub(crate) mod terms;

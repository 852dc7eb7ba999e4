//! The `vmvx` module: microkernels that bytecode dispatches call for their inner loops.
//!
//! Names and signatures are IREE's. Operands are planes of guest memory, checked once against their
//! buffers (`plane`); the kernels then run over them: `elementwise`, `matrix` (products of packed
//! matrices) and `pack` (to tiles and back).
//!
//! All of this is also what a program of the execution model `inline-static` finds under the name
//! `vmvx` when its dispatches were compiled into it.

mod elementwise;
mod matrix;
mod module;
mod pack;
mod plane;

pub(crate) use module::{NAME, module};

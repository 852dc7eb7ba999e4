//! The `vmvx` module: microkernels that bytecode dispatches call for their inner loops.
//!
//! Names and signatures are IREE's. Operands are planes of guest memory, which are checked against
//! their buffers once (`plane`). The kernels run over them: `elementwise`, `matrix` (products of
//! packed matrices) and `pack` (to tiles and back).
//!
//! Programs of the execution model `inline-static`, whose dispatches are compiled into the program,
//! import the same module. It uses only the VM: no other room of this crate.

mod elementwise;
mod matrix;
mod module;
mod pack;
mod plane;

pub(crate) use module::{NAME, module};

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
mod pack;
mod plane;

use vm::NativeModule;

/// The name that programs import from.
pub const NAME: &str = "vmvx";

/// The module.
#[must_use]
pub fn module() -> NativeModule {
    let builder = elementwise::declare(NativeModule::builder(NAME));
    let builder = matrix::declare(builder);
    pack::declare(builder).build()
}

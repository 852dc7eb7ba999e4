//! The debug companion: the VM program as iree-compile prints it instead of bytecode.
//!
//! The compilation that writes a module can also print the VM program exactly as it is serialised
//! (`--iree-vm-bytecode-module-output-format=annotated-mlir-text --mlir-print-debuginfo`): every
//! function in the order of its ordinal, every operation with its location, the names and types of
//! its results, the registers that it reads and writes, and the names that are alive while it runs.
//! That is the complete debug information of a module; since compiler 3.11, the debug database
//! covers only a single function.
//!
//! ```text
//! vm.module public @demo {
//!   vm.rodata private @weights dense<"0x…"> : tensor<…> loc(…)          skipped, however long
//!   vm.func private @sum(%arg0: i32 loc("a.mlir":14:3)) -> i32 {        a function
//!     %0 = vm.add.i32 %arg0, %arg0 {live = ["%0", "%arg0"],             an operation, one instruction
//!          operand_registers = ["i0", "i0"], result_registers = ["i1"]} : i32 loc("a.mlir":15:8)
//!     vm.br ^bb1(%0 : i32) {…, remap_registers = [["i1->i0"]]} loc(…)
//!   ^bb1(%1: i32 loc(…)):                                               named %bb1_arg0 in `live`
//! ```
//!
//!
//! The text is read in one pass. Nothing here knows a module's bytecode; [`crate::alignment`]
//! decides whether the text belongs to a given module.
//!
//! - [`model`]: the contents, as data
//! - [`liveness`]: which values are alive during an operation
//! - [`operation_reader`], [`function_reader`], [`module_reader`]: the levels of the text
//! - [`file`](mod@file): reading a [`Companion`] from its text, or from a debug file
//! - [`listing`]: the text without annotations, for people to read

mod file;
mod function_reader;
mod listing;
mod liveness;
mod model;
mod module_reader;
mod operation_reader;
#[cfg(test)]
mod tests;

pub use file::CompanionLoadError;
pub use listing::CompanionText;
pub(crate) use listing::Listing;
pub use model::{Companion, CompanionGlobal, NestedText};
pub(crate) use model::{CompanionFunction, Definition, Operation, Value};

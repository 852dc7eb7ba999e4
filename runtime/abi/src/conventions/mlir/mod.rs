//! MLIR's function types as text and after the conversion to LLVM: the calling convention of `func`
//! and `memref`.
//!
//! - [`types`]: types in and out. [`function`]: whole declarations, `func.func @f(%a: i32) -> f32`.
//! - [`lowering`]: the expanded LLVM signature, the C interface, bare pointers.
//! - [`descriptor`]: memref descriptors in memory.

mod affine;
pub mod descriptor;
pub mod function;
pub mod llvm;
pub mod lowering;
pub mod types;

//! Libraries that MLIR compiled: functions over memrefs, called by their C interface or with bare
//! pointers.
//!
//! A library does not say what its functions take, so their MLIR text comes with it: `lib.mlir`
//! beside `lib.so`, or given by the user. Each function that the text declares and for which the
//! library has `_mlir_ciface_<name>` becomes a function of a native module, with buffer views for
//! memrefs:
//!
//! ```text
//! buffer view ─► descriptor that shares its memory ─► _mlir_ciface_f(result*, descriptor*…, …)
//! descriptor that the callee writes ─► its elements, gathered into a dense buffer view; then freed
//! ```
//!
//! A callee may write into the memory of its arguments; memory that may not be written is copied
//! first. The caller owns a returned memref: it is freed, unless it lies in an argument or is a
//! constant of the library.
//!
//! A declaration with the attribute `llvm.bareptr` is for a function that takes and returns plain
//! pointers to dense elements, under its own name. The elements at a returned pointer are copied
//! and never freed: nothing distinguishes constants from allocated memory.

mod convert;
mod declarations;
mod error;
mod function;
mod library;
mod memory;

pub use error::LibraryError;
pub use library::Library;

//! TVM FFI: packed functions, both ways.
//!
//! ```text
//! program ── import `lib.f` ──► library: values become tagged ones, `__tvm_ffi_f` is called   (a NativeLibrary)
//! Python  ── function object ─► export:  tagged values become VM values, the program runs     (used by the cdylib)
//! ```
//!
//! - [`core`]: the runtime library `libtvm_ffi`, found at run time; nothing links it.
//! - [`object`]: counted objects and what is in them; tensors lent in both directions.
//! - [`value`]: tagged values and VM values.
//! - [`library`]: a library of packed functions as a module. [`export`]: a function of a program as
//!   a packed function.
//!
//! Tensors are shared, not copied, wherever their memory allows it: dense, on the CPU, and aligned
//! as machine code of the program wants it.

mod core;
mod error;
mod export;
mod library;
mod object;
mod value;

pub use core::Core;
pub use error::FfiError;
pub use export::{Program, packed, string_argument, string_result};
pub(crate) use library::{Library, has_packed_functions};

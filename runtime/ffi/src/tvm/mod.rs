//! TVM FFI: packed functions, both ways.
//!
//! ```text
//! program ── import `lib.f` ──► library: values become tagged values, `__tvm_ffi_f` is called
//! Python  ── function object ─► export:  tagged values become VM values, the program runs
//! ```
//!
//! - `core`: the runtime library `libtvm_ffi`, which is found at run time and never linked.
//! - `strided`: elements that do not lie side by side, copied.
//! - `lenders`: tensors of a call in the caller's memory, and what comes back to it.
//! - `signals`: calls that end when the caller's process is interrupted.
//! - `object`: reference-counted objects and their contents; tensors lent in both directions.
//! - `value`: conversions between tagged values and VM values. `spread`: structured calls of raw
//!   functions.
//! - `library`: a library of packed functions as a module. `callables`: function objects, such as
//!   those of Python, as a module. `export`: a function of a program as a packed function.
//!
//! Tensors are shared, not copied, if their memory allows it: it must be dense, on the CPU, aligned
//! as the program's machine code expects, and no other argument's. What a function leaves in an
//! argument (`iree.abi.output`) is in the caller's memory after the call either way; after a call
//! that fails, what is there is not defined.

mod callables;
mod core;
mod error;
mod export;
mod lenders;
mod library;
mod object;
mod signals;
mod spread;
mod strided;
mod value;

pub use core::Core;
pub use error::FfiError;
pub use export::{Program, packed, string_argument, string_result};
pub(crate) use library::{Library, has_packed_functions};

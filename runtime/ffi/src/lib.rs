//! Native libraries as modules: their functions satisfy imports of programs, and can be called by
//! themselves.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `call` | calls of any C function of integers and floats |
//! | `shared_library` | loading shared libraries |
//! | `guarded` | calls that survive a fault |
//! | `memref` | functions that MLIR compiled, by their C interface |
//! | `tvm` | packed functions of TVM FFI libraries; values across that boundary, both ways |
//! | `open` | opening a library by the convention that it follows |
//!
//! A room uses only rooms above it in this table.
//!
//! Running a native library is running its code with all rights of the process: whoever loads one
//! was asked by the user. Unsafe code is in `call`, in `shared_library`, in `guarded`, in
//! `memref::memory` (`memref::convert` says why it may call it), in `tvm::core` and in
//! `tvm::object`, each with its argument.

mod call;
mod guarded;
pub mod memref;
mod open;
mod shared_library;
pub mod tvm;

pub use guarded::catch_faults;
pub use open::{is_library, open};

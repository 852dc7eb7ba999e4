//! Native libraries as modules: their functions satisfy imports of programs.
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
//! A native library runs with all rights of the process, so one is loaded only if the user asks for
//! it. Unsafe code is in `call`, `shared_library`, `guarded`, `memref::memory` (which
//! `memref::convert` calls), and in `tvm`.

mod call;
mod guarded;
pub mod memref;
mod open;
mod shared_library;
pub mod tvm;

pub use guarded::catch_faults;
pub use open::{OpenError, is_library, open};

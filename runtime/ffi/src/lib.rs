//! Native libraries as modules: their functions satisfy imports of programs, and can be called by
//! themselves.
//!
//! - [`memref`]: functions that MLIR compiled, by their C interface.
//! - [`tvm`]: packed functions of TVM FFI libraries; values across that boundary, both ways.
//! - `call`: any C function of integers and floats.
//! - `guarded`: calls that survive a fault.
//!
//! Running a native library is running its code with all rights of the process: whoever loads one
//! was asked by the user. Unsafe code is in `call`, in `guarded`, in `memref::memory`
//! (`memref::convert` says why it may call it), in `tvm::core` and in `tvm::object`, each with its
//! argument.

use std::path::Path;
use std::sync::Arc;

use hal::NativeLibrary;

mod call;
mod guarded;
pub mod memref;
pub mod tvm;

pub use guarded::catch_faults;

/// Whether a file is a native library, by its name.
#[must_use]
pub fn is_library(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| matches!(extension.to_str(), Some("so" | "dylib" | "dll")))
}

/// Loads a library, by the convention that it follows. `signatures` are declarations of its
/// functions, if they do not lie beside it.
///
/// # Errors
/// It cannot be loaded, or nothing says what its functions take.
pub fn open(path: &Path, signatures: &[String]) -> Result<Arc<dyn NativeLibrary>, String> {
    if tvm::library::has_packed_functions(path) {
        let library = tvm::library::Library::open(path);
        return Ok(Arc::new(library.map_err(|error| format!("{}: {error}", path.display()))?));
    }
    Ok(Arc::new(memref::Library::open(path, signatures).map_err(|error| error.to_string())?))
}

//! Opening a library by the convention that it follows.

use std::path::Path;
use std::sync::Arc;

use hal::NativeLibrary;

use crate::{memref, tvm};

/// Whether a file is a native library, by its extension.
#[must_use]
pub fn is_library(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| matches!(extension.to_str(), Some("so" | "dylib" | "dll")))
}

/// Loads a library by the convention that it follows. `signatures` declare its functions, instead
/// of a file beside it.
///
/// # Errors
/// It cannot be loaded, or nothing says what its functions take.
pub fn open(path: &Path, signatures: &[String]) -> Result<Arc<dyn NativeLibrary>, String> {
    if tvm::has_packed_functions(path) {
        let library = tvm::Library::open(path, signatures);
        return Ok(Arc::new(library.map_err(|error| format!("{}: {error}", path.display()))?));
    }
    Ok(Arc::new(memref::Library::open(path, signatures).map_err(|error| error.to_string())?))
}

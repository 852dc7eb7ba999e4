//! Opening a library by the convention that it follows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hal::NativeLibrary;

use crate::{memref, tvm};

/// Why a library cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It has packed functions, and they or TVM FFI cannot be used.
    #[error("{}: {source}", path.display())]
    Tvm {
        /// The library.
        path: PathBuf,
        /// Why not.
        source: tvm::FfiError,
    },
    /// It has none, and what MLIR compiled cannot be used.
    #[error(transparent)]
    Mlir(#[from] memref::LibraryError),
}

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
/// [`OpenError`]: it cannot be loaded, or nothing says what its functions take.
pub fn open(path: &Path, signatures: &[String]) -> Result<Arc<dyn NativeLibrary>, OpenError> {
    if tvm::has_packed_functions(path) {
        let library = tvm::Library::open(path, signatures);
        let failed = |source| OpenError::Tvm { path: path.to_owned(), source };
        return Ok(Arc::new(library.map_err(failed)?));
    }
    Ok(Arc::new(memref::Library::open(path, signatures)?))
}

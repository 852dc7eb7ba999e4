//! Loading shared libraries.
//!
//! # Soundness
//!
//! Loading runs the library's constructors, with all rights of this process. Only libraries that
//! the user names are loaded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why the system does not load a library.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}")]
pub struct LoadError {
    path: PathBuf,
    source: libloading::Error,
}

/// Loads a library, which runs its constructors.
pub(crate) fn load(path: &Path) -> Result<Arc<libloading::Library>, LoadError> {
    // SAFETY: the user asked for the library to run; see the top of the file.
    let loaded = unsafe { libloading::Library::new(as_path(path)) };
    loaded.map(Arc::new).map_err(|source| LoadError { path: path.to_owned(), source })
}

/// The path with a slash in it: a bare name would be searched for in the system's folders.
fn as_path(path: &Path) -> std::path::PathBuf {
    if path.is_absolute() { path.to_owned() } else { Path::new(".").join(path) }
}

/// The name of a library's module: `foo` for `libfoo.so`.
pub(crate) fn module_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.strip_prefix("lib").unwrap_or(&stem).to_owned()
}

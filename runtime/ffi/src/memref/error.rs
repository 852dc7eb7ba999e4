//! Why a library of MLIR cannot be used.

use std::path::PathBuf;

use crate::shared_library::LoadError;

/// Why a library cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The system does not load it.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Nothing says what its functions take.
    #[error(
        "{library}: nothing says what its functions take; put their MLIR text beside it as {expected}, or give --signature='func.func @f(memref<?xf32>) -> f32'"
    )]
    NoSignatures {
        /// The library.
        library: PathBuf,
        /// Where the text is expected.
        expected: PathBuf,
    },
    /// The text cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// A declaration is wrong, and does not name its function.
    #[error("{place}: {reason}")]
    Declaration {
        /// The file and the line, or the option.
        place: String,
        /// The mistake.
        reason: String,
    },
    /// A function cannot be passed through the VM.
    #[error("@{name}: {reason}")]
    Function {
        /// Its name.
        name: String,
        /// The reason.
        reason: String,
    },
    /// The library has none of the declared functions.
    #[error(
        "{0}: it has none of the functions that its text declares by a C interface; compile them with the attribute llvm.emit_c_interface (or mlir-opt --llvm-request-c-wrappers), or declare them with the attribute llvm.bareptr if their memrefs are bare pointers"
    )]
    NoFunctions(PathBuf),
}

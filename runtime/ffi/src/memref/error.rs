//! Why a library of MLIR cannot be used.

use std::path::PathBuf;

use abi::mlir::descriptor::DescriptorError;
use abi::signature::Unrepresentable;

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

/// Why a value does not pass between the VM and native code.
#[derive(Debug, thiserror::Error)]
pub(super) enum PassError {
    #[error(
        "several results beside bare pointers are returned as LLVM does it, which C cannot call; \
         use the C interface"
    )]
    SeveralBareResults,
    #[error("{0} is not in the memory of the host")]
    OtherMemory(String),
    #[error("values of type {0} cannot be passed to native code")]
    Type(String),
    #[error("it takes more arguments than can be passed on this platform")]
    TooManyArguments,
    #[error("native functions are called on Linux and macOS, on x86-64 and 64-bit Arm, only")]
    Platform,
    /// The function has no form in LLVM, or none in the VM.
    #[error(transparent)]
    NoForm(#[from] Unrepresentable),
    #[error("elements of type {0} have no form in buffer views")]
    Elements(String),
    #[error("elements of type {0} share bytes in buffer views, but not in memrefs")]
    Packed(String),
    #[error("expected {expected}, got {found}")]
    Expected { expected: String, found: String },
    #[error("expected {0}, but buffer views are dense")]
    NotDense(String),
    #[error("its elements cannot be counted")]
    Uncountable,
    #[error("a dimension does not fit 63 bits")]
    Dimension,
    /// The memory of a buffer view cannot be had.
    #[error(transparent)]
    Memory(#[from] vm::Status),
    /// The library returned no descriptor.
    #[error(transparent)]
    Descriptor(#[from] DescriptorError),
    #[error("a result of {0} elements cannot be believed")]
    Implausible(usize),
}

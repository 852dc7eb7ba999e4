//! A function of a library: its types, and the address of its code.

use abi::cconv::Signature;
use abi::mlir::lowering::Lowered;
use abi::signature::Function;

use super::memory::CodeAddress;

/// How a function takes its memrefs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `_mlir_ciface_f`: pointers to descriptors.
    Descriptors,
    /// `f`: pointers to elements.
    BarePointers,
}

/// A function of a library.
#[derive(Debug)]
pub(super) struct LibraryFunction {
    /// Its name.
    pub(super) name: String,
    /// Its arguments and results.
    pub(super) function: Function,
    /// Its calling convention in the VM.
    pub(super) signature: Signature,
    pub(super) lowered: Lowered,
    pub(super) form: Form,
    pub(super) address: CodeAddress,
}

//! The signatures of what a module can call, each parsed once.

use abi::cconv::{CconvError, Signature};

use crate::module::{FunctionSignature, Module};
use crate::ordinals::Callee;

/// A calling convention that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("calling convention {text:?}: {source}")]
pub(super) struct MalformedConvention {
    text: String,
    source: CconvError,
}

/// The signature of a function or import; `None` without a calling convention.
pub(super) fn signature_of(
    signature: &FunctionSignature,
) -> Result<Option<Signature>, MalformedConvention> {
    match signature.calling_convention.as_deref() {
        None | Some("") => Ok(None),
        Some(text) => Signature::parse(text)
            .map(Some)
            .map_err(|source| MalformedConvention { text: text.to_owned(), source }),
    }
}

/// The signatures of functions and imports, each parsed once; `None` for malformed ones.
pub(super) struct Signatures {
    functions: Vec<Option<Option<Signature>>>,
    imports: Vec<Option<Option<Signature>>>,
}

impl Signatures {
    pub(super) fn of(module: &Module) -> Self {
        let parse = |signature: &FunctionSignature| signature_of(signature).ok();
        Self {
            functions: module.functions().iter().map(|it| parse(&it.signature)).collect(),
            imports: module.imports().iter().map(|it| parse(&it.signature)).collect(),
        }
    }

    /// The signature of a callee that exists and has a sound signature.
    pub(super) fn of_callee(&self, callee: Callee) -> Option<Option<&Signature>> {
        let found = match callee {
            Callee::Internal(ordinal) => self.functions.get(ordinal.index()),
            Callee::Import(ordinal) => self.imports.get(ordinal.index()),
        };
        found?.as_ref().map(Option::as_ref)
    }
}

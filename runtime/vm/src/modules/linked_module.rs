//! Linked modules: their functions, types and resolved imports.

use std::sync::Arc;

use abi::cconv::Signature;
use vmfb::{FunctionOrdinal, Module};

use crate::native::NativeModule;
use crate::objects::{Ref, Type};

/// A module in its context.
#[derive(Debug)]
pub(crate) struct LinkedModule {
    pub(crate) name: String,
    pub(crate) kind: LinkedKind,
    /// The object that an attached module was loaded from; `None` for modules linked from the
    /// start. Only the module that attached it can use an attached module.
    pub(crate) attached_from: Option<Ref>,
}

#[derive(Debug)]
pub(crate) enum LinkedKind {
    Bytecode {
        module: Arc<Module>,
        /// Where its functions start in the context's table.
        first_function: u32,
        types: Box<[Type]>,
        /// One per function; `None` without a calling convention.
        signatures: Box<[Option<Signature>]>,
        imports: Box<[Target]>,
        /// A buffer for each rodata segment.
        rodata: Box<[Ref]>,
    },
    Native(NativeModule),
}

impl LinkedModule {
    /// The type table; empty for native modules.
    pub(crate) fn types(&self) -> &[Type] {
        match &self.kind {
            LinkedKind::Bytecode { types, .. } => types,
            LinkedKind::Native(_) => &[],
        }
    }

    /// A function's signature, if it has a calling convention.
    pub(crate) fn signature(&self, function: FunctionOrdinal) -> Option<&Signature> {
        match &self.kind {
            LinkedKind::Bytecode { signatures, .. } => signatures.get(function.index())?.as_ref(),
            LinkedKind::Native(module) => {
                module.functions.get(function.index()).map(|native| &native.signature)
            }
        }
    }

    /// The rodata; empty for native modules.
    pub(crate) fn rodata(&self) -> &[Ref] {
        match &self.kind {
            LinkedKind::Bytecode { rodata, .. } => rodata,
            LinkedKind::Native(_) => &[],
        }
    }
}

/// What a call leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// A bytecode function, by its index in the context.
    Bytecode(u32),
    /// A native function: module and function.
    Native(u32, u32),
    /// An optional import that no module provides.
    Missing(u32),
}

impl LinkedModule {
    pub(crate) fn version(&self) -> u32 {
        match &self.kind {
            LinkedKind::Bytecode { module, .. } => module.version(),
            LinkedKind::Native(module) => module.version(),
        }
    }

    /// The exported function with this name and signature.
    pub(crate) fn target(&self, index: u32, name: &str, signature: &Signature) -> Option<Target> {
        match &self.kind {
            LinkedKind::Bytecode { module, first_function, signatures, .. } => {
                let (_, export) = module.export_named(name)?;
                let found = signatures.get(export.function.index())?.as_ref();
                let fits =
                    found.map_or(*signature == Signature::default(), |found| found == signature);
                fits.then_some(Target::Bytecode(first_function + export.function.0))
            }
            LinkedKind::Native(module) => {
                let mut functions = module.functions.iter();
                let found = functions.position(|function| {
                    function.name == name && function.signature == *signature
                })?;
                Some(Target::Native(index, found as u32))
            }
        }
    }

    /// The calling conventions of the functions with this name.
    pub(crate) fn calling_conventions(&self, name: &str) -> Vec<String> {
        match &self.kind {
            LinkedKind::Bytecode { module, .. } => module
                .export_named(name)
                .and_then(|(_, export)| module.function(export.function))
                .map(|function| function.signature.calling_convention.clone().unwrap_or_default())
                .into_iter()
                .collect(),
            LinkedKind::Native(module) => module
                .functions
                .iter()
                .filter(|function| function.name == name)
                .map(|function| function.calling_convention.clone())
                .collect(),
        }
    }

    /// An exported function by its name alone, for callers outside the program.
    pub(crate) fn export_named(&self, name: &str) -> Option<FunctionOrdinal> {
        match &self.kind {
            LinkedKind::Bytecode { module, .. } => {
                module.export_named(name).map(|(_, export)| export.function)
            }
            LinkedKind::Native(module) => module
                .functions
                .iter()
                .position(|function| function.name == name)
                .map(FunctionOrdinal::from_index),
        }
    }
}

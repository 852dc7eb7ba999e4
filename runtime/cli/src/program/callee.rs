//! The exports of a module that can be called without being named: what `bench` measures.

use vmfb::{Export, Module};

use crate::modules::is_for_users;

/// How a function is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CalleeKind {
    /// At once.
    Call,
    /// With fences that it waits for and signals.
    Fenced,
    /// With the number of times that it dispatches: what the compiler's
    /// `--iree-hal-dump-executable-benchmarks-to` makes.
    Dispatch,
}

/// A function that can be called without being named.
#[derive(Clone, Debug)]
pub(crate) struct Callee {
    pub(crate) name: String,
    pub(crate) kind: CalleeKind,
    /// Nothing for the function that the program is aimed at already.
    pub(super) export: Option<Export>,
}

impl Callee {
    /// The exports of a module that need no arguments of the user.
    pub(super) fn of_module(module: &Module) -> Vec<Self> {
        module.exports().iter().filter_map(|export| Self::of_export(module, export)).collect()
    }

    fn of_export(module: &Module, export: &Export) -> Option<Self> {
        let kind = kind(module, export);
        let is_marked = attribute(module, export, "iree.benchmark")
            .is_some_and(|value| matches!(value, "dispatch" | "entry"));
        let arguments = argument_count(module, export)?;
        let wanted = match kind {
            CalleeKind::Call => 0,
            CalleeKind::Fenced => 2,
            CalleeKind::Dispatch => 1,
        };
        let is_callable = arguments == wanted && (is_marked || is_for_users(&export.name));
        is_callable.then(|| Self { name: export.name.clone(), kind, export: Some(export.clone()) })
    }
}

/// How an export is called.
pub(super) fn kind(module: &Module, export: &Export) -> CalleeKind {
    match attribute(module, export, "iree.benchmark") {
        Some("dispatch") => CalleeKind::Dispatch,
        _ if attribute(module, export, "iree.abi.model") == Some("coarse-fences") => {
            CalleeKind::Fenced
        }
        _ => CalleeKind::Call,
    }
}

fn attribute<'m>(module: &'m Module, export: &Export, key: &str) -> Option<&'m str> {
    let attributes = &module.function(export.function)?.signature.attributes;
    let found = attributes.iter().find(|attribute| attribute.key == key);
    found.map(|attribute| attribute.value.as_str())
}

fn argument_count(module: &Module, export: &Export) -> Option<usize> {
    let text = module.function(export.function)?.signature.calling_convention.as_deref()?;
    abi::cconv::Signature::parse(text).ok().map(|signature| signature.arguments.len())
}

//! The functions that hosts can call: those of a text, and those of a compiled module.

use std::path::Path;

use syntax::{ChunkKind, OpClass, Placed, Symbol, TextRange};

use super::call_hierarchy::Callable;
use crate::Document;
use crate::modules::read_module;
use crate::resolve::{exported_function, is_vm_export};
use crate::text::function_range;

/// A function that hosts can call, with what they have to know before they call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The name by which it is called.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// The places in a text that are about it, the whole function among them; none in a module.
    pub ranges: Vec<TextRange>,
}

/// An argument of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Its name without a sigil, if it has one.
    pub name: Option<String>,
    /// Its type as written, `tensor<4xf32>`.
    pub ty: String,
}

/// The functions that can be called from outside, at most `limit`, with the places of their names.
pub fn exported_functions(document: &Document, limit: usize) -> Vec<Callable> {
    found(document, limit).into_iter().map(|(symbol, _)| symbol.into()).collect()
}

/// The functions that can be called from outside, at most `limit`, with their arguments.
pub fn exports(document: &Document, limit: usize) -> Vec<Export> {
    let found = found(document, limit);
    found.into_iter().map(|(symbol, placed)| export(document, symbol, &placed)).collect()
}

fn export(document: &Document, symbol: Symbol, placed: &Placed) -> Export {
    let target = exported_function(document, &symbol, placed.op_start()).map(|it| it.symbol);
    let mut ranges = vec![symbol.range.clone()];
    ranges.extend(target.as_ref().map(|target| target.range.clone()));
    let of = target.as_ref().unwrap_or(&symbol);
    let arguments = of.function_type.iter().flat_map(|ty| &ty.parameters);
    let argument = |slot: &syntax::Slot| Argument { name: slot.name.clone(), ty: slot.ty.clone() };
    Export { arguments: arguments.map(argument).collect(), ranges, name: symbol.name }
}

/// The exports of a compiled module, without `f$async`, which is `f` for callers with fences.
///
/// # Errors
/// [`vmfb::LoadError`]: the file is no module.
pub fn module_exports(path: &Path) -> Result<Vec<Export>, vmfb::LoadError> {
    let module = read_module(path)?;
    let is_twin = |name: &str| {
        name.strip_suffix("$async")
            .is_some_and(|name| module.exports.iter().any(|it| it.name == name))
    };
    let exports = module.exports.iter().filter(|function| !is_twin(&function.name));
    let arguments = |function: &crate::modules::CompiledFunction| {
        let attributes: Vec<(&str, &str)> =
            function.attributes.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let named =
            abi::explain::argument_names(function.calling_convention.as_deref(), &attributes);
        named.into_iter().map(|it| Argument { name: Some(it.name), ty: it.type_name }).collect()
    };
    let export = |function: &crate::modules::CompiledFunction| Export {
        name: function.name.clone(),
        arguments: arguments(function),
        ranges: Vec::new(),
    };
    Ok(exports.map(export).collect())
}

fn found(document: &Document, limit: usize) -> Vec<(Symbol, Placed)> {
    let mut found = Vec::new();
    for placed in document.chunks().iter() {
        if found.len() >= limit {
            break;
        }
        let is_function = placed.chunk.class == OpClass::Function
            && matches!(placed.chunk.kind, ChunkKind::Item | ChunkKind::Open);
        // Functions inside executables are not the module's.
        let inside = placed.chunk.nesting() > 1;
        if !is_function || inside {
            continue;
        }
        let Some(symbol) = Symbol::read(document.text(), &placed) else { continue };
        let has_body =
            (placed.chunk.head as usize) < placed.chunk.len || placed.chunk.kind == ChunkKind::Open;
        // A `util.func` must say `public`; a `func.func` is public unless it says otherwise.
        let is_export = match symbol.op.as_str() {
            "util.func" => symbol.visibility == Some(syntax::Visibility::Public),
            "func.func" | "func" => symbol.is_public(),
            _ => false,
        };
        if is_export && has_body {
            found.push((symbol, placed));
        }
    }
    if document.language() == syntax::Language::Vmasm || found.is_empty() {
        found.extend(vm_exports(document, limit));
    }
    found
}

/// All functions of a document, also those that only it can call.
pub fn callables(document: &Document) -> impl Iterator<Item = Callable> + '_ {
    let chunks = document.chunks().iter();
    let functions = chunks.filter(|placed| placed.chunk.class == OpClass::Function);
    functions.filter_map(|placed| {
        let mut found = Callable::from(Symbol::read(document.text(), &placed)?);
        if placed.chunk.is_long_function() {
            found.range.end = function_range(document, &placed).end;
        }
        Some(found)
    })
}

fn vm_exports(document: &Document, limit: usize) -> Vec<(Symbol, Placed)> {
    let exports = document.chunks().iter().filter(|placed| placed.chunk.class == OpClass::Export);
    exports
        .filter_map(|placed| Some((Symbol::read(document.text(), &placed)?, placed)))
        .filter(|(symbol, _)| is_vm_export(symbol))
        .take(limit)
        .collect()
}

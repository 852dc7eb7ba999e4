//! The functions of a document that hosts can call.

use syntax::{ChunkKind, OpClass, Symbol};

use super::call_hierarchy::Callable;
use crate::Document;
use crate::resolve::is_vm_export;

/// The functions that can be called from outside, at most `limit`, with the places of their names.
pub fn exported_functions(document: &Document, limit: usize) -> Vec<Callable> {
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
            found.push(symbol.into());
        }
    }
    if document.language() == syntax::Language::Vmasm || found.is_empty() {
        found.extend(vm_exports(document, limit));
    }
    found
}

fn vm_exports(document: &Document, limit: usize) -> Vec<Callable> {
    let exports = document.chunks().iter().filter(|placed| placed.chunk.class == OpClass::Export);
    exports
        .filter_map(|placed| Symbol::read(document.text(), &placed))
        .filter(is_vm_export)
        .take(limit)
        .map(Callable::from)
        .collect()
}

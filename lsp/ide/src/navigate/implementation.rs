//! From a declaration to its definition and back: functions without a body and those with one,
//! imports and exports, in this text and in others.

use syntax::OpClass;

use super::workspace::FileSymbol;
use crate::Document;
use crate::resolve::{
    Entity, SymbolDefinition, entity_at, is_vm_export, resolve_symbol, symbol_at,
};

/// What to look for in all texts of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counterpart {
    name: String,
    is_declared: bool,
    class: OpClass,
    container: Option<String>,
}

/// The counterpart of the function, import or export at `offset`: the definition of a declaration,
/// else the declarations of a definition.
pub fn counterpart(document: &Document, offset: usize) -> Option<Counterpart> {
    if let Some(export) = symbol_at(document, offset).filter(|found| is_vm_export(&found.symbol)) {
        return Some(of_export(document, &export));
    }
    let Entity::Symbol(reference) = entity_at(document, offset)?.entity else { return None };
    let found = resolve_symbol(document, &reference, offset)?;
    let here = super::workspace::file_symbol_at(document, &found.placed)?;
    match found.symbol.class {
        OpClass::Function | OpClass::Import => Some(Counterpart {
            name: here.name,
            is_declared: here.is_declaration,
            class: found.symbol.class,
            container: None,
        }),
        _ => None,
    }
}

fn of_export(document: &Document, found: &SymbolDefinition) -> Counterpart {
    let container = document.chunks().ancestors(found.placed.index).into_iter().rev();
    let mut names = container.filter_map(|open| syntax::Symbol::read(document.text(), &open));
    Counterpart {
        name: found.symbol.name.clone(),
        is_declared: false,
        class: OpClass::Export,
        container: names.next().map(|symbol| symbol.name),
    }
}

impl Counterpart {
    /// Whether a symbol is what is looked for.
    pub fn is(&self, symbol: &FileSymbol) -> bool {
        match (self.class, symbol.class) {
            // `vm.import @module.function` is `vm.export @function` of `vm.module @module`.
            (OpClass::Import, OpClass::Export) => {
                let (module, function) = self.name.split_once('.').unwrap_or(("", &self.name));
                symbol.name == function && symbol.container.as_deref() == Some(module)
            }
            (OpClass::Export, OpClass::Import) => {
                let container = self.container.as_deref().unwrap_or_default();
                symbol.name == format!("{container}.{}", self.name)
            }
            (OpClass::Function, OpClass::Function) => {
                symbol.name == self.name && symbol.is_declaration != self.is_declared
            }
            _ => false,
        }
    }
}

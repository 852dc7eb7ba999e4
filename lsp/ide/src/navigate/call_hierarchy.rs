//! The call hierarchy: callers and callees of a function.

use syntax::{OpClass, Placed, Symbol, TextRange};

use crate::Document;
use crate::resolve::{
    Entity, Named, SymbolDefinition, reference_at, resolve_symbol, symbol_at, usages,
};
use crate::text::chunks_sharing_values;

/// A function in a call hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callable {
    /// Its name.
    pub name: String,
    /// Its operation.
    pub op: String,
    /// Its class.
    pub class: OpClass,
    /// The whole function.
    pub range: TextRange,
    /// The name, sigil included.
    pub selection: TextRange,
}

impl From<Symbol> for Callable {
    fn from(symbol: Symbol) -> Self {
        Self {
            name: symbol.name,
            op: symbol.op,
            class: symbol.class,
            range: symbol.range,
            selection: symbol.name_token,
        }
    }
}

/// A caller or callee, and the places of the calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    /// The function.
    pub function: Callable,
    /// The callee's name in each call.
    pub places: Vec<TextRange>,
}

fn is_callable(class: OpClass) -> bool {
    matches!(class, OpClass::Function | OpClass::Import | OpClass::Export | OpClass::Executable)
}

/// The function that the text at `offset` names, or whose head holds `offset`.
pub fn callable_at(document: &Document, offset: usize) -> Option<Callable> {
    let named = reference_at(document, offset)
        .and_then(|reference| resolve_symbol(document, &reference, offset));
    let found = named.or_else(|| symbol_at(document, offset))?;
    is_callable(found.symbol.class).then(|| found.symbol.into())
}

/// The function whose body holds a chunk.
fn enclosing(document: &Document, placed: &Placed) -> Option<SymbolDefinition> {
    let first = *chunks_sharing_values(document, placed).first()?;
    let symbol = Symbol::read(document.text(), &first)?;
    Some(SymbolDefinition { placed: first, symbol })
}

/// The callers of the function whose name stands at `offset`.
pub fn incoming_calls(document: &Document, offset: usize) -> Vec<Calls> {
    let Some(reference) = reference_at(document, offset) else { return Vec::new() };
    let range = reference.range.clone();
    let named = Named { entity: Entity::Symbol(reference), range };
    let mut callers: Vec<Calls> = Vec::new();
    for usage in usages(document, &named).into_iter().filter(|usage| !usage.is_definition) {
        let Some(placed) = document.chunks().at(usage.range.start) else { continue };
        let Some(caller) = enclosing(document, &placed) else { continue };
        // `vm.export @f` is no call: calls stand in bodies.
        let in_body = usage.range.start >= caller.symbol.head.end;
        if !in_body || caller.symbol.class == OpClass::Export && caller.symbol.op == "vm.export" {
            continue;
        }
        let function = Callable::from(caller.symbol);
        match callers.iter_mut().find(|calls| calls.function.range == function.range) {
            Some(calls) => calls.places.push(usage.range),
            None => callers.push(Calls { function, places: vec![usage.range] }),
        }
    }
    callers
}

/// The callees of the function whose name stands at `offset`.
pub fn outgoing_calls(document: &Document, offset: usize) -> Vec<Calls> {
    let Some(placed) = document.chunks().at(offset) else { return Vec::new() };
    let mut callees: Vec<Calls> = Vec::new();
    for placed in chunks_sharing_values(document, &placed) {
        let analysed = document.analysis(&placed);
        for span in &analysed.analysis.names.symbols {
            let range = analysed.absolute(span);
            if Symbol::read(document.text(), &placed).is_some_and(|own| own.name_token == range) {
                continue;
            }
            let Some(reference) = reference_at(document, range.end) else { continue };
            // In `@executable::@entry` only the entry is called.
            let goes_on = document.text().slice(range.end..range.end + 3) == "::@";
            let Some(target) = resolve_symbol(document, &reference, range.start) else { continue };
            if goes_on || !is_callable(target.symbol.class) {
                continue;
            }
            let function = Callable::from(target.symbol);
            match callees.iter_mut().find(|calls| calls.function.range == function.range) {
                Some(calls) => calls.places.push(range),
                None => callees.push(Calls { function, places: vec![range] }),
            }
        }
    }
    callees
}

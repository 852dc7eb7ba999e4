//! Who calls whom: call hierarchy, and the signature of a call while it is typed.

use syntax::Placed;
use syntax::TokenKind;
use syntax::{ChunkKind, Lexer, OpClass, Symbol, TextRange};

use crate::Document;
use crate::entity::{Entity, Named};
use crate::functions::chunks_of;
use crate::references::{Definition, reference_at, resolve, symbol_at};
use crate::usages::usages;

/// A function in a hierarchy of calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callable {
    /// Its name.
    pub name: String,
    /// Its operation.
    pub op: String,
    /// What it is.
    pub class: OpClass,
    /// All of it.
    pub range: TextRange,
    /// Its name, sigil included.
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

/// A function at the other end of calls, and where they are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    /// The function.
    pub function: Callable,
    /// The names in the calls.
    pub places: Vec<TextRange>,
}

fn is_callable(class: OpClass) -> bool {
    matches!(class, OpClass::Function | OpClass::Import | OpClass::Export | OpClass::Executable)
}

/// The function that `offset` names, or in whose head it is.
pub fn callable_at(document: &Document, offset: usize) -> Option<Callable> {
    let named =
        reference_at(document, offset).and_then(|reference| resolve(document, &reference, offset));
    let found = named.or_else(|| symbol_at(document, offset))?;
    is_callable(found.symbol.class).then(|| found.symbol.into())
}

/// The function whose body holds a chunk.
fn enclosing(document: &Document, placed: &Placed) -> Option<Definition> {
    let first = *chunks_of(document, placed).first()?;
    let symbol = Symbol::read(document.text(), &first)?;
    Some(Definition { placed: first, symbol })
}

/// Who calls the function whose name stands at `offset`.
pub fn incoming(document: &Document, offset: usize) -> Vec<Calls> {
    let Some(reference) = reference_at(document, offset) else { return Vec::new() };
    let range = reference.range.clone();
    let named = Named { entity: Entity::Symbol(reference), range };
    let mut callers: Vec<Calls> = Vec::new();
    for usage in usages(document, &named).into_iter().filter(|usage| !usage.is_definition) {
        let Some(placed) = document.chunks().at(usage.range.start) else { continue };
        let Some(caller) = enclosing(document, &placed) else { continue };
        // `vm.export @f` calls nothing; a call stands in a body.
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

/// Whom the function whose name stands at `offset` calls.
pub fn outgoing(document: &Document, offset: usize) -> Vec<Calls> {
    let Some(placed) = document.chunks().at(offset) else { return Vec::new() };
    let mut callees: Vec<Calls> = Vec::new();
    for placed in chunks_of(document, &placed) {
        let analysed = document.analysis(&placed);
        for span in &analysed.analysis.names.symbols {
            let range = analysed.absolute(span);
            if Symbol::read(document.text(), &placed).is_some_and(|own| own.name_token == range) {
                continue;
            }
            let Some(reference) = reference_at(document, range.end) else { continue };
            // Of `@executable::@entry` the entry is called.
            let goes_on = document.text().slice(range.end..range.end + 3) == "::@";
            let Some(target) = resolve(document, &reference, range.start) else { continue };
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

/// The signature of the call around a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSignature {
    /// `@f(%a: i32, %b: f32) -> i64`.
    pub label: String,
    /// The parameters in the label.
    pub parameters: Vec<TextRange>,
    /// The one that the place is at.
    pub active: usize,
}

/// The signature of the call whose parentheses hold `offset`.
pub fn signature(document: &Document, offset: usize) -> Option<CallSignature> {
    let text = document.text();
    // From the line's start: this works in a text that is being typed.
    let start = crate::references::line_start(text, offset);
    let mut callee = None;
    let mut open: Vec<(Option<TextRange>, usize)> = Vec::new();
    for token in Lexer::new(text, start).take_while(|token| token.range.start < offset) {
        match token.kind {
            TokenKind::Symbol => callee = Some(token.range.clone()),
            // `@f[%n](%a`: sizes before the operands; `@m:3(`: a number.
            TokenKind::Punct(b'(' | b'[' | b'{' | b'<') => {
                open.push((if token.is(b'(') { callee.clone() } else { None }, 0));
            }
            TokenKind::Punct(b')' | b']' | b'}' | b'>') => {
                open.pop();
            }
            TokenKind::Punct(b',') => {
                if let Some((_, commas)) = open.last_mut() {
                    *commas += 1;
                }
            }
            _ => {}
        }
    }
    let (callee, active) =
        open.into_iter().rev().find_map(|(callee, commas)| Some((callee?, commas)))?;
    let reference = reference_at(document, callee.start + 1)?;
    let symbol = resolve(document, &reference, callee.start)?.symbol;
    // In its own declaration there is nothing to be told.
    if symbol.name_token == callee {
        return None;
    }
    let mut label = format!("@{}(", symbol.name);
    let mut parameters = Vec::new();
    let (inputs, outputs) = match (&symbol.function_type, &symbol.calling_convention) {
        (Some(ty), _) => {
            let show = |slots: &[syntax::Slot]| -> Vec<String> {
                slots
                    .iter()
                    .map(|slot| match &slot.name {
                        Some(name) => format!("%{name}: {}", slot.ty),
                        None => slot.ty.clone(),
                    })
                    .collect()
            };
            (show(&ty.parameters), show(&ty.results))
        }
        (None, Some((text, _))) => {
            let signature = abi::cconv::Signature::parse(text).ok()?;
            let show = |values: &[abi::cconv::ValueType]| -> Vec<String> {
                values.iter().map(ToString::to_string).collect()
            };
            (show(&signature.arguments), show(&signature.results))
        }
        (None, None) => return None,
    };
    for (index, input) in inputs.iter().enumerate() {
        if index > 0 {
            label += ", ";
        }
        parameters.push(label.len()..label.len() + input.len());
        label += input;
    }
    label += &format!(") -> ({})", outputs.join(", "));
    Some(CallSignature { label, parameters, active })
}

/// Functions of a document that can be called from outside, with the place of their name.
pub fn exports(document: &Document, limit: usize) -> Vec<Callable> {
    let mut found = Vec::new();
    for placed in document.chunks().iter() {
        if found.len() >= limit {
            break;
        }
        let is_function = placed.chunk.class == OpClass::Function
            && matches!(placed.chunk.kind, ChunkKind::Item | ChunkKind::Open);
        // Functions in executables are not the module's.
        let inside = placed.chunk.nesting() > 1;
        if !is_function || inside {
            continue;
        }
        let Some(symbol) = Symbol::read(document.text(), &placed) else { continue };
        let has_body =
            (placed.chunk.head as usize) < placed.chunk.len || placed.chunk.kind == ChunkKind::Open;
        // util.func must say that it is public; func.func is, unless it says otherwise.
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
        .filter(crate::references::is_vm_export)
        .take(limit)
        .map(Callable::from)
        .collect()
}

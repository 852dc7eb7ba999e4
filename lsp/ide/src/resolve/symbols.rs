//! The symbol that a place in the text names, and its definition.
//!
//! Lookup compares name hashes in the chunk table and reads text only on a match, so it takes
//! microseconds in a file of a hundred thousand functions.

use syntax::{
    ChunkKind, Language, Lexer, OpClass, Placed, Symbol, TextRange, Token, TokenKind, name_hash,
};

use crate::Document;

/// A reference to a symbol: `@a`, `@outer::@inner`, or in `.vmasm` a function by its ordinal,
/// `@module:17`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The names, outermost first. The last one is the symbol.
    pub path: Vec<String>,
    /// In `.vmasm`, the ordinal of a function of the module.
    pub ordinal: Option<usize>,
    /// The name at the place, sigil included.
    pub range: TextRange,
}

impl Reference {
    /// The reference as written: `@outer::@inner`.
    pub(crate) fn shown(&self) -> String {
        self.path.iter().map(|name| format!("@{name}")).collect::<Vec<_>>().join("::")
    }
}

/// A symbol and its chunk.
#[derive(Debug, Clone)]
pub(crate) struct SymbolDefinition {
    /// The chunk.
    pub placed: Placed,
    /// The symbol.
    pub symbol: Symbol,
}

/// The symbol reference at `offset`. It depends only on the text of the line before `offset`, so it
/// works in any broken file.
pub(crate) fn reference_at(document: &Document, offset: usize) -> Option<Reference> {
    let text = document.text();
    let mut path: Vec<Token> = Vec::new();
    let mut tokens = Lexer::new(text, line_start(text, offset))
        .take_while(|token| token.range.start <= offset)
        .peekable();
    let mut last: Option<Token> = None;
    // Reads tokens up to `offset` and remembers the `@a::` just before.
    while let Some(token) = tokens.next() {
        let at_end = tokens.peek().is_none_or(|next| next.range.start > offset);
        match token.kind {
            TokenKind::Symbol => {
                let continues = last
                    .as_ref()
                    .is_some_and(|last| last.is(b':') && last.range.end == token.range.start);
                if !continues {
                    path.clear();
                }
                path.push(token.clone());
            }
            TokenKind::Punct(b':') | TokenKind::Number if !path.is_empty() => {}
            _ if !at_end => path.clear(),
            _ => {}
        }
        last = Some(token);
    }
    let names = |path: &[Token]| path.iter().map(|token| token.name(text)).collect::<Vec<_>>();
    // On the name, on the `:17` of `@module:17`, or right after either.
    let symbol = path.last()?;
    let ordinal = ordinal_after(document, symbol);
    let end = ordinal.map_or(symbol.range.end, |(_, end)| end);
    let ordinal = ordinal.map(|(ordinal, _)| ordinal);
    (offset <= end).then(|| Reference {
        path: names(&path),
        ordinal,
        range: symbol.range.start..end,
    })
}

/// The ordinal after `@module` in `@module:17`, and where it ends.
fn ordinal_after(document: &Document, symbol: &Token) -> Option<(usize, usize)> {
    if document.language() != Language::Vmasm {
        return None;
    }
    let mut tokens = Lexer::new(document.text(), symbol.range.end);
    let colon =
        tokens.next().filter(|token| token.is(b':') && token.range.start == symbol.range.end)?;
    let number = tokens.next().filter(|token| token.range.start == colon.range.end)?;
    Some((number.text(document.text()).parse().ok()?, number.range.end))
}

/// The start of the line that holds `offset`.
pub(crate) fn line_start(text: &crate::Text, offset: usize) -> usize {
    let mut end = offset.min(text.len());
    while end > 0 {
        let (piece, start) = text.piece(end - 1);
        if let Some(found) = piece[..end - start].iter().rposition(|&byte| byte == b'\n') {
            return start + found + 1;
        }
        end = start;
    }
    0
}

/// The end of the line that holds `offset`, or a place some thousand bytes further in a long one.
pub(crate) fn line_end(text: &crate::Text, offset: usize) -> usize {
    let most = text.len().min(offset + 4096);
    syntax::find_all(text, offset..most, "\n").next().unwrap_or(most)
}

/// The definition of `reference`, seen from the chunk at `from`: the nearest one outward, else any.
pub(crate) fn resolve_symbol(
    document: &Document,
    reference: &Reference,
    from: usize,
) -> Option<SymbolDefinition> {
    if let Some(ordinal) = reference.ordinal {
        return function_of_ordinal(document, ordinal);
    }
    let (name, outer) = reference.path.split_last()?;
    let candidates = definitions(document, name);
    if candidates.len() <= 1 && outer.is_empty() {
        return candidates.into_iter().next();
    }
    let here =
        document.chunks().at(from).map(|placed| scope(document, placed.index)).unwrap_or_default();
    // The candidate with the most enclosing symbols in common wins. `@a::@b` needs `a` around `b`.
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let there = document.chunks().ancestors(candidate.placed.index);
            let named: Vec<_> = there
                .iter()
                .filter_map(|open| Symbol::read(document.text(), open))
                .map(|symbol| symbol.name)
                .collect();
            let nested = outer.iter().all(|name| named.contains(name));
            let shared =
                there.iter().zip(&here).take_while(|(open, start)| open.start == **start).count();
            nested.then_some((shared, std::cmp::Reverse(there.len()), candidate))
        })
        .max_by(|left, right| (left.0, left.1).cmp(&(right.0, right.1)))
        .map(|(_, _, candidate)| candidate)
}

/// The starts of the containers around a chunk. A container counts as around itself.
fn scope(document: &Document, index: usize) -> Vec<usize> {
    document.chunks().ancestors(index + 1).iter().map(|open| open.start).collect()
}

/// All definitions of this name. A `vm.export` is left out: it names a function defined elsewhere.
fn definitions(document: &Document, name: &str) -> Vec<SymbolDefinition> {
    let hash = name_hash(name);
    document
        .chunks()
        .named(hash)
        .filter_map(|placed| {
            Some(SymbolDefinition { symbol: Symbol::read(document.text(), &placed)?, placed })
        })
        .filter(|found| found.symbol.name == name && !is_vm_export(&found.symbol))
        .collect()
}

/// Whether a symbol is a `vm.export`, which defines nothing. Dispatch entries of executables
/// (`hal.executable.export`) do.
pub(crate) fn is_vm_export(symbol: &Symbol) -> bool {
    symbol.class == OpClass::Export && symbol.op == "vm.export"
}

/// The function that a `vm.export` exports.
pub(crate) fn exported_function(
    document: &Document,
    export: &Symbol,
    offset: usize,
) -> Option<SymbolDefinition> {
    if !is_vm_export(export) {
        return None;
    }
    let name = export.target.as_ref().map_or(&export.name, |(target, _)| target);
    let reference =
        Reference { path: vec![name.clone()], ordinal: None, range: export.name_range.clone() };
    resolve_symbol(document, &reference, offset)
}

fn function_of_ordinal(document: &Document, ordinal: usize) -> Option<SymbolDefinition> {
    let is_function = |placed: &Placed| {
        placed.chunk.class == OpClass::Function && placed.chunk.kind == ChunkKind::Item
    };
    let placed = document.chunks().iter().filter(is_function).nth(ordinal)?;
    Some(SymbolDefinition { symbol: Symbol::read(document.text(), &placed)?, placed })
}

/// The symbol whose head, not body, holds `offset`.
pub(crate) fn symbol_at(document: &Document, offset: usize) -> Option<SymbolDefinition> {
    let placed = document.chunks().at(offset)?;
    let symbol = Symbol::read(document.text(), &placed)?;
    let in_head = symbol.head.start <= offset && offset <= symbol.head.end;
    in_head.then_some(SymbolDefinition { placed, symbol })
}

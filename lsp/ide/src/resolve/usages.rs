//! All places that name the same entity, for references, highlights and rename.
//!
//! Values and blocks are looked up in their function. Symbols and aliases are searched for as text,
//! and each hit is checked against its chunk's tree. That takes a hundredth of the time of reading
//! all trees, and excludes comments and strings.

use syntax::{Language, Placed, TextRange, find_all};

use super::check_lines::{check_variable, symbol_in_directives};
use super::entity::{Entity, Named, entity_at};
use super::symbols::{Reference, reference_at, resolve_symbol};
use crate::Document;
use crate::text::{AnalysedChunk, uses_of_block, uses_of_value};

/// A place that names an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// The name, with its sigil and quotes.
    pub range: TextRange,
    /// Whether this place is the definition.
    pub is_definition: bool,
}

/// All places of a document that name the entity at `offset`, in order.
pub fn usages_at(document: &Document, offset: usize) -> Vec<Usage> {
    if let Some(variable) = check_variable(document, offset) {
        return variable.usages;
    }
    entity_at(document, offset).map(|named| usages(document, &named)).unwrap_or_default()
}

/// All places of a document that name an entity, in order.
pub(crate) fn usages(document: &Document, named: &Named) -> Vec<Usage> {
    let mut found: Vec<Usage> = match &named.entity {
        Entity::Value(value) => registers(document, value).unwrap_or_else(|| {
            let uses = uses_of_value(document, value).into_iter().map(used);
            std::iter::once(defined(value.value_range())).chain(uses).collect()
        }),
        Entity::Block(block) => {
            let uses = uses_of_block(document, block).into_iter().map(used);
            std::iter::once(defined(block.block_range())).chain(uses).collect()
        }
        Entity::Symbol(reference) => symbols(document, reference, named.range.start),
        Entity::Alias(name) => aliases(document, name, named.range.start),
        Entity::Operation { .. } => Vec::new(),
    };
    found.sort_by_key(|usage| usage.range.start);
    found.dedup_by_key(|usage| usage.range.start);
    found
}

fn used(range: TextRange) -> Usage {
    Usage { range, is_definition: false }
}

fn defined(range: TextRange) -> Usage {
    Usage { range, is_definition: true }
}

/// In `.vmasm`, all reads and writes of a register in its function.
fn registers(document: &Document, value: &crate::text::LocalDefinition) -> Option<Vec<Usage>> {
    if document.language() != Language::Vmasm {
        return None;
    }
    let names = &value.analysed.analysis.names;
    let of = &names.values[value.index as usize];
    let writes =
        names.values.iter().filter(|other| (other.scope, other.hash) == (of.scope, of.hash));
    let reads =
        names.value_uses.iter().filter(|other| (other.scope, other.hash) == (of.scope, of.hash));
    let writes = writes.map(|write| defined(value.analysed.absolute(&write.span)));
    let reads = reads.map(|read| used(value.analysed.absolute(&read.span)));
    Some(writes.chain(reads).collect())
}

/// The part of a document, between two `// -----`, that holds `offset`.
pub(crate) fn file_around(document: &Document, offset: usize) -> TextRange {
    let mut range = 0..document.text().len();
    for separator in document.chunks().separators() {
        if separator.start > offset {
            range.end = separator.start;
            break;
        }
        range.start = separator.range().end;
    }
    range
}

/// The chunks that contain `text`, each with the offsets of its occurrences.
fn places(document: &Document, within: TextRange, text: &str) -> Vec<(Placed, Vec<usize>)> {
    let mut hits = find_all(document.text(), within, text).peekable();
    let mut found: Vec<(Placed, Vec<usize>)> = Vec::new();
    for placed in document.chunks().iter() {
        let mut here = Vec::new();
        while let Some(&hit) = hits.peek() {
            if hit >= placed.range().end {
                break;
            }
            here.push(hit);
            hits.next();
        }
        if !here.is_empty() {
            found.push((placed, here));
        }
        if hits.peek().is_none() {
            break;
        }
    }
    found
}

fn symbols(document: &Document, reference: &Reference, from: usize) -> Vec<Usage> {
    let Some(name) = reference.path.last() else { return Vec::new() };
    let meant = resolve_symbol(document, reference, from);
    let name_token = meant.as_ref().map(|found| found.symbol.name_token.clone());
    let mut found: Vec<Usage> = Vec::new();
    let within = file_around(document, from);
    for (placed, hits) in places(document, within, name) {
        let analysed = document.analysis(&placed);
        for hit in hits {
            let Some(range) = symbol_token(&analysed, hit) else { continue };
            let Some(other) = reference_at(document, range.start + 1) else { continue };
            if other.path.last() != Some(name) {
                continue;
            }
            let target = resolve_symbol(document, &other, range.start);
            let same = match (&meant, &target) {
                (Some(meant), Some(target)) => meant.placed.start == target.placed.start,
                (None, None) => true,
                _ => false,
            };
            if same || name_token.as_ref() == Some(&range) {
                let is_definition = name_token.as_ref() == Some(&range);
                found.push(Usage { range, is_definition });
            }
        }
    }
    if reference.ordinal.is_none() && reference.path.len() == 1 {
        let from = meant.as_ref().map_or(from, |found| found.symbol.name_token.start);
        let named = symbol_in_directives(document, name, from);
        found.extend(named.into_iter().map(|(_, range)| used(range)));
    }
    // In generic form a string defines the symbol.
    if let Some(token) = name_token
        && !found.iter().any(|usage| usage.range == token)
    {
        found.push(defined(token));
    }
    found
}

/// The symbol token that holds an offset.
fn symbol_token(analysed: &AnalysedChunk, hit: usize) -> Option<TextRange> {
    let at = (hit - analysed.base()) as u32;
    let names = &analysed.analysis.names;
    let span = names.symbols.iter().find(|span| span.start <= at && at < span.end)?;
    Some(analysed.absolute(span))
}

fn aliases(document: &Document, name: &str, from: usize) -> Vec<Usage> {
    let mut found = Vec::new();
    for (placed, hits) in places(document, file_around(document, from), name) {
        let analysed = document.analysis(&placed);
        for hit in hits {
            let at = (hit - analysed.base()) as u32;
            let span = at..at + name.len() as u32;
            if analysed.analysis.names.aliases.contains(&span) {
                let is_definition =
                    placed.chunk.class == syntax::OpClass::Alias && hit == placed.op_start();
                found.push(Usage { range: analysed.absolute(&span), is_definition });
            }
        }
    }
    found
}

/// The definition of an alias: the whole of it, and its name.
pub(crate) fn alias_definition(
    document: &Document,
    name: &str,
    from: usize,
) -> Option<(TextRange, TextRange)> {
    let within = file_around(document, from);
    find_all(document.text(), within, name).find_map(|hit| {
        let placed = document.chunks().at(hit)?;
        let is_it = placed.chunk.class == syntax::OpClass::Alias && placed.op_start() == hit;
        let token = syntax::Lexer::new(document.text(), hit).next()?;
        (is_it && token.range.len() == name.len()).then(|| (hit..placed.range().end, token.range))
    })
}

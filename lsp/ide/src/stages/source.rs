//! The source's side: the place by which the compiler knows an operation, and the way back.

use std::collections::HashSet;

use syntax::{Lexer, NodeId, NodeKind, TextRange, TokenKind, Tree, find_all};

use super::stage::{Place, Stage};
use crate::Document;
use crate::navigate::location_of;
use crate::resolve::alias_definition;

/// The most aliases that a location is read through.
const MOST_ALIASES: usize = 256;

/// An operation of the source, as the compiler may know it.
#[derive(Debug, Clone)]
pub struct SourceOperation {
    /// Its name.
    pub name: TextRange,
    /// The places that its own `loc(…)` names.
    pub places: Vec<Place>,
    /// Its text without its regions, in parts: without a `loc(…)` the compiler knows it by one
    /// place in there. Most often that is where its name stands, but each operation's parser
    /// decides: that of `stablehlo.reduce` takes the place after the name.
    pub parts: Vec<TextRange>,
}

/// The operation around an offset.
pub fn operation_at(document: &Document, offset: usize) -> Option<SourceOperation> {
    let offset = past_indentation(document, offset);
    let analysed = document.analysis_at(offset)?;
    let tree = &analysed.analysis.tree;
    let at = offset.checked_sub(analysed.base())?;
    let node = tree.operation_of(tree.node_at(at))?;
    let name = tree.child(node, NodeKind::Name)?;
    let name = tree.range(name);
    let whole = tree.range(node);
    let absolute = |range: TextRange| analysed.base() + range.start..analysed.base() + range.end;
    let places = location_of(&analysed, node).map(|location| places_of(document, location));
    let mut parts = Vec::new();
    let mut from = name.start;
    for region in outermost_regions(tree, node) {
        let region = tree.range(region);
        parts.push(absolute(from..region.start.max(from)));
        from = region.end.max(from);
    }
    parts.push(absolute(from..whole.end.max(from)));
    Some(SourceOperation { name: absolute(name), places: places.unwrap_or_default(), parts })
}

/// The regions of an operation, in the order of the text, also those within parentheses.
fn outermost_regions(tree: &Tree, node: NodeId) -> Vec<NodeId> {
    let mut found = Vec::new();
    let mut pending: Vec<NodeId> = tree.children(node).collect();
    while let Some(child) = pending.pop() {
        match tree.node(child).kind {
            NodeKind::Region => found.push(child),
            _ => pending.extend(tree.children(child)),
        }
    }
    found.sort_unstable();
    found
}

/// The first text of the line, for an offset in front of it.
fn past_indentation(document: &Document, offset: usize) -> usize {
    let text = document.text();
    let rest = text.slice(offset..text.len().min(offset + 1024));
    let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let start = text.slice(offset.saturating_sub(1024)..offset);
    let is_indentation = start
        .rsplit('\n')
        .next()
        .is_some_and(|line| line.trim_start_matches([' ', '\t']).is_empty());
    if is_indentation { offset + blank } else { offset }
}

/// The places that a location names, read together with its aliases.
fn places_of(document: &Document, location: TextRange) -> Vec<Place> {
    let text = document.text();
    let mut printed = format!("operation {}\n", text.slice(location.clone()));
    let mut known: HashSet<String> = HashSet::new();
    let mut pending = vec![location];
    while let Some(range) = pending.pop() {
        let tokens = Lexer::new(text, range.start).take_while(|it| it.range.end <= range.end);
        for token in tokens.filter(|token| token.kind == TokenKind::Attribute) {
            let name = token.text(text).into_owned();
            if known.len() >= MOST_ALIASES || !known.insert(name.clone()) {
                continue;
            }
            if let Some((definition, _)) = alias_definition(document, &name, token.range.start) {
                printed += &format!("{}\n", text.slice(definition.clone()).trim());
                pending.push(definition);
            }
        }
    }
    let stage = Stage::read("", printed.as_bytes());
    stage.origins(0).into_iter().map(|(place, _)| place).collect()
}

/// Where a text that has locations of its own mentions a place: the operation that has it.
pub fn place_in_source(document: &Document, place: &Place) -> Option<usize> {
    let text = document.text();
    let wanted = format!("\"{}\":{}:{}", place.file, place.line, place.column);
    let all = 0..text.len();
    let ends = |at: &usize| {
        let next = text.slice(at + wanted.len()..text.len().min(at + wanted.len() + 1));
        !next.starts_with(|it: char| it.is_ascii_digit())
    };
    let at = find_all(text, all.clone(), &wanted).find(ends)?;
    // An alias has the place; the operation has the alias.
    let before = text.slice(at.saturating_sub(256)..at);
    let line = before.rsplit('\n').next()?;
    let alias = line.split_once(" = ").map(|(name, _)| name).filter(|name| name.starts_with('#'));
    let Some(alias) = alias else { return Some(at) };
    let wanted = format!("loc({alias})");
    find_all(text, all, &wanted).next().or(Some(at))
}

//! The source's side: the place by which the compiler knows an operation, and the way back.

use std::collections::HashSet;

use syntax::{Lexer, NodeKind, TextRange, TokenKind, find_all};

use super::stage::{Place, Stage};
use crate::Document;
use crate::navigate::location_of;
use crate::resolve::alias_definition;

/// The most aliases that a location is read through.
const MOST_ALIASES: usize = 256;

/// The operation around an offset: where its name stands, and the places that its own `loc(…)`
/// names. Without one, the compiler knows it by the place of its name.
pub fn operation_at(document: &Document, offset: usize) -> Option<(TextRange, Vec<Place>)> {
    let offset = past_indentation(document, offset);
    let analysed = document.analysis_at(offset)?;
    let tree = &analysed.analysis.tree;
    let at = offset.checked_sub(analysed.base())?;
    let node = tree.operation_of(tree.node_at(at))?;
    let name = tree.child(node, NodeKind::Name)?;
    let name = tree.range(name);
    let name = analysed.base() + name.start..analysed.base() + name.end;
    let places = location_of(&analysed, node).map(|location| places_of(document, location));
    Some((name, places.unwrap_or_default()))
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

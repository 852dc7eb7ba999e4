//! The source of an operation, or of a location alias: `loc(#loc2)` leads through `#loc2 =
//! loc("name"(#loc1))` to `#loc1 = loc("model.mlir":2:3)`.

use syntax::{Lexer, NodeId, TextRange, Token, TokenKind};

use super::links::{Link, resolve};
use crate::Document;
use crate::resolve::{Entity, alias_definition, entity_at};
use crate::text::AnalysedChunk;

/// The most aliases that one location leads through.
const MOST_ALIASES: u32 = 64;

/// The place in a file that the operation or the location alias at `offset` comes from.
pub(super) fn source_at(document: &Document, offset: usize) -> Option<Link> {
    let named = entity_at(document, offset)?;
    let location = match named.entity {
        Entity::Operation { analysed, node, .. } => location_of(&analysed, node)?,
        Entity::Alias(name) => {
            let (definition, _) = alias_definition(document, &name, offset)?;
            let text = document.text().slice(definition.clone());
            let (_, meaning) = text.split_once('=')?;
            if !meaning.trim_start().starts_with("loc(") {
                return None;
            }
            definition
        }
        _ => return None,
    };
    let mut budget = MOST_ALIASES;
    place_in(document, location, &mut budget).map(|link| Link { range: named.range, ..link })
}

/// The `loc(…)` that ends an operation.
pub(crate) fn location_of(analysed: &AnalysedChunk, node: NodeId) -> Option<TextRange> {
    let tokens = analysed.analysis.tree.tokens_of(node);
    let (last, before) = tokens.split_last().filter(|(last, _)| last.is(b')'))?;
    let mut nest = 1;
    for (index, token) in before.iter().enumerate().rev() {
        if token.is(b')') {
            nest += 1;
        } else if token.is(b'(') {
            nest -= 1;
        }
        if nest == 0 {
            let word = before.get(index.checked_sub(1)?)?;
            let is_location = word.kind == TokenKind::Word && word.end - word.start == 3;
            return is_location.then(|| analysed.absolute(&(word.start..last.end)));
        }
    }
    None
}

/// The first place in a file that a location names, also through aliases.
fn place_in(document: &Document, location: TextRange, budget: &mut u32) -> Option<Link> {
    let text = document.text();
    // In `#loc = loc(…)`, the alias itself is not part of what it means.
    let tokens: Vec<Token> = Lexer::new(text, location.start)
        .take_while(|token| token.range.end <= location.end)
        .collect();
    let own = tokens.first().filter(|token| token.kind == TokenKind::Attribute);
    let own = own.map(|token| token.range.start);
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::String => {
                let Some([first, line, second, column]) = tokens.get(index + 1..index + 5) else {
                    continue;
                };
                if !(first.is(b':') && second.is(b':')) {
                    continue;
                }
                let number = |token: &Token| token.text(text).parse::<u32>().ok();
                if let (Some(line), Some(column)) = (number(line), number(column)) {
                    let path = resolve(document, &token.name(text));
                    return Some(Link { range: token.range.clone(), path, line, column });
                }
            }
            TokenKind::Attribute if own != Some(token.range.start) => {
                *budget = budget.checked_sub(1)?;
                let name = token.text(text);
                let meaning = alias_definition(document, &name, token.range.start);
                let found = meaning.and_then(|(meaning, _)| place_in(document, meaning, budget));
                if found.is_some() {
                    return found;
                }
            }
            _ => {}
        }
    }
    None
}

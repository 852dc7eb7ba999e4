//! The aliases that the type of a value is made of.

use syntax::{Lexer, TokenKind};

use super::definition::DefinitionTarget;
use crate::Document;
use crate::resolve::{Entity, alias_definition, entity_at};

/// The definitions of the aliases in the type of the value at `offset`, or of the alias there.
pub fn type_definitions(document: &Document, offset: usize) -> Vec<DefinitionTarget> {
    let Some(named) = entity_at(document, offset) else { return Vec::new() };
    let (ty, from) = match &named.entity {
        Entity::Value(value) => {
            let from = value.value_range().start;
            (crate::resolve::type_of(document, value).unwrap_or_default(), from)
        }
        Entity::Alias(name) => (name.clone(), named.range.start),
        _ => return Vec::new(),
    };
    let mut seen = Vec::new();
    let mut found = Vec::new();
    for token in Lexer::new(ty.as_str(), 0) {
        let name = &ty[token.range.clone()];
        let is_alias = matches!(token.kind, TokenKind::Type | TokenKind::Attribute);
        if !is_alias || seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let Some((range, selection)) = alias_definition(document, name, from) else { continue };
        found.push(DefinitionTarget { origin: named.range.clone(), range, selection });
    }
    found
}

//! Places that change together while a name is typed: of a block, of a value in one function, of a
//! variable of CHECK directives.

use syntax::{Language, TextRange};

use crate::Document;
use crate::resolve::{Entity, check_variable, entity_at, usages};

/// The most places. More would make each key slow.
const MOST: usize = 500;

/// The places, without sigils, that name what is at `offset`. Empty if they are not all alike.
pub fn linked_places(document: &Document, offset: usize) -> Vec<TextRange> {
    if document.language() != Language::Mlir {
        return Vec::new();
    }
    let (places, sigil) = match check_variable(document, offset) {
        Some(variable) => (variable.usages, 0),
        None => match entity_at(document, offset) {
            Some(named) if matches!(named.entity, Entity::Block(_) | Entity::Value(_)) => {
                (usages(document, &named), 1)
            }
            _ => return Vec::new(),
        },
    };
    let places: Vec<TextRange> =
        places.into_iter().map(|place| place.range.start + sigil..place.range.end).collect();
    let text = |range: &TextRange| document.text().slice(range.clone()).into_owned();
    let Some(first) = places.first().map(text) else { return Vec::new() };
    let are_alike = places.len() <= MOST && places.iter().all(|range| text(range) == first);
    if are_alike && !first.is_empty() { places } else { Vec::new() }
}

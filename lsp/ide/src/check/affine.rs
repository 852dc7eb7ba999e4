//! Affine maps that name a dimension or symbol that they do not have.

use mlir::{Map, MapError};
use syntax::{NodeId, NodeKind, TokenKind};

use super::diagnostic::Diagnostic;
use super::reading::Reading;

/// Longer maps, in bytes, are not written by hand.
const LONGEST: usize = 4096;

/// The faults of a chunk's affine maps.
pub(super) fn faults(reading: &Reading, found: &mut Vec<Diagnostic>) {
    let tree = reading.tree;
    for (id, node) in tree.nodes().iter().enumerate() {
        let id = id as NodeId;
        let is_map = node.kind == NodeKind::Angle
            && !node.unclosed
            && node.first > 0
            && reading.text(&tree.tokens()[node.first as usize - 1]) == "affine_map";
        if is_map && !reading.is_opaque(id) {
            found.extend(of_map(reading, id));
        }
    }
}

fn of_map(reading: &Reading, id: NodeId) -> Option<Diagnostic> {
    let tree = reading.tree;
    let range = tree.range(id);
    if range.len() > LONGEST || range.len() < 2 {
        return None;
    }
    let text = reading.span(range.start as u32 + 1..range.end as u32 - 1);
    let Err(MapError::Unknown(name)) = Map::parse(text) else { return None };
    let tokens = tree.tokens_of(id);
    let arrow = tokens.iter().position(|leaf| leaf.kind == TokenKind::Arrow)?;
    let at = tokens[arrow..].iter().find(|leaf| reading.text(leaf) == name)?;
    let names: Vec<&str> = tokens[..arrow]
        .iter()
        .filter(|leaf| leaf.kind == TokenKind::Word)
        .map(|leaf| reading.text(leaf))
        .collect();
    let message = format!("the affine map has no dimension or symbol `{name}`");
    let fault = Diagnostic::error(reading.range(at), "affine-map", message);
    // The map's only name must be the one.
    Some(match names.as_slice() {
        [] => fault,
        all => all.iter().fold(fault, |fault, name| fault.mended(reading.range(at), *name)),
    })
}

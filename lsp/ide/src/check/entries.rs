//! Keys, values and the separators between them: in dictionaries, in the parameters of attributes,
//! in affine maps, and where a list of results lacks its `=`.

use syntax::{Leaf, NodeId, NodeKind, TokenKind};

use super::diagnostic::Diagnostic;
use super::reading::Reading;
use crate::operations::{Standing, dialect_of, is_listed, is_type, standing};

/// The faults of a chunk's lists of keys and values.
pub(super) fn faults(reading: &Reading, found: &mut Vec<Diagnostic>) {
    let leaves = reading.tree.tokens();
    let at = |index: usize| reading.tokens.get(index).map(|&(token, _)| &leaves[token]);
    for (index, &(token, node)) in reading.tokens.iter().enumerate() {
        let leaf = &leaves[token];
        if leaf.kind == TokenKind::Value && leaf.end - leaf.start == 1 {
            let message = "a name is missing after `%`";
            found.push(Diagnostic::error(reading.range(leaf), "name", message));
        }
        if reading.is_opaque(node) {
            continue;
        }
        let here = &leaves[token];
        let (Some(before), Some(next)) = (index.checked_sub(1).and_then(at), at(index + 1)) else {
            continue;
        };
        let kind = reading.tree.node(node).kind;
        let fault = match here.kind {
            TokenKind::Word | TokenKind::String
                if kind == NodeKind::Dictionary || is_broken_dictionary(reading, node) =>
            {
                key(reading, before, here, next)
            }
            TokenKind::Word if in_affine_map(reading, node) => affine(reading, here, next),
            TokenKind::Word if kind == NodeKind::Bracket => element(reading, here, next),
            TokenKind::Word if next.is(b'=') => entry(reading, before, here, node),
            TokenKind::Word if kind == NodeKind::Operation => list(reading, before, here, next),
            TokenKind::Value if here.line_start => results(reading, before, here, next),
            _ => None,
        };
        found.extend(fault);
    }
}

/// The fault that a separator is missing after a token.
fn fault(
    reading: &Reading,
    at: &Leaf,
    (separator, after): (&str, &Leaf),
    message: String,
) -> Option<Diagnostic> {
    let place = reading.range(after).end;
    let fault = Diagnostic::error(reading.range(at), "separator", message);
    Some(fault.mended(place..place, separator))
}

/// A word or string directly in a dictionary.
fn key(reading: &Reading, before: &Leaf, here: &Leaf, next: &Leaf) -> Option<Diagnostic> {
    let name = reading.text(here);
    let begins = before.is(b'{') || before.is(b',');
    let names = next.is(b'=') && next.end - next.start == 1;
    if names && !begins {
        return fault(reading, here, (",", before), format!("expected `,` before `{name}`"));
    }
    let ends = next.is(b',') || next.is(b'}') || next.is(b'=');
    if begins && !ends && (here.kind == TokenKind::String || !is_type(name)) {
        return fault(reading, here, (" =", here), format!("expected `=` after `{name}`"));
    }
    None
}

/// A key in a list in parentheses, or in the parameters of an attribute.
fn entry(reading: &Reading, before: &Leaf, here: &Leaf, node: NodeId) -> Option<Diagnostic> {
    let is_list = match reading.tree.node(node).kind {
        // The entries of this attribute have no commas.
        NodeKind::Angle => head(reading, node) != "#iree_codegen.translation_info",
        NodeKind::Paren => true,
        // `%a, offsets = […], sizes = […]`
        NodeKind::Operation => {
            let is_load = reading.op(node).starts_with("iree_tensor_ext.dispatch.tensor.");
            is_load && before.kind == TokenKind::Value
                || matches!(reading.text(here), "sizes" | "strides") && before.is(b']')
        }
        _ => false,
    };
    let ends_value = matches!(
        before.kind,
        TokenKind::Number
            | TokenKind::String
            | TokenKind::Value
            | TokenKind::Punct(b']' | b'}' | b'>')
    );
    let message = || format!("expected `,` before `{}`", reading.text(here));
    (is_list && ends_value).then(|| fault(reading, here, (",", before), message())).flatten()
}

/// A word in `[…]`.
fn element(reading: &Reading, here: &Leaf, next: &Leaf) -> Option<Diagnostic> {
    let (word, after) = (reading.text(here), reading.text(next));
    let is_bool = |text: &str| matches!(text, "true" | "false");
    let message = || format!("expected `,` between `{word}` and `{after}`");
    (is_bool(word) && is_bool(after))
        .then(|| fault(reading, next, (",", here), message()))
        .flatten()
}

/// Whether braces can only hold attributes, though their first entry has another form.
fn is_broken_dictionary(reading: &Reading, node: NodeId) -> bool {
    reading.tree.node(node).kind == NodeKind::Brace
        && matches!(head(reading, node), "attributes" | "=")
}

/// What stands before a bracket.
fn head<'r>(reading: &'r Reading, node: NodeId) -> &'r str {
    let first = reading.tree.node(node).first as usize;
    first.checked_sub(1).map_or("", |before| reading.text(&reading.tree.tokens()[before]))
}

/// A keyword between commas in front of its list: `, sizes […]` lacks its `=`.
fn list(reading: &Reading, before: &Leaf, here: &Leaf, next: &Leaf) -> Option<Diagnostic> {
    let word = reading.text(here);
    let is_list = before.is(b',') && next.is(b'[') && next.start > here.end;
    (is_list && !is_type(word))
        .then(|| fault(reading, here, (" =", here), format!("expected `=` after `{word}`")))
        .flatten()
}

/// Whether a node is a list directly in `affine_map<…>` or `affine_set<…>`.
fn in_affine_map(reading: &Reading, node: NodeId) -> bool {
    let tree = reading.tree;
    let list = tree.node(node);
    let angle = tree.node(list.parent);
    matches!(list.kind, NodeKind::Paren | NodeKind::Bracket)
        && angle.kind == NodeKind::Angle
        && matches!(head(reading, list.parent), "affine_map" | "affine_set")
}

/// A dimension of an affine map.
fn affine(reading: &Reading, here: &Leaf, next: &Leaf) -> Option<Diagnostic> {
    let is_operator = |word: &str| matches!(word, "mod" | "floordiv" | "ceildiv");
    let (word, after) = (reading.text(here), reading.text(next));
    if is_operator(word) || is_operator(after) {
        return None;
    }
    let missing = matches!(next.kind, TokenKind::Word | TokenKind::Number);
    let message = || format!("expected `,` between `{word}` and `{after}`");
    missing.then(|| fault(reading, next, (",", here), message())).flatten()
}

/// A value at the start of a line, in the middle of an operation: `%0 arith.addi …`.
fn results(reading: &Reading, before: &Leaf, here: &Leaf, next: &Leaf) -> Option<Diagnostic> {
    if next.kind != TokenKind::Word || next.line_start || before.is(b',') {
        return None;
    }
    let op = reading.text(next);
    let is_op = is_listed(dialect_of(op)) && standing(op) == Standing::Fine;
    let message = || format!("expected `=` between `{}` and `{op}`", reading.text(here));
    is_op.then(|| fault(reading, here, (" =", here), message())).flatten()
}

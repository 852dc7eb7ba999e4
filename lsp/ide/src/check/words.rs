//! Words that are none of those an operation or an attribute chooses from: predicates, kinds of
//! iterators, flags.

use strsim::osa_distance;
use syntax::{Leaf, NodeId, NodeKind, TokenKind};

use super::diagnostic::Diagnostic;
use super::reading::Reading;

/// The faults of a chunk's words.
pub(super) fn faults(reading: &Reading, found: &mut Vec<Diagnostic>) {
    let leaves = reading.tree.tokens();
    for (id, op) in reading.operations() {
        if !reading.is_generic(id) && mlir::words::leads(op) {
            found.extend(leading(reading, id, op));
        }
    }
    for (index, &(token, node)) in reading.tokens.iter().enumerate() {
        let leaf = &leaves[token];
        if !matches!(leaf.kind, TokenKind::Word | TokenKind::String) || reading.is_opaque(node) {
            continue;
        }
        let text = reading.text(leaf);
        let kind = reading.tree.node(node).kind;
        let (word, key) = match (leaf.kind, kind) {
            (TokenKind::Word, NodeKind::Angle) => (text, before(reading, node)),
            (TokenKind::String, NodeKind::Bracket) => {
                (text.trim_matches('"'), key_before(reading, node))
            }
            _ => continue,
        };
        let op = reading.op(reading.operation_of(node));
        // In parameters of another form a word may be a key.
        let next = reading.tokens.get(index + 1).map(|(token, _)| &leaves[*token]);
        let is_value =
            next.is_some_and(|it| it.is(b',') || it.is(b'>') || it.is(b']') || it.is(b'|'));
        let words = key.and_then(|key| mlir::words::words(op, Some(key)));
        if let Some(words) = words.filter(|_| is_value) {
            found.extend(fault(reading, leaf, word, words));
        }
    }
}

/// The word after an operation's name.
fn leading(reading: &Reading, id: NodeId, op: &str) -> Option<Diagnostic> {
    let tree = reading.tree;
    let name = tree.child(id, NodeKind::Name)?;
    let leaf = tree.tokens().get(tree.node(name).last as usize)?;
    let words = mlir::words::words(op, None)?;
    if leaf.kind != TokenKind::Word || leaf.line_start {
        return None;
    }
    let word = reading.text(leaf);
    // `arith.cmpi eq, %a, %b`; `index.cmp eq(%a, %b)`.
    let next = tree.tokens().get(tree.node(name).last as usize + 1)?;
    if next.kind == TokenKind::Value && op.starts_with("arith.") {
        let message = format!("expected `,` between `{word}` and `{}`", reading.text(next));
        let after = reading.range(leaf).end;
        let fault = Diagnostic::error(reading.range(next), "separator", message);
        return Some(fault.mended(after..after, ","));
    }
    fault(reading, leaf, word, words)
}

/// What stands before a bracket, as the name of an attribute.
fn before<'r>(reading: &'r Reading, node: NodeId) -> Option<&'r str> {
    let first = reading.tree.node(node).first as usize;
    let leaf = &reading.tree.tokens()[first.checked_sub(1)?];
    Some(reading.text(leaf).trim_start_matches('#'))
}

/// The key before `= […]`.
fn key_before<'r>(reading: &'r Reading, node: NodeId) -> Option<&'r str> {
    let first = reading.tree.node(node).first as usize;
    let leaves = reading.tree.tokens();
    let is_value = leaves[first.checked_sub(1)?].is(b'=');
    is_value.then(|| reading.text(&leaves[first.saturating_sub(2)]))
}

fn fault(reading: &Reading, leaf: &Leaf, word: &str, words: &[&str]) -> Option<Diagnostic> {
    if words.contains(&word) {
        return None;
    }
    let near = words.iter().map(|other| (osa_distance(other, word), other));
    let near = near.filter(|(distance, other)| *distance <= if other.len() < 5 { 1 } else { 2 });
    let near = near.min_by_key(|(distance, _)| *distance).map(|(_, other)| *other);
    let hint = match near {
        Some(near) => format!("; did you mean `{near}`?"),
        None => format!(": there are {}", listed(words)),
    };
    let message = format!("`{word}` is no word that may stand here{hint}");
    let quote = if leaf.kind == TokenKind::String { "\"" } else { "" };
    let meant = near.map(|near| format!("{quote}{near}{quote}"));
    Some(Diagnostic::error(reading.range(leaf), "word", message).meaning(meant))
}

fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

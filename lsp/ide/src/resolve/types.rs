//! The type of a value, from the text alone.
//!
//! An argument has its type after a colon. Results get the types at the end of their operation,
//! after `->` or `:`, with the few exceptions of [`result_type`] where an operation states its
//! operands' type instead.

use mlir::structure::{Fact, has};
use syntax::{Language, Leaf, NodeId, NodeKind, Slot, TokenKind, read_types};

use crate::Document;
use crate::operations::{Stated, TypeRule, type_rules};
use crate::text::{AnalysedChunk, LocalDefinition, ValueKind};

/// The type of a value, if the text shows it.
pub(crate) fn type_of(document: &Document, found: &LocalDefinition) -> Option<String> {
    let value = &found.analysed.analysis.names.values[found.index as usize];
    if document.language() == Language::Vmasm {
        let range = found.value_range();
        return register_type(&document.text().slice(range.start..range.end + 8));
    }
    match value.kind {
        ValueKind::Result(index) => {
            let count = result_count(document, &found.analysed, value.node);
            result_type(document, &found.analysed, value.node, index as usize, count)
        }
        ValueKind::BlockArgument | ValueKind::RegionArgument => argument_type(document, found),
    }
}

/// A register's type by its name: `%i4:5` is a pair, `%i4` one register, `%r0` a reference.
fn register_type(text: &str) -> Option<String> {
    let name = text.strip_prefix('%')?;
    let number = |text: &str| -> String { text.chars().take_while(char::is_ascii_digit).collect() };
    let first = number(name.get(1..)?);
    let second = name[1 + first.len()..].strip_prefix(':').map(number).unwrap_or_default();
    let is_pair = match (first.parse::<u32>(), second.parse::<u32>()) {
        (Ok(first), Ok(second)) => first.checked_add(1) == Some(second),
        _ => false,
    };
    match name.as_bytes().first()? {
        b'i' if is_pair => Some("a pair of 32-bit registers: i64 or f64".into()),
        b'i' => Some("a 32-bit register: i32 or f32".into()),
        b'r' | b'R' => Some("a reference register".into()),
        _ => None,
    }
}

fn argument_type(document: &Document, found: &LocalDefinition) -> Option<String> {
    let value = &found.analysed.analysis.names.values[found.index as usize];
    let tree = &found.analysed.analysis.tree;
    let after = tree.tokens().partition_point(|token| token.start < value.span.end);
    let base = found.analysed.base();
    let next = tree.tokens().get(after)?;
    let end = found.analysed.placed.range().end;
    if next.is(b':') {
        let types = read_types(document.text(), base + next.end as usize, end);
        return Some(types.into_iter().next()?.ty);
    }
    // `%a = %b` takes the type of its first value, or of a loop's counter.
    if next.is(b'=')
        && let Some(given) = tree.tokens().get(after + 1)
    {
        let names = &found.analysed.analysis.names;
        let used = names.value_uses.iter().find(|used| used.span.start == given.start)?;
        let definition = crate::text::value_of_use(document, &found.analysed, used)?;
        let same = definition.index == found.index && definition.analysed.base() == base;
        return if same { None } else { type_of(document, &definition) };
    }
    None
}

/// The number of results of an operation. A pack counts with all its values.
fn result_count(document: &Document, analysed: &AnalysedChunk, operation: NodeId) -> usize {
    let tree = &analysed.analysis.tree;
    let Some(results) = tree.child(operation, NodeKind::Results) else { return 0 };
    let mut count = 0;
    for token in tree.tokens_of(results) {
        match token.kind {
            TokenKind::Value => count += 1,
            TokenKind::Number => {
                let text = tree.text(document.text(), analysed.base(), token);
                count += text.parse::<usize>().unwrap_or(1).saturating_sub(1);
            }
            _ => {}
        }
    }
    count
}

/// The tokens of an operation outside its groups.
fn own_tokens(analysed: &AnalysedChunk, operation: NodeId) -> Vec<Leaf> {
    let tree = &analysed.analysis.tree;
    let node = tree.node(operation);
    let mut own = Vec::new();
    let mut at = node.first;
    for child in tree.children(operation) {
        let child = tree.node(child);
        own.extend_from_slice(&tree.tokens()[at as usize..child.first.max(at) as usize]);
        at = child.last.max(at);
    }
    own.extend_from_slice(&tree.tokens()[at as usize..(node.last as usize).max(at as usize)]);
    own
}

/// The result types that an operation states: after its last arrow, else after its last colon.
pub(crate) fn stated_types(
    document: &Document,
    analysed: &AnalysedChunk,
    operation: NodeId,
) -> Vec<Slot> {
    let tree = &analysed.analysis.tree;
    let base = analysed.base();
    let end = base + tree.range(operation).end;
    let own = own_tokens(analysed, operation);
    let text = |token: &Leaf| tree.text(document.text(), base, token);
    let has_count = has(&tree.op_name(document.text(), base, operation), Fact::HasCount);
    let ends = |token: &Leaf| {
        let text = text(token);
        token.kind == TokenKind::Word && (text == "loc" || (has_count && text == "count"))
    };
    let stop = own.iter().position(ends).unwrap_or(own.len());
    let own = &own[..stop];
    let end = own.last().map_or(end, |_| end);
    if let Some(arrow) = own.iter().rfind(|token| token.kind == TokenKind::Arrow) {
        return read_types(document.text(), base + arrow.end as usize, end);
    }
    let Some(colon) = own.iter().rfind(|token| token.is(b':')) else { return Vec::new() };
    let cast = own.iter().rfind(|token| {
        token.start > colon.start
            && token.kind == TokenKind::Word
            && matches!(&*text(token), "to" | "into")
    });
    let from = cast.map_or(colon.end, |cast| cast.end);
    read_types(document.text(), base + from as usize, end)
}

fn result_type(
    document: &Document,
    analysed: &AnalysedChunk,
    operation: NodeId,
    index: usize,
    count: usize,
) -> Option<String> {
    let tree = &analysed.analysis.tree;
    let op = tree.op_name(document.text(), analysed.base(), operation);
    let types = stated_types(document, analysed, operation);
    let last = types.last().map(|slot| slot.ty.clone());
    let rule = type_rules(&op).iter().find_map(|rule| match rule {
        TypeRule::Result(Stated::Type(_)) => None,
        TypeRule::Result(stated) if index == 0 => Some(*stated),
        _ => None,
    });
    if let Some(stated) = rule {
        return stated.among(types.len(), |at| types[at].ty.clone());
    }
    if op == "arith.constant" && types.is_empty() {
        let tokens = tree.tokens_of(operation);
        let is_bool = tokens.iter().any(|token| {
            let text = tree.text(document.text(), analysed.base(), token);
            text == "true" || text == "false"
        });
        return is_bool.then(|| "i1".into());
    }
    if types.is_empty() {
        // The name of `vm.const.i32 5` states the type.
        let suffix = op.rsplit('.').find(|part| matches!(*part, "i32" | "i64" | "f32" | "f64"));
        return suffix
            .filter(|_| op.starts_with("vm.const") || op.starts_with("vm.global.load"))
            .map(str::to_owned);
    }
    if types.len() == count {
        return types.get(index).map(|slot| slot.ty.clone());
    }
    // One type stands for all results, or operand types precede the result's.
    if types.len() == 1 || count == 1 { last } else { None }
}

#[cfg(test)]
mod tests {
    use super::register_type;

    #[test]
    fn registers() {
        assert!(register_type("%i4:5: i").unwrap().contains("pair"));
        assert!(!register_type("%i4: i32").unwrap().contains("pair"));
    }
}

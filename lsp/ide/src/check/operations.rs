//! The faults that knowing an operation's name shows: names that no dialect has, and blocks that do
//! not end.

use mlir::structure::{Fact, blocks_must_end, has, terminators};
use syntax::{ChunkKind, NodeId, NodeKind, TokenKind};

use super::diagnostic::Diagnostic;
use super::reading::Reading;
use crate::operations::{Standing, dialect_of, installed, may_end_block, standing};

/// The faults of a chunk's operations.
pub(super) fn faults(reading: &Reading, found: &mut Vec<Diagnostic>) {
    for (id, op) in reading.operations() {
        name(reading, id, op, found);
        ends(reading, id, op, found);
    }
}

fn name(reading: &Reading, id: NodeId, op: &str, found: &mut Vec<Diagnostic>) {
    found.extend(bare_name(reading, id, op));
    let Standing::Unknown(meant) = standing(op) else { return };
    // These dialects accept any name in generic form.
    let is_open = ["llvm.", "nvvm.", "rocdl.", "shape.", "spirv."];
    if reading.is_generic(id) && is_open.iter().any(|open| op.starts_with(open)) {
        return;
    }
    let range = reading.name_range(id);
    found.push(match meant {
        Some(meant) => {
            let message = format!("no operation `{op}` is known; did you mean `{meant}`?");
            Diagnostic::error(range.clone(), "unknown-operation", message)
                .mended(unquoted(reading, range), meant)
        }
        None if is_half(reading, id, op) => {
            let message = format!("no operation `{op}` is known: its name breaks off");
            Diagnostic::error(range, "unknown-operation", message)
        }
        None if compiler_has_dialect(op) => {
            let message = format!("the installed compiler has no operation `{op}`");
            Diagnostic::error(range, "unknown-operation", message)
        }
        None => {
            let message = format!("no operation `{op}` is known");
            Diagnostic::warning(range, "unknown-operation", message)
        }
    });
}

/// Whether a name is the beginning of known ones, and nothing follows it.
fn is_half(reading: &Reading, id: NodeId, op: &str) -> bool {
    let tree = reading.tree;
    let ends = |name: NodeId| tree.node(name).last == tree.node(id).last;
    tree.child(id, NodeKind::Name).is_some_and(ends)
        && !reading.is_generic(id)
        && crate::operations::beginning(op).next().is_some()
}

/// A name without a dialect, which in a function can only be of `func` or `builtin`.
fn bare_name(reading: &Reading, id: NodeId, op: &str) -> Option<Diagnostic> {
    const BARE: [&str; 7] = [
        "call",
        "call_indirect",
        "constant",
        "func",
        "module",
        "return",
        "unrealized_conversion_cast",
    ];
    let tree = reading.tree;
    let outer = tree.operation_of(tree.node(id).parent)?;
    let has_results = tree.child(id, NodeKind::Results).is_some();
    let is_bare = has_results
        && !op.is_empty()
        && !op.contains('.')
        && !reading.is_generic(id)
        && reading.op(outer) == "func.func"
        && !BARE.contains(&op);
    let message = format!("no operation `{op}` is known: a dialect is missing, as in `arith.addi`");
    is_bare.then(|| Diagnostic::error(reading.name_range(id), "unknown-operation", message))
}

/// The place of a name without its quotes.
fn unquoted(reading: &Reading, range: syntax::TextRange) -> syntax::TextRange {
    let is_quoted = reading.document.text().slice(range.start..range.start + 1) == "\"";
    if is_quoted { range.start + 1..range.end - 1 } else { range }
}

fn compiler_has_dialect(op: &str) -> bool {
    let dialect = format!("{}.", dialect_of(op));
    installed().is_some_and(|installed| installed.beginning(&dialect).next().is_some())
}

/// Checks that the blocks of an operation's regions end.
fn ends(reading: &Reading, id: NodeId, op: &str, found: &mut Vec<Diagnostic>) {
    let tree = reading.tree;
    let has_results = tree.child(id, NodeKind::Results).is_some();
    let must = blocks_must_end(op, has_results);
    for region in regions(reading, id) {
        let node = tree.node(region);
        if node.unclosed || reading.analysed.placed.chunk.kind == ChunkKind::Open {
            continue;
        }
        let blocks: Vec<_> = tree.children(region).collect();
        let is_empty = blocks.is_empty() && node.last - node.first == 2;
        if is_empty && must && !has(op, Fact::MayBeEmpty) && !reading.is_generic(id) {
            // `{}` is no body of a declaration.
            let range = reading.range(&tree.tokens()[node.first as usize]);
            let message = format!("this region of `{op}` is empty: {}", missing(op));
            found.push(Diagnostic::error(range, "terminator", message));
        }
        let labels = blocks.iter().filter(|&&block| tree.child(block, NodeKind::Label).is_some());
        let is_graph = labels.count() > 1;
        for &block in &blocks {
            if must || is_graph {
                end_of(reading, op, block, found);
            }
        }
    }
}

/// The regions of an operation, also those within parentheses.
fn regions(reading: &Reading, id: NodeId) -> Vec<NodeId> {
    let tree = reading.tree;
    let mut found = Vec::new();
    for child in tree.children(id) {
        match tree.node(child).kind {
            NodeKind::Region => found.push(child),
            NodeKind::Paren if reading.is_generic(id) => found.extend(
                tree.children(child).filter(|&inner| tree.node(inner).kind == NodeKind::Region),
            ),
            _ => {}
        }
    }
    found
}

fn end_of(reading: &Reading, op: &str, block: NodeId, found: &mut Vec<Diagnostic>) {
    let tree = reading.tree;
    let last = tree.children(block).filter(|&id| tree.node(id).kind == NodeKind::Operation).last();
    match last {
        Some(last) => {
            let name = reading.op(last);
            if may_end_block(name) || standing(name) != Standing::Fine {
                return;
            }
            let message = format!("this block does not end after `{name}`: {}", missing(op));
            found.push(Diagnostic::error(reading.name_range(last), "terminator", message));
        }
        None => {
            let Some(label) = tree.child(block, NodeKind::Label) else { return };
            let Some(token) = tree.tokens_of(label).first() else { return };
            if token.kind == TokenKind::Block {
                let message = format!("this block is empty: {}", missing(op));
                found.push(Diagnostic::error(reading.range(token), "terminator", message));
            }
        }
    }
}

/// What is missing at the end of a block of this operation.
fn missing(op: &str) -> String {
    let mut ends: Vec<String> = terminators(op).map(|name| format!("`{name}`")).collect();
    if ends.is_empty() {
        return "a terminator, such as a return, a yield or a branch, is missing".into();
    }
    if has(op, Fact::Branches) {
        ends.push("a branch".into());
    }
    format!("{} is missing", ends.join(" or "))
}

//! Lines that are too long: the outermost attributes on them get a line each. In a signature with
//! attributes, the arguments do, and if that is not enough, the results.

use std::collections::HashSet;

use syntax::{NodeId, NodeKind};

use super::chunk_view::ChunkView;
use super::layout::Place;

/// The longest line, in columns.
const LONGEST_LINE: usize = 100;

/// Marks in `breaks` where the lines that are too long should break. Whether there was any.
pub(super) fn break_long_lines(
    view: &ChunkView<'_>,
    places: &[Place],
    breaks: &mut [bool],
) -> bool {
    let mut has_more = false;
    let mut first = 0;
    while first < places.len() {
        let next = (first + 1..places.len()).find(|&token| places[token].begins_line);
        let end = next.unwrap_or(places.len());
        if is_long(view, places, first, end) {
            for node in breakable(view, places, first, end) {
                for token in points(view, node).filter(|&token| !places[token].begins_line) {
                    has_more |= !breaks[token];
                    breaks[token] = true;
                }
            }
        }
        first = end;
    }
    has_more
}

/// Whether the code of a line ends too far to the right.
fn is_long(view: &ChunkView<'_>, places: &[Place], first: usize, end: usize) -> bool {
    let last = (first..end).rev().find(|&token| !view.is_comment(token));
    last.is_some_and(|last| places[last].column + view.width(last) > LONGEST_LINE)
}

/// The outermost nodes that would have a break within a line.
fn breakable(view: &ChunkView<'_>, places: &[Place], first: usize, end: usize) -> Vec<NodeId> {
    let mut seen: HashSet<NodeId> = HashSet::new();
    let mut found: Vec<(usize, NodeId)> = Vec::new();
    for token in first..end {
        let ancestors = view.tree.ancestors(view.node_of[token]);
        for node in ancestors.take_while(|&node| seen.insert(node)) {
            let breaks_here =
                |token: usize| is_point(view, node, token) && !places[token].begins_line;
            let whole = view.tree.node(node);
            let mut part = first.max(whole.first as usize)..end.min(whole.last as usize);
            if may_break(view, node) && part.any(breaks_here) {
                found.push((view.tree.ancestors(node).count(), node));
            }
        }
    }
    // The arguments of a function precede its results.
    let is_list = |&&(_, node): &&(usize, NodeId)| view.tree.node(node).kind == NodeKind::Paren;
    if let Some(&(_, node)) = found.iter().filter(is_list).min_by_key(|&&(_, node)| node) {
        return vec![node];
    }
    let outermost = found.iter().map(|&(depth, _)| depth).min();
    let outermost = found.iter().filter(|&&(depth, _)| Some(depth) == outermost);
    outermost.map(|&(_, node)| node).collect()
}

fn may_break(view: &ChunkView<'_>, node: NodeId) -> bool {
    let found = view.tree.node(node);
    if found.unclosed || view.keeps_its_space(node) {
        return false;
    }
    match found.kind {
        NodeKind::Dictionary => view.has_parts(node),
        NodeKind::Paren => is_list_of_function(view, node, found.parent),
        _ => false,
    }
}

/// Whether a node has the arguments of a function, or several results, and some in the signature
/// have attributes.
fn is_list_of_function(view: &ChunkView<'_>, node: NodeId, function: NodeId) -> bool {
    let tree = view.tree;
    if !view.is_function(function) {
        return false;
    }
    let is_list = |&id: &NodeId| tree.node(id).kind == NodeKind::Paren;
    let has_attributes =
        |list: NodeId| tree.children(list).any(|id| tree.node(id).kind == NodeKind::Dictionary);
    let is_first = tree.children(function).find(is_list) == Some(node);
    let has_several = is_first || view.has_parts(node);
    has_several && tree.children(function).filter(is_list).any(has_attributes)
}

/// The tokens of a node that would begin lines.
fn points<'v>(view: &'v ChunkView<'_>, node: NodeId) -> impl Iterator<Item = usize> + 'v {
    let found = view.tree.node(node);
    let tokens = found.first as usize..found.last as usize;
    tokens.filter(move |&token| is_point(view, node, token))
}

/// Whether a token of a node would begin a line: the first of a part, and the `}` after them.
fn is_point(view: &ChunkView<'_>, node: NodeId, token: usize) -> bool {
    let found = view.tree.node(node);
    let (first, last) = (found.first as usize, found.last as usize);
    if token <= first || token >= last || view.is_comment(token) {
        return false;
    }
    let follows_comma = view.tokens()[token - 1].is(b',') && view.node_of[token - 1] == node;
    let closes = found.kind == NodeKind::Dictionary && token + 1 == last;
    token == first + 1 || follows_comma || closes
}

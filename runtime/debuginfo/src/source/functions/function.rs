//! A function of the source as data: its operations, values, blocks and regions, and the questions
//! that need nothing but them: what encloses an operation, what is in scope there.

use std::collections::HashMap;

use syntax::{Leaf, NodeId, NodeKind, TokenKind, Tree};

/// A line and a column of a source, from 1.
pub(crate) type LineColumn = (u32, u32);
/// The index of a value of a function.
pub(crate) type ValueIndex = usize;
/// The index of an operation of a function.
pub(crate) type OperationIndex = usize;

/// A value and how it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceValue {
    /// With its `%`; one of several results has its number: `%r#1`.
    pub(crate) name: String,
    /// Its type, where the text says it.
    pub(crate) type_text: Option<String>,
    /// The operation that it is a result of, and which; an argument of a block has none.
    pub(crate) definition: Option<(OperationIndex, usize)>,
    /// Where its name is written.
    pub(crate) place: LineColumn,
}

/// Operations after a label.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceBlock {
    /// With its `^`; empty for a block without a label.
    pub(crate) label: String,
    pub(crate) arguments: Vec<ValueIndex>,
    pub(crate) operations: Vec<OperationIndex>,
}

/// The blocks between two braces.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceRegion {
    pub(crate) blocks: Vec<SourceBlock>,
}

/// An operation.
#[derive(Clone, Debug)]
pub(crate) struct SourceOperation {
    pub(crate) name: String,
    /// Where its name is: what locations say.
    pub(crate) place: LineColumn,
    /// The operation around it; the function itself has none.
    pub(crate) parent: Option<OperationIndex>,
    /// The region and the block of `parent` that it is in.
    pub(crate) region: usize,
    pub(crate) block: usize,
    /// Values that its head names, in the order of the text.
    pub(crate) operands: Vec<ValueIndex>,
    pub(crate) results: Vec<ValueIndex>,
    /// What its head gives the arguments of its first region: `%acc = %n`.
    pub(crate) initial: Vec<(ValueIndex, Option<ValueIndex>)>,
    pub(crate) regions: Vec<SourceRegion>,
    pub(super) node: NodeId,
}

/// A function, with its own text.
#[derive(Debug)]
pub(crate) struct SourceFunction {
    pub(crate) values: Vec<SourceValue>,
    /// The first is the function itself; operations come before what is inside of them.
    pub(crate) operations: Vec<SourceOperation>,
    pub(super) by_place: HashMap<LineColumn, OperationIndex>,
    pub(super) tree: Tree,
    pub(super) text: String,
}

impl SourceFunction {
    /// The operation whose name is at a place.
    pub(crate) fn operation_at(&self, place: LineColumn) -> Option<OperationIndex> {
        self.by_place.get(&place).copied()
    }

    /// An operation and those around it, innermost first; the last is the function.
    pub(crate) fn ancestors(
        &self,
        operation: OperationIndex,
    ) -> impl Iterator<Item = OperationIndex> + '_ {
        std::iter::successors(Some(operation), |at| self.operations.get(*at)?.parent)
    }

    /// The arguments of the function.
    pub(crate) fn arguments(&self) -> &[ValueIndex] {
        let body = self.operations.first().and_then(|function| function.regions.first());
        let entry = body.and_then(|body| body.blocks.first());
        entry.map_or(&[], |entry| &entry.arguments)
    }

    /// Whether it has a body.
    pub(crate) fn is_defined(&self) -> bool {
        self.operations.first().is_some_and(|function| !function.regions.is_empty())
    }

    /// The tokens of an operation outside of its regions, results and name.
    pub(crate) fn head(&self, operation: OperationIndex) -> Vec<(TokenKind, &str)> {
        let Some(written) = self.operations.get(operation) else { return Vec::new() };
        let leaves = head_leaves(&self.tree, written.node);
        leaves.iter().map(|leaf| (leaf.kind, self.text_of(leaf))).collect()
    }

    pub(super) fn text_of(&self, leaf: &Leaf) -> &str {
        self.text.get(leaf.start as usize..leaf.end as usize).unwrap_or_default()
    }

    /// The values that are in scope at an operation, outermost first: those of blocks around it
    /// that were made before. In a region of several blocks, those of blocks that must run before.
    pub(crate) fn in_scope(&self, operation: OperationIndex) -> Vec<ValueIndex> {
        let mut around: Vec<OperationIndex> = self.ancestors(operation).collect();
        around.pop();
        let mut values = Vec::new();
        for at in around.into_iter().rev() {
            let written = &self.operations[at];
            let parent = written.parent.and_then(|parent| self.operations.get(parent));
            let Some(region) = parent.and_then(|it| it.regions.get(written.region)) else {
                continue;
            };
            for block in dominators(self, region, written.block) {
                let Some(block_text) = region.blocks.get(block) else { continue };
                values.extend(&block_text.arguments);
                let operations = block_text.operations.iter();
                let before = operations.take_while(|it| block != written.block || **it != at);
                values.extend(before.flat_map(|it| &self.operations[*it].results));
            }
        }
        values
    }

    /// The blocks of a region that the terminator of one names.
    pub(crate) fn successors(&self, region: &SourceRegion, block: usize) -> Vec<usize> {
        let terminator = region.blocks.get(block).and_then(|it| it.operations.last());
        let Some(terminator) = terminator else { return Vec::new() };
        let head = self.head(*terminator);
        let labels = head.iter().filter(|(kind, _)| *kind == TokenKind::Block);
        let find = |label: &str| region.blocks.iter().position(|it| it.label == label);
        labels.filter_map(|(_, label)| find(label)).collect()
    }

    /// The blocks of a region that can be reached, each after one that leads to it, and after all of
    /// those where there is no loop.
    pub(crate) fn order(&self, region: &SourceRegion) -> Vec<usize> {
        let mut order = Vec::new();
        let mut seen = vec![false; region.blocks.len()];
        let mut stack = Vec::new();
        if !seen.is_empty() {
            seen[0] = true;
            stack.push((0, self.successors(region, 0)));
        }
        while let Some((block, mut rest)) = stack.pop() {
            match rest.pop() {
                Some(next) => {
                    stack.push((block, rest));
                    if !std::mem::replace(&mut seen[next], true) {
                        stack.push((next, self.successors(region, next)));
                    }
                }
                None => order.push(block),
            }
        }
        order.reverse();
        order
    }
}

/// The blocks through which every way to a block leads, in the order of the way, itself last.
fn dominators(function: &SourceFunction, region: &SourceRegion, block: usize) -> Vec<usize> {
    if region.blocks.len() <= 1 || block == 0 {
        return vec![block];
    }
    // Whatever cannot be reached without a block is dominated by it. Functions have few blocks.
    let reaches_without = |without: usize| {
        let mut seen = vec![false; region.blocks.len()];
        let mut pending = if without == 0 { Vec::new() } else { vec![0] };
        while let Some(at) = pending.pop() {
            if at == without || std::mem::replace(&mut seen[at], true) {
                continue;
            }
            pending.extend(function.successors(region, at));
        }
        seen[block]
    };
    let mut found: Vec<usize> =
        (0..region.blocks.len()).filter(|it| *it != block && !reaches_without(*it)).collect();
    // A dominator of another one is dominated by fewer blocks, and comes first in the text mostly;
    // the order only matters for showing.
    found.sort_unstable();
    found.push(block);
    found
}

pub(super) fn head_leaves(tree: &Tree, node: NodeId) -> Vec<Leaf> {
    let whole = tree.node(node);
    let name = tree.child(node, NodeKind::Name);
    let start = name.map_or(whole.first, |name| tree.node(name).last);
    let mut skipped: Vec<(u32, u32)> = Vec::new();
    for child in tree.children(node) {
        let it = tree.node(child);
        match it.kind {
            NodeKind::Region => skipped.push((it.first, it.last)),
            // The generic form has regions between parentheses.
            NodeKind::Paren => {
                let regions = tree.children(child).filter(|it| is_region(tree, *it));
                skipped.extend(regions.map(|it| (tree.node(it).first, tree.node(it).last)));
            }
            _ => {}
        }
    }
    let is_skipped = |at: &u32| skipped.iter().any(|(first, last)| first <= at && at < last);
    let indices = (start..whole.last).filter(|at| !is_skipped(at));
    let leaves = indices.filter_map(|at| tree.tokens().get(at as usize).copied());
    leaves.filter(|leaf| leaf.kind != TokenKind::Comment).collect()
}

pub(super) fn is_region(tree: &Tree, node: NodeId) -> bool {
    tree.node(node).kind == NodeKind::Region
}

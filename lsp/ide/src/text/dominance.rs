//! Which values are there where an operation stands: MLIR's rule that a definition dominates its
//! uses.
//!
//! Within a block that is the order of the text; between blocks of a region it is a matter of all
//! ways through them. Only regions of operations that [`mlir::structure`] knows are judged: a
//! region may be a graph, where order means nothing. What is not certain counts as there.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use mlir::structure::is_known;
use syntax::{IN_FUNCTION, NodeId, NodeKind, Tree};

use super::analysis::AnalysedChunk;
use super::names::{Names, Value, ValueKind};

/// The dominance of a chunk.
pub(crate) struct Dominance<'a> {
    tree: &'a Tree,
    names: &'a Names,
    /// Whether operations directly in the chunk are the body of a function.
    is_body: bool,
    /// The name of an operation.
    op: &'a dyn Fn(NodeId) -> String,
    ways: RefCell<HashMap<NodeId, Option<Rc<Ways>>>>,
    /// Whether order matters in a region.
    ordered: RefCell<HashMap<NodeId, bool>>,
}

impl<'a> Dominance<'a> {
    /// The dominance of a chunk, where `op` names its operations.
    pub(crate) fn new(analysed: &'a AnalysedChunk, op: &'a dyn Fn(NodeId) -> String) -> Self {
        let chunk = &analysed.placed.chunk;
        Self {
            tree: &analysed.analysis.tree,
            names: &analysed.analysis.names,
            is_body: chunk.depth & IN_FUNCTION != 0,
            op,
            ways: RefCell::default(),
            ordered: RefCell::default(),
        }
    }

    /// Whether a value is there for an operation, for all that is known.
    pub(crate) fn is_there(&self, value: &Value, user: NodeId) -> bool {
        let definition = match value.kind {
            ValueKind::Result(_) => value.node,
            ValueKind::BlockArgument => self.tree.node(value.node).parent,
            ValueKind::RegionArgument => return true,
        };
        let is_argument = value.kind == ValueKind::BlockArgument;
        let home = if is_argument { definition } else { self.tree.node(definition).parent };
        let Some(region) = self.region_of(home) else { return true };
        // The operation of the same region that is the user or holds it.
        let around = self.tree.ancestors(user).find(|&outer| {
            self.tree.node(outer).kind == NodeKind::Operation
                && self.region_of(self.tree.node(outer).parent) == Some(region)
        });
        let Some(around) = around else { return true };
        let block = self.tree.node(around).parent;
        if around == user && self.ways_of(region).is_some_and(|ways| !ways.is_reached(block)) {
            return true;
        }
        if block == home {
            return is_argument || definition < around;
        }
        self.ways_of(region).is_none_or(|ways| ways.dominates(home, block))
    }

    /// The region of a block, if order matters there; the root stands for a function's body.
    fn region_of(&self, block: NodeId) -> Option<NodeId> {
        let node = self.tree.node(block);
        match node.kind {
            NodeKind::Root => self.is_body.then_some(0),
            NodeKind::Block if self.tree.node(node.parent).kind == NodeKind::Region => {
                let owner = self.tree.operation_of(node.parent)?;
                let mut ordered = self.ordered.borrow_mut();
                let is_ordered =
                    *ordered.entry(node.parent).or_insert_with(|| is_known(&(self.op)(owner)));
                is_ordered.then_some(node.parent)
            }
            NodeKind::Block => self.is_body.then_some(0),
            _ => None,
        }
    }

    /// The ways between the blocks of a region; `None` if they are not all known.
    fn ways_of(&self, region: NodeId) -> Option<Rc<Ways>> {
        // The blocks of a function that is cut into parts are in other chunks, too.
        if region == 0 || self.tree.node(region).unclosed {
            return None;
        }
        let known = self.ways.borrow().get(&region).cloned();
        known.unwrap_or_else(|| {
            let made = self.make_ways(region).map(Rc::new);
            self.ways.borrow_mut().insert(region, made.clone());
            made
        })
    }

    fn make_ways(&self, region: NodeId) -> Option<Ways> {
        let tree = self.tree;
        let blocks: Vec<NodeId> =
            tree.children(region).filter(|&id| tree.node(id).kind == NodeKind::Block).collect();
        let place = |block: NodeId| blocks.binary_search(&block).ok();
        let mut successors = vec![Vec::new(); blocks.len()];
        for (from, &block) in blocks.iter().enumerate() {
            let operations =
                tree.children(block).filter(|&id| tree.node(id).kind == NodeKind::Operation);
            let last = operations.last()?;
            if blocks.len() > 1 && !mlir::may_end_block(&(self.op)(last)) {
                return None;
            }
            let range = tree.range(last);
            let uses = &self.names.block_uses;
            let first = uses.partition_point(|used| (used.span.start as usize) < range.start);
            for used in uses[first..].iter().take_while(|it| (it.span.start as usize) < range.end) {
                let block = self.names.blocks.get(used.definition? as usize)?.node;
                successors[from].extend(place(block));
            }
        }
        Some(Ways::new(blocks, &successors))
    }
}

/// The dominator tree of the blocks of a region.
struct Ways {
    blocks: Vec<NodeId>,
    /// The nearest dominator of each block; its own place for the first block, nothing where no way
    /// leads.
    dominator: Vec<Option<usize>>,
    /// The place of each block in an order in which a dominator comes first.
    order: Vec<usize>,
}

impl Ways {
    /// By the algorithm of Cooper, Harvey and Kennedy.
    fn new(blocks: Vec<NodeId>, successors: &[Vec<usize>]) -> Self {
        let count = blocks.len();
        let mut finished = Vec::with_capacity(count);
        let mut seen = vec![false; count];
        let mut open: Vec<(usize, usize)> = Vec::new();
        if count > 0 {
            seen[0] = true;
            open.push((0, 0));
        }
        while let Some((block, next)) = open.last_mut() {
            match successors[*block].get(*next) {
                Some(&to) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[to], true) {
                        open.push((to, 0));
                    }
                }
                None => {
                    finished.push(*block);
                    open.pop();
                }
            }
        }
        finished.reverse();
        let mut order = vec![usize::MAX; count];
        for (place, &block) in finished.iter().enumerate() {
            order[block] = place;
        }
        let mut before = vec![Vec::new(); count];
        for (from, to) in successors.iter().enumerate() {
            to.iter().for_each(|&to| before[to].push(from));
        }
        let mut ways = Self { blocks, dominator: vec![None; count], order };
        if let Some(&first) = finished.first() {
            ways.dominator[first] = Some(first);
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &block in finished.iter().skip(1) {
                let known = before[block].iter().filter(|&&it| ways.dominator[it].is_some());
                let nearest = known.copied().reduce(|left, right| ways.common(left, right));
                changed |= ways.dominator[block] != nearest;
                ways.dominator[block] = nearest;
            }
        }
        ways
    }

    /// The nearest block that dominates both.
    fn common(&self, mut left: usize, mut right: usize) -> usize {
        while left != right {
            let later = if self.order[left] > self.order[right] { &mut left } else { &mut right };
            match self.dominator[*later] {
                Some(up) if up != *later => *later = up,
                _ => return left.min(right),
            }
        }
        left
    }

    fn is_reached(&self, block: NodeId) -> bool {
        let place = self.blocks.binary_search(&block);
        place.is_ok_and(|at| self.dominator[at].is_some())
    }

    /// Whether every way to `block` leads through `by`. No way leads to some.
    fn dominates(&self, by: NodeId, block: NodeId) -> bool {
        let (Ok(by), Ok(mut at)) =
            (self.blocks.binary_search(&by), self.blocks.binary_search(&block))
        else {
            return true;
        };
        if self.dominator[at].is_none() {
            return true;
        }
        loop {
            if at == by {
                return true;
            }
            match self.dominator[at] {
                Some(up) if up != at => at = up,
                _ => return false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ways;

    #[test]
    fn dominators() {
        // 0 → 1 → 2 → 1, 1 → 3, 0 → 3; nothing leads to 4.
        let successors = [vec![1, 3], vec![2, 3], vec![1], vec![], vec![3]];
        let ways = Ways::new(vec![10, 11, 12, 13, 14], &successors);
        for (by, block, expected) in [
            (10, 13, true),
            (11, 12, true),
            (12, 11, false),
            (11, 13, false),
            (13, 14, true),
            (14, 13, false),
            (11, 11, true),
        ] {
            assert_eq!(ways.dominates(by, block), expected, "{by} {block}");
        }
        assert!(ways.is_reached(13) && !ways.is_reached(14));
    }
}

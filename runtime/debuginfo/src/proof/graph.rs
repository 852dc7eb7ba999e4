//! Values and control flow, in the form in which source and bytecode are compared.
//!
//! A node is a value: a number computed from others, a choice by the path that control took
//! ([`Kind::Phi`]), or a value of unknown origin ([`Kind::Leaf`]). Each edge of the control flow
//! has the condition under which it is taken, so a choice is a function of conditions.

use super::arithmetic::{Pure, Scalar};

/// A value of a graph.
pub(crate) type Node = usize;
/// A block of a graph; control begins at the first one.
pub(crate) type Block = usize;
/// An edge of a graph.
pub(crate) type Edge = usize;

/// How a value is made.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Not modelled: an argument, a load, the result of a call.
    Leaf,
    Constant(u64),
    Pure(Pure, Vec<Node>),
    /// At the head of its block, one value for each edge into it.
    Phi(Vec<(Edge, Node)>),
    /// Another node, which replaces this one.
    Same(Node),
}

#[derive(Clone, Debug)]
pub(crate) struct NodeData {
    pub(crate) kind: Kind,
    /// The type of the number; `None` for references and other values.
    pub(crate) scalar: Option<Scalar>,
    pub(crate) block: Block,
}

/// When an edge is taken, given that control is at its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    Always,
    /// If the lowest bit of a value equals this.
    If(Node, bool),
    Unknown,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeData {
    pub(crate) from: Block,
    pub(crate) to: Block,
    pub(crate) when: When,
}

/// Values and control flow of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<NodeData>,
    pub(crate) edges: Vec<EdgeData>,
    /// By block, the edges into it and out of it.
    pub(crate) incoming: Vec<Vec<Edge>>,
    pub(crate) outgoing: Vec<Vec<Edge>>,
}

impl Graph {
    pub(crate) fn add_block(&mut self) -> Block {
        self.incoming.push(Vec::new());
        self.outgoing.push(Vec::new());
        self.incoming.len() - 1
    }

    pub(crate) fn add_edge(&mut self, from: Block, to: Block, when: When) -> Edge {
        self.edges.push(EdgeData { from, to, when });
        let edge = self.edges.len() - 1;
        self.outgoing[from].push(edge);
        self.incoming[to].push(edge);
        edge
    }

    pub(crate) fn add(&mut self, kind: Kind, scalar: Option<Scalar>, block: Block) -> Node {
        self.nodes.push(NodeData { kind, scalar, block });
        self.nodes.len() - 1
    }

    /// The bits of a value, if it is a constant.
    pub(crate) fn constant(&self, node: Node) -> Option<u64> {
        match self.nodes[self.resolve(node)].kind {
            Kind::Constant(bits) => Some(bits),
            _ => None,
        }
    }

    /// The node that replaces a node, or the node itself.
    pub(crate) fn resolve(&self, mut node: Node) -> Node {
        while let Kind::Same(other) = self.nodes[node].kind {
            node = other;
        }
        node
    }
}

/// The dominators and the loops of a graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    /// The reachable blocks in reverse postorder: each comes before its successors, except along
    /// back edges.
    pub(crate) order: Vec<Block>,
    /// By block, its index in that order.
    position: Vec<usize>,
    /// By block, its immediate dominator: the last block that every path to it passes through.
    dominator: Vec<Block>,
    /// By block, the head of the innermost loop around it.
    head: Vec<Option<Block>>,
    /// By head of a loop, the head of the next loop around it.
    outer: Vec<Option<Block>>,
    is_back: Vec<bool>,
    /// By block, whether it is the head of a cycle that control can also enter elsewhere.
    irreducible: Vec<bool>,
}

const NOWHERE: usize = usize::MAX;

impl Flow {
    pub(crate) fn new(graph: &Graph) -> Self {
        let count = graph.incoming.len();
        let mut flow = Self {
            order: reverse_postorder(graph),
            position: vec![NOWHERE; count],
            dominator: vec![NOWHERE; count],
            head: vec![None; count],
            outer: vec![None; count],
            is_back: vec![false; graph.edges.len()],
            irreducible: vec![false; count],
        };
        for (position, block) in flow.order.iter().enumerate() {
            flow.position[*block] = position;
        }
        flow.find_dominators(graph);
        flow.find_loops(graph);
        flow
    }

    pub(crate) fn is_reachable(&self, block: Block) -> bool {
        self.position.get(block).is_some_and(|position| *position != NOWHERE)
    }

    /// Whether every path to `below` passes through `above`, or they are the same block.
    pub(crate) fn dominates(&self, above: Block, below: Block) -> bool {
        let mut at = below;
        loop {
            if at == above {
                return true;
            }
            match self.dominator.get(at).copied() {
                Some(next) if next != NOWHERE && next != at => at = next,
                _ => return false,
            }
        }
    }

    pub(crate) fn dominator(&self, block: Block) -> Option<Block> {
        self.dominator.get(block).copied().filter(|it| *it != NOWHERE && *it != block)
    }

    pub(crate) fn is_back(&self, edge: Edge) -> bool {
        self.is_back.get(edge).copied().unwrap_or(false)
    }

    pub(crate) fn is_head(&self, block: Block) -> bool {
        self.head.get(block).is_some_and(|head| *head == Some(block))
    }

    pub(crate) fn is_irreducible(&self, block: Block) -> bool {
        self.irreducible.get(block).copied().unwrap_or(true)
    }

    /// The heads of the loops around a block, innermost first.
    pub(crate) fn loops(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        let innermost = self.head.get(block).copied().flatten();
        std::iter::successors(innermost, |head| self.outer.get(*head).copied().flatten())
    }

    /// Whether a block is in the loop of a head.
    pub(crate) fn is_in(&self, block: Block, head: Block) -> bool {
        self.loops(block).any(|it| it == head)
    }

    fn find_dominators(&mut self, graph: &Graph) {
        let Some(first) = self.order.first().copied() else { return };
        self.dominator[first] = first;
        let mut changed = true;
        while changed {
            changed = false;
            for block in self.order.iter().copied().skip(1) {
                let sources = graph.incoming[block].iter().map(|edge| graph.edges[*edge].from);
                let known = sources.filter(|from| self.dominator[*from] != NOWHERE);
                let common = known.reduce(|one, other| self.common(one, other));
                if let Some(common) = common.filter(|it| *it != self.dominator[block]) {
                    self.dominator[block] = common;
                    changed = true;
                }
            }
        }
    }

    fn common(&self, mut one: Block, mut other: Block) -> Block {
        while one != other {
            if self.position[one] > self.position[other] {
                one = self.dominator[one];
            } else {
                other = self.dominator[other];
            }
        }
        one
    }

    fn find_loops(&mut self, graph: &Graph) {
        // Outer heads come first in the order, so inner loops overwrite the entries of outer ones.
        for block in self.order.clone() {
            let (mut body, mut pending) = (vec![block], Vec::new());
            for edge in &graph.incoming[block] {
                let from = graph.edges[*edge].from;
                if !self.is_reachable(from) {
                    continue;
                }
                if self.dominates(block, from) {
                    self.is_back[*edge] = true;
                    pending.push(from);
                } else if self.position[from] >= self.position[block] {
                    self.irreducible[block] = true;
                }
            }
            if pending.is_empty() {
                continue;
            }
            let mut inside = vec![false; graph.incoming.len()];
            inside[block] = true;
            while let Some(at) = pending.pop() {
                if std::mem::replace(&mut inside[at], true) {
                    continue;
                }
                body.push(at);
                let sources = graph.incoming[at].iter().map(|edge| graph.edges[*edge].from);
                pending.extend(sources.filter(|from| self.is_reachable(*from)));
            }
            self.outer[block] = self.head[block];
            for at in body {
                self.head[at] = Some(block);
            }
        }
    }
}

fn reverse_postorder(graph: &Graph) -> Vec<Block> {
    let mut order = Vec::new();
    let mut seen = vec![false; graph.incoming.len()];
    let mut stack = Vec::new();
    if !seen.is_empty() {
        seen[0] = true;
        stack.push((0, 0));
    }
    while let Some((block, next)) = stack.pop() {
        match graph.outgoing[block].get(next) {
            Some(edge) => {
                stack.push((block, next + 1));
                let to = graph.edges[*edge].to;
                if !std::mem::replace(&mut seen[to], true) {
                    stack.push((to, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_nest() {
        let mut graph = Graph::default();
        let [entry, outer, inner, latch, exit] = [(); 5].map(|()| graph.add_block());
        for (from, to) in [
            (entry, outer),
            (outer, inner),
            (inner, inner),
            (inner, latch),
            (latch, outer),
            (outer, exit),
        ] {
            graph.add_edge(from, to, When::Unknown);
        }
        let flow = Flow::new(&graph);
        assert_eq!(flow.loops(inner).collect::<Vec<_>>(), [inner, outer]);
        assert_eq!(flow.loops(latch).collect::<Vec<_>>(), [outer]);
        assert_eq!(flow.loops(exit).count(), 0);
        assert!(flow.dominates(outer, exit) && !flow.dominates(inner, exit));
        let back: Vec<bool> = (0..6).map(|edge| flow.is_back(edge)).collect();
        assert_eq!(back, [false, false, true, false, true, false]);
    }
}

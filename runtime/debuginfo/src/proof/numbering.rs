//! Which value of a graph has which term ([`super::terms`]).
//!
//! What a loop carries gets its term as it gets its samples: all phis of two corresponding loops
//! begin in one class, which is split while their initial or next values have different terms.

use std::collections::{HashMap, HashSet};

use super::arithmetic::Scalar;
use super::equal::{Pairs, Side};
use super::graph::{Block, Edge, Graph, Kind, Node, When};
use super::terms::{Term, Terms};

/// The most blocks that are passed through to find how a phi chooses.
const LONGEST_WAY: usize = 64;

impl Side {
    /// The term of a value.
    pub(super) fn term(&self, graph: &Graph, node: Node) -> Option<Term> {
        self.terms.get(graph.resolve(node)).copied().flatten()
    }

    fn compute_terms(&mut self, graph: &Graph, terms: &mut Terms) {
        self.terms.clear();
        self.extend_terms(graph, terms);
    }

    /// Computes the terms of nodes that were added to the graph since the last call.
    pub(super) fn extend_terms(&mut self, graph: &Graph, terms: &mut Terms) {
        let known = self.terms.len();
        self.terms.resize(graph.nodes.len(), None);
        for node in known..graph.nodes.len() {
            self.demand_term(graph, terms, node);
        }
    }

    /// Computes the terms of a value and of its operands first, without recursion.
    fn demand_term(&mut self, graph: &Graph, terms: &mut Terms, node: Node) {
        let mut stack = vec![(node, false)];
        let mut under_way = HashSet::new();
        while let Some((node, is_ready)) = stack.pop() {
            if self.terms[node].is_some() {
                continue;
            }
            let given = self.given_terms.get(&node).copied();
            // The second of these depends on itself other than through a loop's head.
            if given.is_some() || (!is_ready && !under_way.insert(node)) {
                self.terms[node] = Some(given.unwrap_or_else(|| terms.own(self.program, node)));
            } else if is_ready {
                self.terms[node] = Some(self.term_of(graph, terms, node));
            } else {
                stack.push((node, true));
                let needed = self.needs(graph, node).into_iter();
                let needed = needed.filter(|it| self.terms[*it].is_none());
                stack.extend(needed.map(|it| (it, false)));
            }
        }
    }

    fn term_of(&self, graph: &Graph, terms: &mut Terms, node: Node) -> Term {
        let known = match &graph.nodes[node].kind {
            Kind::Leaf => None,
            Kind::Constant(bits) => Some(terms.constant(*bits)),
            Kind::Same(other) => self.term(graph, *other),
            Kind::Pure(pure, operands) => {
                let operands = operands.iter().map(|it| self.operand(graph, *it));
                let operands: Option<Vec<(Term, bool)>> = operands.collect();
                operands.map(|operands| terms.operation(*pure, operands))
            }
            Kind::Phi(values) => {
                let block = graph.nodes[node].block;
                let above = self.flow.dominator(block).filter(|_| !self.is_assumed(block));
                let mut budget = LONGEST_WAY;
                above.and_then(|it| self.gate(graph, terms, it, block, values, &mut budget))
            }
        };
        known.unwrap_or_else(|| terms.own(self.program, node))
    }

    /// The term of an operand, and whether its type or its operation says that it is 0 or 1.
    fn operand(&self, graph: &Graph, node: Node) -> Option<(Term, bool)> {
        let data = &graph.nodes[graph.resolve(node)];
        let is_boolean = data.scalar == Some(Scalar::Int(1))
            || matches!(data.kind, Kind::Pure(pure, _) if pure.is_comparison());
        Some((self.term(graph, node)?, is_boolean))
    }

    /// The term of what a phi takes when control comes from a block above: a value, or a choice
    /// between two.
    fn gate(
        &self,
        graph: &Graph,
        terms: &mut Terms,
        mut at: Block,
        block: Block,
        values: &[(Edge, Node)],
        budget: &mut usize,
    ) -> Option<Term> {
        let above = at;
        loop {
            *budget = budget.checked_sub(1)?;
            if at != above && self.flow.is_head(at) && !self.flow.is_in(block, at) {
                let out = self.exit(graph, at)?;
                match value_on(values, out) {
                    Some(value) => return self.term(graph, value),
                    None => at = graph.edges[out].to,
                }
                continue;
            }
            let edges = &graph.outgoing[at];
            let first = *edges.first()?;
            match (&edges[..], graph.edges[first].when) {
                ([_], When::Always) => match value_on(values, first) {
                    Some(value) => return self.term(graph, value),
                    None => at = graph.edges[first].to,
                },
                ([one, other], When::If(condition, when)) => {
                    let mut side = |edge: Edge| match value_on(values, edge) {
                        Some(value) => self.term(graph, value),
                        None => {
                            self.gate(graph, terms, graph.edges[edge].to, block, values, budget)
                        }
                    };
                    let (one, other) = (side(*one)?, side(*other)?);
                    let (yes, no) = if when { (one, other) } else { (other, one) };
                    return Some(terms.choice(self.operand(graph, condition)?, yes, no));
                }
                _ => return None,
            }
        }
    }

    /// The terms of a phi's initial value and of its next one.
    fn turn_of_terms(&self, graph: &Graph, terms: &mut Terms, phi: Node) -> Option<(Term, Term)> {
        let Kind::Phi(values) = &graph.nodes[phi].kind else { return None };
        let head = graph.nodes[phi].block;
        let (back, entry): (Vec<_>, Vec<_>) =
            values.iter().copied().partition(|(edge, _)| self.flow.is_back(*edge));
        let single = |values: &[(Edge, Node)]| {
            let first = self.term(graph, values.first()?.1)?;
            let mut others = values.iter();
            others.all(|(_, it)| self.term(graph, *it) == Some(first)).then_some(first)
        };
        let begins = single(&entry).or_else(|| {
            let above = self.flow.dominator(head)?;
            self.gate(graph, terms, above, head, &entry, &mut LONGEST_WAY.clone())
        })?;
        Some((begins, single(&back)?))
    }
}

fn value_on(values: &[(Edge, Node)], edge: Edge) -> Option<Node> {
    values.iter().find(|(it, _)| *it == edge).map(|(_, value)| *value)
}

/// Computes the terms of both sides, given those of matched leaves and the pairs of loops.
pub(super) fn number(
    terms: &mut Terms,
    graphs: [&Graph; 2],
    sides: &mut [&mut Side; 2],
    leaves: &[HashMap<Node, Term>; 2],
    pairs: &Pairs,
) {
    let mut classes: HashMap<(usize, Node), Term> = HashMap::new();
    for (which, graph) in graphs.iter().enumerate() {
        for (node, data) in graph.nodes.iter().enumerate() {
            let of = |pair: &(Block, Block)| if which == 0 { pair.0 } else { pair.1 };
            let pair = pairs.iter().position(|pair| of(pair) == data.block);
            if let (Kind::Phi(_), Some(pair)) = (&data.kind, pair) {
                classes.insert((which, node), terms.carried(pair));
            }
        }
    }
    let mut count = 0;
    // Classes only split, so this ends; the limit is for malicious programs.
    for _ in 0..200 {
        for (which, graph) in graphs.iter().enumerate() {
            let of_phis = classes.iter().filter(|((side, _), _)| *side == which);
            let of_phis = of_phis.map(|((_, node), class)| (*node, *class));
            sides[which].given_terms.clone_from(&leaves[which]);
            sides[which].given_terms.extend(of_phis);
            sides[which].compute_terms(graph, terms);
        }
        let mut distinct = HashSet::new();
        for ((which, node), class) in &mut classes {
            let side = &sides[*which];
            *class = match side.turn_of_terms(graphs[*which], terms, *node) {
                Some((begins, next)) => terms.turn(*class, begins, next),
                None => terms.own(side.program, *node),
            };
            distinct.insert(*class);
        }
        if distinct.len() == count || classes.is_empty() {
            return;
        }
        count = distinct.len();
    }
    // They never became stable, so terms prove nothing of what loops carry.
    for (which, graph) in graphs.iter().enumerate() {
        sides[which].given_terms.clone_from(&leaves[which]);
        sides[which].compute_terms(graph, terms);
    }
}

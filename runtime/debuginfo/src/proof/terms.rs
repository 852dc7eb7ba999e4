//! Values as terms: what structure proves.
//!
//! A term is a number that stands for an operation on the terms of its operands, in a normal form:
//! operands that may change places are sorted, `a > b` is `b < a`, a choice between two paths is a
//! `select`. Two values with one term are made by the same computation from the same leaves, so
//! they are equal for every input. Values with different terms may be equal all the same: the
//! compiler rewrites more than is undone here.
//!
//! What a loop carries gets its term as it gets its samples: all phis of two corresponding loops
//! begin in one class, which is split while their initial or next values have different terms.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use mlir::{Element, FloatBinary as F, IntegerBinary as I, Order, Scalar as Function};

use super::arithmetic::{Pure, Scalar};
use super::equal::{Pairs, Side};
use super::graph::{Block, Edge, Graph, Kind, Node, When};

/// Flips the term of a boolean to that of its opposite.
const NOT: u64 = 0x5bd1_e995_9d1b_58d3;
/// The most blocks that are passed through to find how a phi chooses.
const LONGEST_WAY: usize = 64;

fn hash(tag: impl Hash, terms: &[u64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    tag.hash(&mut hasher);
    terms.hash(&mut hasher);
    hasher.finish()
}

fn of_constant(bits: u64) -> u64 {
    hash("constant", &[bits])
}

fn of_sorted(tag: impl Hash, one: u64, other: u64) -> u64 {
    hash(tag, &[one.min(other), one.max(other)])
}

impl Side {
    /// The term of a value.
    pub(super) fn term(&self, graph: &Graph, node: Node) -> Option<u64> {
        self.terms.get(graph.resolve(node)).copied().flatten()
    }

    fn compute_terms(&mut self, graph: &Graph) {
        self.terms.clear();
        self.extend_terms(graph);
    }

    /// Computes the terms of nodes that were added to the graph since the last call.
    pub(super) fn extend_terms(&mut self, graph: &Graph) {
        let known = self.terms.len();
        self.terms.resize(graph.nodes.len(), None);
        for node in known..graph.nodes.len() {
            self.demand_term(graph, node);
        }
    }

    /// Computes the terms of a value and of its operands first, without recursion.
    fn demand_term(&mut self, graph: &Graph, node: Node) {
        let mut stack = vec![(node, false)];
        let mut under_way = HashMap::new();
        while let Some((node, is_ready)) = stack.pop() {
            if self.terms[node].is_some() {
                continue;
            }
            let given = self.given_terms.get(&node).copied();
            // The second of these depends on itself other than through a loop's head.
            if given.is_some() || (!is_ready && under_way.insert(node, ()).is_some()) {
                self.terms[node] = Some(given.unwrap_or_else(|| self.own_term(node)));
            } else if is_ready {
                self.terms[node] = Some(self.term_of(graph, node));
            } else {
                stack.push((node, true));
                let needed = self.needs(graph, node).into_iter();
                let needed = needed.filter(|it| self.terms[*it].is_none());
                stack.extend(needed.map(|it| (it, false)));
            }
        }
    }

    /// The term of a value that is like no other.
    fn own_term(&self, node: Node) -> u64 {
        hash("own", &[self.seed_of(node)])
    }

    fn term_of(&self, graph: &Graph, node: Node) -> u64 {
        let own = || self.own_term(node);
        match &graph.nodes[node].kind {
            Kind::Leaf => own(),
            Kind::Constant(bits) => of_constant(*bits),
            Kind::Same(other) => self.term(graph, *other).unwrap_or_else(own),
            Kind::Pure(pure, operands) => {
                let terms: Option<Vec<u64>> =
                    operands.iter().map(|operand| self.term(graph, *operand)).collect();
                terms.map_or_else(own, |terms| of_operation(graph, *pure, operands, &terms))
            }
            Kind::Phi(values) => {
                let block = graph.nodes[node].block;
                let above = self.flow.dominator(block).filter(|_| !self.is_assumed(block));
                let mut budget = LONGEST_WAY;
                let gate = above.and_then(|it| self.gate(graph, it, block, values, &mut budget));
                gate.unwrap_or_else(own)
            }
        }
    }

    /// The term of what a phi takes when control comes from a block above: a value, or a choice
    /// between two.
    fn gate(
        &self,
        graph: &Graph,
        mut at: Block,
        block: Block,
        values: &[(Edge, Node)],
        budget: &mut usize,
    ) -> Option<u64> {
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
                        None => self.gate(graph, graph.edges[edge].to, block, values, budget),
                    };
                    let (one, other) = (side(*one)?, side(*other)?);
                    let (yes, no) = if when { (one, other) } else { (other, one) };
                    return Some(of_choice(self.term(graph, condition)?, yes, no));
                }
                _ => return None,
            }
        }
    }

    /// The terms of a phi's initial value and of its next one.
    fn turn_of_terms(&self, graph: &Graph, phi: Node) -> Option<(u64, u64)> {
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
            self.gate(graph, above, head, &entry, &mut LONGEST_WAY.clone())
        })?;
        Some((begins, single(&back)?))
    }
}

fn value_on(values: &[(Edge, Node)], edge: Edge) -> Option<Node> {
    values.iter().find(|(it, _)| *it == edge).map(|(_, value)| *value)
}

/// Computes the terms of both sides, given those of matched leaves and the pairs of loops.
pub(super) fn number(
    graphs: [&Graph; 2],
    sides: &mut [&mut Side; 2],
    leaves: &[HashMap<Node, u64>; 2],
    pairs: &Pairs,
) {
    let mut classes: HashMap<(usize, Node), u64> = HashMap::new();
    for (which, graph) in graphs.iter().enumerate() {
        for (node, data) in graph.nodes.iter().enumerate() {
            let of = |pair: &(Block, Block)| if which == 0 { pair.0 } else { pair.1 };
            let pair = pairs.iter().position(|pair| of(pair) == data.block);
            if let (Kind::Phi(_), Some(pair)) = (&data.kind, pair) {
                classes.insert((which, node), hash("phi", &[pair as u64]));
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
            sides[which].compute_terms(graph);
        }
        let mut distinct: Vec<u64> = Vec::new();
        for ((which, node), class) in &mut classes {
            *class = match sides[*which].turn_of_terms(graphs[*which], *node) {
                Some((begins, goes_on)) => hash("turn", &[*class, begins, goes_on]),
                None => sides[*which].own_term(*node),
            };
            distinct.push(*class);
        }
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() == count || classes.is_empty() {
            return;
        }
        count = distinct.len();
    }
    // They never became stable, so terms prove nothing of what loops carry.
    for (which, graph) in graphs.iter().enumerate() {
        sides[which].given_terms.clone_from(&leaves[which]);
        sides[which].compute_terms(graph);
    }
}

/// A choice by a condition.
fn of_choice(condition: u64, yes: u64, no: u64) -> u64 {
    let is_flipped = condition > condition ^ NOT;
    let (condition, yes, no) =
        if is_flipped { (condition ^ NOT, no, yes) } else { (condition, yes, no) };
    match (yes, no) {
        _ if yes == no => yes,
        _ if (yes, no) == (of_constant(1), of_constant(0)) => condition,
        _ if (yes, no) == (of_constant(0), of_constant(1)) => condition ^ NOT,
        _ => hash("choice", &[condition, yes, no]),
    }
}

/// Whether a number is 0 or 1.
fn is_boolean(graph: &Graph, node: Node) -> bool {
    let data = &graph.nodes[graph.resolve(node)];
    data.scalar == Some(Scalar::Int(1))
        || matches!(data.kind, Kind::Pure(pure, _) if pure.is_comparison())
}

fn of_operation(graph: &Graph, pure: Pure, operands: &[Node], terms: &[u64]) -> u64 {
    let is_boolean = |index: usize| operands.get(index).is_some_and(|it| is_boolean(graph, *it));
    let number = |index: usize| operands.get(index).and_then(|it| graph.constant(*it));
    let function = match pure {
        Pure::Of(function) => function,
        Pure::Not(Scalar::Int(1)) => return terms.first().copied().unwrap_or_default() ^ NOT,
        Pure::MultiplyAdd(scalar) => {
            return of_multiply_add(scalar, terms, [number(0), number(1), number(2)]);
        }
        // Where they give a result, it is the same one.
        Pure::Extreme { is_least, scalar, .. } => {
            Function::FloatBinary(Pure::extreme(is_least), scalar.element())
        }
        Pure::Not(_) => return hash(pure, terms),
    };
    match (function, terms) {
        (Function::SelectFloat | Function::SelectInteger, [condition, yes, no]) => {
            of_choice(*condition, *yes, *no)
        }
        (Function::CompareIntegers { order, .. }, [one, _])
            if is_boolean(0) && number(1) == Some(0) && order == Order::Equal =>
        {
            one ^ NOT
        }
        (Function::CompareIntegers { order, .. }, [one, _])
            if is_boolean(0) && number(1) == Some(0) && order == Order::NotEqual =>
        {
            *one
        }
        (Function::CompareIntegers { order, is_signed, width }, [one, other]) => {
            of_integers(order, is_signed, width, *one, *other)
        }
        (Function::CompareFloats { order, unordered, element }, [one, other]) => {
            of_floats(order, unordered, element, *one, *other)
        }
        // Registers hold booleans as 0 and 1.
        (Function::ZeroExtend { to, .. }, [one]) if is_boolean(0) => match to {
            ..=32 => *one,
            _ => hash("widened", &[*one]),
        },
        (Function::IntegerBinary(I::Xor, _), [one, _]) if is_boolean(0) && number(1) == Some(1) => {
            one ^ NOT
        }
        (Function::IntegerBinary(binary, width), [one, other]) => {
            of_integer_binary(binary, width, [*one, *other], number(1))
        }
        (_, [one, other]) if function.is_commutative() => of_sorted(function, *one, *other),
        _ => hash(function, terms),
    }
}

fn of_multiply_add(scalar: Scalar, terms: &[u64], numbers: [Option<u64>; 3]) -> u64 {
    let [one, other, third] = *terms else { return hash(Pure::MultiplyAdd(scalar), terms) };
    match scalar {
        Scalar::Int(width) => {
            let product = of_integer_binary(I::Multiply, width, [one, other], numbers[1]);
            of_integer_binary(I::Add, width, [product, third], numbers[2])
        }
        _ => {
            let of = |function| Function::FloatBinary(function, scalar.element());
            let product = of_sorted(of(F::Multiply), one, other);
            of_sorted(of(F::Add), product, third)
        }
    }
}

fn of_integers(order: Order, is_signed: bool, width: u32, one: u64, other: u64) -> u64 {
    let equal = || {
        let tag = Function::CompareIntegers { order: Order::Equal, is_signed: true, width };
        of_sorted(tag, one, other)
    };
    let less = |one, other| {
        hash(Function::CompareIntegers { order: Order::Less, is_signed, width }, &[one, other])
    };
    match order {
        Order::Equal => equal(),
        Order::NotEqual => equal() ^ NOT,
        Order::Less => less(one, other),
        Order::Greater => less(other, one),
        Order::LessEqual => less(other, one) ^ NOT,
        Order::GreaterEqual => less(one, other) ^ NOT,
        Order::Ordered | Order::Always => of_constant(1),
        Order::Never => of_constant(0),
    }
}

fn of_floats(order: Order, unordered: bool, element: Element, one: u64, other: u64) -> u64 {
    let of = |order, unordered| Function::CompareFloats { order, unordered, element };
    let is_nan = || of_sorted(of(Order::Never, true), one, other);
    match order {
        Order::Equal => of_sorted(of(order, unordered), one, other),
        // The VM has one instruction for both.
        Order::NotEqual => of_sorted(of(order, true), one, other),
        Order::Less | Order::LessEqual => hash(of(order, unordered), &[one, other]),
        Order::Greater => hash(of(Order::Less, unordered), &[other, one]),
        Order::GreaterEqual => hash(of(Order::LessEqual, unordered), &[other, one]),
        Order::Ordered => is_nan() ^ NOT,
        Order::Always => of_constant(1),
        Order::Never if unordered => is_nan(),
        Order::Never => of_constant(0),
    }
}

fn of_integer_binary(function: I, width: u32, [one, other]: [u64; 2], second: Option<u64>) -> u64 {
    let cut = |bits| mlir::bits::cut(width, bits);
    let shift = second.filter(|it| *it < u64::from(width));
    let power = second.filter(|it| it.is_power_of_two());
    // What the compiler makes of operations with such a constant.
    let rewritten = match (function, second) {
        (I::Subtract, Some(number)) => Some((I::Add, cut(number.wrapping_neg()))),
        (I::ShiftLeft, _) => shift.map(|it| (I::Multiply, cut(1 << it))),
        (I::DivideUnsigned, _) => {
            power.map(|it| (I::ShiftRightUnsigned, u64::from(it.trailing_zeros())))
        }
        (I::RemainderUnsigned, _) => power.map(|it| (I::And, it - 1)),
        _ => None,
    };
    let (function, other, second) = match rewritten {
        Some((function, number)) => (function, of_constant(number), Some(number)),
        None => (function, other, second),
    };
    let changes_nothing = match function {
        I::Add | I::Or | I::Xor | I::ShiftRightSigned | I::ShiftRightUnsigned => second == Some(0),
        I::Multiply | I::DivideSigned => second == Some(1),
        _ => false,
    };
    let is_idempotent = matches!(
        function,
        I::And
            | I::Or
            | I::MinimumSigned
            | I::MaximumSigned
            | I::MinimumUnsigned
            | I::MaximumUnsigned
    );
    if changes_nothing || (is_idempotent && one == other) {
        return one;
    }
    let width = match function {
        // Registers hold narrow booleans too.
        I::And | I::Or | I::Xor => width.max(32),
        _ => width,
    };
    let tag = Function::IntegerBinary(function, width);
    if tag.is_commutative() { of_sorted(tag, one, other) } else { hash(tag, &[one, other]) }
}

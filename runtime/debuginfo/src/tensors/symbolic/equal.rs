//! When two terms are equal: a term of the source, and one of the compiled program.
//!
//! Both are unfolded until they are the same operation on equal terms, or the same element of the
//! same input. A constant that the compiler has computed may be any term over constants of the
//! source; it is the same one wherever it is used.

use std::collections::{HashMap, HashSet};

use mlir::Scalar;

use super::index::{Atom, Index};
use super::reshape::reshaped;
use super::terms::{Function, NodeId, NodeKind, Term, TermId, Terms};

/// The most comparisons of one proof.
const STEPS: usize = 60_000;
/// The deepest nesting of a proof.
const DEEPEST: usize = 3_000;

/// What the compiler's own constants are found to be: terms over their indices.
#[derive(Clone, Default)]
pub(crate) struct Folded(HashMap<NodeId, TermId>);

/// A proof that two terms are equal.
pub(crate) struct Proof<'t> {
    terms: &'t mut Terms,
    ranges: Vec<Index>,
    folded: &'t mut Folded,
    /// What this proof found compiled constants to be.
    found: Vec<NodeId>,
    /// Whether it depends on what a compiled constant is.
    pub(crate) assumes: bool,
    equal: HashSet<(TermId, TermId)>,
    unequal: HashSet<(TermId, TermId)>,
    steps: usize,
    depth: usize,
}

impl<'t> Proof<'t> {
    /// Whether two terms over the same variables are equal. If they are, what they tell about the
    /// compiler's own constants is kept.
    pub(crate) fn of(
        terms: &'t mut Terms,
        ranges: Vec<Index>,
        folded: &'t mut Folded,
        (source, compiled): (TermId, TermId),
    ) -> Equality {
        let (equal, unequal) = Default::default();
        let (found, assumes) = (Vec::new(), false);
        let mut proof =
            Self { terms, ranges, folded, found, assumes, equal, unequal, steps: 0, depth: 0 };
        let is_equal = proof.is_equal(source, compiled);
        if !is_equal {
            proof.undo(0);
        }
        match (is_equal, proof.assumes) {
            (false, _) => Equality::Unknown,
            (true, true) => Equality::ExceptConstants,
            (true, false) => Equality::Proven,
        }
    }

    fn undo(&mut self, to: usize) {
        // What is remembered may depend on what is undone.
        if self.found.len() > to {
            self.equal.clear();
        }
        for node in self.found.drain(to..) {
            self.folded.0.remove(&node);
        }
    }

    fn is_equal(&mut self, source: TermId, compiled: TermId) -> bool {
        if source == compiled || self.equal.contains(&(source, compiled)) {
            return true;
        }
        if self.unequal.contains(&(source, compiled)) {
            return false;
        }
        self.steps += 1;
        if self.steps > STEPS || self.depth > DEEPEST {
            return false;
        }
        self.depth += 1;
        let before = self.found.len();
        let is_equal = self.compare(source, compiled);
        self.depth -= 1;
        if is_equal {
            self.equal.insert((source, compiled));
        } else {
            self.undo(before);
            self.unequal.insert((source, compiled));
        }
        is_equal
    }

    fn compare(&mut self, source: TermId, compiled: TermId) -> bool {
        let (one, other) = (self.terms.get(source).clone(), self.terms.get(compiled).clone());
        if let Term::Read(node, index) = &other
            && matches!(self.terms.node(*node).kind, NodeKind::Folded(_))
            && (self.is_folded(source, *node, index) || self.is_gathered(&one, *node, index))
        {
            return true;
        }
        // A number that the compiler has computed from constants.
        if matches!(other, Term::Literal(_))
            && self.terms.is_constant(source)
            && self.is_computed(&one)
        {
            self.assumes = true;
            return true;
        }
        if let (Term::Read(one, at), Term::Read(other, other_at)) = (&one, &other)
            && one == other
            && self.is_same_index(at, other_at)
        {
            return true;
        }
        // The later tensor is the one that may be made of the other.
        let newest = |it: &Term, terms: &Terms| match it {
            Term::Read(node, _) if matches!(terms.node(*node).kind, NodeKind::Elements(_)) => {
                Some(*node)
            }
            _ => None,
        };
        match (newest(&one, self.terms), newest(&other, self.terms)) {
            (Some(first), second) if second.is_none_or(|second| first >= second) => {
                let Some(unfolded) = self.unfold(&one) else { return false };
                return self.is_equal(unfolded, compiled);
            }
            (_, Some(_)) => {
                let Some(unfolded) = self.unfold(&other) else { return false };
                return self.is_equal(source, unfolded);
            }
            _ => {}
        }
        match (one, other) {
            (Term::Operation(one, operands), Term::Operation(other, others)) => {
                one == other
                    && operands.len() == others.len()
                    && self.are_equal(&one, &operands, &others)
            }
            (Term::Read(one, at), Term::Read(other, other_at)) => {
                self.is_same_reduction((one, &at), (other, &other_at))
                    || self.is_same_constant((one, &at), (other, &other_at))
            }
            (Term::Index(one), Term::Index(other)) => self.is_same_index(&[one], &[other]),
            (Term::Within(bounds, one, outside), Term::Within(others, other, other_outside)) => {
                bounds.len() == others.len()
                    && bounds.into_iter().zip(others).all(|(one, other)| {
                        self.is_same_index(&[one.0, one.1], &[other.0, other.1])
                    })
                    && self.is_equal(one, other)
                    && self.is_equal(outside, other_outside)
            }
            _ => false,
        }
    }

    /// Whether a term may be what the compiler has computed a number from.
    fn is_computed(&self, term: &Term) -> bool {
        match term {
            Term::Operation(..) => true,
            Term::Read(node, _) => matches!(self.terms.node(*node).kind, NodeKind::Constant(_)),
            _ => false,
        }
    }

    fn unfold(&mut self, term: &Term) -> Option<TermId> {
        let Term::Read(node, index) = term else { return None };
        let NodeKind::Elements(inner) = self.terms.node(*node).kind else { return None };
        Some(self.terms.replace(inner, index, &self.ranges))
    }

    /// Whether the operands of equal operations are equal, in any order if that does not matter.
    fn are_equal(&mut self, function: &Function, operands: &[TermId], others: &[TermId]) -> bool {
        let before = self.found.len();
        let all = |proof: &mut Self, others: [TermId; 2]| {
            proof.is_equal(operands[0], others[0]) && proof.is_equal(operands[1], others[1])
        };
        if operands.len() == 2 && function.scalar().is_some_and(Scalar::is_commutative) {
            if all(self, [others[0], others[1]]) {
                return true;
            }
            self.undo(before);
            return all(self, [others[1], others[0]]);
        }
        operands.iter().zip(others).all(|(one, other)| self.is_equal(*one, *other))
    }

    fn is_same_index(&mut self, one: &[Index], other: &[Index]) -> bool {
        one.len() == other.len()
            && one.iter().zip(other).all(|(one, other)| {
                one == other
                    || (one.constant == other.constant
                        && one.terms.len() == other.terms.len()
                        && one.terms.iter().zip(&other.terms).all(|(one, other)| {
                            one.1 == other.1
                                && one.0.len() == other.0.len()
                                && one
                                    .0
                                    .iter()
                                    .zip(&other.0)
                                    .all(|(one, other)| self.is_same_atom(one, other))
                        }))
            })
    }

    fn is_same_atom(&mut self, one: &Atom, other: &Atom) -> bool {
        match (one, other) {
            (Atom::Value(one), Atom::Value(other)) | (Atom::Size(one), Atom::Size(other)) => {
                self.is_equal(*one, *other)
            }
            _ => one == other,
        }
    }

    /// Whether a compiled constant may be a term of the source.
    fn is_folded(&mut self, source: TermId, node: NodeId, index: &[Index]) -> bool {
        if !self.terms.is_constant(source) {
            return false;
        }
        // The same elements, or others.
        if let Term::Read(own, at) = self.terms.get(source).clone()
            && let (NodeKind::Constant(one), NodeKind::Folded(elements)) =
                (&self.terms.node(own).kind, &self.terms.node(node).kind)
            && let is_same = one == elements
            && (is_same || are_others(one, elements))
            && let Some(at) = self.in_shape_of((own, &at), node)
            && self.is_same_index(&at, index)
        {
            return is_same;
        }
        let Some(term) = self.over(source, index) else { return false };
        self.assumes = true;
        let ranges = self.terms.node(node).shape.clone();
        let axes: Vec<Index> = (0..index.len() as u32).map(Index::variable).collect();
        let term = self.terms.replace(term, &axes, &ranges);
        self.is_bound(node, term)
    }

    /// The index of an element of a tensor in the shape of another one.
    fn in_shape_of(&self, (own, at): (NodeId, &[Index]), other: NodeId) -> Option<Vec<Index>> {
        let (own, other) = (self.terms.node(own), self.terms.node(other));
        reshaped(at, &own.shape, &other.shape, &self.ranges)
    }

    /// A term of the source over the axes of a constant that is read at some indices: variables
    /// that are indices of their own, or the very same indices. `None` if it depends on others.
    fn over(&mut self, source: TermId, index: &[Index]) -> Option<TermId> {
        let mut by: Vec<Option<Index>> = vec![None; self.ranges.len()];
        let mut is_plain = true;
        for (axis, it) in (0_u32..).zip(index) {
            if it.as_constant() == Some(0) {
                continue;
            }
            let variable = it.as_variable().and_then(|it| by.get_mut(it as usize));
            match variable {
                Some(slot @ None) => *slot = Some(Index::variable(axis)),
                _ => is_plain = false,
            }
        }
        if !is_plain {
            // Each axis has an index of its own here, too: of a diagonal, the rest is not known.
            let others: Vec<&Index> =
                index.iter().filter(|it| it.as_constant() != Some(0)).collect();
            let is_own = (0..others.len())
                .all(|at| !others[at].is_fixed() && !others[..at].contains(&others[at]));
            return if is_own { self.terms.over_indices(source, index) } else { None };
        }
        // The term may depend on nothing else.
        let is_known = |it: u32| by.get(it as usize).is_some_and(Option::is_some);
        if !self.terms.depends_only_on(source, &is_known) {
            return None;
        }
        let by: Vec<Index> = by.into_iter().map(Option::unwrap_or_default).collect();
        let ranges: Vec<Index> = Vec::new();
        Some(self.terms.replace(source, &by, &ranges))
    }

    /// Whether both are elements at equal indices of constants of the same number of elements.
    fn is_gathered(&mut self, source: &Term, node: NodeId, index: &[Index]) -> bool {
        let Term::Read(own, at) = source else { return false };
        let (one, other) = (self.terms.node(*own), self.terms.node(node));
        if !one.is_constant || one.element != other.element {
            return false;
        }
        let (own, shape) = (*own, one.shape.clone());
        let Some(at) = self.in_shape_of((own, at), node) else { return false };
        if !self.is_same_index(&at, index) {
            return false;
        }
        let ranges = self.terms.node(node).shape.clone();
        let axes: Vec<Index> = (0..index.len() as u32).map(Index::variable).collect();
        let Some(axes) = reshaped(&axes, &ranges, &shape, &ranges) else { return false };
        let term = self.terms.read(own, axes);
        self.assumes = true;
        self.is_bound(node, term)
    }

    /// Whether a compiled constant is this term over its indices, as far as is known.
    fn is_bound(&mut self, node: NodeId, term: TermId) -> bool {
        /// Constants are computed from few others.
        const MOST: usize = 500;
        let ranges = self.terms.node(node).shape.clone();
        let term = self.terms.unfolded(term, &ranges, &mut MOST.clone());
        match self.folded.0.get(&node) {
            Some(known) => *known == term,
            None => {
                self.folded.0.insert(node, term);
                self.found.push(node);
                true
            }
        }
    }

    fn is_same_constant(
        &mut self,
        (one, at): (NodeId, &[Index]),
        (other, other_at): (NodeId, &[Index]),
    ) -> bool {
        match (&self.terms.node(one).kind, &self.terms.node(other).kind) {
            (NodeKind::Constant(first), NodeKind::Constant(second)) if first == second => {
                let at = self.in_shape_of((one, at), other);
                at.is_some_and(|at| self.is_same_index(&at, other_at))
            }
            _ => false,
        }
    }

    fn is_same_reduction(
        &mut self,
        (one, at): (NodeId, &[Index]),
        (other, other_at): (NodeId, &[Index]),
    ) -> bool {
        let (first, second) =
            (self.terms.node(one).kind.clone(), self.terms.node(other).kind.clone());
        let (
            NodeKind::Reduction { reduced, steps, first: start },
            NodeKind::Reduction { reduced: others, steps: other_steps, first: other_start },
        ) = (first, second)
        else {
            return false;
        };
        if steps.len() != other_steps.len() {
            return false;
        }
        let before = self.found.len();
        let first = self.ranges.len() as u32;
        self.ranges.extend(reduced.iter().cloned());
        let own: Vec<Index> = (0..)
            .zip(&reduced)
            .map(|(at, size)| match size.as_constant() {
                Some(1) => Index::default(),
                _ => Index::variable(first + at),
            })
            .collect();
        for of_other in self.pairings((&own, &reduced), &others) {
            self.undo(before);
            let by: Vec<Index> = at.iter().chain(&own).cloned().collect();
            let of_other: Vec<Index> = other_at.iter().cloned().chain(of_other).collect();
            let ranges = self.ranges.clone();
            let pairs: Vec<(TermId, TermId)> = steps
                .iter()
                .zip(&other_steps)
                .chain(start.iter().zip(&other_start))
                .map(|(one, other)| {
                    let one = self.terms.replace(*one, &by, &ranges);
                    (one, self.terms.replace(*other, &of_other, &ranges))
                })
                .collect();
            let is_same = pairs.into_iter().all(|(one, other)| self.is_equal(one, other));
            if is_same {
                return true;
            }
        }
        false
    }

    /// The indices of another reduction's axes, in all ways in which it may have the same steps:
    /// any order of the own axes, which it may split or join.
    fn pairings(&self, (own, sizes): (&[Index], &[Index]), others: &[Index]) -> Vec<Vec<Index>> {
        /// No real reduction has more orders.
        const MOST: usize = 24;
        let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
        for _ in 0..own.len() {
            let next = orders.iter().flat_map(|order| {
                let free = (0..own.len()).filter(|at| !order.contains(at));
                free.map(|at| order.iter().copied().chain([at]).collect())
            });
            orders = next.take(MOST).collect();
        }
        let mut found = Vec::new();
        for order in orders {
            let of = |all: &[Index]| order.iter().map(|at| all[*at].clone()).collect::<Vec<_>>();
            let paired = reshaped(&of(own), &of(sizes), others, &self.ranges);
            found.extend(paired.filter(|it| !found.contains(it)));
        }
        found
    }
}

/// Whether two terms are equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Equality {
    Proven,
    /// If constants that the compiler has computed are those that the source has there.
    ExceptConstants,
    Unknown,
}

/// Whether both are names of constants of the same number of digits that are not the same.
fn are_others(one: &str, other: &str) -> bool {
    let digits = |it: &str| Some(it.strip_prefix("__elided__")?.split_once('_')?.0.to_owned());
    one != other && digits(one).is_some_and(|it| digits(other) == Some(it))
}

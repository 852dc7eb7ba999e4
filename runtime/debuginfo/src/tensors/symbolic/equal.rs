//! When two terms are equal: a term of the source, and one of the compiled program.
//!
//! Both are unfolded until they are the same operation on equal terms, or the same element of the
//! same input. A constant that the compiler has computed may be any term over constants of the
//! source; it is the same one wherever it is used.

use std::collections::{HashMap, HashSet};

use super::index::{Atom, Index};
use super::terms::{NodeId, NodeKind, Term, TermId, Terms};

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
    ranges: Vec<Option<i64>>,
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
        ranges: Vec<Option<i64>>,
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
                    && bounds.iter().zip(&others).all(|((one, size), (other, other_size))| {
                        size == other_size
                            && self.is_same_index(
                                std::slice::from_ref(one),
                                std::slice::from_ref(other),
                            )
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
    fn are_equal(&mut self, operation: &str, operands: &[TermId], others: &[TermId]) -> bool {
        let before = self.found.len();
        let all = |proof: &mut Self, others: [TermId; 2]| {
            proof.is_equal(operands[0], others[0]) && proof.is_equal(operands[1], others[1])
        };
        if operands.len() == 2 && is_commutative(operation) {
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
                            one.1 == other.1 && self.is_same_atom(&one.0, &other.0)
                        }))
            })
    }

    fn is_same_atom(&mut self, one: &Atom, other: &Atom) -> bool {
        match (one, other) {
            (Atom::Value(one), Atom::Value(other)) => self.is_equal(*one, *other),
            _ => one == other,
        }
    }

    /// Whether a compiled constant may be a term of the source.
    fn is_folded(&mut self, source: TermId, node: NodeId, index: &[Index]) -> bool {
        if !self.terms.is_constant(source) {
            return false;
        }
        // The same elements.
        if let Term::Read(own, at) = self.terms.get(source).clone()
            && let (NodeKind::Constant(own), NodeKind::Folded(elements)) =
                (&self.terms.node(own).kind, &self.terms.node(node).kind)
            && own == elements
            && self.is_same_index(&at, index)
        {
            return true;
        }
        self.assumes = true;
        // Each of its axes has an index of its own, or there is only one element.
        let mut by: Vec<Option<Index>> = vec![None; self.ranges.len()];
        for (axis, it) in (0_u32..).zip(index) {
            if it.as_constant() == Some(0) {
                continue;
            }
            let variable = it.as_variable().and_then(|it| by.get_mut(it as usize));
            match variable {
                Some(slot @ None) => *slot = Some(Index::variable(axis)),
                _ => return false,
            }
        }
        // The term may depend on nothing else.
        if !self
            .terms
            .depends_only_on(source, &|it| by.get(it as usize).is_some_and(Option::is_some))
        {
            return false;
        }
        let by: Vec<Index> = by.into_iter().map(Option::unwrap_or_default).collect();
        let ranges = self.terms.node(node).shape.clone();
        let term = self.terms.replace(source, &by, &ranges);
        self.is_bound(node, term)
    }

    /// Whether both are elements at equal indices of constants of one shape.
    fn is_gathered(&mut self, source: &Term, node: NodeId, index: &[Index]) -> bool {
        let Term::Read(own, at) = source else { return false };
        let (one, other) = (self.terms.node(*own), self.terms.node(node));
        if !one.is_constant || one.shape != other.shape || one.element != other.element {
            return false;
        }
        let own = *own;
        if !self.is_same_index(at, index) {
            return false;
        }
        let axes = (0..index.len() as u32).map(Index::variable).collect();
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
            (NodeKind::Constant(one), NodeKind::Constant(other)) => {
                one == other && self.is_same_index(at, other_at)
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
            NodeKind::Reduction { reduced, steps, first: start, result },
            NodeKind::Reduction {
                reduced: others,
                steps: other_steps,
                first: other_start,
                result: other_result,
            },
        ) = (first, second)
        else {
            return false;
        };
        if result != other_result || steps.len() != other_steps.len() {
            return false;
        }
        let before = self.found.len();
        for order in pairings(&reduced, &others) {
            self.undo(before);
            let old = self.ranges.len();
            let new = |at: usize| match reduced.get(at) {
                Some(Some(1)) | None => Index::default(),
                Some(_) => Index::variable((old + at) as u32),
            };
            self.ranges.extend(&reduced);
            let by = at.iter().cloned().chain((0..reduced.len()).map(new)).collect::<Vec<_>>();
            let of_other = order.iter().map(|at| at.map_or_else(Index::default, new));
            let of_other = other_at.iter().cloned().chain(of_other).collect::<Vec<_>>();
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
            // The variables are not used again, as terms over them are remembered.
            if is_same {
                return true;
            }
        }
        false
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

fn is_commutative(operation: &str) -> bool {
    const COMMUTATIVE: [&str; 12] = [
        "arith.addf",
        "arith.addi",
        "arith.mulf",
        "arith.muli",
        "arith.maximumf",
        "arith.minimumf",
        "arith.maxnumf",
        "arith.minnumf",
        "arith.maxsi",
        "arith.minsi",
        "arith.andi",
        "arith.ori",
    ];
    let name = operation.split(' ').next().unwrap_or_default();
    COMMUTATIVE.contains(&name)
}

/// For each reduced axis of another reduction, the axis that it may be: all orders in which the
/// sizes agree. Axes of one element are none.
fn pairings(one: &[Option<i64>], other: &[Option<i64>]) -> Vec<Vec<Option<usize>>> {
    /// No real reduction has so many orders.
    const MOST: usize = 24;
    let mut found = vec![Vec::new()];
    for size in other {
        let mut next: Vec<Vec<Option<usize>>> = Vec::new();
        for order in found {
            if *size == Some(1) {
                next.push(order.iter().copied().chain([None]).collect());
                continue;
            }
            for (at, own) in one.iter().enumerate() {
                let is_free = own != &Some(1) && !order.contains(&Some(at));
                if is_free && (own == size || own.is_none() || size.is_none()) {
                    next.push(order.iter().copied().chain([Some(at)]).collect());
                }
            }
        }
        next.truncate(MOST);
        found = next;
    }
    let count = one.iter().filter(|it| **it != Some(1)).count();
    found.retain(|order| order.iter().flatten().count() == count);
    found
}

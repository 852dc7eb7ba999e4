//! Tensors as functions of their indices. Every tensor is a node: an input, a term over its
//! indices, or a reduction of one. Equal terms have one number.

use std::collections::{BTreeMap, HashMap, HashSet};

use mlir::Scalar;

use super::index::{Atom, Index, Ranges};
use super::maps;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct TermId(pub(crate) u32);
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct NodeId(pub(crate) u32);

/// The element type of sizes of which nothing is known.
pub(crate) const SIZE: &str = "size";

/// A function of scalars.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Function {
    /// One of the table of operations.
    Scalar(Scalar),
    /// One that is not in the table, as it is written: its name, attributes and types. It is equal
    /// to itself only.
    Written(String),
    /// The size of an axis of a buffer view.
    ViewSize(String),
}

impl Function {
    pub(crate) fn scalar(&self) -> Option<&Scalar> {
        match self {
            Self::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }
}

/// A scalar, as a function of index variables.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Term {
    /// A number, with its type.
    Literal(String),
    /// What an operation computes.
    Operation(Function, Vec<TermId>),
    /// An element of a tensor.
    Read(NodeId, Vec<Index>),
    Index(Index),
    /// What a reduction has computed so far, for one of its results.
    Accumulated(u32),
    /// The first term where each index is below its bound and not negative, else the second.
    Within(Vec<(Index, Index)>, TermId, TermId),
}

/// A tensor.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) shape: Vec<Index>,
    pub(crate) element: String,
    /// Whether it only depends on constants.
    pub(crate) is_constant: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    /// Nothing is known of it but that it is itself.
    Input,
    /// A constant whose elements are known, or one that has a name of its own.
    Constant(String),
    /// A constant of the compiled program that may be any part of the source's constants; its
    /// elements, if the text has them.
    Folded(String),
    /// The variables 0, 1 … are its indices.
    Elements(TermId),
    /// After the indices, the variables of the reduction follow. The tensor is the first result;
    /// others are those that it needs on its way.
    Reduction { reduced: Vec<Index>, steps: Vec<TermId>, first: Vec<TermId> },
}

/// Terms and nodes.
#[derive(Default)]
pub(crate) struct Terms {
    terms: Vec<Term>,
    ids: HashMap<Term, TermId>,
    constant: Vec<bool>,
    nodes: Vec<Node>,
    /// Sizes that the source says are others: its operations take tensors of equal sizes.
    sizes: BTreeMap<TermId, Index>,
    /// Tensors of scalars that are known one by one.
    listed: HashMap<NodeId, Vec<TermId>>,
    /// The least and the greatest number that counters of loops are.
    counters: HashMap<TermId, (i64, i64)>,
}

impl Terms {
    pub(crate) fn add(&mut self, term: Term) -> TermId {
        if let Some(known) = self.ids.get(&term) {
            return *known;
        }
        let is_constant = match &term {
            Term::Literal(_) | Term::Accumulated(_) => true,
            Term::Index(index) => self.is_constant_index(index),
            Term::Operation(_, operands) => operands.iter().all(|it| self.is_constant(*it)),
            Term::Read(node, index) => {
                self.node(*node).is_constant && index.iter().all(|it| self.is_constant_index(it))
            }
            Term::Within(bounds, one, other) => {
                self.is_constant(*one)
                    && self.is_constant(*other)
                    && bounds
                        .iter()
                        .flat_map(|(it, size)| [it, size])
                        .all(|it| self.is_constant_index(it))
            }
        };
        let id = TermId(u32::try_from(self.terms.len()).unwrap_or(u32::MAX));
        self.terms.push(term.clone());
        self.constant.push(is_constant);
        self.ids.insert(term, id);
        id
    }

    pub(crate) fn get(&self, id: TermId) -> &Term {
        &self.terms[id.0 as usize]
    }

    /// Whether a term only depends on constants and variables.
    pub(crate) fn is_constant(&self, id: TermId) -> bool {
        self.constant[id.0 as usize]
    }

    /// Whether a term depends on no other variables.
    pub(crate) fn depends_only_on(&self, id: TermId, is_it: &dyn Fn(u32) -> bool) -> bool {
        let index = |it: &Index| self.index_depends_only_on(it, is_it);
        match self.get(id) {
            Term::Literal(_) | Term::Accumulated(_) => true,
            Term::Operation(_, operands) => {
                operands.iter().all(|it| self.depends_only_on(*it, is_it))
            }
            Term::Read(_, at) => at.iter().all(index),
            Term::Index(at) => index(at),
            Term::Within(bounds, one, other) => {
                bounds.iter().all(|(it, _)| index(it))
                    && self.depends_only_on(*one, is_it)
                    && self.depends_only_on(*other, is_it)
            }
        }
    }

    fn index_depends_only_on(&self, index: &Index, is_it: &dyn Fn(u32) -> bool) -> bool {
        index.all_atoms(&mut |atom| match atom {
            Atom::Variable(variable) => is_it(*variable),
            Atom::Value(term) => self.depends_only_on(*term, is_it),
            Atom::Unknown(_) => false,
            _ => true,
        })
    }

    fn is_constant_index(&self, index: &Index) -> bool {
        index.all_atoms(&mut |atom| match atom {
            Atom::Size(term) | Atom::Value(term) => self.is_constant(*term),
            Atom::Unknown(_) => false,
            _ => true,
        })
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// A term in which tensors that are terms over their indices are replaced by them, as far as
    /// some steps go: the same elements are then the same term.
    pub(crate) fn unfolded(&mut self, id: TermId, ranges: &Ranges, steps: &mut usize) -> TermId {
        if *steps == 0 {
            return id;
        }
        *steps -= 1;
        match self.get(id).clone() {
            Term::Read(node, at) => match self.node(node).kind {
                NodeKind::Elements(term) => {
                    let term = self.replace(term, &at, ranges);
                    self.unfolded(term, ranges, steps)
                }
                _ => id,
            },
            Term::Operation(function, operands) => {
                let operands = operands.into_iter();
                let operands = operands.map(|it| self.unfolded(it, ranges, steps)).collect();
                self.add(Term::Operation(function, operands))
            }
            _ => id,
        }
    }

    /// The results of a reduction that one of them needs: itself, and what its steps read of others
    /// so far.
    pub(crate) fn needed_results(&self, steps: &[TermId], result: usize) -> Vec<usize> {
        let mut needed = vec![result];
        let mut at = 0;
        while let Some(step) = needed.get(at).and_then(|it| steps.get(*it)) {
            self.note_accumulated(*step, &mut needed, &mut HashSet::new());
            at += 1;
        }
        needed
    }

    fn note_accumulated(&self, id: TermId, needed: &mut Vec<usize>, seen: &mut HashSet<TermId>) {
        if !seen.insert(id) {
            return;
        }
        match self.get(id) {
            Term::Accumulated(result) => {
                let result = *result as usize;
                if !needed.contains(&result) {
                    needed.push(result);
                }
            }
            Term::Operation(_, operands) => {
                operands.iter().for_each(|it| self.note_accumulated(*it, needed, seen));
            }
            Term::Within(_, one, other) => {
                self.note_accumulated(*one, needed, seen);
                self.note_accumulated(*other, needed, seen);
            }
            Term::Literal(_) | Term::Read(..) | Term::Index(_) => {}
        }
    }

    /// Whether a term reads what a reduction has computed so far.
    pub(crate) fn reads_results(&self, id: TermId) -> bool {
        let mut read = Vec::new();
        self.note_accumulated(id, &mut read, &mut HashSet::new());
        !read.is_empty()
    }

    /// A step of a reduction, with its results in another order.
    pub(crate) fn renumbered(&mut self, id: TermId, order: &[usize]) -> TermId {
        match self.get(id).clone() {
            Term::Accumulated(result) => {
                let at = order.iter().position(|it| *it == result as usize);
                let at = at.and_then(|it| u32::try_from(it).ok()).unwrap_or(result);
                self.add(Term::Accumulated(at))
            }
            Term::Operation(function, operands) => {
                let operands = operands.into_iter().map(|it| self.renumbered(it, order)).collect();
                self.add(Term::Operation(function, operands))
            }
            Term::Within(bounds, one, other) => {
                let (one, other) = (self.renumbered(one, order), self.renumbered(other, order));
                self.add(Term::Within(bounds, one, other))
            }
            Term::Literal(_) | Term::Read(..) | Term::Index(_) => id,
        }
    }

    /// A term that depends on variables only by way of some indices, with variables in their
    /// place.
    pub(crate) fn over_indices(&mut self, id: TermId, indices: &[Index]) -> Option<TermId> {
        let over = |index: &Index| -> Option<Index> {
            if index.is_fixed() {
                return Some(index.clone());
            }
            let at = indices.iter().position(|it| it == index)?;
            Some(Index::variable(u32::try_from(at).ok()?))
        };
        match self.get(id).clone() {
            Term::Literal(_) | Term::Accumulated(_) => Some(id),
            Term::Operation(function, operands) => {
                let operands = operands.into_iter().map(|it| self.over_indices(it, indices));
                let operands = operands.collect::<Option<_>>()?;
                Some(self.add(Term::Operation(function, operands)))
            }
            Term::Read(node, at) => {
                let at = at.iter().map(over).collect::<Option<_>>()?;
                Some(self.read(node, at))
            }
            Term::Index(index) => Some(self.add(Term::Index(over(&index)?))),
            Term::Within(..) => None,
        }
    }

    /// The elements of a constant, where the source has them: numbers with commas between them,
    /// one number for all, or quoted bytes.
    pub(crate) fn written_elements(&self, node: NodeId) -> Option<String> {
        match &self.node(node).kind {
            NodeKind::Constant(text) => {
                let dense = text.strip_prefix("dense<")?.rsplit_once("> : ")?.0;
                Some(dense.to_owned()).filter(|it| !it.is_empty())
            }
            NodeKind::Elements(term) => match self.get(*term) {
                Term::Literal(text) => maps::number(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// Says between which numbers the counter of a loop is, both included.
    pub(crate) fn counts(&mut self, counter: TermId, least: i64, greatest: i64) {
        self.counters.insert(counter, (least, greatest));
    }

    /// The least and the greatest number that an integer is; `None` if that is not known.
    pub(crate) fn bounds(&self, term: TermId) -> Option<(i64, i64)> {
        let literal = || {
            let Term::Literal(text) = self.get(term) else { return None };
            let number = text.split(' ').next()?.parse().ok()?;
            Some((number, number))
        };
        self.counters.get(&term).copied().or_else(literal)
    }

    /// The number of tensors.
    pub(crate) fn count(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn add_node(&mut self, node: Node) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        id
    }

    /// A tensor of scalars that are known one by one.
    pub(crate) fn list(&mut self, element: String, scalars: Vec<TermId>) -> NodeId {
        let count = i64::try_from(scalars.len()).unwrap_or(i64::MAX);
        let node = self.input(vec![Index::constant(count)], element);
        self.listed.insert(node, scalars);
        node
    }

    pub(crate) fn listed(&self, node: NodeId) -> Option<&[TermId]> {
        self.listed.get(&node).map(Vec::as_slice)
    }

    /// Notes that two sizes are one: the source has no meaning where they are not.
    pub(crate) fn note_equal(&mut self, one: &Index, other: &Index) {
        let (one, other) = (self.known_size(one), self.known_size(other));
        let (size, by) = match (one.as_size(), other.as_size()) {
            (Some(first), Some(second)) if first < second => (second, one),
            (Some(first), Some(_)) => (first, other),
            (Some(first), None) => (first, other),
            (None, Some(second)) => (second, one),
            (None, None) => return,
        };
        if by.all_atoms(&mut |it| *it != Atom::Size(size)) {
            self.sizes.insert(size, by);
        }
    }

    /// How many sizes are known to be others.
    pub(crate) fn equal_sizes(&self) -> usize {
        self.sizes.len()
    }

    /// A size, by those that it is known to be.
    pub(crate) fn known_size(&self, size: &Index) -> Index {
        /// Sizes are seldom equal by more than a few steps.
        const MOST: usize = 8;
        let mut known = size.clone();
        for _ in 0..MOST {
            let next = known.with_sizes(&|term| self.sizes.get(&term).cloned());
            if next == known {
                break;
            }
            known = next;
        }
        known
    }

    /// A declared shape, of whose unknown sizes nothing else is known.
    pub(crate) fn shape(&mut self, declared: &[Option<i64>]) -> Vec<Index> {
        let sizes = declared.iter();
        sizes.map(|it| it.map_or_else(|| self.unknown_size(), Index::constant)).collect()
    }

    /// A size of which nothing is known.
    pub(crate) fn unknown_size(&mut self) -> Index {
        let node = self.input(Vec::new(), SIZE.to_owned());
        Index::atom(Atom::Size(self.read(node, Vec::new())))
    }

    /// A tensor of which nothing is known.
    pub(crate) fn input(&mut self, shape: Vec<Index>, element: String) -> NodeId {
        self.add_node(Node { kind: NodeKind::Input, shape, element, is_constant: false })
    }

    /// A tensor by a term over its indices.
    pub(crate) fn elements(&mut self, shape: Vec<Index>, element: String, term: TermId) -> NodeId {
        let is_constant = self.is_constant(term);
        self.add_node(Node { kind: NodeKind::Elements(term), shape, element, is_constant })
    }

    /// The element of a tensor at indices.
    pub(crate) fn read(&mut self, node: NodeId, mut index: Vec<Index>) -> TermId {
        // An axis of one element has one index.
        for (index, size) in index.iter_mut().zip(&self.node(node).shape) {
            if size.as_constant() == Some(1) {
                *index = Index::default();
            }
        }
        self.filled(node).unwrap_or_else(|| self.add(Term::Read(node, index)))
    }

    /// The number that is every element of a tensor, if there is such a number.
    pub(crate) fn filled(&self, node: NodeId) -> Option<TermId> {
        match self.node(node).kind {
            NodeKind::Elements(term) if matches!(self.get(term), Term::Literal(_)) => Some(term),
            _ => None,
        }
    }

    /// Replaces the variables of a term.
    pub(crate) fn replace(&mut self, term: TermId, by: &[Index], ranges: &Ranges) -> TermId {
        self.replace_known(term, by, ranges, &mut HashMap::new())
    }

    fn replace_known(
        &mut self,
        id: TermId,
        by: &[Index],
        ranges: &Ranges,
        known: &mut HashMap<TermId, TermId>,
    ) -> TermId {
        if let Some(known) = known.get(&id) {
            return *known;
        }
        let replaced = match self.get(id).clone() {
            Term::Literal(_) | Term::Accumulated(_) => id,
            Term::Operation(function, operands) => {
                let operands = operands.into_iter();
                let operands =
                    operands.map(|it| self.replace_known(it, by, ranges, known)).collect();
                self.add(Term::Operation(function, operands))
            }
            Term::Read(node, index) => {
                let index = index.iter().map(|it| self.replace_index(it, by, ranges, known));
                let index = index.collect();
                self.read(node, index)
            }
            Term::Index(index) => {
                let index = self.replace_index(&index, by, ranges, known);
                self.add(Term::Index(index))
            }
            Term::Within(bounds, one, other) => {
                let bounds = bounds.into_iter();
                let bounds = bounds
                    .map(|(it, size)| (self.replace_index(&it, by, ranges, known), size))
                    .collect();
                let one = self.replace_known(one, by, ranges, known);
                let other = self.replace_known(other, by, ranges, known);
                self.add(Term::Within(bounds, one, other))
            }
        };
        known.insert(id, replaced);
        replaced
    }

    fn replace_index(
        &mut self,
        index: &Index,
        by: &[Index],
        ranges: &Ranges,
        known: &mut HashMap<TermId, TermId>,
    ) -> Index {
        index.replace(by, &mut |term| self.replace_known(term, by, ranges, known), ranges)
    }
}

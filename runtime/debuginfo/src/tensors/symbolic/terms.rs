//! Tensors as functions of their indices. Every tensor is a node: an input, a term over its
//! indices, or a reduction of one. Equal terms have one number.

use std::collections::{HashMap, HashSet};

use super::index::{Atom, Index, Ranges};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct TermId(pub(crate) u32);
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct NodeId(pub(crate) u32);

/// A scalar, as a function of index variables.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Term {
    /// A number, with its type.
    Literal(String),
    /// What an operation computes; the text has its name, attributes and types.
    Operation(String, Vec<TermId>),
    /// An element of a tensor.
    Read(NodeId, Vec<Index>),
    Index(Index),
    /// What a reduction has computed so far, for one of its results.
    Accumulated(u32),
    /// The first term where each index is below its bound and not negative, else the second.
    Within(Vec<(Index, Option<i64>)>, TermId, TermId),
}

/// A tensor.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) shape: Vec<Option<i64>>,
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
    /// After the indices, the variables of the reduction follow.
    Reduction { reduced: Vec<Option<i64>>, steps: Vec<TermId>, first: Vec<TermId>, result: usize },
}

/// Terms and nodes.
#[derive(Default)]
pub(crate) struct Terms {
    terms: Vec<Term>,
    ids: HashMap<Term, TermId>,
    constant: Vec<bool>,
    nodes: Vec<Node>,
    /// Parts of tensors, of sizes that are only known when the program runs.
    parts: HashSet<NodeId>,
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
                    && bounds.iter().all(|(it, _)| self.is_constant_index(it))
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
        index.terms.iter().all(|(atom, _)| match atom {
            Atom::Variable(variable) => is_it(*variable),
            Atom::Value(term) => self.depends_only_on(*term, is_it),
            Atom::Quotient(inner, _) | Atom::Remainder(inner, _) => {
                self.index_depends_only_on(inner, is_it)
            }
        })
    }

    /// Notes that a tensor is a part of another, of a size that is known when the program runs.
    pub(crate) fn note_part(&mut self, id: NodeId) {
        self.parts.insert(id);
    }

    /// Whether each size of a tensor that is only known when the program runs is that of an input:
    /// tensors that are equal element by element then have equal sizes.
    pub(crate) fn has_sizes_of_inputs(&self, id: NodeId) -> bool {
        self.has_sizes(id, false)
    }

    /// Whether each such size follows from those of inputs, as those of convolutions do: no tensor
    /// that it is made of is a part of another, which may be a smaller one in the other program.
    pub(crate) fn has_sizes_by_inputs(&self, id: NodeId) -> bool {
        self.has_sizes(id, true)
    }

    fn has_sizes(&self, id: NodeId, is_derived: bool) -> bool {
        let axes = self.node(id).shape.iter().enumerate();
        let mut unknown = axes.filter(|(_, size)| size.is_none());
        unknown.all(|(axis, _)| self.is_size_of_input(id, axis as u32, is_derived, &mut 2_000))
    }

    fn is_size_of_input(&self, id: NodeId, axis: u32, derived: bool, steps: &mut usize) -> bool {
        *steps = steps.saturating_sub(1);
        if *steps == 0 || self.parts.contains(&id) {
            return false;
        }
        match &self.node(id).kind {
            NodeKind::Input | NodeKind::Constant(_) | NodeKind::Folded(_) => true,
            NodeKind::Elements(term) => self.reads_along(*term, axis, derived, steps),
            NodeKind::Reduction { steps: terms, .. } => {
                terms.iter().any(|it| self.reads_along(*it, axis, derived, steps))
            }
        }
    }

    /// Whether a term reads an input whose axis has a variable as its index.
    fn reads_along(&self, id: TermId, variable: u32, derived: bool, steps: &mut usize) -> bool {
        match self.get(id) {
            Term::Read(node, at) => (0_u32..).zip(at).any(|(axis, index)| {
                let is_along = index.as_variable() == Some(variable)
                    || (derived && !self.index_depends_only_on(index, &|it| it != variable));
                is_along && self.is_size_of_input(*node, axis, derived, steps)
            }),
            Term::Operation(_, operands) => {
                operands.iter().any(|it| self.reads_along(*it, variable, derived, steps))
            }
            _ => false,
        }
    }

    fn is_constant_index(&self, index: &Index) -> bool {
        index.terms.iter().all(|(atom, _)| match atom {
            Atom::Variable(_) => true,
            Atom::Value(term) => self.is_constant(*term),
            Atom::Quotient(inner, _) | Atom::Remainder(inner, _) => self.is_constant_index(inner),
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
            Term::Operation(name, operands) => {
                let operands = operands.into_iter();
                let operands = operands.map(|it| self.unfolded(it, ranges, steps)).collect();
                self.add(Term::Operation(name, operands))
            }
            _ => id,
        }
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

    /// A tensor of which nothing is known.
    pub(crate) fn input(&mut self, shape: Vec<Option<i64>>, element: String) -> NodeId {
        self.add_node(Node { kind: NodeKind::Input, shape, element, is_constant: false })
    }

    /// A tensor by a term over its indices.
    pub(crate) fn elements(
        &mut self,
        shape: Vec<Option<i64>>,
        element: String,
        term: TermId,
    ) -> NodeId {
        let is_constant = self.is_constant(term);
        self.add_node(Node { kind: NodeKind::Elements(term), shape, element, is_constant })
    }

    /// The element of a tensor at indices.
    pub(crate) fn read(&mut self, node: NodeId, mut index: Vec<Index>) -> TermId {
        // An axis of one element has one index.
        for (index, size) in index.iter_mut().zip(&self.node(node).shape) {
            if *size == Some(1) {
                *index = Index::default();
            }
        }
        self.add(Term::Read(node, index))
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
            Term::Operation(name, operands) => {
                let operands = operands.into_iter();
                let operands =
                    operands.map(|it| self.replace_known(it, by, ranges, known)).collect();
                self.add(Term::Operation(name, operands))
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

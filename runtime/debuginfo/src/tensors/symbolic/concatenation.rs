//! Tensors one after the other along an axis: `tensor.concat` of the source. The compiler makes
//! such a tensor by replacing one part after another of a tensor of nothing
//! (`flow.tensor.update`, `tensor.insert_slice`). Both have one form here: its first part, the
//! others in the order of their places, and nothing of what was replaced.

use super::build::{Builder, Operation};
use super::index::Index;
use super::terms::{NodeId, NodeKind, Term, TermId};

/// A part of a tensor: where it begins on its axis, its size there, and its element.
struct Part {
    axis: usize,
    offset: Index,
    bound: (Index, Index),
    element: TermId,
}

/// The most parts of one tensor.
const MOST: usize = 256;

impl Builder<'_> {
    /// `tensor.concat dim(1) %a, %b : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>`.
    pub(super) fn concatenation(&mut self, operation: &Operation<'_, '_>) -> Option<NodeId> {
        let axis: usize = operation.head.text(operation.head.group_after("dim")?).parse().ok()?;
        let written = operation.scope.function.operations.get(operation.index)?;
        let parts = written.operands.iter().map(|it| operation.value(*it)?.tensor());
        let parts: Vec<NodeId> = parts.collect::<Option<_>>()?;
        let mut shape = self.terms.node(*parts.first()?).shape.clone();
        let sizes = parts.iter().map(|part| self.terms.node(*part).shape.get(axis).cloned());
        let sizes: Vec<Index> = sizes.collect::<Option<_>>()?;
        let whole = sizes.iter().fold(Index::default(), |sum, size| sum.add(size));
        let declared = operation.result(0)?;
        *shape.get_mut(axis)? = match declared.shape.get(axis)? {
            Some(size) => Index::constant(*size),
            None => whole,
        };
        let mut joined = self.terms.input(shape.clone(), declared.element);
        let mut offset = Index::default();
        for (part, size) in parts.into_iter().zip(sizes) {
            let mut offsets = vec![Index::default(); shape.len()];
            offsets[axis] = offset.clone();
            let mut part_shape = shape.clone();
            part_shape[axis] = size.clone();
            let strides = vec![Index::constant(1); shape.len()];
            joined = self.inserted(part, joined, &(offsets, part_shape, strides))?;
            offset = offset.add(&size);
        }
        Some(joined)
    }

    /// A term over the indices of a tensor without what its parts have replaced, if they are all
    /// of the tensor.
    pub(super) fn of_parts_only(&mut self, term: TermId, shape: &[Index]) -> Option<TermId> {
        let mut parts = self.parts(term, shape)?;
        let axis = parts.first()?.axis;
        let mut ordered: Vec<Part> = Vec::with_capacity(parts.len());
        let mut end = Index::default();
        while !parts.is_empty() {
            let next = parts.iter().position(|it| it.axis == axis && it.offset == end)?;
            let part = parts.swap_remove(next);
            end = end.add(&part.bound.1);
            ordered.push(part);
        }
        (end == *shape.get(axis)?).then_some(())?;
        let mut ordered = ordered.into_iter();
        let first = ordered.next()?.element;
        Some(ordered.fold(first, |before, part| {
            self.terms.add(Term::Within(vec![part.bound], part.element, before))
        }))
    }

    /// The parts of a tensor that replace what it was, the last one first; `None` if one of them is
    /// a part of more than one axis.
    fn parts(&self, mut term: TermId, shape: &[Index]) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        loop {
            match self.terms.get(term) {
                Term::Within(bounds, element, outside) => {
                    let [bound] = bounds.as_slice() else { return None };
                    let offset = |axis| Index::variable(axis).subtract(&bound.0);
                    let axis = (0..shape.len() as u32).find(|it| offset(*it).is_fixed())?;
                    let (bound, element) = (bound.clone(), *element);
                    parts.push(Part { axis: axis as usize, offset: offset(axis), bound, element });
                    (parts.len() <= MOST).then_some(())?;
                    term = *outside;
                }
                Term::Read(node, index) => match self.terms.node(*node).kind {
                    NodeKind::Elements(inner) if is_itself(index, shape) => term = inner,
                    _ => return Some(parts),
                },
                _ => return Some(parts),
            }
        }
    }
}

/// Whether an index is the element's own in a tensor of a shape.
fn is_itself(index: &[Index], shape: &[Index]) -> bool {
    let is_own = |(axis, (at, size)): (u32, (&Index, &Index))| {
        *at == Index::variable(axis) || size.as_constant() == Some(1) && at.as_constant() == Some(0)
    };
    index.len() == shape.len() && (0..).zip(index.iter().zip(shape)).all(is_own)
}

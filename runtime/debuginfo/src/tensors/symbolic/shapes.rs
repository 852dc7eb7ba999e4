//! Operations that move elements: reshapes, slices, paddings.

use mlir::table::Tensor;
use syntax::TokenKind;

use super::build::{Builder, Declared, Operation, Value};
use super::index::Index;
use super::reshape::{count, reshaped};
use super::terms::{NodeId, Term, TermId};

/// Offsets, sizes and strides.
type Slice = (Vec<Index>, Vec<Index>, Vec<Index>);

impl Builder<'_> {
    /// The tensor that an operation leaves.
    pub(super) fn moved(&mut self, operation: &Operation<'_, '_>, which: Tensor) -> Option<NodeId> {
        let tensor = |at: usize| operation.operand(at).and_then(Value::tensor);
        match which {
            Tensor::CollapseShape
            | Tensor::ExpandShape
            | Tensor::Reshape
            | Tensor::ReshapeToType
            | Tensor::Cast
            | Tensor::TieShape
            | Tensor::Clone
            | Tensor::Same => {
                let (shape, element) = self.new_shape(operation, which, tensor(0)?)?;
                self.reshaped(tensor(0)?, shape, element)
            }
            Tensor::Splat => {
                let (shape, element) = self.result(operation, 0)?;
                let value = operation.operand(0)?.scalar()?;
                Some(self.terms.elements(shape, element, value))
            }
            Tensor::ExtractSlice => {
                let slice = self.written_slice(operation)?;
                self.slice(tensor(0)?, &slice, operation.result(0)?)
            }
            Tensor::InsertSlice => {
                let slice = self.written_slice(operation)?;
                self.inserted(tensor(0)?, tensor(1)?, &slice)
            }
            Tensor::PartAt => {
                let mut listed = self.listed_indices(operation)?;
                let sizes = listed.split_off(listed.len() / 2);
                let strides = vec![Index::constant(1); sizes.len()];
                self.slice(tensor(0)?, &(listed, sizes, strides), operation.result(0)?)
            }
            Tensor::WithPartAt => {
                let part = tensor(0)?;
                let offsets = self.listed_indices(operation)?;
                let sizes = self.terms.node(part).shape.clone();
                let strides = vec![Index::constant(1); sizes.len()];
                self.inserted(part, tensor(1)?, &(offsets, sizes, strides))
            }
            Tensor::Pad => self.pad(operation),
            Tensor::Concat => self.concatenation(operation),
            Tensor::Load => {
                let slice = self.slice_of(operation)?;
                self.slice(tensor(0)?, &slice, operation.result(0)?)
            }
            _ => None,
        }
    }

    /// The shape that an operation gives the elements of a tensor.
    fn new_shape(
        &mut self,
        operation: &Operation<'_, '_>,
        which: Tensor,
        from: NodeId,
    ) -> Option<(Vec<Index>, String)> {
        let declared = operation.result(0)?;
        let shape = self.terms.node(from).shape.clone();
        let mut given: Vec<Option<Index>> = match which {
            Tensor::ExpandShape => {
                let sizes = operation.head.group_after("output_shape");
                let sizes = sizes.and_then(|it| self.indices(operation, it));
                sizes.unwrap_or_default().into_iter().map(Some).collect()
            }
            Tensor::CollapseShape => self.collapsed(operation, &shape).unwrap_or_default(),
            _ if !declared.sizes.is_empty() => {
                self.declared_shape(operation.scope, &declared).into_iter().map(Some).collect()
            }
            Tensor::Reshape => {
                let listed = operation.operand(1).and_then(Value::tensor);
                let listed = listed.and_then(|it| self.terms.listed(it)).unwrap_or_default();
                listed.iter().map(|it| Some(self.index_of(*it))).collect()
            }
            Tensor::ReshapeToType => Vec::new(),
            _ => shape.into_iter().map(Some).collect(),
        };
        given.resize(declared.shape.len(), None);
        for (size, declared) in given.iter_mut().zip(&declared.shape) {
            if let Some(declared) = declared {
                *size = Some(Index::constant(*declared));
            }
        }
        let shape = match self.completed(given.clone(), from) {
            Some(shape) => shape,
            None => {
                let sizes = given.into_iter();
                sizes.map(|it| it.unwrap_or_else(|| self.terms.unknown_size())).collect()
            }
        };
        Some((shape, declared.element))
    }

    /// A shape of a tensor's elements, of which one size may not be known: it follows from the
    /// others.
    pub(super) fn completed(
        &self,
        mut given: Vec<Option<Index>>,
        of: NodeId,
    ) -> Option<Vec<Index>> {
        if given.iter().filter(|it| it.is_none()).count() == 1 {
            let others: Vec<Index> = given.iter().flatten().cloned().collect();
            let left = count(&self.terms.node(of).shape).exactly_by(&count(&others));
            for size in given.iter_mut().filter(|it| it.is_none()) {
                size.clone_from(&left);
            }
        }
        given.into_iter().collect()
    }

    /// The sizes of `[[0, 1], [2]]`.
    fn collapsed(
        &mut self,
        operation: &Operation<'_, '_>,
        from: &[Index],
    ) -> Option<Vec<Option<Index>>> {
        let head = &operation.head;
        let open = (0..head.len()).find(|at| head.kind(*at) == Some(TokenKind::Punct(b'[')))?;
        let groups = head.parts(head.inside(open)).into_iter().map(|group| {
            let axes = head.parts(head.inside(group.start)).into_iter();
            let sizes = axes.map(|it| from.get(head.text(it).parse::<usize>().ok()?).cloned());
            Some(count(&sizes.collect::<Option<Vec<Index>>>()?))
        });
        Some(groups.collect())
    }

    /// `[0, 0] [%0, 8] [1, 1]`.
    fn written_slice(&mut self, operation: &Operation<'_, '_>) -> Option<Slice> {
        let head = &operation.head;
        let open = (0..head.len()).find(|at| head.kind(*at) == Some(TokenKind::Punct(b'[')))?;
        let offsets = self.indices(operation, head.inside(open))?;
        let sizes = head.group_end(open);
        let strides = head.group_end(sizes);
        let sizes = self.indices(operation, head.inside(sizes))?;
        Some((offsets, sizes, self.indices(operation, head.inside(strides))?))
    }

    /// The values in the first brackets: `[%0, %1]`, `[%0, %1 for %2, %3]`.
    fn listed_indices(&mut self, operation: &Operation<'_, '_>) -> Option<Vec<Index>> {
        let head = &operation.head;
        let open = (0..head.len()).find(|at| head.kind(*at) == Some(TokenKind::Punct(b'[')))?;
        let values = head.values(head.inside(open)).into_iter();
        let indices = values.map(|value| {
            let term = operation.value(value)?.scalar()?;
            Some(self.index_of(term))
        });
        indices.collect()
    }

    /// `offsets = […], sizes = […], strides = […]`.
    pub(crate) fn slice_of(&mut self, operation: &Operation<'_, '_>) -> Option<Slice> {
        let head = &operation.head;
        let group = |word: &str| Some(head.inside(head.anywhere(word)? + 1));
        let offsets = self.indices(operation, group("offsets")?)?;
        let sizes = self.indices(operation, group("sizes")?)?;
        Some((offsets, sizes, self.indices(operation, group("strides")?)?))
    }

    /// A list of numbers and values.
    fn indices(
        &mut self,
        operation: &Operation<'_, '_>,
        range: std::ops::Range<usize>,
    ) -> Option<Vec<Index>> {
        let head = &operation.head;
        let parts = head.parts(range).into_iter();
        let indices = parts.map(|part| match head.value(part.start) {
            Some(value) => {
                let term = operation.value(value)?.scalar()?;
                Some(self.index_of(term))
            }
            None => Some(Index::constant(head.text(part).parse().ok()?)),
        });
        indices.collect()
    }

    /// The same elements in another shape.
    pub(crate) fn reshaped(
        &mut self,
        node: NodeId,
        shape: Vec<Index>,
        element: String,
    ) -> Option<NodeId> {
        if self.terms.node(node).element != element {
            return None;
        }
        if self.terms.node(node).shape == shape {
            return Some(node);
        }
        // The elements are those of the first tensor, whatever shapes it had since.
        let of = self.reshaped.get(&node).copied().unwrap_or(node);
        let from = self.terms.node(of).shape.clone();
        if from == shape {
            return Some(of);
        }
        let own: Vec<Index> = (0..shape.len() as u32).map(Index::variable).collect();
        let at = reshaped(&own, &shape, &from, &shape)?;
        let term = self.terms.read(of, at);
        let new = self.terms.elements(shape, element, term);
        self.reshaped.insert(new, of);
        Some(new)
    }

    fn slice(
        &mut self,
        node: NodeId,
        (offsets, sizes, strides): &Slice,
        declared: Declared,
    ) -> Option<NodeId> {
        let rank = self.terms.node(node).shape.len();
        if offsets.len() != rank || sizes.len() != rank || strides.len() != rank {
            return None;
        }
        // Axes of one element may be left out of the result.
        let kept = kept_axes(sizes, &declared.shape)?;
        let mut index = Vec::new();
        for (at, (offset, stride)) in offsets.iter().zip(strides).enumerate() {
            let place = kept.iter().position(|it| *it == at);
            let variable = place.map_or_else(Index::default, |it| Index::variable(it as u32));
            index.push(offset.add(&variable.multiply(stride)));
        }
        let term = self.terms.read(node, index);
        let shape = kept.iter().zip(&declared.shape);
        let shape =
            shape.map(|(at, size)| size.map_or_else(|| sizes[*at].clone(), Index::constant));
        Some(self.terms.elements(shape.collect(), declared.element, term))
    }

    /// A tensor with a part replaced.
    pub(crate) fn inserted(
        &mut self,
        part: NodeId,
        into: NodeId,
        (offsets, sizes, strides): &Slice,
    ) -> Option<NodeId> {
        let (shape, element) = {
            let into = self.terms.node(into);
            (into.shape.clone(), into.element.clone())
        };
        let part_shape: Vec<Option<i64>> =
            self.terms.node(part).shape.iter().map(Index::as_constant).collect();
        if offsets.len() != shape.len() || strides.iter().any(|it| it.as_constant() != Some(1)) {
            return None;
        }
        let kept = kept_axes(sizes, &part_shape)?;
        let own: Vec<Index> = (0..shape.len() as u32).map(Index::variable).collect();
        let mut index = Vec::new();
        let mut bounds = Vec::new();
        for (at, (offset, size)) in offsets.iter().zip(sizes).enumerate() {
            let place = own[at].subtract(offset);
            let is_part = offset.as_constant() != Some(0) || *size != shape[at];
            if kept.contains(&at) {
                index.push(if is_part { place.guarded(size, &shape) } else { place.clone() });
            }
            if is_part {
                bounds.push((place, size.clone()));
            }
        }
        let inside = self.terms.read(part, index);
        if bounds.is_empty() {
            return Some(self.terms.elements(shape, element, inside));
        }
        let outside = self.terms.read(into, own);
        let term = self.terms.add(Term::Within(bounds, inside, outside));
        let term = self.of_parts_only(term, &shape).unwrap_or(term);
        Some(self.terms.elements(shape, element, term))
    }

    /// `tensor.pad %t low[0, 0] high[1, 1] { ^bb0(…): tensor.yield %value }`.
    fn pad(&mut self, operation: &Operation<'_, '_>) -> Option<NodeId> {
        let declared = operation.result(0)?;
        let node = operation.operand(0)?.tensor()?;
        let head = &operation.head;
        let low = head.group_after("low")?;
        let low = self.indices(operation, low)?;
        let high = head.group_after("high")?;
        let high = self.indices(operation, high)?;
        let function = operation.scope.function;
        let block = function.operations.get(operation.index)?.regions.first()?.blocks.first()?;
        let last = function.operations.get(*block.operations.last()?)?;
        let value: TermId = operation.value(*last.operands.first()?)?.scalar()?;
        let sizes = self.terms.node(node).shape.clone();
        let mut shape = Vec::new();
        let mut index = Vec::new();
        let mut bounds = Vec::new();
        for (at, (low, declared)) in low.iter().zip(&declared.shape).enumerate() {
            let (size, high) = (sizes.get(at)?, high.get(at)?);
            let place = Index::variable(at as u32).subtract(low);
            if low.as_constant() != Some(0) || high.as_constant() != Some(0) {
                // The ranges are not needed: a place that is moved may be outside.
                index.push(place.guarded(size, &[]));
                bounds.push((place, size.clone()));
            } else {
                index.push(place);
            }
            shape.push(declared.map_or_else(|| size.add(low).add(high), Index::constant));
        }
        let inside = self.terms.read(node, index);
        let term = match bounds.is_empty() {
            true => inside,
            false => self.terms.add(Term::Within(bounds, inside, value)),
        };
        Some(self.terms.elements(shape, declared.element, term))
    }
}

/// The axes of a slice that its shape keeps: the others have one element.
fn kept_axes(sizes: &[Index], shape: &[Option<i64>]) -> Option<Vec<usize>> {
    let mut kept = Vec::new();
    let mut left = shape.iter().peekable();
    for (at, size) in sizes.iter().map(Index::as_constant).enumerate() {
        let remaining = sizes.len() - at;
        let fits = left.peek().is_some_and(|it| **it == size || it.is_none() || size.is_none());
        if fits && (size != Some(1) || left.len() == remaining || left.peek() == Some(&&Some(1))) {
            left.next();
            kept.push(at);
        } else if size != Some(1) {
            return None;
        }
    }
    left.next().is_none().then_some(kept)
}

//! Operations that move elements: reshapes, slices, paddings.

use syntax::TokenKind;

use super::build::{Builder, Operation, Value};
use super::index::{Index, reshaped};
use super::loops::declared;
use super::terms::{NodeId, Term, TermId};
use crate::tensors::reader;

/// Offsets, sizes and strides.
type Slice = (Vec<Index>, Vec<Option<i64>>, Vec<Index>);

impl Builder<'_> {
    /// The tensor that an operation leaves.
    pub(super) fn moved(&mut self, operation: &Operation<'_, '_>) -> Option<NodeId> {
        let name = operation.name;
        let tensor = |at: usize| operation.operand(at).and_then(Value::tensor);
        match name {
            "tensor.collapse_shape"
            | "tensor.expand_shape"
            | "tensor.reshape"
            | "tensor.cast"
            | "flow.tensor.reshape"
            | "flow.tensor.tie_shape"
            | "flow.tensor.clone"
            | "flow.tensor.transfer"
            | "flow.tensor.barrier"
            | "flow.dispatch.tie_shape"
            | "util.optimization_barrier"
            | "iree_encoding.set_encoding"
            | "iree_encoding.unset_encoding" => {
                let (shape, element) = self.result_shape(operation)?;
                self.reshaped(tensor(0)?, shape, element)
            }
            "flow.tensor.splat" | "tensor.splat" => {
                let (shape, element) = self.result_shape(operation)?;
                let value = operation.operand(0)?.scalar()?;
                Some(self.terms.elements(shape, element, value))
            }
            "tensor.extract_slice" => {
                let (shape, element) = self.result_shape(operation)?;
                let head = &operation.head;
                let open =
                    (0..head.len()).find(|at| head.kind(*at) == Some(TokenKind::Punct(b'[')))?;
                let offsets = self.indices(operation, head.inside(open))?;
                let sizes = head.group_end(open);
                let strides = head.group_end(sizes);
                let sizes = self.sizes_in(operation, head.inside(sizes))?;
                let strides = self.indices(operation, head.inside(strides))?;
                let found = self.slice(tensor(0)?, (&offsets, &sizes, &strides), shape, element)?;
                if sizes.contains(&None) {
                    self.terms.note_part(found);
                }
                Some(found)
            }
            "tensor.insert_slice" => {
                let head = &operation.head;
                let open =
                    (0..head.len()).find(|at| head.kind(*at) == Some(TokenKind::Punct(b'[')))?;
                let offsets = self.indices(operation, head.inside(open))?;
                let sizes = head.group_end(open);
                let strides = head.group_end(sizes);
                let sizes = self.sizes_in(operation, head.inside(sizes))?;
                let strides = self.indices(operation, head.inside(strides))?;
                let whole = vec![false; sizes.len()];
                self.inserted(tensor(0)?, tensor(1)?, (&offsets, &sizes, &strides), &whole)
            }
            "tensor.pad" => self.pad(operation),
            _ if name.ends_with("dispatch.tensor.load") => {
                let (shape, element) = self.result_shape(operation)?;
                let (offsets, sizes, strides) = self.slice_of(operation)?;
                let from = self.terms.node(tensor(0)?).shape.clone();
                let found = self.slice(tensor(0)?, (&offsets, &sizes, &strides), shape, element)?;
                let end = operation.head.after_arrow().unwrap_or_default();
                let whole = whole_axes(operation, &from, end);
                if sizes.iter().zip(&whole).any(|(size, whole)| size.is_none() && !whole) {
                    self.terms.note_part(found);
                }
                Some(found)
            }
            _ => None,
        }
    }

    fn result_shape(&self, operation: &Operation<'_, '_>) -> Option<(Vec<Option<i64>>, String)> {
        let read = declared(operation);
        read.or_else(|| {
            let (_, shaped) = reader::dispatch_tensor(&operation.declared(0)?)?;
            super::maps::shaped(&shaped)
        })
    }

    /// `offsets = […], sizes = […], strides = […]`.
    pub(crate) fn slice_of(&mut self, operation: &Operation<'_, '_>) -> Option<Slice> {
        let head = &operation.head;
        let group = |word: &str| Some(head.inside(head.anywhere(word)? + 1));
        let offsets = self.indices(operation, group("offsets")?)?;
        let sizes = self.sizes_in(operation, group("sizes")?)?;
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

    fn sizes_in(
        &mut self,
        operation: &Operation<'_, '_>,
        range: std::ops::Range<usize>,
    ) -> Option<Vec<Option<i64>>> {
        Some(self.indices(operation, range)?.iter().map(Index::as_constant).collect())
    }

    /// The same elements in another shape.
    pub(crate) fn reshaped(
        &mut self,
        node: NodeId,
        shape: Vec<Option<i64>>,
        element: String,
    ) -> Option<NodeId> {
        let from = self.terms.node(node).shape.clone();
        if self.terms.node(node).element != element {
            return None;
        }
        if from == shape {
            return Some(node);
        }
        let own: Vec<Index> = (0..shape.len() as u32).map(Index::variable).collect();
        let at = reshaped(&own, &shape, &from, &shape)?;
        let term = self.terms.read(node, at);
        let new = self.terms.elements(shape, element, term);
        let of = self.reshaped.get(&node).copied().unwrap_or(node);
        self.reshaped.insert(new, of);
        Some(new)
    }

    fn slice(
        &mut self,
        node: NodeId,
        (offsets, sizes, strides): (&[Index], &[Option<i64>], &[Index]),
        shape: Vec<Option<i64>>,
        element: String,
    ) -> Option<NodeId> {
        let from = self.terms.node(node).shape.clone();
        if offsets.len() != from.len() || sizes.len() != from.len() || strides.len() != from.len() {
            return None;
        }
        // Axes of one element may be left out of the result.
        let kept = kept_axes(sizes, &shape)?;
        let mut index = Vec::new();
        for (at, offset) in offsets.iter().enumerate() {
            let place = kept.iter().position(|it| *it == at);
            let variable = place.map_or_else(Index::default, |it| Index::variable(it as u32));
            index.push(offset.add(&variable.times(strides[at].as_constant()?)));
        }
        let term = self.terms.read(node, index);
        Some(self.terms.elements(shape, element, term))
    }

    /// A tensor with a part replaced. `whole` says which axes the part fills, where that is only
    /// known when the program runs.
    pub(crate) fn inserted(
        &mut self,
        part: NodeId,
        into: NodeId,
        (offsets, sizes, strides): (&[Index], &[Option<i64>], &[Index]),
        whole: &[bool],
    ) -> Option<NodeId> {
        let (shape, element) = {
            let into = self.terms.node(into);
            (into.shape.clone(), into.element.clone())
        };
        let part_shape = self.terms.node(part).shape.clone();
        if offsets.len() != shape.len() || strides.iter().any(|it| it.as_constant() != Some(1)) {
            return None;
        }
        let kept = kept_axes(sizes, &part_shape)?;
        let own: Vec<Index> = (0..shape.len() as u32).map(Index::variable).collect();
        let mut index = Vec::new();
        let mut bounds = Vec::new();
        for (at, (offset, size)) in offsets.iter().zip(sizes).enumerate() {
            let place = own[at].add(&offset.times(-1));
            let is_whole = offset.as_constant() == Some(0)
                && *size == shape[at]
                && (size.is_some() || whole.get(at) == Some(&true));
            if !is_whole {
                bounds.push((place.clone(), *size));
            }
            if kept.contains(&at) {
                index.push(place);
            }
        }
        let inside = self.terms.read(part, index);
        if bounds.is_empty() {
            return Some(self.terms.elements(shape, element, inside));
        }
        let outside = self.terms.read(into, own);
        let term = self.terms.add(Term::Within(bounds, inside, outside));
        Some(self.terms.elements(shape, element, term))
    }

    /// `tensor.pad %t low[0, 0] high[1, 1] { ^bb0(…): tensor.yield %value }`.
    fn pad(&mut self, operation: &Operation<'_, '_>) -> Option<NodeId> {
        let (shape, element) = self.result_shape(operation)?;
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
        let own: Vec<Index> = (0..shape.len() as u32).map(Index::variable).collect();
        let mut index = Vec::new();
        let mut bounds = Vec::new();
        for (at, low) in low.iter().enumerate() {
            let place = own.get(at)?.add(&low.times(-1));
            if low.as_constant() != Some(0) || high.get(at)?.as_constant() != Some(0) {
                bounds.push((place.clone(), *sizes.get(at)?));
            }
            index.push(place);
        }
        let inside = self.terms.read(node, index);
        let term = match bounds.is_empty() {
            true => inside,
            false => self.terms.add(Term::Within(bounds, inside, value)),
        };
        Some(self.terms.elements(shape, element, term))
    }
}

/// The axes of a slice that its shape keeps: the others have one element.
fn kept_axes(sizes: &[Option<i64>], shape: &[Option<i64>]) -> Option<Vec<usize>> {
    let mut kept = Vec::new();
    let mut left = shape.iter().peekable();
    for (at, size) in sizes.iter().enumerate() {
        let remaining = sizes.len() - at;
        let fits = left.peek().is_some_and(|it| **it == *size || it.is_none() || size.is_none());
        if fits && (*size != Some(1) || left.len() == remaining || left.peek() == Some(&&Some(1))) {
            left.next();
            kept.push(at);
        } else if *size != Some(1) {
            return None;
        }
    }
    left.next().is_none().then_some(kept)
}

/// For each axis of a dispatch's tensor, whether it is loaded or stored with the size that is
/// declared: `sizes = [%0, 8]` and `!…dispatch.tensor<…tensor<?x8xf32>>{%0}`, whose braces are the
/// last ones before a token.
pub(crate) fn whole_axes(
    operation: &Operation<'_, '_>,
    shape: &[Option<i64>],
    end: usize,
) -> Vec<bool> {
    let head = &operation.head;
    let sizes = head.anywhere("sizes").map(|it| head.parts(head.inside(it + 1)));
    let open = (0..end).rev().find(|at| head.token(*at) == "{");
    let declared = open.map(|open| head.values(head.inside(open))).unwrap_or_default();
    let mut declared = declared.into_iter();
    let axes = shape.iter().enumerate().map(|(axis, size)| match size {
        Some(_) => false,
        None => {
            let stored = sizes.as_ref().and_then(|it| head.value(it.get(axis)?.start));
            let declared = declared.next();
            stored.is_some() && stored == declared
        }
    });
    axes.collect()
}

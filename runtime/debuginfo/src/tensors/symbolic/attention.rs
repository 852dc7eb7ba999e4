//! Attention as terms: `softmax(Q · Kᵀ · scale + mask) · V`, in the steps of its definition.
//!
//! The compiler gives the operation other maps when it fuses transposes into it. In steps, the maps
//! are those of the tensors that the steps read.

use mlir::{Element, FloatBinary, Scalar};

use super::build::{Builder, Operation, Value};
use super::index::Index;
use super::loops::Loops;
use super::maps;
use super::terms::{Function, NodeId, Term, TermId};

/// Of each axis of an operand, the loop that it is.
type Axes = Vec<usize>;

impl Builder<'_> {
    pub(super) fn attention(&mut self, operation: &Operation<'_, '_>) -> Option<NodeId> {
        is_plain(operation).then_some(())?;
        let given = operation.group("ins")?;
        let (query, key, value) =
            (given.first()?.tensor()?, given.get(1)?.tensor()?, given.get(2)?.tensor()?);
        let scale = given.get(3)?.scalar()?;
        let mask = given.get(4).copied();
        let output = *self.outputs(operation)?.first()?;
        let maps = self.indexing_maps(operation)?;
        let axes: Option<Vec<Axes>> = maps.iter().map(|it| axes(it)).collect();
        let axes = axes.filter(|it| it.len() == given.len() + 1)?;
        let (of_query, of_key, of_value) = (&axes[0], &axes[1], &axes[2]);
        let of_output = axes.last()?;
        let (shape, element) = self.shape_of(output);
        let mut tensors = given.iter().copied().chain([Value::Tensor(output)]).zip(&axes);
        let fits = |(value, axes): (Value, &Axes)| match value {
            Value::Tensor(node) => self.terms.node(node).shape.len() == axes.len(),
            Value::Scalar(_) => true,
        };
        tensors.all(fits).then_some(())?;
        let is_same = |it: &NodeId| self.terms.node(*it).element == element;
        [query, key, value].iter().all(is_same).then_some(())?;
        // A score is of a row and a key.
        let mut of_scores: Axes =
            of_query.iter().copied().filter(|it| of_output.contains(it)).collect();
        let keys = of_key.iter().filter(|it| of_value.contains(it) && !of_output.contains(it));
        let &[along] = keys.collect::<Vec<_>>().as_slice() else { return None };
        of_scores.push(*along);
        let key_size = of_key.iter().position(|it| it == along)?;
        let row_sizes = of_query.iter().zip(&self.terms.node(query).shape);
        let mut sizes: Vec<Index> = row_sizes
            .filter(|(axis, _)| of_output.contains(axis))
            .map(|(_, size)| size.clone())
            .collect();
        sizes.push(self.terms.node(key).shape.get(key_size)?.clone());
        let scores = self.products((query, of_query), (key, of_key), (sizes, &of_scores))?;
        let scores = self.scaled(scores, scale)?;
        let scores = match mask {
            Some(mask) => self.masked((scores, &of_scores), (mask.tensor()?, axes.get(4)?))?,
            None => scores,
        };
        let shares = self.shares(scores, of_scores.len() - 1)?;
        self.products((shares, &of_scores), (value, of_value), (shape, of_output))
    }

    /// Sums of products over the loops that the result does not have.
    fn products(
        &mut self,
        (one, of_one): (NodeId, &Axes),
        (other, of_other): (NodeId, &Axes),
        (shape, of_result): (Vec<Index>, &Axes),
    ) -> Option<NodeId> {
        let element = self.shape_of(one).1;
        let of_two = float(&element)?;
        let mut loops: Axes = of_result.clone();
        for axis in of_one.iter().chain(of_other) {
            if !loops.contains(axis) {
                loops.push(*axis);
            }
        }
        let map = |axes: &Axes| -> Option<Vec<Index>> {
            let at = |axis: &usize| loops.iter().position(|it| it == axis);
            axes.iter().map(|axis| Some(Index::variable(u32::try_from(at(axis)?).ok()?))).collect()
        };
        let zero = self.terms.add(Term::Literal(maps::literal("0.0", &element)));
        let start = self.terms.elements(shape, element, zero);
        let loops = Loops {
            reduces: loops.iter().map(|it| !of_result.contains(it)).collect(),
            inputs: vec![Value::Tensor(one), Value::Tensor(other)],
            outputs: vec![start],
            maps: vec![map(of_one)?, map(of_other)?, map(of_result)?],
        };
        let found = self.finish(&loops, |builder, given, before| {
            let product = builder.apply(of_two(FloatBinary::Multiply), given.to_vec());
            Some(vec![builder.apply(of_two(FloatBinary::Add), vec![*before.first()?, product])])
        });
        found?.first()?.tensor()
    }

    fn scaled(&mut self, scores: NodeId, scale: TermId) -> Option<NodeId> {
        let (shape, element) = self.shape_of(scores);
        let here = self.here(scores);
        let term = self.apply(float(&element)?(FloatBinary::Multiply), vec![here, scale]);
        Some(self.terms.elements(shape, element, term))
    }

    /// Scores with what a mask adds to them.
    fn masked(
        &mut self,
        (scores, of_scores): (NodeId, &Axes),
        (mask, of_mask): (NodeId, &Axes),
    ) -> Option<NodeId> {
        let (shape, element) = self.shape_of(scores);
        // A mask of truths is one of infinities.
        (self.terms.node(mask).element == element).then_some(())?;
        let at = |axis: &usize| of_scores.iter().position(|it| it == axis);
        let index: Option<Vec<Index>> = of_mask
            .iter()
            .map(|axis| Some(Index::variable(u32::try_from(at(axis)?).ok()?)))
            .collect();
        let (here, by) = (self.here(scores), self.terms.read(mask, index?));
        let term = self.apply(float(&element)?(FloatBinary::Add), vec![here, by]);
        Some(self.terms.elements(shape, element, term))
    }

    /// The element of a tensor at its own indices.
    fn here(&mut self, node: NodeId) -> TermId {
        let rank = self.terms.node(node).shape.len();
        self.terms.read(node, (0..rank as u32).map(Index::variable).collect())
    }
}

/// Functions of two floats of a type.
fn float(element: &str) -> Option<impl Fn(FloatBinary) -> Function + Copy + use<>> {
    let element = Element::parse(element).filter(|it| it.is_float())?;
    Some(move |function| Function::Scalar(Scalar::FloatBinary(function, element)))
}

/// The loop that each axis is; `None` if one is none.
fn axes(map: &[Index]) -> Option<Axes> {
    map.iter().map(|it| it.as_variable().and_then(|it| usize::try_from(it).ok())).collect()
}

/// Whether its region gives the scores as they are.
fn is_plain(operation: &Operation<'_, '_>) -> bool {
    let operations = &operation.scope.function.operations;
    let mut inside = operations.iter().filter(|it| it.parent == Some(operation.index));
    inside.next().is_some_and(|it| it.name.ends_with("yield")) && inside.next().is_none()
}

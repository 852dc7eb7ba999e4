//! Parts of tensors, and tensors under another shape.

use std::sync::Arc;

use crate::evaluate::indices::{Indices, offset};
use crate::refusal::{Refusal, Result};
use crate::values::{Tensor, count_of, strides_of};
use mlir::TensorType;

/// Offsets, sizes and strides with their numbers.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) offsets: Vec<i64>,
    pub(crate) sizes: Vec<i64>,
    pub(crate) strides: Vec<i64>,
}

impl Part {
    /// Checks the part against a tensor's shape; the sizes are the result.
    pub(crate) fn check(&self, shape: &[usize]) -> Result<Vec<usize>> {
        let rank = shape.len();
        if [&self.offsets, &self.sizes, &self.strides].iter().any(|it| it.len() != rank) {
            return Err(Refusal::malformed(0, "a part with another number of dimensions"));
        }
        let mut sizes = Vec::with_capacity(rank);
        for (at, size) in shape.iter().enumerate() {
            let (from, count, step) = (self.offsets[at], self.sizes[at], self.strides[at]);
            let last = i128::from(from) + (i128::from(count) - 1) * i128::from(step);
            let limit = 0..*size as i128;
            let is_inside =
                count == 0 || limit.contains(&i128::from(from)) && limit.contains(&last);
            if count < 0 || !is_inside {
                let reason = format!(
                    "offset {from}, {count} elements, stride {step} in a dimension of {size}"
                );
                return Err(Refusal::undefined(0, reason));
            }
            sizes.push(count as usize);
        }
        Ok(sizes)
    }

    fn is_all_of(&self, shape: &[usize]) -> bool {
        self.offsets.iter().all(|it| *it == 0)
            && self.strides.iter().all(|it| *it == 1)
            && self.sizes.iter().zip(shape).all(|(count, size)| *count == *size as i64)
    }

    /// The place of an index of the part in the whole.
    fn place(&self, index: &[usize], strides: &[usize]) -> usize {
        let mut place = 0;
        for (at, index) in index.iter().enumerate() {
            let in_whole = self.offsets[at] + *index as i64 * self.strides[at];
            place += in_whole as usize * strides[at];
        }
        place
    }
}

/// A part of a tensor, with the shape of a type that may lack dimensions of size 1.
pub(crate) fn extract(
    source: &Arc<Tensor>,
    part: &Part,
    type_: &TensorType,
) -> Result<Arc<Tensor>> {
    let sizes = part.check(&source.shape)?;
    let shape = reduced(&sizes, type_)?;
    if part.is_all_of(&source.shape) {
        return Ok(reshaped(source, shape));
    }
    let mut result = Tensor::zeros(shape, source.element);
    let strides = strides_of(&source.shape);
    let mut indices = Indices::new(&sizes);
    let mut at = 0;
    while let Some(index) = indices.current() {
        result.set(at, source.get(part.place(index, &strides)));
        at += 1;
        indices.advance();
    }
    Ok(Arc::new(result))
}

/// Writes a tensor into a part of another. `written` is called with each place.
pub(crate) fn insert(
    value: &Tensor,
    target: &mut Tensor,
    part: &Part,
    mut written: impl FnMut(usize),
) -> Result<()> {
    let sizes = part.check(&target.shape)?;
    let count = count_of(&sizes).unwrap_or_default();
    if count != value.count() || value.element != target.element {
        let reason = format!("{} elements into a part of {count}", value.count());
        return Err(Refusal::undefined(0, reason));
    }
    let strides = strides_of(&target.shape);
    let mut indices = Indices::new(&sizes);
    let mut at = 0;
    while let Some(index) = indices.current() {
        let place = part.place(index, &strides);
        target.set(place, value.get(at));
        written(place);
        at += 1;
        indices.advance();
    }
    Ok(())
}

/// The sizes without those dimensions of size 1 that the type lacks. Where several could be left
/// out, all choices must lead to one shape.
fn reduced(sizes: &[usize], type_: &TensorType) -> Result<Vec<usize>> {
    let wanted = &type_.dimensions;
    let is = |at: usize, to: usize| wanted[to].is_none_or(|it| it == sizes[at]);
    // Whether the sizes from one on can be the dimensions from one on.
    let mut fits = vec![vec![false; wanted.len() + 1]; sizes.len() + 1];
    fits[sizes.len()][wanted.len()] = true;
    for at in (0..sizes.len()).rev() {
        for to in 0..=wanted.len() {
            let is_kept = to < wanted.len() && is(at, to) && fits[at + 1][to + 1];
            fits[at][to] = is_kept || sizes[at] == 1 && fits[at + 1][to];
        }
    }
    // The first choice keeps what it can, the second leaves out what it can.
    let choice = |keeps: bool| {
        let mut shape = Vec::new();
        for at in 0..sizes.len() {
            let to = shape.len();
            let may_keep = to < wanted.len() && is(at, to) && fits[at + 1][to + 1];
            let may_drop = sizes[at] == 1 && fits[at + 1][to];
            if may_keep && (keeps || !may_drop) {
                shape.push(sizes[at]);
            }
        }
        shape
    };
    let shape = choice(true);
    if !fits[0][0] || shape != choice(false) {
        return Err(Refusal::undefined(0, format!("a part of {sizes:?} as {type_}")));
    }
    Ok(shape)
}

/// The same elements under another shape of as many.
pub(crate) fn reshaped(source: &Arc<Tensor>, shape: Vec<usize>) -> Arc<Tensor> {
    if source.shape == shape {
        return Arc::clone(source);
    }
    let mut result = (**source).clone();
    result.shape = shape;
    Arc::new(result)
}

/// Tensors one after the other along a dimension.
pub(crate) fn concat(sources: &[Arc<Tensor>], dimension: usize) -> Result<Tensor> {
    let mismatch = || Refusal::undefined(0, "tensors whose other dimensions differ");
    let Some(first) = sources.first() else { return Err(mismatch()) };
    if dimension >= first.shape.len() {
        return Err(mismatch());
    }
    let mut shape = first.shape.clone();
    shape[dimension] = 0;
    for source in sources {
        let mut other = source.shape.clone();
        let size = other.get(dimension).copied().ok_or_else(mismatch)?;
        other[dimension] = shape[dimension];
        if other != shape || source.element != first.element {
            return Err(mismatch());
        }
        shape[dimension] += size;
    }
    let mut result = Tensor::zeros(shape.clone(), first.element);
    let strides = strides_of(&shape);
    let mut from = 0;
    for source in sources {
        let mut indices = Indices::new(&source.shape);
        let mut at = 0;
        while let Some(index) = indices.current() {
            let place = offset(index, &strides) + from * strides[dimension];
            result.set(place, source.get(at));
            at += 1;
            indices.advance();
        }
        from += source.shape[dimension];
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlir::{Element, Format};

    #[test]
    fn dimensions_of_one_are_left_out() {
        let of = |sizes: &[usize], dimensions: &[Option<usize>]| {
            let element = Element::Float(Format::F32);
            reduced(sizes, &TensorType { dimensions: dimensions.to_vec(), element }).ok()
        };
        assert_eq!(of(&[1, 5, 8, 1], &[None, Some(5), Some(8)]), Some(vec![1, 5, 8]));
        assert_eq!(of(&[1, 5, 1], &[Some(5)]), Some(vec![5]));
        assert_eq!(of(&[3, 5], &[None, Some(5)]), Some(vec![3, 5]));
        assert_eq!(of(&[1, 1], &[]), Some(Vec::new()));
        assert_eq!(of(&[1, 7, 1], &[None, None]), None, "which one is dynamic is not known");
        assert_eq!(of(&[2, 5], &[Some(5)]), None);
        assert_eq!(of(&[5], &[Some(5), Some(1)]), None);
    }
}

//! Tensors as tiles that lie one after the other, and back.

use crate::evaluate::indices::Indices;
use crate::refusal::{Refusal, Result};
use crate::values::{Number, Tensor, count_of, strides_of};
use mlir::Tiles;

/// The tiling with all numbers known, if these are one of a tensor of this rank.
pub(crate) fn tiling(
    rank: usize,
    outer: &[usize],
    inner: &[usize],
    sizes: &[i64],
) -> Result<Tiles> {
    let sizes: Option<Vec<usize>> = sizes.iter().map(|size| usize::try_from(*size).ok()).collect();
    let tiles = sizes.and_then(|sizes| Tiles::new(rank, outer, inner, &sizes));
    tiles.ok_or_else(|| Refusal::undefined(0, "tiles that are no tiling of the tensor"))
}

/// Whether tiles of this shape hold a tensor of that one.
fn check(tiles: &Tiles, packed: &[usize], shape: &[usize]) -> Result<()> {
    let holds = tiles.packed(shape).is_some_and(|wanted| {
        let is_as_large = packed.iter().zip(&wanted).all(|(a, b)| a >= b);
        packed.len() == wanted.len()
            && is_as_large
            && packed[shape.len()..] == wanted[shape.len()..]
            && count_of(packed).is_some()
    });
    if holds {
        return Ok(());
    }
    Err(Refusal::undefined(0, format!("{packed:?} does not hold the tiles of {shape:?}")))
}

/// Calls a function with the place of each element in the tensor and among the tiles.
fn each(tiles: &Tiles, shape: &[usize], packed: &[usize], mut each: impl FnMut(usize, usize)) {
    let strides = strides_of(packed);
    let mut indices = Indices::new(shape);
    let mut at = 0;
    while let Some(index) = indices.current() {
        each(at, tiles.place(index, &strides));
        at += 1;
        indices.advance();
    }
}

/// The tiles of a tensor. Without a padding, nothing may be beyond its end.
pub(crate) fn pack(
    tiles: &Tiles,
    source: &Tensor,
    packed: Vec<usize>,
    padding: Option<Number>,
) -> Result<Tensor> {
    check(tiles, &packed, &source.shape)?;
    let is_full = count_of(&packed) == Some(source.count());
    let mut result = Tensor::zeros(packed, source.element);
    match padding {
        Some(padding) => (0..result.count()).for_each(|at| result.set(at, padding)),
        None if is_full => {}
        None => return Err(Refusal::undefined(0, "tiles that are not full, without padding")),
    }
    let shape = result.shape.clone();
    each(tiles, &source.shape, &shape, |at, place| result.set(place, source.get(at)));
    Ok(result)
}

/// The tensor of which these are the tiles.
pub(crate) fn unpack(tiles: &Tiles, source: &Tensor, shape: &[usize]) -> Result<Tensor> {
    check(tiles, &source.shape, shape)?;
    let mut result = Tensor::zeros(shape.to_vec(), source.element);
    each(tiles, shape, &source.shape, |at, place| result.set(at, source.get(place)));
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::Elements;
    use mlir::Element;

    #[test]
    fn what_is_beyond_the_end_is_padding() {
        let mut source = Tensor::zeros(vec![3, 4], Element::Index);
        (0..12).for_each(|at| {
            source.set(at, Number { integer: at as i64 + 1, ..Number::default() });
        });
        let tiles = tiling(2, &[], &[0, 1], &[2, 2]).unwrap();
        assert!(pack(&tiles, &source, vec![2; 4], None).is_err(), "a row is beyond the end");
        let padding = Some(Number { integer: -7, ..Number::default() });
        let packed = pack(&tiles, &source, vec![2; 4], padding).unwrap();
        let wanted = vec![1, 2, 5, 6, 3, 4, 7, 8, 9, 10, -7, -7, 11, 12, -7, -7];
        assert_eq!(packed.elements, Elements::Integers(wanted));
        assert_eq!(unpack(&tiles, &packed, &[3, 4]).unwrap(), source);
        assert!(unpack(&tiles, &packed, &[5, 4]).is_err());
        assert!(tiling(2, &[], &[1], &[-1]).is_err());
    }
}

//! [`Tiles`]: tensors whose elements lie tile by tile, as `linalg.pack` leaves them, and as data
//! tiling lays out the operands of matrix products.

/// How a tensor is cut into tiles that lie one after the other, each with its elements together.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Tiles {
    /// For each dimension of the tensor: the outer dimension that counts its tiles, its inner
    /// dimension if it is tiled, and how many elements a tile has along it.
    dimensions: Vec<(usize, Option<usize>, usize)>,
    /// The sizes of the inner dimensions.
    inner: Vec<usize>,
}

impl Tiles {
    /// The tiling of `linalg.pack`: `outer` is its `outer_dims_perm`, which may be empty, `inner`
    /// its `inner_dims_pos` and `tiles` its `inner_tiles`. `None` if it is none for this rank.
    #[must_use]
    pub fn new(rank: usize, outer: &[usize], inner: &[usize], tiles: &[usize]) -> Option<Self> {
        let outer: Vec<usize> = if outer.is_empty() { (0..rank).collect() } else { outer.to_vec() };
        let is_twice = (1..inner.len()).any(|at| inner[..at].contains(&inner[at]));
        let is_inside = inner.iter().all(|at| *at < rank) && outer.len() == rank;
        if is_twice || !is_inside || tiles.len() != inner.len() || tiles.contains(&0) {
            return None;
        }
        let dimension = |at: usize| {
            let counts = outer.iter().position(|it| *it == at)?;
            let inner = inner.iter().position(|it| *it == at);
            Some((counts, inner.map(|it| rank + it), inner.map_or(1, |it| tiles[it])))
        };
        let dimensions: Option<Vec<_>> = (0..rank).map(dimension).collect();
        Some(Self { dimensions: dimensions?, inner: tiles.to_vec() })
    }

    /// How many dimensions the tensor has.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.dimensions.len()
    }

    /// The shape of the tiles of a tensor; `None` if it has another rank.
    #[must_use]
    pub fn packed(&self, shape: &[usize]) -> Option<Vec<usize>> {
        if shape.len() != self.rank() {
            return None;
        }
        let mut packed = vec![0; shape.len()];
        for ((counts, _, tile), size) in self.dimensions.iter().zip(shape) {
            packed[*counts] = size.div_ceil(*tile);
        }
        packed.extend(&self.inner);
        Some(packed)
    }

    /// Where an element of the tensor lies among the tiles, whose shape has these strides.
    #[must_use]
    pub fn place(&self, index: &[usize], strides: &[usize]) -> usize {
        let mut place = 0;
        for ((counts, inner, tile), index) in self.dimensions.iter().zip(index) {
            place += index / tile * strides[*counts];
            place += inner.map_or(0, |inner| index % tile * strides[inner]);
        }
        place
    }

    /// Where each element of a tensor lies among its tiles, in row-major order; `None` if it has
    /// another rank, or too many elements to count.
    #[must_use]
    pub fn places(&self, shape: &[usize]) -> Option<Vec<usize>> {
        let packed = self.packed(shape)?;
        packed.iter().try_fold(1_usize, |count, size| count.checked_mul(*size))?;
        let mut strides = vec![1; packed.len()];
        for at in (0..packed.len().saturating_sub(1)).rev() {
            strides[at] = strides[at + 1] * packed[at + 1];
        }
        let count = shape.iter().product();
        let mut index = vec![0; shape.len()];
        let mut places = Vec::with_capacity(count);
        for _ in 0..count {
            places.push(self.place(&index, &strides));
            for (at, size) in index.iter_mut().zip(shape).rev() {
                *at += 1;
                if *at < *size {
                    break;
                }
                *at = 0;
            }
        }
        Some(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_lie_one_after_the_other() {
        let tiles = Tiles::new(2, &[], &[0, 1], &[2, 2]).unwrap();
        assert_eq!(tiles.packed(&[3, 4]), Some(vec![2, 2, 2, 2]));
        assert_eq!(tiles.places(&[3, 4]), Some(vec![0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13]));
        assert_eq!(tiles.packed(&[3]), None);
    }

    #[test]
    fn dimensions_change_their_order() {
        let tiles = Tiles::new(2, &[1, 0], &[1], &[3]).unwrap();
        assert_eq!(tiles.packed(&[2, 6]), Some(vec![2, 2, 3]));
        assert_eq!(tiles.places(&[2, 6]), Some(vec![0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11]));
        assert_eq!(tiles.places(&[0, 6]), Some(Vec::new()));
        assert_eq!(tiles.places(&[usize::MAX, usize::MAX]), None);
    }

    #[test]
    fn what_is_no_tiling_is_none() {
        for (outer, inner, tiles) in [
            (&[0, 0][..], &[1][..], &[3][..]),
            (&[], &[2], &[3]),
            (&[], &[1, 1], &[3, 2]),
            (&[], &[1], &[0]),
            (&[], &[1], &[2, 2]),
            (&[1], &[1], &[2]),
        ] {
            assert_eq!(Tiles::new(2, outer, inner, tiles), None, "{outer:?} {inner:?} {tiles:?}");
        }
    }
}

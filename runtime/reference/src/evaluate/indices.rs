//! Walks over all indices of a shape, in row-major order.

/// The indices of a shape, one after the other.
pub(crate) struct Indices<'s> {
    shape: &'s [usize],
    current: Vec<usize>,
    is_done: bool,
}

impl<'s> Indices<'s> {
    pub(crate) fn new(shape: &'s [usize]) -> Self {
        Self { shape, current: vec![0; shape.len()], is_done: shape.contains(&0) }
    }

    /// The current index.
    pub(crate) fn current(&self) -> Option<&[usize]> {
        (!self.is_done).then_some(self.current.as_slice())
    }

    /// Goes on to the next one.
    pub(crate) fn advance(&mut self) {
        for (index, size) in self.current.iter_mut().zip(self.shape).rev() {
            *index += 1;
            if *index < *size {
                return;
            }
            *index = 0;
        }
        self.is_done = true;
    }
}

/// The place of an element.
pub(crate) fn offset(index: &[usize], strides: &[usize]) -> usize {
    index.iter().zip(strides).map(|(index, stride)| index * stride).sum()
}

#[cfg(test)]
mod tests {
    use super::Indices;

    #[test]
    fn row_major() {
        let walk = |shape: &[usize]| {
            let mut all = Vec::new();
            let mut indices = Indices::new(shape);
            while let Some(index) = indices.current() {
                all.push(index.to_vec());
                indices.advance();
            }
            all
        };
        assert_eq!(walk(&[2, 2]), [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(walk(&[]), [[0_usize; 0]]);
        assert!(walk(&[3, 0]).is_empty());
    }
}

//! [`Region`]: some elements of a tensor, by their coordinates on each axis.

use std::fmt;

/// The elements whose coordinates are chosen on each axis.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Region {
    /// For each axis, the chosen coordinates, ascending.
    pub axes: Vec<Vec<usize>>,
}

impl Region {
    /// One element, by its coordinates.
    pub(super) fn at(coordinates: &[usize]) -> Self {
        Self { axes: coordinates.iter().map(|at| vec![*at]).collect() }
    }

    /// The smallest that has the given elements, which are numbered in row-major order.
    pub(super) fn around(elements: &[usize], shape: &[usize]) -> Self {
        let mut axes: Vec<Vec<usize>> = vec![Vec::new(); shape.len()];
        for element in elements {
            for (axis, at) in coordinates(*element, shape).into_iter().enumerate() {
                axes[axis].push(at);
            }
        }
        for axis in &mut axes {
            axis.sort_unstable();
            axis.dedup();
        }
        Self { axes }
    }

    /// Of each element, in row-major order, whether it is one of these.
    pub(super) fn mask(&self, shape: &[usize]) -> Vec<bool> {
        let mut mask = vec![false; shape.iter().product()];
        let mut chosen = vec![0];
        for (axis, size) in self.axes.iter().zip(shape) {
            let next = chosen.iter().flat_map(|at| axis.iter().map(move |it| at * size + it));
            chosen = next.collect();
        }
        for at in chosen {
            if let Some(is_chosen) = mask.get_mut(at) {
                *is_chosen = true;
            }
        }
        mask
    }
}

/// The coordinates of an element, by its number in row-major order.
pub(super) fn coordinates(mut element: usize, shape: &[usize]) -> Vec<usize> {
    let mut found = vec![0; shape.len()];
    for (at, size) in found.iter_mut().zip(shape).rev() {
        let size = (*size).max(1);
        (*at, element) = (element % size, element / size);
    }
    found
}

/// As slices of NumPy: `[0, 3, 0:7]`. Coordinates that do not follow each other are listed.
impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes: Vec<String> = self.axes.iter().map(|it| axis_text(it)).collect();
        match axes.is_empty() {
            true => Ok(()),
            false => write!(f, "[{}]", axes.join(", ")),
        }
    }
}

fn axis_text(axis: &[usize]) -> String {
    const MOST: usize = 4;
    match (axis.first(), axis.last()) {
        (Some(first), Some(last)) if first == last => first.to_string(),
        (Some(first), Some(last)) if last - first + 1 == axis.len() => {
            format!("{first}:{}", last + 1)
        }
        (Some(first), Some(last)) if axis.len() > MOST => {
            format!("{} of {first}:{}", axis.len(), last + 1)
        }
        _ => {
            let listed: Vec<String> = axis.iter().map(usize::to_string).collect();
            format!("({})", listed.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_written_as_slices() {
        let shape = [2, 3, 7];
        assert_eq!(coordinates(25, &shape), [1, 0, 4]);
        assert_eq!(Region::around(&[25], &shape).to_string(), "[1, 0, 4]");
        assert_eq!(Region::around(&[21, 22, 23], &shape).to_string(), "[1, 0, 0:3]");
        assert_eq!(Region::around(&[0, 2, 14], &shape).to_string(), "[0, (0, 2), (0, 2)]");
        assert_eq!(Region::around(&[0], &[]).to_string(), "");
        let mask = Region::around(&[0, 25], &shape).mask(&shape);
        let chosen: Vec<usize> = (0..42).filter(|at| mask[*at]).collect();
        assert_eq!(chosen, [0, 4, 21, 25], "all that have these coordinates");
        assert_eq!(Region::around(&[0], &[]).mask(&[]), [true]);
    }
}

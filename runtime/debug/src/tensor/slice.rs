//! [`Slice`]: what `start:end:step` takes of an axis, as Python defines it.

/// Elements of one dimension: `count` of them, from `start` on, every `step`th.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slice {
    pub(crate) start: usize,
    pub(crate) count: usize,
    /// Never 0; negative to go back, and 1 where there is no second element.
    pub(crate) step: isize,
}

impl Slice {
    /// An index of an axis; from the end, if it is negative.
    pub(crate) fn index(number: i128, length: usize) -> Option<usize> {
        let index = if number < 0 { number.checked_add(length as i128)? } else { number };
        usize::try_from(index).ok().filter(|index| *index < length)
    }

    /// The elements from one on, up to another one.
    pub(crate) fn between(start: usize, end: usize) -> Self {
        Self { start, count: end.saturating_sub(start), step: 1 }
    }

    /// What `start:end:step` takes of so many elements: what is negative counts from the end, what
    /// is beyond an end is cut off, and a negative step goes back. None for a step of 0.
    pub(crate) fn of(
        start: Option<i128>,
        end: Option<i128>,
        step: i128,
        length: usize,
    ) -> Option<Self> {
        if step == 0 {
            return None;
        }
        let length = length as i128;
        let (least, most) = if step < 0 { (-1, length - 1) } else { (0, length) };
        let bound = |number: i128| {
            let from_the_start = if number < 0 { number.saturating_add(length) } else { number };
            from_the_start.clamp(least, most)
        };
        let (first, last) = if step < 0 { (most, least) } else { (least, most) };
        let (start, end) = (start.map_or(first, bound), end.map_or(last, bound));
        let distance = if step < 0 { start - end } else { end - start };
        let distance = u128::try_from(distance).unwrap_or(0);
        let count = usize::try_from(distance.div_ceil(step.unsigned_abs())).ok()?;
        if count == 0 {
            return Some(Self { start: 0, count, step: 1 });
        }
        let step = if count == 1 { 1 } else { isize::try_from(step).ok()? };
        Some(Self { start: usize::try_from(start).ok()?, count, step })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the elements, in order.
    fn taken(start: Option<i128>, end: Option<i128>, step: i128, length: usize) -> Vec<i128> {
        let slice = Slice::of(start, end, step, length).unwrap();
        (0..slice.count).map(|at| slice.start as i128 + at as i128 * slice.step as i128).collect()
    }

    #[test]
    fn slices_are_those_of_python() {
        // What `list(range(10))[start:end:step]` is.
        assert_eq!(taken(None, None, 3, 10), [0, 3, 6, 9]);
        assert_eq!(taken(None, None, -3, 10), [9, 6, 3, 0]);
        assert_eq!(taken(Some(-3), None, 1, 10), [7, 8, 9]);
        assert_eq!(taken(Some(-3), Some(2), -2, 10), [7, 5, 3]);
        assert_eq!(taken(Some(100), Some(-100), -4, 10), [9, 5, 1]);
        assert_eq!(taken(None, Some(-1), -1, 10), []);
        assert_eq!(taken(Some(4), Some(2), 1, 10), []);
        assert_eq!(taken(None, None, -1, 0), []);
        assert_eq!(taken(None, None, i128::MIN, 10), [9]);
        assert_eq!(taken(Some(i128::MIN), Some(i128::MAX), i128::MAX, 10), [0]);
        assert_eq!(Slice::of(None, None, 0, 10), None);
    }
}

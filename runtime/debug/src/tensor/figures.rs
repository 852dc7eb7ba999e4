//! Figures of a tensor's elements without their distribution: of all of them, or one after another
//! for each index of an axis. They are exact, however large the tensor is: sums are of float64 with
//! the rounding errors of their additions, in two passes, and nothing is copied.
//!
//! What is more than that (quantiles, a histogram) is in [`super::profile`].

use std::ops::Range;

use super::elements::Reader;
use super::number::Number;
use super::plane::Plane;
use super::profile::Sum;
use super::slice::Slice;
use super::view::TensorView;
use super::view_error::ViewError;

/// See the module documentation. The least, the greatest, the mean and the deviation are those of
/// the finite elements.
#[derive(Clone, PartialEq, Debug)]
pub struct Figures {
    /// How many elements there are.
    pub count: usize,
    /// How many are NaN.
    pub nans: usize,
    /// How many are positive infinity.
    pub positive_infinities: usize,
    /// How many are negative infinity.
    pub negative_infinities: usize,
    /// The smallest; `None` if none is finite.
    pub minimum: Option<f64>,
    /// The largest.
    pub maximum: Option<f64>,
    /// The smallest and the largest of integers, which may be beyond 2^53.
    pub exact: Option<(i128, i128)>,
    /// The mean; NaN if none is finite.
    pub mean: f64,
    /// The standard deviation of all of them.
    pub deviation: f64,
}

/// What the first pass knows, and then the second.
#[derive(Clone)]
struct Running {
    figures: Figures,
    finite: usize,
    sum: Sum,
    squares: Sum,
}

impl Running {
    fn new() -> Self {
        let figures = Figures {
            count: 0,
            nans: 0,
            positive_infinities: 0,
            negative_infinities: 0,
            minimum: None,
            maximum: None,
            exact: None,
            mean: f64::NAN,
            deviation: f64::NAN,
        };
        Self { figures, finite: 0, sum: Sum::default(), squares: Sum::default() }
    }

    fn add(&mut self, value: f64) {
        let known = &mut self.figures;
        known.count += 1;
        if value.is_finite() {
            self.finite += 1;
            self.sum.add(value);
            known.minimum = Some(known.minimum.map_or(value, |least| least.min(value)));
            known.maximum = Some(known.maximum.map_or(value, |most| most.max(value)));
        } else if value.is_nan() {
            known.nans += 1;
        } else if value > 0.0 {
            known.positive_infinities += 1;
        } else {
            known.negative_infinities += 1;
        }
    }

    /// The first pass is over.
    fn averaged(&mut self) {
        if self.finite > 0 {
            self.figures.mean = self.sum.total() / self.finite as f64;
        }
    }

    fn add_square(&mut self, value: f64) {
        if value.is_finite() {
            let far = value - self.figures.mean;
            self.squares.add(far * far);
        }
    }

    fn into_figures(self) -> Figures {
        let mut figures = self.figures;
        if self.finite > 0 {
            figures.deviation = (self.squares.total() / self.finite as f64).sqrt();
        }
        figures
    }
}

/// Which index of an axis an element has, as elements follow each other.
struct Places {
    /// How many elements lie inside of one index of the axis, and how many indices it has.
    inner: usize,
    count: usize,
    within: usize,
    index: usize,
}

impl Places {
    fn new(inner: usize, count: usize) -> Self {
        Self { inner, count, within: 0, index: 0 }
    }

    fn next(&mut self) -> usize {
        let index = self.index;
        self.within += 1;
        if self.within >= self.inner {
            self.within = 0;
            self.index = if index + 1 < self.count { index + 1 } else { 0 };
        }
        index
    }
}

/// The figures of numbers for each of `count` indices of an axis, inside of which `inner` lie.
pub(super) fn along(
    numbers: &impl Plane,
    inner: usize,
    count: usize,
) -> Result<Vec<Figures>, ViewError> {
    let mut all = vec![Running::new(); count];
    let mut places = Places::new(inner, count);
    numbers.each(&mut |value| all[places.next()].add(value))?;
    all.iter_mut().for_each(Running::averaged);
    let mut places = Places::new(inner, count);
    numbers.each(&mut |value| all[places.next()].add_square(value))?;
    Ok(all.into_iter().map(Running::into_figures).collect())
}

impl TensorView {
    /// The figures of all elements.
    ///
    /// # Errors
    /// The elements have no values.
    pub fn all_figures(&self) -> Result<Figures, ViewError> {
        let all = self.figures_of(self.count().max(1), 1)?;
        Ok(all.into_iter().next().unwrap_or_else(|| Running::new().into_figures()))
    }

    /// The figures of the elements at each index of an axis, for some of its indices.
    ///
    /// # Errors
    /// There is no such axis, or the elements have no values.
    pub fn figures_along(
        &self,
        axis: usize,
        indices: &Range<usize>,
    ) -> Result<Vec<Figures>, ViewError> {
        let part = self.along(axis, indices)?;
        part.figures_of(part.inside_of(axis), indices.len())
    }

    /// The part with some indices of an axis, which are cut off at its end.
    pub(super) fn along(&self, axis: usize, indices: &Range<usize>) -> Result<Self, ViewError> {
        let axes = self.shape().len();
        let length = self.length_of(axis).ok_or(ViewError::NoAxis { axis, axes })?;
        if indices.start > indices.end || indices.end > length {
            return Err(ViewError::OutsideAxis { axis, length });
        }
        Ok(self.slice(axis, Slice::between(indices.start, indices.end)))
    }

    /// How many indices an axis has; `None`: there is no such axis.
    #[must_use]
    pub fn length_of(&self, axis: usize) -> Option<usize> {
        self.shape().get(axis).map(|length| usize::try_from(*length).unwrap_or(usize::MAX))
    }

    /// How many elements follow each other with the same index of an axis.
    pub(super) fn inside_of(&self, axis: usize) -> usize {
        let inner = self.shape().iter().skip(axis + 1);
        let inner = inner.map(|length| usize::try_from(*length).unwrap_or(usize::MAX));
        inner.fold(1, usize::saturating_mul)
    }

    fn figures_of(&self, inner: usize, count: usize) -> Result<Vec<Figures>, ViewError> {
        let mut all = along(self, inner, count)?;
        if self.is_of_integers() && u32::from(self.element_type().bits) > f64::MANTISSA_DIGITS {
            self.make_exact(inner, count, &mut all)?;
        }
        Ok(all)
    }

    /// Integers beyond 2^53 are told apart in this pass only.
    fn make_exact(&self, inner: usize, count: usize, all: &mut [Figures]) -> Result<(), ViewError> {
        let mut places = Places::new(inner, count);
        let mut reader = Reader::new(self)?;
        while let Some(block) = reader.read(usize::MAX)? {
            for index in 0..block.len() {
                let place = places.next();
                let (Number::Integer(value), Some(figures)) =
                    (block.number(index), all.get_mut(place))
                else {
                    continue;
                };
                let (least, most) = figures.exact.unwrap_or((value, value));
                figures.exact = Some((least.min(value), most.max(value)));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use abi::tensor::Tensor;
    use vm::Buffer;

    use super::*;

    fn view(text: &str) -> TensorView {
        let tensor = Tensor::parse(text, 1 << 20).unwrap();
        let buffer = Buffer::from_bytes(&tensor.bytes).unwrap();
        TensorView::new(Arc::new(buffer), tensor.tensor_type()).unwrap()
    }

    fn means(view: &TensorView, axis: usize) -> Vec<f64> {
        let length = view.length_of(axis).unwrap();
        view.figures_along(axis, &(0..length)).unwrap().iter().map(|it| it.mean).collect()
    }

    #[test]
    fn each_index_of_an_axis_has_the_figures_of_its_elements() {
        let numbers = view("2x3x2xf32=1 2 3 4 5 6 7 8 9 10 11 12");
        assert_eq!(means(&numbers, 0), [3.5, 9.5]);
        assert_eq!(means(&numbers, 1), [4.5, 6.5, 8.5]);
        assert_eq!(means(&numbers, 2), [6.0, 7.0]);
        let part = numbers.figures_along(1, &(1..3)).unwrap();
        assert_eq!(part.iter().map(|it| it.mean).collect::<Vec<_>>(), [6.5, 8.5]);
        assert_eq!(part[0].minimum.zip(part[0].maximum), Some((3.0, 10.0)));
        // Of a part that does not lie together, the same.
        let (column, _) = numbers.sliced("[:, ::-1, 1]").unwrap();
        assert_eq!(means(&column, 1), [9.0, 7.0, 5.0]);
        assert_eq!(numbers.all_figures().unwrap().mean, 6.5);
        let no_axis = ViewError::NoAxis { axis: 3, axes: 3 };
        assert_eq!(numbers.figures_along(3, &(0..1)), Err(no_axis));
        assert!(numbers.figures_along(1, &(2..4)).is_err());
    }

    #[test]
    fn what_is_no_number_is_counted_and_large_integers_are_exact() {
        let numbers = view("2x3xf32=nan inf 4 -inf -inf nan");
        let rows = numbers.figures_along(0, &(0..2)).unwrap();
        let counted = |it: &Figures| (it.nans, it.positive_infinities, it.negative_infinities);
        assert_eq!(counted(&rows[0]), (1, 1, 0));
        assert_eq!((rows[0].mean, rows[0].deviation), (4.0, 0.0));
        assert_eq!(counted(&rows[1]), (1, 0, 2));
        assert!(rows[1].minimum.is_none() && rows[1].mean.is_nan());
        let large = view("3xi64=9007199254740993 9007199254740992 9007199254740995");
        let exact = Some((9_007_199_254_740_992, 9_007_199_254_740_995));
        assert_eq!(large.all_figures().unwrap().exact, exact);
        let none = view("0x3xf32=");
        assert_eq!(none.figures_along(1, &(0..3)).unwrap()[2].count, 0);
        assert_eq!(none.all_figures().unwrap().count, 0);
    }
}

//! The distribution of a tensor's elements: exact figures, quantiles and a histogram.

use super::plane::Plane;
use super::statistics::{Statistics, Wanted};
use super::view::{TensorView, step};
use super::view_error::ViewError;

/// The most elements whose quantiles are computed: they are copied for that.
const MOST_SORTED: usize = 1 << 24;

/// The quantiles that are computed.
pub const QUANTILES: [f64; 7] = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99];

/// See the module documentation. Figures are those of the finite elements.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    /// How many elements there are.
    pub count: usize,
    /// How many are NaN.
    pub nans: usize,
    /// How many are positive infinity.
    pub positive_infinities: usize,
    /// How many are negative infinity.
    pub negative_infinities: usize,
    /// How many are 0.
    pub zeros: usize,
    /// The smallest finite element, with its number in order, and as text.
    pub minimum: Option<Extreme>,
    /// The largest finite element.
    pub maximum: Option<Extreme>,
    /// The mean of the finite elements.
    pub mean: f64,
    /// Their standard deviation.
    pub deviation: f64,
    /// The quantiles [`QUANTILES`], between elements as NumPy interpolates them; none if there are
    /// too many elements.
    pub quantiles: Option<Vec<f64>>,
    /// How many finite elements are in each of the histogram's bins, which share the range from the
    /// smallest to the largest equally.
    pub histogram: Vec<u64>,
}

/// The smallest or largest element.
#[derive(Clone, PartialEq, Debug)]
pub struct Extreme {
    /// Its number in order.
    pub index: usize,
    /// Its value.
    pub value: f64,
    /// Its exact text.
    pub text: String,
}

/// What is looked for in a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sought {
    /// NaN.
    Nan,
    /// An infinity.
    Infinity,
    /// An element that is not zero.
    NonZero,
}

impl TensorView {
    /// The distribution of all elements, with a histogram of so many bins.
    ///
    /// # Errors
    /// The elements have no values.
    pub fn profile(&self, bins: usize) -> Result<Profile, ViewError> {
        let wanted = Wanted::SMALLEST.and(Wanted::LARGEST);
        // Integers beyond 2^53 are told apart in this pass only.
        let exact = match self.is_of_integers() {
            true => Statistics::of(self, usize::MAX, wanted)?,
            false => Statistics::default(),
        };
        Profile::of(self, bins, |index, is_largest| {
            let known = if is_largest { exact.largest } else { exact.smallest };
            let index = known.map_or(index, |(index, _)| index);
            (index, self.text_at(index))
        })
    }

    /// The number in order of the first element after `after` that is sought, from the beginning
    /// again after the last.
    ///
    /// # Errors
    /// The elements have no values.
    pub fn find(&self, sought: Sought, after: Option<usize>) -> Result<Option<usize>, ViewError> {
        let (mut first, mut next, mut at) = (None, None, 0);
        self.each_float(|value| {
            let is_it = match sought {
                Sought::Nan => value.is_nan(),
                Sought::Infinity => value.is_infinite(),
                Sought::NonZero => value != 0.0,
            };
            if is_it {
                first = first.or(Some(at));
                if after.is_none_or(|after| at > after) {
                    next = next.or(Some(at));
                }
            }
            at += 1;
        })?;
        Ok(next.or(first))
    }

    /// The text of the element with a number, counted in order.
    pub(super) fn text_at(&self, number: usize) -> String {
        self.element(self.offset_of(number))
    }

    /// The index in the buffer of the element with a number, counted in order.
    pub(super) fn offset_of(&self, number: usize) -> usize {
        let indices = self.indices_of(number).into_iter().zip(self.strides());
        indices.fold(self.first(), |at, (index, stride)| step(at, index, *stride))
    }

    /// The number, counted in order, of the element with these indices.
    #[must_use]
    pub fn number_of(&self, indices: &[usize]) -> usize {
        self.shape().iter().zip(indices).fold(0, |number, (length, index)| {
            let length = usize::try_from(*length).unwrap_or(usize::MAX);
            number.saturating_mul(length).saturating_add(*index)
        })
    }

    /// The index along each axis of the element with a number, counted in order.
    #[must_use]
    pub fn indices_of(&self, number: usize) -> Vec<usize> {
        let mut rest = number;
        let mut indices: Vec<usize> = self
            .shape()
            .iter()
            .rev()
            .map(|length| {
                let length = usize::try_from(*length).unwrap_or(usize::MAX).max(1);
                let index = rest % length;
                rest /= length;
                index
            })
            .collect();
        indices.reverse();
        indices
    }
}

impl Profile {
    /// The distribution of a plane's numbers. `extreme` has the place and the text of the smallest
    /// or the largest, of which the first place is known.
    pub(super) fn of(
        numbers: &impl Plane,
        bins: usize,
        extreme: impl Fn(usize, bool) -> (usize, String),
    ) -> Result<Self, ViewError> {
        let mut profile = Self {
            count: 0,
            nans: 0,
            positive_infinities: 0,
            negative_infinities: 0,
            zeros: 0,
            minimum: None,
            maximum: None,
            mean: f64::NAN,
            deviation: f64::NAN,
            quantiles: None,
            histogram: vec![0; bins],
        };
        let mut sorted: Vec<f64> = Vec::new();
        let (mut sum, mut finite) = (Sum::default(), 0_usize);
        let (mut least, mut greatest) = ((0, f64::INFINITY), (0, f64::NEG_INFINITY));
        numbers.each(&mut |value| {
            if value.is_finite() {
                sum.add(value);
                finite += 1;
                if value < least.1 || finite == 1 {
                    least = (profile.count, value);
                }
                if value > greatest.1 || finite == 1 {
                    greatest = (profile.count, value);
                }
                profile.zeros += usize::from(value == 0.0);
                if profile.count <= MOST_SORTED {
                    sorted.push(value);
                }
            } else if value.is_nan() {
                profile.nans += 1;
            } else if value > 0.0 {
                profile.positive_infinities += 1;
            } else {
                profile.negative_infinities += 1;
            }
            profile.count += 1;
        })?;
        if finite == 0 {
            return Ok(profile);
        }
        let extreme = |(index, value): (usize, f64), is_largest: bool| {
            let (index, text) = extreme(index, is_largest);
            Extreme { index, value, text }
        };
        profile.minimum = Some(extreme(least, false));
        profile.maximum = Some(extreme(greatest, true));
        profile.mean = sum.total() / finite as f64;
        let (mean, low, high) = (profile.mean, least.1, greatest.1);
        let mut squares = Sum::default();
        let histogram = &mut profile.histogram;
        numbers.each(&mut |value| {
            if value.is_finite() {
                squares.add((value - mean) * (value - mean));
                if let Some(bin) = bin_of(value, low, high, bins) {
                    histogram[bin] += 1;
                }
            }
        })?;
        profile.deviation = (squares.total() / finite as f64).sqrt();
        if profile.count <= MOST_SORTED {
            sorted.sort_unstable_by(f64::total_cmp);
            profile.quantiles = Some(QUANTILES.map(|at| quantile(&sorted, at)).to_vec());
        }
        Ok(profile)
    }
}

/// A sum with the rounding errors of its additions (Neumaier's).
#[derive(Clone, Default)]
pub(super) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    pub(super) fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        let is_larger = self.sum.abs() >= value.abs();
        self.lost += if is_larger { (self.sum - sum) + value } else { (value - sum) + self.sum };
        self.sum = sum;
    }

    pub(super) fn total(&self) -> f64 {
        // The correction of a sum that is infinite is no number.
        if self.sum.is_finite() { self.sum + self.lost } else { self.sum }
    }
}

/// The bin of a value. The last bin has the largest value, too.
fn bin_of(value: f64, low: f64, high: f64, bins: usize) -> Option<usize> {
    let last = bins.checked_sub(1)?;
    // Halves, as the range of the largest floats is infinite.
    let (range, from) = (high / 2.0 - low / 2.0, value / 2.0 - low / 2.0);
    if range <= 0.0 {
        return Some(bins / 2);
    }
    Some(((from / range * bins as f64) as usize).min(last))
}

/// A quantile of sorted numbers.
fn quantile(sorted: &[f64], at: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = at * last as f64;
    let (below, part) = (place.floor(), place.fract());
    let (low, high) = (sorted[below as usize], sorted[(below as usize + 1).min(last)]);
    low + (high - low) * part
}

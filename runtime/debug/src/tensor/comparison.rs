//! Two tensors of one shape, compared element by element: figures of the whole, and measures of
//! their distance as planes to look at.
//!
//! Elements are equal as NumPy's `equal` says, and so are two NaN. A NaN on one side only is
//! farther than any number. Integers are subtracted exactly; floats are subtracted as f64.

use std::borrow::Cow;
use std::ops::Range;

use abi::element_type::{ElementType, NumericalKind};

use super::elements::{Block, Reader};
use super::figures::{self, Figures};
use super::number::Number;
use super::plane::{Cells, Plane, Rectangle, Reduction};
use super::profile::Profile;
use super::view::TensorView;
use super::view_error::ViewError;

/// How far two elements are apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// `|a - b|`.
    Difference,
    /// `|a - b| / |b|`; infinite where only `b` is 0.
    Relative,
    /// How many floats lie between them: units in the last place.
    Ulps,
}

/// Two tensors of one shape.
#[derive(Clone, Debug)]
pub struct Comparison {
    a: TensorView,
    b: TensorView,
}

/// How two tensors differ as wholes.
#[derive(Clone, PartialEq, Debug)]
pub struct Differences {
    /// How many elements each has.
    pub count: usize,
    /// How many pairs are not equal.
    pub different: usize,
    /// How many pairs have a NaN on one side only.
    pub nans: usize,
    /// The mean of the finite differences.
    pub mean: f64,
    /// The root of the mean square of the finite differences.
    pub root_mean_square: f64,
    /// The pair with the largest difference; none if all are equal.
    pub worst: Option<Pair>,
    /// The pair with the largest relative difference.
    pub worst_relative: Option<Pair>,
    /// The pair that is most floats apart; none for other numbers.
    pub worst_ulps: Option<Pair>,
}

/// Two elements at one place.
#[derive(Clone, PartialEq, Debug)]
pub struct Pair {
    /// Their number in order.
    pub index: usize,
    /// The texts of both.
    pub texts: [String; 2],
    /// `|a - b|`; NaN if only one of them is NaN.
    pub difference: f64,
    /// `|a - b| / |b|`.
    pub relative: f64,
    /// How many floats lie between them.
    pub ulps: Option<u64>,
}

impl Comparison {
    /// Compares `a` with `b`.
    ///
    /// # Errors
    /// They have different shapes, axes of one element aside.
    pub fn of(a: TensorView, b: &TensorView) -> Result<Self, ViewError> {
        let Some(b) = b.with_unit_axes(a.shape()) else {
            let (a, b) = (a.tensor_type().clone(), b.tensor_type().clone());
            return Err(ViewError::OtherShape { a, b });
        };
        Ok(Self { a, b })
    }

    /// The second tensor.
    #[must_use]
    pub fn other(&self) -> &TensorView {
        &self.b
    }

    /// The part of both that a slice names.
    ///
    /// # Errors
    /// It is no slice of them.
    pub fn sliced(&self, text: &str) -> Result<Self, ViewError> {
        Ok(Self { a: self.a.sliced(text)?.0, b: self.b.sliced(text)?.0 })
    }

    /// Their distance as a plane of cells.
    ///
    /// # Errors
    /// They have more than two axes, or the measure is not for their elements.
    pub fn cells(
        &self,
        measure: Measure,
        rectangle: Rectangle,
        size: (usize, usize),
        reduction: Reduction,
    ) -> Result<Cells, ViewError> {
        Cells::of(&self.measured(measure)?, rectangle, size, reduction)
    }

    /// The distribution of their distance, with a histogram of so many bins.
    ///
    /// # Errors
    /// The measure is not for their elements.
    pub fn profile(&self, measure: Measure, bins: usize) -> Result<Profile, ViewError> {
        let measured = self.measured(measure)?;
        Profile::of(&measured, bins, |index, _| (index, measured.text(index)))
    }

    /// The figures of their distance at each index of an axis, for some of its indices.
    ///
    /// # Errors
    /// There is no such axis, or the measure is not for their elements.
    pub fn figures_along(
        &self,
        measure: Measure,
        axis: usize,
        indices: &Range<usize>,
    ) -> Result<Vec<Figures>, ViewError> {
        let part = Self { a: self.a.along(axis, indices)?, b: self.b.along(axis, indices)? };
        figures::along(&part.measured(measure)?, part.a.inside_of(axis), indices.len())
    }

    /// The texts of the distances in a rectangle, row by row, at most `most`.
    ///
    /// # Errors
    /// They have more than two axes, or the measure is not for their elements.
    pub fn texts(
        &self,
        measure: Measure,
        rectangle: Rectangle,
        most: usize,
    ) -> Result<Vec<String>, ViewError> {
        let part = self.measured(measure)?.part(rectangle)?;
        let count = part.pair.a.count().min(most);
        Ok((0..count).map(|index| part.text(index)).collect())
    }

    /// How they differ as wholes.
    ///
    /// # Errors
    /// Their elements have no values.
    pub fn differences(&self) -> Result<Differences, ViewError> {
        let has_ulps = self.has_ulps();
        let (mut count, mut different, mut nans, mut finite) = (0, 0, 0, 0_usize);
        let (mut sum, mut squares) = (0.0, 0.0);
        let mut worst: [Option<(usize, f64)>; 3] = [None; 3];
        self.each_pair(|a, b| {
            let index = count;
            count += 1;
            if is_equal(a, b) {
                finite += 1;
                return;
            }
            different += 1;
            let difference = difference(a, b);
            nans += usize::from(difference.is_nan());
            if difference.is_finite() {
                finite += 1;
                sum += difference;
                squares += difference * difference;
            }
            let far = has_ulps.then(|| self.distance(Measure::Ulps, a, b));
            let found = [Some(difference), Some(relative(a, b)), far];
            for (worst, found) in worst.iter_mut().zip(found) {
                let Some(found) = found else { continue };
                // A NaN is the farthest.
                let is_worse = |known: f64| !known.is_nan() && (found.is_nan() || found > known);
                if worst.is_none_or(|(_, known)| is_worse(known)) {
                    *worst = Some((index, found));
                }
            }
        })?;
        let [worst, worst_relative, worst_ulps] =
            worst.map(|found| found.map(|(index, _)| self.pair(index)));
        let of_finite = |sum: f64| if finite > 0 { sum / finite as f64 } else { f64::NAN };
        Ok(Differences {
            count,
            different,
            nans,
            mean: of_finite(sum),
            root_mean_square: of_finite(squares).sqrt(),
            worst,
            worst_relative,
            worst_ulps,
        })
    }

    /// Calls `visit` with the number and both values of each pair that is not equal, in order.
    /// Integers that a float cannot hold are rounded.
    ///
    /// # Errors
    /// Their elements have no values.
    pub fn each_different(&self, mut visit: impl FnMut(usize, f64, f64)) -> Result<(), ViewError> {
        let mut at = 0;
        self.each_pair(|a, b| {
            if !is_equal(a, b) {
                visit(at, a.float(), b.float());
            }
            at += 1;
        })
    }

    /// The number in order of the first pair after `after` that is not equal, from the beginning
    /// again after the last.
    ///
    /// # Errors
    /// Their elements have no values.
    pub fn find_different(&self, after: Option<usize>) -> Result<Option<usize>, ViewError> {
        let (mut first, mut next, mut at) = (None, None, 0);
        self.each_pair(|a, b| {
            if !is_equal(a, b) {
                first = first.or(Some(at));
                if after.is_none_or(|after| at > after) {
                    next = next.or(Some(at));
                }
            }
            at += 1;
        })?;
        Ok(next.or(first))
    }

    /// The elements with a number, counted in order.
    #[must_use]
    pub fn pair(&self, index: usize) -> Pair {
        let (a, b) = (self.a.number_at(index), self.b.number_at(index));
        Pair {
            index,
            texts: [self.a.text_at(index), self.b.text_at(index)],
            difference: self.distance(Measure::Difference, a, b),
            relative: self.distance(Measure::Relative, a, b),
            ulps: self.ulps(a, b),
        }
    }

    fn measured(&self, measure: Measure) -> Result<Measured<'_>, ViewError> {
        if measure == Measure::Ulps && !self.has_ulps() {
            let [a, b] = [&self.a, &self.b].map(TensorView::element_type);
            return Err(ViewError::WithoutUlps { a, b });
        }
        Ok(Measured { pair: Cow::Borrowed(self), measure })
    }

    /// Whether both have floats of one type, whose distance in floats is known.
    #[must_use]
    pub fn has_ulps(&self) -> bool {
        let [a, b] = [&self.a, &self.b].map(|it| it.tensor_type().element_type);
        a == b && ordered(0.0, a).is_some()
    }

    fn ulps(&self, a: Number, b: Number) -> Option<u64> {
        let element_type = self.a.tensor_type().element_type;
        self.has_ulps().then(|| ulps(a.float(), b.float(), element_type)).flatten()
    }

    fn distance(&self, measure: Measure, a: Number, b: Number) -> f64 {
        match measure {
            _ if is_equal(a, b) => 0.0,
            Measure::Difference => difference(a, b),
            Measure::Relative => relative(a, b),
            Measure::Ulps => self.ulps(a, b).map_or(f64::NAN, |far| far as f64),
        }
    }

    /// Calls `visit` with both elements of each pair, in order.
    fn each_pair(&self, mut visit: impl FnMut(Number, Number)) -> Result<(), ViewError> {
        let (mut a, mut b) = (Reader::new(&self.a)?, Reader::new(&self.b)?);
        while let (Some(a), Some(b)) = (a.read(usize::MAX)?, b.read(usize::MAX)?) {
            match (a, b) {
                // The usual ones, without a decision for each element.
                (Block::F32(a), Block::F32(b)) => {
                    for (a, b) in a.iter().zip(b) {
                        visit(Number::Float(f64::from(*a)), Number::Float(f64::from(*b)));
                    }
                }
                (a, b) => {
                    for index in 0..a.len() {
                        visit(a.number(index), b.number(index));
                    }
                }
            }
        }
        Ok(())
    }
}

/// A distance of two tensors as a plane.
struct Measured<'c> {
    pair: Cow<'c, Comparison>,
    measure: Measure,
}

impl Measured<'_> {
    /// The text of the distance of the pair with a number.
    fn text(&self, index: usize) -> String {
        let (a, b) = (self.pair.a.number_at(index), self.pair.b.number_at(index));
        match (self.measure, a, b) {
            (Measure::Difference, Number::Integer(a), Number::Integer(b)) => {
                a.abs_diff(b).to_string()
            }
            _ => Number::Float(self.pair.distance(self.measure, a, b)).to_string(),
        }
    }
}

impl Plane for Measured<'_> {
    fn size(&self) -> Result<(usize, usize), ViewError> {
        self.pair.a.plane()
    }

    fn part(&self, rectangle: Rectangle) -> Result<Self, ViewError> {
        let Comparison { a, b } = &*self.pair;
        let pair = Comparison { a: a.part(rectangle)?, b: b.part(rectangle)? };
        Ok(Self { pair: Cow::Owned(pair), measure: self.measure })
    }

    fn each(&self, visit: &mut dyn FnMut(f64)) -> Result<(), ViewError> {
        let pair = &self.pair;
        pair.each_pair(|a, b| visit(pair.distance(self.measure, a, b)))
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        let Comparison { a, b } = &*self.pair;
        let (a, b) = (a.number_in(row, column), b.number_in(row, column));
        self.pair.distance(self.measure, a, b)
    }
}

/// Whether two numbers are equal, or both are NaN.
fn is_equal(a: Number, b: Number) -> bool {
    match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => a == b,
        (a, b) => a.float() == b.float() || a.float().is_nan() && b.float().is_nan(),
    }
}

fn difference(a: Number, b: Number) -> f64 {
    match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => a.abs_diff(b) as f64,
        (a, b) => (a.float() - b.float()).abs(),
    }
}

fn relative(a: Number, b: Number) -> f64 {
    let far = difference(a, b);
    if far.is_infinite() { far } else { far / b.float().abs() }
}

/// How many floats of an element type lie between two of them; `None` for other types, and for
/// NaN.
pub(crate) fn ulps(a: f64, b: f64, element_type: ElementType) -> Option<u64> {
    let (a, b) = (ordered(a, element_type)?, ordered(b, element_type)?);
    Some(a.abs_diff(b))
}

/// The place of a float among those of its type: neighbours differ by 1.
fn ordered(value: f64, element_type: ElementType) -> Option<i64> {
    let (bits, sign) = match (element_type.kind, element_type.bits) {
        _ if value.is_nan() => return None,
        (NumericalKind::Float, 64) => (value.to_bits(), 63),
        (NumericalKind::Float, 32) => (u64::from((value as f32).to_bits()), 31),
        (NumericalKind::Float, 16) => (u64::from(half::f16::from_f64(value).to_bits()), 15),
        (NumericalKind::BrainFloat, 16) => (u64::from(half::bf16::from_f64(value).to_bits()), 15),
        _ => return None,
    };
    // The sign goes from magnitude to two's complement.
    let magnitude = (bits & !(1 << sign)).cast_signed();
    Some(if bits >> sign & 1 == 0 { magnitude } else { -magnitude })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_in_floats() {
        let ulp = |a: f64, b: f64, name: &str| {
            ulps(a, b, abi::tensor::TensorType::parse(name).unwrap().element_type)
        };
        assert_eq!(ulp(1.0, 1.0, "f32"), Some(0));
        assert_eq!(ulp(1.0, f64::from(1.0_f32.next_up()), "f32"), Some(1));
        assert_eq!(ulp(-0.0, 0.0, "f32"), Some(0));
        assert_eq!(ulp(f64::from(-1.0e-45_f32), f64::from(1.0e-45_f32), "f32"), Some(2));
        assert_eq!(ulp(1.0, 1.0_f64.next_down(), "f64"), Some(1));
        assert_eq!(ulp(1.0, 2.0, "f16"), Some(1 << 10));
        assert_eq!(ulp(1.0, 2.0, "bf16"), Some(1 << 7));
        assert_eq!(ulp(1.0, 2.0, "i32"), None);
        assert_eq!(ulp(f64::NAN, 2.0, "f32"), None);
    }
}

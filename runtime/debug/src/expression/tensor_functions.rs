//! Functions of whole tensors, as NumPy and SciPy define them: softmax, percentiles, and how alike
//! two tensors are. All compute in f64; NaN and infinities spread as they do there.

use super::budget::Budget;
use super::datum::Datum;
use super::dense::{Dense, floats, of_floats};
use super::evaluation_error::EvaluationError;
use super::slots::Stop;
use crate::tensor::{BLOCK, Number, Reader, TensorView};

/// The tolerances that `numpy.allclose` has by default: relative and absolute.
const TOLERANCES: [f64; 2] = [1e-5, 1e-8];

/// `softmax(tensor, axis)`: e to the power of each element, divided by their sum along the axis.
pub(super) fn softmax(arguments: &[Datum], budget: &mut Budget) -> Result<Datum, Stop> {
    let tensor = tensor(arguments, 0)?;
    let rank = tensor.shape().len();
    let axis = match arguments.get(1) {
        Some(axis) => axis_of(axis, rank).map_err(|reason| Stop::OfArgument(1, reason))?,
        None => {
            let without = || Stop::OfArgument(0, arguments[0].has_no("axes"));
            rank.checked_sub(1).ok_or_else(without)?
        }
    };
    let size = |sizes: &[u64]| sizes.iter().map(|size| *size as usize).product::<usize>();
    let (length, inner) = (tensor.shape()[axis] as usize, size(&tensor.shape()[axis + 1..]));
    let mut values = floats(&tensor, budget)?;
    for lanes in values.chunks_exact_mut((length * inner).max(1)) {
        budget.steps(lanes.len())?;
        for lane in 0..inner {
            exponentials(lanes, lane, inner);
        }
    }
    Ok(of_floats(tensor.shape().to_vec(), &values)?)
}

/// Makes every `stride`th element from `first` on its share of the exponentials. What is subtracted
/// keeps them from becoming infinite; it is NaN if an element is.
fn exponentials(values: &mut [f64], first: usize, stride: usize) {
    let elements = |values: &mut [f64], each: &mut dyn FnMut(&mut f64)| {
        values.iter_mut().skip(first).step_by(stride).for_each(each);
    };
    let (mut largest, mut sum) = (f64::NEG_INFINITY, 0.0);
    elements(values, &mut |value| {
        largest = if value.is_nan() || *value > largest { *value } else { largest };
    });
    elements(values, &mut |value| {
        *value = (*value - largest).exp();
        sum += *value;
    });
    elements(values, &mut |value| *value /= sum);
}

fn axis_of(axis: &Datum, rank: usize) -> Result<usize, EvaluationError> {
    let Some(Number::Integer(number)) = axis.number() else { return Err(axis.is_no("axis")) };
    let from_the_first = if number < 0 { number.saturating_add(rank as i128) } else { number };
    let found = usize::try_from(from_the_first).ok().filter(|axis| *axis < rank);
    found.ok_or(EvaluationError::NoAxis { axis: number, rank })
}

/// `percentile(tensor, percentage)`: the element that so many per cent of the elements are below;
/// between two of them as `numpy.percentile` interpolates, whose arithmetic this is.
pub(super) fn percentile(arguments: &[Datum], budget: &mut Budget) -> Result<Datum, Stop> {
    let tensor = tensor(arguments, 0)?;
    let is_no_percentage =
        || Stop::OfArgument(1, EvaluationError::NoPercentage { is: arguments[1].kind() });
    let percentage = arguments[1].number().ok_or_else(is_no_percentage)?;
    if !(0.0..=100.0).contains(&percentage.float()) {
        let is = percentage.to_string();
        return Err(Stop::OfArgument(1, EvaluationError::NoPercentage { is }));
    }
    let Some(last) = tensor.count().checked_sub(1) else {
        return Err(Stop::OfArgument(0, arguments[0].has_no("elements")));
    };
    let place = percentage.float() / 100.0 * last as f64;
    let below = (place.floor() as usize).min(last);
    let part = if below == last { 0.0 } else { place - place.floor() };
    let (from, distance, to) = match Dense::of(&tensor, budget)? {
        Dense::Integers(mut values) => {
            let (from, to) = neighbours(&mut values, below, i128::cmp);
            (from as f64, (to - from) as f64, to as f64)
        }
        Dense::Floats(values) if values.iter().any(|value| value.is_nan()) => {
            return Ok(Datum::float(f64::NAN));
        }
        Dense::Floats(mut values) => {
            let (from, to) = neighbours(&mut values, below, f64::total_cmp);
            (from, to - from, to)
        }
    };
    let found = if part < 0.5 { from + distance * part } else { to - distance * (1.0 - part) };
    Ok(Datum::float(found))
}

/// The element that has a place in the order of all of them, and the next one; the last one is its
/// own neighbour.
fn neighbours<T: Copy>(
    values: &mut [T],
    place: usize,
    order: fn(&T, &T) -> std::cmp::Ordering,
) -> (T, T) {
    let (_, found, above) = values.select_nth_unstable_by(place, order);
    let found = *found;
    (found, above.iter().copied().min_by(order).unwrap_or(found))
}

/// `allclose(a, b, rtol, atol)`: whether `abs(a - b) <= atol + rtol * abs(b)` everywhere, or both
/// are the same infinity. NaN is close to nothing.
pub(super) fn allclose(arguments: &[Datum], budget: &mut Budget) -> Result<Datum, Stop> {
    let mut tolerances = TOLERANCES;
    for (index, tolerance) in arguments.iter().enumerate().skip(2) {
        let number = tolerance.number();
        let number = number.ok_or_else(|| Stop::OfArgument(index, tolerance.is_no("tolerance")))?;
        tolerances[index - 2] = number.float();
    }
    let [relative, absolute] = tolerances;
    let mut are_close = true;
    each_pair(arguments, budget, |a, b| {
        let is_close = (a - b).abs() <= absolute + relative * b.abs() && b.is_finite();
        are_close &= is_close || a == b;
    })?;
    Ok(Datum::Bool(are_close))
}

/// `cosine(a, b)`: of the angle between two tensors as vectors.
pub(super) fn cosine(arguments: &[Datum], budget: &mut Budget) -> Result<Datum, Stop> {
    let [a, b] = [tensor(arguments, 0)?, tensor(arguments, 1)?];
    same_shape(&a, &b)?;
    let (mut product, mut squares) = (0.0, [0.0; 2]);
    each_pair(arguments, budget, |a, b| {
        product += a * b;
        squares[0] += a * a;
        squares[1] += b * b;
    })?;
    Ok(Datum::float(product / (f64::sqrt(squares[0]) * f64::sqrt(squares[1]))))
}

fn tensor(arguments: &[Datum], index: usize) -> Result<TensorView, Stop> {
    let tensor = arguments[index].tensor();
    tensor.ok_or_else(|| Stop::OfArgument(index, arguments[index].is_no("tensor")))
}

fn same_shape(a: &TensorView, b: &TensorView) -> Result<(), EvaluationError> {
    let types = || (a.type_name(), b.type_name());
    let differ = |(left, right)| EvaluationError::Shapes { left, right };
    if a.shape() == b.shape() { Ok(()) } else { Err(differ(types())) }
}

/// Visits the elements of the first two arguments in pairs. A number pairs with every element.
fn each_pair(
    arguments: &[Datum],
    budget: &mut Budget,
    mut visit: impl FnMut(f64, f64),
) -> Result<(), Stop> {
    let numbers = [arguments[0].number(), arguments[1].number()];
    if let [Some(a), Some(b)] = numbers {
        visit(a.float(), b.float());
        return Ok(());
    }
    let side = |index: usize| match numbers[index] {
        Some(number) => Ok((Side::Number(number.float()), None)),
        None => {
            let tensor = tensor(arguments, index)?;
            Ok::<_, Stop>((Side::Tensor(Reader::new(&tensor)?.into()), Some(tensor)))
        }
    };
    let ((mut left, a), (mut right, b)) = (side(0)?, side(1)?);
    if let (Some(a), Some(b)) = (&a, &b) {
        same_shape(a, b)?;
    }
    let mut rest = a.or(b).map_or(0, |tensor| tensor.count());
    let mut values = [[0.0; BLOCK]; 2];
    while rest > 0 {
        let count = rest.min(BLOCK);
        rest -= count;
        budget.steps(count)?;
        left.read(&mut values[0][..count])?;
        right.read(&mut values[1][..count])?;
        let [left, right] = &values;
        left.iter().zip(right).take(count).for_each(|(left, right)| visit(*left, *right));
    }
    Ok(())
}

/// What one element of each pair comes from.
enum Side {
    Number(f64),
    Tensor(Box<Reader>),
}

impl Side {
    /// The next elements, as floats.
    fn read(&mut self, values: &mut [f64]) -> Result<(), Stop> {
        match self {
            Self::Number(number) => values.fill(*number),
            Self::Tensor(reader) => {
                let block = reader.read(values.len())?.ok_or(Stop::Irregular)?;
                for (index, value) in values.iter_mut().enumerate() {
                    *value = block.number(index).float();
                }
            }
        }
        Ok(())
    }
}

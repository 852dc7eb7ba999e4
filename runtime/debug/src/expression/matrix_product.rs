//! `a @ b`: the product of matrices, as `numpy.matmul` defines it.
//!
//! The last two axes of a tensor are matrices, and the axes outside of them are paired by
//! broadcasting. A tensor of one axis is a row on the left and a column on the right, and that axis
//! is not in the result. Integers are exact and floats are f64, as everywhere in the language; each
//! element is summed from the first product to the last.

use super::budget::Budget;
use super::datum::Datum;
use super::dense::{self, Dense};
use super::evaluation_error::EvaluationError;
use super::slots::Stop;
use crate::tensor::{Number, TensorView};

/// The product of two values. An error names the operand at fault, if it is one of them.
pub(super) fn matrix_product(
    left: &Datum,
    right: &Datum,
    budget: &mut Budget,
) -> Result<Datum, Stop> {
    let (left, right) = (operand(left, 0)?, operand(right, 1)?);
    let sizes = Sizes::of(&left, &right)?;
    budget.check_elements(sizes.count())?;
    let elements = [Dense::of(&left, budget), Dense::of(&right, budget)];
    match elements {
        [Ok(Dense::Integers(left)), Ok(Dense::Integers(right))] => {
            let values = sizes.multiply(&left, &right, 0, budget, |sum, a, b| {
                a.checked_mul(b).and_then(|product| sum.checked_add(product))
            })?;
            match (values.as_slice(), sizes.shape.is_empty()) {
                ([value], true) => Ok(Datum::integer(*value)),
                (values, _) => Ok(dense::of_integers(sizes.shape, values)?),
            }
        }
        [left, right] => {
            let (left, right) = (left?.into_floats(), right?.into_floats());
            let product = |sum, a, b| Some(sum + a * b);
            let values = sizes.multiply(&left, &right, 0.0, budget, product)?;
            match (values.as_slice(), sizes.shape.is_empty()) {
                ([value], true) => Ok(Datum::Number(Number::Float(*value))),
                (values, _) => Ok(dense::of_floats(sizes.shape, values)?),
            }
        }
    }
}

fn operand(datum: &Datum, index: usize) -> Result<TensorView, Stop> {
    let tensor = datum.tensor().filter(|tensor| !tensor.shape().is_empty());
    let is = || EvaluationError::NoMatrix { is: datum.kind() };
    tensor.ok_or_else(|| Stop::OfArgument(index, is()))
}

/// How the elements of two tensors pair.
struct Sizes {
    /// The axes outside of the matrices: of each tensor, and of the result.
    outer: [Vec<usize>; 2],
    paired: Vec<usize>,
    rows: usize,
    inner: usize,
    columns: usize,
    /// The shape of the result.
    shape: Vec<u64>,
}

impl Sizes {
    fn of(left: &TensorView, right: &TensorView) -> Result<Self, EvaluationError> {
        let sizes = |tensor: &TensorView| -> Vec<usize> {
            tensor.shape().iter().map(|it| usize::try_from(*it).unwrap_or(usize::MAX)).collect()
        };
        let (mut a, mut b) = (sizes(left), sizes(right));
        let (is_row, is_column) = (a.len() == 1, b.len() == 1);
        // A vector has no matrix around it, so the missing axis has one element.
        let inner = a.pop().unwrap_or(1);
        let rows = a.pop().unwrap_or(1);
        let columns = if is_column { 1 } else { b.pop().unwrap_or(1) };
        let other = b.pop().unwrap_or(1);
        let types = || (left.type_name(), right.type_name());
        if inner != other {
            let (left, right) = types();
            return Err(EvaluationError::InnerAxes { left, right, inner, other });
        }
        let paired = broadcast(&a, &b).ok_or_else(|| {
            let (left, right) = types();
            EvaluationError::OuterAxes { left, right }
        })?;
        let own = [(!is_row).then_some(rows), (!is_column).then_some(columns)];
        let shape = paired.iter().copied().chain(own.into_iter().flatten());
        let shape = shape.map(|size| size as u64).collect();
        Ok(Self { outer: [a, b], paired, rows, inner, columns, shape })
    }

    fn count(&self) -> usize {
        let sizes = self.shape.iter().map(|size| usize::try_from(*size).unwrap_or(usize::MAX));
        sizes.fold(1, usize::saturating_mul)
    }

    /// The elements of the result. `add` gives the sum with the product of two elements; None if it
    /// is too large.
    fn multiply<T: Copy>(
        &self,
        left: &[T],
        right: &[T],
        zero: T,
        budget: &mut Budget,
        add: impl Fn(T, T, T) -> Option<T>,
    ) -> Result<Vec<T>, EvaluationError> {
        let &Self { rows, inner, columns, .. } = self;
        let mut results = vec![zero; self.count()];
        if results.is_empty() || inner == 0 {
            return Ok(results);
        }
        for (matrix, results) in results.chunks_exact_mut(rows * columns).enumerate() {
            let [at, other] = self.outer.each_ref().map(|own| place(matrix, &self.paired, own));
            let left = left[at * rows * inner..].chunks_exact(inner);
            let right = &right[other * inner * columns..];
            for (row, results) in left.zip(results.chunks_exact_mut(columns)) {
                for (factor, others) in row.iter().zip(right.chunks_exact(columns)) {
                    budget.steps(columns)?;
                    for (result, other) in results.iter_mut().zip(others) {
                        *result = add(*result, *factor, *other).ok_or(EvaluationError::TooLarge)?;
                    }
                }
            }
        }
        Ok(results)
    }
}

/// The axes of both, paired from the last on: they are equal, or one of them is 1.
fn broadcast(left: &[usize], right: &[usize]) -> Option<Vec<usize>> {
    let rank = left.len().max(right.len());
    let size =
        |of: &[usize], axis: usize| (axis + of.len()).checked_sub(rank).map_or(1, |axis| of[axis]);
    let pairs = (0..rank).map(|axis| (size(left, axis), size(right, axis)));
    pairs
        .map(|pair| match pair {
            (left, right) if left == right || right == 1 => Some(left),
            (1, right) => Some(right),
            _ => None,
        })
        .collect()
}

/// Which matrix of a tensor pairs with one of the result; both are counted in row-major order.
fn place(matrix: usize, paired: &[usize], own: &[usize]) -> usize {
    let mut rest = matrix;
    let mut place = 0;
    let mut stride = 1;
    let mut own = own.iter().rev();
    for size in paired.iter().rev() {
        let index = rest % size;
        rest /= size;
        let Some(own) = own.next() else { break };
        place += if *own == 1 { 0 } else { index * stride };
        stride *= own;
    }
    place
}

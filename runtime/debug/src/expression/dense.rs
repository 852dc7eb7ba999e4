//! Tensors whose elements are all needed at once, as numbers of the host, and tensors made of such.

use std::sync::Arc;

use abi::element_type::{ElementType, NumericalKind};
use abi::tensor::TensorType;
use vm::Buffer;

use super::budget::Budget;
use super::datum::Datum;
use super::elementwise::is_of_integers;
use super::evaluation_error::EvaluationError;
use super::scalars::computed;
use crate::tensor::{BLOCK, Number, Reader, TensorView};

/// All elements of a tensor, in row-major order.
#[derive(Debug)]
pub(super) enum Dense {
    Integers(Vec<i128>),
    Floats(Vec<f64>),
}

impl Dense {
    pub(super) fn of(tensor: &TensorView, budget: &mut Budget) -> Result<Self, EvaluationError> {
        budget.check_elements(tensor.count())?;
        if !is_of_integers(tensor) {
            return floats(tensor, budget).map(Self::Floats);
        }
        let mut integers = Vec::with_capacity(tensor.count());
        each(tensor, budget, |number| {
            if let Number::Integer(value) = number {
                integers.push(value);
            }
        })?;
        Ok(Self::Integers(integers))
    }

    /// The elements as floats; integers beyond 2^53 are rounded.
    pub(super) fn into_floats(self) -> Vec<f64> {
        match self {
            Self::Integers(values) => values.into_iter().map(|value| value as f64).collect(),
            Self::Floats(values) => values,
        }
    }
}

/// All elements of a tensor as floats.
pub(super) fn floats(
    tensor: &TensorView,
    budget: &mut Budget,
) -> Result<Vec<f64>, EvaluationError> {
    budget.check_elements(tensor.count())?;
    let mut floats = Vec::with_capacity(tensor.count());
    each(tensor, budget, |number| floats.push(number.float()))?;
    Ok(floats)
}

fn each(
    tensor: &TensorView,
    budget: &mut Budget,
    mut visit: impl FnMut(Number),
) -> Result<(), EvaluationError> {
    let mut reader = Reader::new(tensor)?;
    while let Some(block) = reader.read(BLOCK)? {
        (0..block.len()).for_each(|index| visit(block.number(index)));
        budget.steps(BLOCK)?;
    }
    Ok(())
}

/// A tensor of computed floats.
pub(super) fn of_floats(shape: Vec<u64>, values: &[f64]) -> Result<Datum, EvaluationError> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let element_type = ElementType { kind: NumericalKind::Float, bits: 64 };
    let buffer = Arc::new(Buffer::from_bytes(&bytes)?);
    Ok(Datum::Tensor(TensorView::new(buffer, TensorType { shape, element_type })?))
}

/// A tensor of computed integers: of i64, or of floats where one does not fit.
pub(super) fn of_integers(shape: Vec<u64>, values: &[i128]) -> Result<Datum, EvaluationError> {
    let numbers: Vec<Number> = values.iter().map(|value| Number::Integer(*value)).collect();
    computed(shape, &numbers, false)
}

//! The meaning of operators: on two numbers, and one element after the other.
//!
//! Integers are exact (a result beyond 128 bits is an error), `/` between integers truncates, and
//! floats are f64; an integer beside a float becomes a float. A number beside a tensor pairs with
//! every element; two tensors must have the same shape.

use std::sync::Arc;

use abi::element_type::{ElementType, NumericalKind};
use abi::tensor::TensorType;
use vm::Buffer;

use super::budget::Budget;
use super::datum::Datum;
use super::evaluation_error::EvaluationError;
use super::syntax::Binary;
use crate::tensor::{Number, TensorView};

/// A function of each element.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Each {
    Magnitude,
    /// A function of one float, and the same on many.
    Float(fn(f64) -> f64, fn(&mut [f64])),
}

impl Each {
    /// Applies it to one number.
    pub(crate) fn of(self, number: Number) -> Number {
        match (self, number) {
            (Self::Magnitude, Number::Integer(value)) => Number::Integer(value.saturating_abs()),
            (Self::Magnitude, Number::Float(value)) => Number::Float(value.abs()),
            (Self::Float(run, _), number) => Number::Float(run(number.float())),
        }
    }
}

/// Applies an operator to two numbers.
pub(crate) fn scalars(
    operator: Binary,
    left: Number,
    right: Number,
) -> Result<Datum, EvaluationError> {
    match (left, right) {
        (Number::Integer(left), Number::Integer(right)) => integers(operator, left, right),
        _ => floats(operator, left.float(), right.float()),
    }
}

fn integers(operator: Binary, left: i128, right: i128) -> Result<Datum, EvaluationError> {
    let shift = || u32::try_from(right).map_err(|_| EvaluationError::Shift { bits: right });
    let value = match operator {
        Binary::Or => return Ok(Datum::Bool(left != 0 || right != 0)),
        Binary::And => return Ok(Datum::Bool(left != 0 && right != 0)),
        Binary::Equal => return Ok(Datum::Bool(left == right)),
        Binary::NotEqual => return Ok(Datum::Bool(left != right)),
        Binary::Less => return Ok(Datum::Bool(left < right)),
        Binary::LessEqual => return Ok(Datum::Bool(left <= right)),
        Binary::Greater => return Ok(Datum::Bool(left > right)),
        Binary::GreaterEqual => return Ok(Datum::Bool(left >= right)),
        Binary::BitOr => Some(left | right),
        Binary::BitXor => Some(left ^ right),
        Binary::BitAnd => Some(left & right),
        Binary::ShiftLeft => {
            let bits = shift()?;
            // No bit may be lost.
            left.checked_shl(bits).filter(|result| result >> bits == left)
        }
        Binary::ShiftRight => Some(left >> shift()?.min(127)),
        Binary::Add => left.checked_add(right),
        Binary::Subtract => left.checked_sub(right),
        Binary::Multiply => left.checked_mul(right),
        Binary::Divide | Binary::Remainder if right == 0 => {
            return Err(EvaluationError::DivisionByZero);
        }
        Binary::Divide => left.checked_div(right),
        Binary::Remainder => left.checked_rem(right),
        Binary::Power => match u32::try_from(right) {
            Ok(exponent) => left.checked_pow(exponent),
            Err(_) => return Ok(Datum::float((left as f64).powf(right as f64))),
        },
        Binary::MatrixProduct => {
            return Err(EvaluationError::NoMatrix { is: "an integer".to_owned() });
        }
    };
    value.map(Datum::integer).ok_or(EvaluationError::TooLarge)
}

fn floats(operator: Binary, left: f64, right: f64) -> Result<Datum, EvaluationError> {
    Ok(match operator {
        Binary::Or => Datum::Bool(left != 0.0 || right != 0.0),
        Binary::And => Datum::Bool(left != 0.0 && right != 0.0),
        Binary::Equal => Datum::Bool(left == right),
        Binary::NotEqual => Datum::Bool(left != right),
        Binary::Less => Datum::Bool(left < right),
        Binary::LessEqual => Datum::Bool(left <= right),
        Binary::Greater => Datum::Bool(left > right),
        Binary::GreaterEqual => Datum::Bool(left >= right),
        Binary::Add => Datum::float(left + right),
        Binary::Subtract => Datum::float(left - right),
        Binary::Multiply => Datum::float(left * right),
        Binary::Divide => Datum::float(left / right),
        Binary::Remainder => Datum::float(left % right),
        Binary::Power => Datum::float(left.powf(right)),
        Binary::MatrixProduct => {
            return Err(EvaluationError::NoMatrix { is: "a float".to_owned() });
        }
        Binary::BitOr
        | Binary::BitXor
        | Binary::BitAnd
        | Binary::ShiftLeft
        | Binary::ShiftRight => {
            return Err(EvaluationError::TakesIntegers { operator: operator.text() });
        }
    })
}

pub(super) fn is_comparison(operator: Binary) -> bool {
    matches!(
        operator,
        Binary::Equal
            | Binary::NotEqual
            | Binary::Less
            | Binary::LessEqual
            | Binary::Greater
            | Binary::GreaterEqual
    )
}

/// Whether a value counts as true: every number except 0, and every reference except null.
pub(crate) fn truth(value: &Datum) -> Result<bool, EvaluationError> {
    match value {
        Datum::Value(vm::Value::Ref(value)) => Ok(!value.is_null()),
        Datum::Tensor(tensor) if tensor.scalar().is_none() => {
            Err(EvaluationError::AmbiguousTruth { is: value.kind() })
        }
        other => match other.number() {
            Some(number) => Ok(!number.is_zero()),
            None => Err(EvaluationError::NoTruth { is: other.kind() }),
        },
    }
}

/// Applies an operator to tensors, or to a number and a tensor, one element after the other.
pub(super) fn one_by_one(
    operator: Binary,
    left: &Datum,
    right: &Datum,
    budget: &mut Budget,
) -> Result<Datum, EvaluationError> {
    let (left, right) = (Elements::of(left, budget)?, Elements::of(right, budget)?);
    let shape = if left.shape.is_empty() { right.shape } else { left.shape };
    let (left, right) = (left.numbers, right.numbers);
    let count = if left.len() == 1 { right.len() } else { left.len() };
    let mut results = Vec::with_capacity(count);
    for index in 0..count {
        budget.step()?;
        let left = left[if left.len() == 1 { 0 } else { index }];
        let right = right[if right.len() == 1 { 0 } else { index }];
        let result = scalars(operator, left, right)?;
        results.push(result.number().unwrap_or(Number::Float(f64::NAN)));
    }
    computed(shape, &results, is_comparison(operator))
}

/// Applies a function to each element, one after the other.
pub(super) fn each_one_by_one(
    each: Each,
    operand: &Datum,
    budget: &mut Budget,
) -> Result<Datum, EvaluationError> {
    let Elements { shape, numbers } = Elements::of(operand, budget)?;
    let numbers: Vec<Number> = numbers.into_iter().map(|number| each.of(number)).collect();
    computed(shape, &numbers, false)
}

/// All elements of a tensor, or the number that pairs with every one.
struct Elements {
    shape: Vec<u64>,
    numbers: Vec<Number>,
}

impl Elements {
    fn of(operand: &Datum, budget: &mut Budget) -> Result<Self, EvaluationError> {
        if let Some(number) = operand.number() {
            return Ok(Self { shape: Vec::new(), numbers: vec![number] });
        }
        let tensor = operand.tensor().ok_or_else(|| operand.is_no("number"))?;
        budget.check_elements(tensor.count())?;
        let mut numbers = Vec::new();
        let mut stop = Ok(());
        tensor.each(|number| {
            numbers.push(number);
            stop = budget.step();
            stop.is_ok()
        });
        stop.map(|()| Self { shape: tensor.tensor_type().shape.clone(), numbers })
    }
}

/// A tensor of computed numbers: of f64, of i64, or of i8 for truth.
pub(crate) fn computed(
    shape: Vec<u64>,
    numbers: &[Number],
    is_truth: bool,
) -> Result<Datum, EvaluationError> {
    let narrow = |number: &Number| match number {
        Number::Integer(value) => i64::try_from(*value).ok(),
        Number::Float(_) => None,
    };
    let integers: Option<Vec<i64>> = numbers.iter().map(narrow).collect();
    use NumericalKind::{Float, Integer};
    let (kind, bits, bytes): (_, _, Vec<u8>) = match integers {
        Some(integers) if is_truth => {
            (Integer, 8, integers.iter().map(|value| *value as u8).collect())
        }
        Some(integers) => {
            (Integer, 64, integers.iter().flat_map(|value| value.to_le_bytes()).collect())
        }
        None => (Float, 64, numbers.iter().flat_map(|value| value.float().to_le_bytes()).collect()),
    };
    let buffer = Buffer::from_bytes(&bytes)?;
    let tensor_type = TensorType { shape, element_type: ElementType { kind, bits } };
    Ok(Datum::Tensor(TensorView::new(Arc::new(buffer), tensor_type)?))
}

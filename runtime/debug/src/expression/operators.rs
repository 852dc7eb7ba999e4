//! Operators: on two numbers, and element by element on tensors.
//!
//! Integers are exact (a result beyond 128 bits is an error), `/` between integers truncates,
//! floats are f64; an integer beside a float becomes one. Of a tensor and a number, the number goes
//! with every element; two tensors have the same shape.

use std::ops::Range;
use std::sync::Arc;

use abi::tensor::TensorType;
use vm::Buffer;

use super::budget::Budget;
use super::datum::Datum;
use super::elementwise::{Computation, Each, Operand};
use super::syntax::{Binary, Unary};
use crate::number::Number;
use crate::tensor::TensorView;

/// Applies an operator to two values; `&&` and `||` are the evaluator's, which skips the second.
/// Elements of tensors are computed later.
pub(crate) fn binary(
    operator: Binary,
    left: &Operand,
    right: &Operand,
    span: &Range<usize>,
    budget: &Budget,
) -> Result<Operand, String> {
    if let (Some(left), Some(right)) = (left.number(), right.number()) {
        return scalars(operator, left, right).map(Operand::Datum);
    }
    if let (Some(left), Some(right)) = (left.computation(), right.computation()) {
        let result = Computation::binary(operator, left, right, span)?;
        budget.check_elements(result.count())?;
        return Ok(Operand::Computation(result));
    }
    match (left, right) {
        (Operand::Datum(one), Operand::Datum(other))
            if left.computation().is_none() && right.computation().is_none() =>
        {
            identities(operator, one, other).map(Operand::Datum)
        }
        _ => Err(mismatch(operator, left, right)),
    }
}

/// The same on tensors, and numbers that go with every element, by the operators on single numbers.
pub(super) fn one_by_one(
    operator: Binary,
    left: &Datum,
    right: &Datum,
    budget: &mut Budget,
) -> Result<Datum, String> {
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

/// A function of each element, one by one.
pub(super) fn each_one_by_one(
    each: Each,
    operand: &Datum,
    budget: &mut Budget,
) -> Result<Datum, String> {
    let Elements { shape, numbers } = Elements::of(operand, budget)?;
    let numbers: Vec<Number> = numbers.into_iter().map(|number| each.of(number)).collect();
    computed(shape, &numbers, false)
}

/// References and text can be the same or not.
fn identities(operator: Binary, left: &Datum, right: &Datum) -> Result<Datum, String> {
    let is_same = match (left, right) {
        (Datum::Value(vm::Value::Ref(left)), Datum::Value(vm::Value::Ref(right))) => {
            Some(left.is_same(right))
        }
        (Datum::Text(left), Datum::Text(right)) => Some(left == right),
        // null may be written as 0.
        (Datum::Value(vm::Value::Ref(value)), other)
        | (other, Datum::Value(vm::Value::Ref(value)))
            if other.number().is_some_and(Number::is_zero) =>
        {
            Some(value.is_null())
        }
        _ => None,
    };
    match (operator, is_same) {
        (Binary::Equal, Some(is_same)) => Ok(Datum::Bool(is_same)),
        (Binary::NotEqual, Some(is_same)) => Ok(Datum::Bool(!is_same)),
        _ => {
            let operand = |datum: &Datum| Operand::Datum(datum.clone());
            Err(mismatch(operator, &operand(left), &operand(right)))
        }
    }
}

fn mismatch(operator: Binary, left: &Operand, right: &Operand) -> String {
    format!("`{}` does not take {} and {}", operator.text(), left.kind(), right.kind())
}

/// All elements of a tensor, or the number that goes with every one.
struct Elements {
    shape: Vec<u64>,
    numbers: Vec<Number>,
}

impl Elements {
    fn of(operand: &Datum, budget: &mut Budget) -> Result<Self, String> {
        if let Some(number) = operand.number() {
            return Ok(Self { shape: Vec::new(), numbers: vec![number] });
        }
        let tensor = operand.tensor().ok_or_else(|| format!("{} is no number", operand.kind()))?;
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

/// A tensor of computed numbers: of f64, i64, or for truth of i8.
pub(crate) fn computed(
    shape: Vec<u64>,
    numbers: &[Number],
    is_truth: bool,
) -> Result<Datum, String> {
    let narrow = |number: &Number| match number {
        Number::Integer(value) => i64::try_from(*value).ok(),
        Number::Float(_) => None,
    };
    let integers: Option<Vec<i64>> = numbers.iter().map(narrow).collect();
    let (element_type, bytes): (&str, Vec<u8>) = match integers {
        Some(integers) if is_truth => ("i8", integers.iter().map(|value| *value as u8).collect()),
        Some(integers) => ("i64", integers.iter().flat_map(|value| value.to_le_bytes()).collect()),
        None => ("f64", numbers.iter().flat_map(|value| value.float().to_le_bytes()).collect()),
    };
    let scalar = TensorType::parse(element_type).map_err(|error| error.to_string())?;
    let buffer = Buffer::from_bytes(&bytes).map_err(|status| status.to_string())?;
    let tensor = TensorView::new(Arc::new(buffer), TensorType { shape, ..scalar })?;
    Ok(Datum::Tensor(tensor))
}

/// Applies an operator to two numbers.
pub(crate) fn scalars(operator: Binary, left: Number, right: Number) -> Result<Datum, String> {
    match (left, right) {
        (Number::Integer(left), Number::Integer(right)) => integers(operator, left, right),
        _ => floats(operator, left.float(), right.float()),
    }
}

fn integers(operator: Binary, left: i128, right: i128) -> Result<Datum, String> {
    let shift = || u32::try_from(right).map_err(|_| format!("nothing is shifted by {right} bits"));
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
            return Err("division by zero".to_owned());
        }
        Binary::Divide => left.checked_div(right),
        Binary::Remainder => left.checked_rem(right),
        Binary::Power => match u32::try_from(right) {
            Ok(exponent) => left.checked_pow(exponent),
            Err(_) => return Ok(Datum::float((left as f64).powf(right as f64))),
        },
    };
    value.map(Datum::integer).ok_or_else(|| "the result is too large for an integer".to_owned())
}

fn floats(operator: Binary, left: f64, right: f64) -> Result<Datum, String> {
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
        Binary::BitOr
        | Binary::BitXor
        | Binary::BitAnd
        | Binary::ShiftLeft
        | Binary::ShiftRight => {
            return Err(format!("`{}` takes integers; bits(x) gives a float's", operator.text()));
        }
    })
}

/// Applies a sign to a value.
pub(crate) fn unary(
    operator: Unary,
    operand: &Operand,
    span: &Range<usize>,
    budget: &Budget,
) -> Result<Operand, String> {
    let result = match (operator, operand.number()) {
        (Unary::Not, _) => Datum::Bool(!truth_of(operand)?),
        (Unary::Negate, Some(Number::Float(value))) => Datum::float(-value),
        (Unary::Negate, Some(Number::Integer(value))) => match value.checked_neg() {
            Some(value) => Datum::integer(value),
            None => return Err("the result is too large for an integer".to_owned()),
        },
        (Unary::Complement, Some(Number::Integer(value))) => Datum::integer(!value),
        (Unary::Negate, None) if operand.computation().is_some() => {
            let minus_one = Operand::Datum(Datum::integer(-1));
            return binary(Binary::Multiply, operand, &minus_one, span, budget);
        }
        (Unary::Negate, None) => return Err(format!("{} has no negative", operand.kind())),
        (Unary::Complement, _) => {
            return Err(format!("`~` takes integers, not {}", operand.kind()));
        }
    };
    Ok(Operand::Datum(result))
}

/// Whether an operand counts as true.
fn truth_of(operand: &Operand) -> Result<bool, String> {
    match operand {
        Operand::Datum(datum) => truth(datum),
        Operand::Computation(_) => Err(ambiguous(&operand.kind())),
    }
}

fn ambiguous(kind: &str) -> String {
    format!("{kind} is neither true nor false; any(…) or all(…) of it is")
}

/// Whether a value counts as true: numbers but 0, and refs but null.
pub(crate) fn truth(value: &Datum) -> Result<bool, String> {
    match value {
        Datum::Value(vm::Value::Ref(value)) => Ok(!value.is_null()),
        Datum::Tensor(tensor) if tensor.scalar().is_none() => Err(ambiguous(&value.kind())),
        other => match other.number() {
            Some(number) => Ok(!number.is_zero()),
            None => Err(format!("{} is neither true nor false", other.kind())),
        },
    }
}

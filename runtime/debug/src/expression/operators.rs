//! Operators: on two numbers, and element by element on tensors.
//!
//! Integers are exact (a result beyond 128 bits is an error), `/` between integers truncates, floats
//! are f64; an integer beside a float becomes one. Of a tensor and a number, the number goes with every
//! element; two tensors have the same shape.

use std::sync::Arc;

use abi::tensor::TensorType;
use vm::Buffer;

use super::budget::Budget;
use super::datum::Datum;
use super::syntax::{Binary, Unary};
use crate::number::Number;
use crate::tensor::TensorView;

/// Applies an operator to two values; `&&` and `||` are the evaluator's, which skips the second.
pub(crate) fn binary(
    operator: Binary,
    left: &Datum,
    right: &Datum,
    budget: &mut Budget,
) -> Result<Datum, String> {
    if let (Some(left), Some(right)) = (left.number(), right.number()) {
        return scalars(operator, left, right);
    }
    let (tensors, count) = match (left.tensor(), right.tensor()) {
        (Some(left), Some(right)) => {
            let (one, other) = (&left.tensor_type().shape, &right.tensor_type().shape);
            let is_scalar = one.is_empty() || other.is_empty();
            if one != other && !is_scalar {
                return Err(format!(
                    "tensors of {} and {} do not have the same shape",
                    left.type_name(),
                    right.type_name()
                ));
            }
            let count = left.count().max(right.count());
            ((Operand::Tensor(left), Operand::Tensor(right)), count)
        }
        (Some(tensor), None) => match right.number() {
            Some(number) => {
                let count = tensor.count();
                ((Operand::Tensor(tensor), Operand::Number(number)), count)
            }
            None => return Err(mismatch(operator, left, right)),
        },
        (None, Some(tensor)) => match left.number() {
            Some(number) => {
                let count = tensor.count();
                ((Operand::Number(number), Operand::Tensor(tensor)), count)
            }
            None => return Err(mismatch(operator, left, right)),
        },
        (None, None) => return identities(operator, left, right),
    };
    budget.check_elements(count)?;
    elementwise(operator, tensors, budget)
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
        _ => Err(mismatch(operator, left, right)),
    }
}

fn mismatch(operator: Binary, left: &Datum, right: &Datum) -> String {
    format!("`{}` does not take {} and {}", operator.text(), left.kind(), right.kind())
}

enum Operand {
    Tensor(TensorView),
    Number(Number),
}

impl Operand {
    fn shape(&self) -> &[u64] {
        match self {
            Self::Tensor(tensor) => &tensor.tensor_type().shape,
            Self::Number(_) => &[],
        }
    }

    /// All elements, or the number that goes with every one.
    fn elements(&self, budget: &mut Budget) -> Result<Vec<Number>, String> {
        match self {
            Self::Number(number) => Ok(vec![*number]),
            Self::Tensor(tensor) => collect(tensor, budget),
        }
    }
}

/// The elements of a tensor.
pub(crate) fn collect(tensor: &TensorView, budget: &mut Budget) -> Result<Vec<Number>, String> {
    budget.check_elements(tensor.count())?;
    let mut found = Vec::new();
    let mut stop = Ok(());
    tensor.each(|number| {
        found.push(number);
        stop = budget.step();
        stop.is_ok()
    });
    stop.map(|()| found)
}

fn elementwise(
    operator: Binary,
    (left, right): (Operand, Operand),
    budget: &mut Budget,
) -> Result<Datum, String> {
    let shape = if left.shape().is_empty() { right.shape() } else { left.shape() }.to_vec();
    let (left, right) = (left.elements(budget)?, right.elements(budget)?);
    let count = if left.len() == 1 { right.len() } else { left.len() };
    let mut results = Vec::with_capacity(count);
    for index in 0..count {
        budget.step()?;
        let left = left[if left.len() == 1 { 0 } else { index }];
        let right = right[if right.len() == 1 { 0 } else { index }];
        let result = scalars(operator, left, right)?;
        results.push(result.number().unwrap_or(Number::Float(f64::NAN)));
    }
    let is_truth = is_comparison(operator);
    computed(shape, &results, is_truth)
}

fn is_comparison(operator: Binary) -> bool {
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
    operand: &Datum,
    budget: &mut Budget,
) -> Result<Datum, String> {
    let tensor = || operand.tensor().map(Datum::Tensor).filter(|_| operand.number().is_none());
    match (operator, operand.number()) {
        (Unary::Not, _) => Ok(Datum::Bool(!truth(operand)?)),
        (Unary::Negate, Some(Number::Float(value))) => Ok(Datum::float(-value)),
        (Unary::Negate, Some(Number::Integer(value))) => match value.checked_neg() {
            Some(value) => Ok(Datum::integer(value)),
            None => Err("the result is too large for an integer".to_owned()),
        },
        (Unary::Complement, Some(Number::Integer(value))) => Ok(Datum::integer(!value)),
        (Unary::Negate, None) if tensor().is_some() => {
            binary(Binary::Multiply, operand, &Datum::integer(-1), budget)
        }
        (Unary::Negate, None) => Err(format!("{} has no negative", operand.kind())),
        (Unary::Complement, _) => Err(format!("`~` takes integers, not {}", operand.kind())),
    }
}

/// Whether a value counts as true: numbers but 0, and refs but null.
pub(crate) fn truth(value: &Datum) -> Result<bool, String> {
    match value {
        Datum::Value(vm::Value::Ref(value)) => Ok(!value.is_null()),
        Datum::Tensor(tensor) if tensor.scalar().is_none() => {
            Err(format!("{} is neither true nor false; any(…) or all(…) of it is", value.kind()))
        }
        other => match other.number() {
            Some(number) => Ok(!number.is_zero()),
            None => Err(format!("{} is neither true nor false", other.kind())),
        },
    }
}

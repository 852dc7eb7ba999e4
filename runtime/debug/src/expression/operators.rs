//! Operators on operands of any kind. Elements of tensors are computed later, block by block.

use std::ops::Range;

use super::budget::Budget;
use super::datum::Datum;
use super::elementwise::{Computation, Operand};
use super::evaluation_error::EvaluationError;
use super::scalars::{scalars, truth};
use super::syntax::{Binary, Unary};
use crate::tensor::Number;

/// Applies an operator to two values. The evaluator handles `&&` and `||` itself, as they may skip
/// the second. Elements of tensors are computed later.
pub(crate) fn binary(
    operator: Binary,
    left: &Operand,
    right: &Operand,
    span: &Range<usize>,
    budget: &Budget,
) -> Result<Operand, EvaluationError> {
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

/// References and texts can only be equal or unequal.
fn identities(operator: Binary, left: &Datum, right: &Datum) -> Result<Datum, EvaluationError> {
    let is_same = match (left, right) {
        (Datum::Value(vm::Value::Ref(left)), Datum::Value(vm::Value::Ref(right))) => {
            Some(left.is_same(right))
        }
        (Datum::Text(left), Datum::Text(right)) => Some(left == right),
        // `null` may be written as 0.
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

fn mismatch(operator: Binary, left: &Operand, right: &Operand) -> EvaluationError {
    let operator = operator.text();
    EvaluationError::Operands { operator, left: left.kind(), right: right.kind() }
}

/// Applies a unary operator to a value.
pub(crate) fn unary(
    operator: Unary,
    operand: &Operand,
    span: &Range<usize>,
    budget: &Budget,
) -> Result<Operand, EvaluationError> {
    let result = match (operator, operand.number()) {
        (Unary::Not, _) => Datum::Bool(!truth_of(operand)?),
        (Unary::Negate, Some(Number::Float(value))) => Datum::float(-value),
        (Unary::Negate, Some(Number::Integer(value))) => match value.checked_neg() {
            Some(value) => Datum::integer(value),
            None => return Err(EvaluationError::TooLarge),
        },
        (Unary::Complement, Some(Number::Integer(value))) => Datum::integer(!value),
        (Unary::Negate, None) if operand.computation().is_some() => {
            let minus_one = Operand::Datum(Datum::integer(-1));
            return binary(Binary::Multiply, operand, &minus_one, span, budget);
        }
        (Unary::Negate, None) => return Err(operand.has_no("negative")),
        (Unary::Complement, _) => {
            return Err(EvaluationError::Complement { is: operand.kind() });
        }
    };
    Ok(Operand::Datum(result))
}

/// Whether an operand counts as true.
fn truth_of(operand: &Operand) -> Result<bool, EvaluationError> {
    match operand {
        Operand::Datum(datum) => truth(datum),
        Operand::Computation(_) => Err(EvaluationError::AmbiguousTruth { is: operand.kind() }),
    }
}

//! Arithmetic whose result every way of computing has alike: integers without overflow, and floats
//! without rounding. Where a sum or a product would be rounded, a compiler may round it otherwise
//! (in other groups, in another width), so that is refused.

use abi::element_type::{ElementType, NumericalKind};
use abi::tensor::Tensor;

use super::{Operation, moves};

/// The operations of this file.
pub(super) const KINDS: [&str; 7] = ["Add", "Cast", "Div", "Equal", "Mul", "Range", "Sub"];

/// The elements of a tensor as numbers.
enum Numbers {
    Integers(Vec<i64>),
    /// Of 32 bits, so that sums and products of two can be looked at in 64.
    Floats(Vec<f64>),
}

/// The result of an operation of [`KINDS`], if it has at most so many elements.
pub(super) fn fold(operation: &Operation<'_>, most: u64) -> Option<Tensor> {
    match operation.kind {
        "Range" => range(operation, most),
        "Cast" => {
            let tensor = operation.operand(0)?;
            written(&tensor.shape, operation.declared.element, numbers(tensor)?)
        }
        "Add" | "Div" | "Equal" | "Mul" | "Sub" => binary(operation, most),
        _ => None,
    }
}

/// The integers of a tensor.
pub(crate) fn integers(tensor: &Tensor) -> Option<Vec<i64>> {
    match numbers(tensor)? {
        Numbers::Integers(numbers) => Some(numbers),
        Numbers::Floats(_) => None,
    }
}

fn is_integer(element: ElementType) -> bool {
    matches!(
        element.kind,
        NumericalKind::Integer | NumericalKind::SignedInteger | NumericalKind::Boolean
    ) && matches!(element.bits, 8 | 32 | 64)
}

fn is_float(element: ElementType) -> bool {
    element.kind == NumericalKind::Float && element.bits == 32
}

fn numbers(tensor: &Tensor) -> Option<Numbers> {
    let element = tensor.element_type;
    let bytes = tensor.bytes.chunks_exact(moves::whole_bytes(tensor)?);
    if is_float(element) {
        return element.float_values(&tensor.bytes).map(Numbers::Floats);
    }
    let integer = |it: &[u8]| match it {
        [it] => i64::from(it.cast_signed()),
        [a, b, c, d] => i64::from(i32::from_le_bytes([*a, *b, *c, *d])),
        _ => i64::from_le_bytes(it.try_into().unwrap_or_default()),
    };
    is_integer(element).then(|| Numbers::Integers(bytes.map(integer).collect()))
}

/// A tensor of numbers that its type has exactly.
fn written(shape: &[u64], element: ElementType, numbers: Numbers) -> Option<Tensor> {
    let mut bytes = Vec::new();
    let mut push = |integer: Option<i64>, float: f64| {
        if is_float(element) {
            let single = float as f32;
            bytes.extend(single.to_le_bytes());
            return (single.is_finite() && f64::from(single) == float).then_some(());
        }
        match (element.kind, element.bits, integer?) {
            (NumericalKind::Boolean, _, it) => bytes.push(u8::from(it != 0)),
            (_, 8, it) => bytes.extend(i8::try_from(it).ok()?.to_le_bytes()),
            (_, 32, it) => bytes.extend(i32::try_from(it).ok()?.to_le_bytes()),
            (_, _, it) => bytes.extend(it.to_le_bytes()),
        }
        Some(())
    };
    if !is_float(element) && !is_integer(element) {
        return None;
    }
    match numbers {
        Numbers::Integers(numbers) => {
            // Beyond this, a float does not have every integer.
            let is_exact = |it: &&i64| it.unsigned_abs() <= 1 << 53;
            for number in numbers {
                let float = Some(&number).filter(is_exact).map_or(f64::NAN, |it| *it as f64);
                push(Some(number), float)?;
            }
        }
        Numbers::Floats(numbers) => {
            for number in numbers {
                let is_whole = number.trunc() == number && number.abs() <= (1_u64 << 53) as f64;
                push(is_whole.then_some(number as i64), number)?;
            }
        }
    }
    Some(Tensor { shape: shape.to_vec(), element_type: element, bytes })
}

fn binary(operation: &Operation<'_>, most: u64) -> Option<Tensor> {
    let (left, right) = (operation.operand(0)?, operation.operand(1)?);
    let shape = moves::broadcast(&[&left.shape, &right.shape])?;
    let of = |it: &Tensor| numbers(&moves::spread(it, &shape, most)?);
    let kind = operation.kind;
    let numbers = match (of(left)?, of(right)?) {
        (Numbers::Integers(left), Numbers::Integers(right)) => {
            let pairs = left.into_iter().zip(right);
            Numbers::Integers(pairs.map(|(a, b)| of_integers(kind, a, b)).collect::<Option<_>>()?)
        }
        (Numbers::Floats(left), Numbers::Floats(right)) => {
            let pairs = left.into_iter().zip(right);
            Numbers::Floats(pairs.map(|(a, b)| of_floats(kind, a, b)).collect::<Option<_>>()?)
        }
        _ => return None,
    };
    written(&shape, operation.declared.element, numbers)
}

fn of_integers(kind: &str, a: i64, b: i64) -> Option<i64> {
    match kind {
        "Add" => a.checked_add(b),
        "Sub" => a.checked_sub(b),
        "Mul" => a.checked_mul(b),
        "Equal" => Some(i64::from(a == b)),
        // Languages round quotients below zero in two ways.
        "Div" => a.checked_div(b).filter(|_| a >= 0 && b > 0),
        _ => None,
    }
}

/// The exact result for two floats of 32 bits; the caller sees whether one of 32 bits has it.
fn of_floats(kind: &str, a: f64, b: f64) -> Option<f64> {
    let sum = |a: f64, b: f64| {
        let sum = a + b;
        let of_b = sum - a;
        let lost = (a - (sum - of_b)) + (b - of_b);
        (lost == 0.0).then_some(sum)
    };
    match kind {
        "Add" => sum(a, b),
        "Sub" => sum(a, -b),
        "Mul" => Some(a * b),
        "Div" => Some(a / b).filter(|it| f64::from(*it as f32) == *it && it * b == a),
        _ => None,
    }
}

/// `start`, `start + delta` … up to a limit.
fn range(operation: &Operation<'_>, most: u64) -> Option<Tensor> {
    let [start, limit, delta] = [0, 1, 2].map(|it| numbers(operation.operand(it)?));
    let element = operation.declared.element;
    match (start?, limit?, delta?) {
        (Numbers::Integers(start), Numbers::Integers(limit), Numbers::Integers(delta)) => {
            let (start, delta) = (*start.first()?, *delta.first()?);
            let distance = i128::from(*limit.first()?) - i128::from(start);
            let is_empty = distance == 0 || (distance > 0) != (delta > 0);
            let steps = distance.unsigned_abs().div_ceil(u128::from(delta.unsigned_abs()).max(1));
            let steps = if is_empty { 0 } else { u64::try_from(steps).ok()? };
            let count = Some(steps).filter(|it| delta != 0 && *it <= most)?;
            let at = |it: u64| start.checked_add(delta.checked_mul(i64::try_from(it).ok()?)?);
            let numbers = (0..count).map(at).collect::<Option<_>>()?;
            written(&[count], element, Numbers::Integers(numbers))
        }
        (Numbers::Floats(start), Numbers::Floats(limit), Numbers::Floats(delta)) => {
            let (start, limit, delta) = (*start.first()?, *limit.first()?, *delta.first()?);
            // With fractions, where it ends is a question of rounding.
            if [start, limit, delta].iter().any(|it| it.trunc() != *it) {
                return None;
            }
            let steps = (of_floats("Sub", limit, start)? / delta).ceil().max(0.0);
            let count = Some(steps).filter(|it| *it <= most as f64)? as u64;
            let at = |it: u64| of_floats("Add", start, delta * it as f64);
            let numbers = (0..count).map(at).collect::<Option<_>>()?;
            written(&[count], element, Numbers::Floats(numbers))
        }
        _ => None,
    }
}

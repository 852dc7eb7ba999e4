//! Numbers that are not of their type: MLIR takes `1.0` for floats and `1` for integers, never one
//! for the other.

use syntax::NodeId;

use super::diagnostic::Diagnostic;
use super::reading::Reading;
use crate::operations::element;

/// The faults of a chunk's constants.
pub(super) fn faults(reading: &Reading, found: &mut Vec<Diagnostic>) {
    let constants = reading.operations().filter(|(_, op)| *op == "arith.constant");
    for (id, _) in constants {
        found.extend(of_constant(reading, id));
    }
}

/// Longer texts are constants with many elements.
const LONGEST: usize = 400;

fn of_constant(reading: &Reading, id: NodeId) -> Option<Diagnostic> {
    let range = reading.tree.range(id);
    let name = reading.name_range(id).end - reading.analysed.base();
    if reading.is_generic(id) || range.end - name > LONGEST {
        return None;
    }
    let text = reading.span(name as u32..range.end as u32);
    let (number, ty) = number_and_type(text)?;
    let message = mismatch(number, ty)?;
    // Both are parts of the text.
    let start =
        reading.analysed.base() + name + (number.as_ptr() as usize - text.as_ptr() as usize);
    let fault = Diagnostic::error(start..start + number.len(), "literal", message);
    // `1` as a float is `1.0`, and `2.0` as an integer `2`.
    let meant = match number.split_once('.') {
        None => Some(format!("{number}.0")),
        Some((whole, rest)) => rest.bytes().all(|b| b == b'0').then(|| whole.to_owned()),
    };
    Some(fault.meaning(meant))
}

/// The number in ` 1 : i32` or ` dense<1> : tensor<4xi32>`, and its type.
fn number_and_type(text: &str) -> Option<(&str, &str)> {
    let (value, ty) = text.split_once(':')?;
    let value = value.trim();
    let dense = value.strip_prefix("dense<").and_then(|rest| rest.strip_suffix('>'));
    let ty = ty.trim().split(" loc(").next()?.trim();
    match dense {
        Some(number) => Some((number.trim(), element(ty)?)),
        None => Some((value, ty)),
    }
}

/// What is wrong with a number of this type. Only what is surely a decimal number and surely a type
/// is judged: a float may be written as the hexadecimal number of its bits.
fn mismatch(number: &str, ty: &str) -> Option<String> {
    let digits = number.strip_prefix('-').unwrap_or(number);
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_integer = is_digits(digits);
    let is_float = digits.split_once('.').is_some_and(|(whole, rest)| {
        is_digits(whole) && rest.bytes().all(|b| b.is_ascii_digit() || b"eE+-".contains(&b))
    });
    let of_floats = matches!(ty, "f16" | "bf16" | "tf32" | "f32" | "f64" | "f80" | "f128");
    let of_integers = ty == "index" || ty.strip_prefix('i').is_some_and(is_digits);
    if is_integer && of_floats {
        Some(format!("`{number}` is an integer, and `{ty}` is none: write `{number}.0`"))
    } else if is_float && of_integers {
        Some(format!("`{number}` is no integer, and `{ty}` takes only integers"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{mismatch, number_and_type};

    #[test]
    fn numbers_are_of_their_type() {
        for (text, number) in [
            (" 100 : f64", Some("100")),
            (" -5 : f32 loc(\"x\":1:2)", Some("-5")),
            (" 1.0 : i32", Some("1.0")),
            (" 1.5e-3 : index", Some("1.5e-3")),
            (" dense<1> : tensor<4x?xf32>", Some("1")),
            (" dense<1.0> : vector<4xi1>", Some("1.0")),
            (" 100 : i64", None),
            (" 1.0 : bf16", None),
            (" 0x7FC00000 : f32", None),
            (" true", None),
            (" {a = 1 : f32} 1 : i32", None),
            (" dense<[1, 2]> : tensor<2xf32>", None),
            (" dense<(1.0,2.0)> : tensor<2xcomplex<f32>>", None),
            (" 1 : !alias", None),
        ] {
            let found =
                number_and_type(text).and_then(|(number, ty)| mismatch(number, ty).map(|_| number));
            assert_eq!(found, number, "{text}");
        }
    }
}

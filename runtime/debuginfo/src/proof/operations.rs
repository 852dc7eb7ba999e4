//! The meaning of the source's operations: those of MLIR's table, and of the VM dialect.

use mlir::Scalar as Function;
use syntax::TokenKind;

use super::arithmetic::{Pure, Scalar};
use super::mnemonic;

/// The tokens of an operation's head.
pub(crate) type Head<'t> = [(TokenKind, &'t str)];

/// What an operation contributes to the graph of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    Constant(u64),
    /// A pure operation on all operands.
    Pure(Pure),
    /// The operand itself, in another type of the same width.
    Same,
    /// Nothing that is modelled.
    Other,
}

/// The meaning of an operation, given the types of its operands and of its result.
pub(crate) fn meaning(
    name: &str,
    head: &Head<'_>,
    operands: &[Option<Scalar>],
    result: Option<Scalar>,
) -> Meaning {
    let Some(result) = result else { return Meaning::Other };
    if is_constant(name) {
        return constant(head, result).map_or(Meaning::Other, Meaning::Constant);
    }
    if !operands.is_empty() && operands.iter().any(Option::is_none) {
        return Meaning::Other;
    }
    let found = match name.strip_prefix("vm.") {
        Some(mnemonic) => vm(mnemonic),
        None => pure(name, head, operands, result),
    };
    found.unwrap_or(Meaning::Other)
}

/// An operation of MLIR's table. A conversion to its own type is none.
fn pure(
    name: &str,
    head: &Head<'_>,
    operands: &[Option<Scalar>],
    result: Scalar,
) -> Option<Meaning> {
    // Of a select, the values that it selects from.
    let from = operands.last().copied().flatten()?;
    let function = mlir::table::scalar(
        name,
        from.element(),
        result.element(),
        predicate(head).unwrap_or_default(),
    )?;
    Some(match function {
        Function::FusedMultiplyAdd(_) => Meaning::Pure(Pure::MultiplyAdd(result)),
        Function::SignExtend { from, to } | Function::ZeroExtend { from, to } if from == to => {
            Meaning::Same
        }
        Function::Convert { from, to } | Function::Bitcast { from, to } if from == to => {
            Meaning::Same
        }
        function => Meaning::Pure(function.into()),
    })
}

/// The bits of a constant that is f64 in the source and f32 in the module.
pub(crate) fn demoted(head: &Head<'_>) -> Option<u64> {
    let Meaning::Constant(bits) = meaning("arith.constant", head, &[], Some(Scalar::F64)) else {
        return None;
    };
    Some(u64::from((f64::from_bits(bits) as f32).to_bits()))
}

/// Whether control ends at an operation instead of returning values.
pub(crate) fn is_end(name: &str) -> bool {
    matches!(name, "util.unreachable" | "llvm.unreachable" | "ub.unreachable" | "vm.fail")
}

fn is_constant(name: &str) -> bool {
    mlir::meaning(name) == Some(mlir::Meaning::Constant) || name.starts_with("vm.const.")
}

/// The number in a constant's head: `-5 : i64`, `true`, `1.0e-6 : f32`, `0x7F800000 : f32`.
fn constant(head: &Head<'_>, scalar: Scalar) -> Option<u64> {
    let mut text = String::new();
    for (kind, token) in head {
        match kind {
            TokenKind::Punct(b':') => break,
            // Other forms: `{value = 5 : i64}` before the number, or attributes after it.
            TokenKind::Punct(b'{' | b'<' | b'[') | TokenKind::String => return None,
            _ => text.push_str(token),
        }
    }
    number(&text, scalar)
}

/// A number in MLIR's notation.
pub(crate) fn number(text: &str, scalar: Scalar) -> Option<u64> {
    match text {
        "" => return matches!(scalar, Scalar::Int(_)).then_some(0),
        "true" => return Some(1),
        "false" => return Some(0),
        _ => {}
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let hexadecimal = digits.strip_prefix("0x").map(|it| u64::from_str_radix(it, 16));
    match scalar {
        Scalar::Int(_) => {
            let magnitude = match hexadecimal {
                Some(value) => value.ok()?,
                None => digits.parse().ok()?,
            };
            Some(scalar.cut(if negative { magnitude.wrapping_neg() } else { magnitude }))
        }
        _ if hexadecimal.is_some() => hexadecimal?.ok(),
        Scalar::F32 => text.parse::<f32>().ok().map(|value| u64::from(value.to_bits())),
        Scalar::F64 => text.parse::<f64>().ok().map(f64::to_bits),
    }
}

/// The first word of a head: the predicate of a comparison.
fn predicate<'t>(head: &Head<'t>) -> Option<&'t str> {
    let word = head.iter().find(|(kind, _)| *kind == TokenKind::Word);
    word.map(|(_, text)| text.split('(').next().unwrap_or(text))
}

/// An operation of the VM dialect. Comparisons with zero have only one operand.
fn vm(mnemonic: &str) -> Option<Meaning> {
    let pure = match mnemonic::comparison(mnemonic) {
        // They have one operand.
        Some(_) if mnemonic.starts_with("cmp.nz") || mnemonic.starts_with("cmp.nan") => {
            return None;
        }
        Some((comparison, _)) => comparison,
        None => mnemonic::pure(mnemonic)?,
    };
    Some(Meaning::Pure(pure))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let float = |value: f32| Some(u64::from(value.to_bits()));
        assert_eq!(number("-5", Scalar::Int(8)), Some(0xfb));
        assert_eq!(number("0x11223344", Scalar::Int(32)), Some(0x1122_3344));
        assert_eq!(number("true", Scalar::Int(1)), Some(1));
        assert_eq!(number("-1.5e-3", Scalar::F32), float(-1.5e-3));
        assert_eq!(number("0xFF800000", Scalar::F32), float(f32::NEG_INFINITY));
        assert_eq!(number("dense", Scalar::F32), None);
    }

    #[test]
    fn casts_that_change_nothing() {
        let index = Some(Scalar::Int(64));
        assert_eq!(meaning("arith.index_cast", &[], &[index], index), Meaning::Same);
        let to_word = meaning("arith.index_cast", &[], &[index], Some(Scalar::Int(32)));
        assert_eq!(to_word, Meaning::Pure(Function::Narrow { to: 32 }.into()));
        assert_eq!(meaning("util.call", &[], &[index], index), Meaning::Other);
    }
}

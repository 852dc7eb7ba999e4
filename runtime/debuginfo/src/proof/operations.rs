//! The meaning of the source's operations: `arith`, `math`, `index` and the VM dialect.

use syntax::TokenKind;

use super::arithmetic::{Binary, Cast, Compare, Pure, Relation, Scalar, Unary};
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
    let from = operands.first().copied().flatten();
    let found = match name.split_once('.') {
        Some(("arith" | "index", operation)) => arith(operation, head, from, result),
        Some(("math", operation)) => from.and_then(|scalar| math(operation, scalar)),
        Some(("vm", mnemonic)) => vm(mnemonic),
        _ => None,
    };
    match (found, from) {
        (Some(Pure::Cast(cast, from, to)), _)
            if from == to && !matches!(cast, Cast::FloatToSigned | Cast::FloatToUnsigned) =>
        {
            Meaning::Same
        }
        (Some(pure), _) => Meaning::Pure(pure),
        (None, _) => Meaning::Other,
    }
}

/// The bits of a constant that is f64 in the source and f32 in the module.
pub(crate) fn demoted(head: &Head<'_>) -> Option<u64> {
    let Meaning::Constant(bits) = meaning("arith.constant", head, &[], Some(Scalar::F64)) else {
        return None;
    };
    Some(u64::from((f64::from_bits(bits) as f32).to_bits()))
}

/// Whether an operation ends its block.
pub(crate) fn is_terminator(name: &str) -> bool {
    const LAST: [&str; 12] = [
        "yield",
        "return",
        "br",
        "cond_br",
        "switch",
        "condition",
        "unreachable",
        "reduce",
        "fail",
        "br_table",
        "in_parallel",
        "terminator",
    ];
    let last = name.rsplit('.').next().unwrap_or(name);
    LAST.contains(&last) && !name.starts_with("linalg.reduce")
}

/// Whether control ends at an operation instead of returning values.
pub(crate) fn is_end(name: &str) -> bool {
    matches!(name, "util.unreachable" | "llvm.unreachable" | "ub.unreachable" | "vm.fail")
}

fn is_constant(name: &str) -> bool {
    matches!(name, "arith.constant" | "index.constant" | "index.bool.constant")
        || name.starts_with("vm.const.")
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

fn arith(name: &str, head: &Head<'_>, from: Option<Scalar>, result: Scalar) -> Option<Pure> {
    let from = from?;
    let cast = |cast| Some(Pure::Cast(cast, from, result));
    let binary = match name {
        "cmpi" | "cmp" => return integer_comparison(predicate(head)?, from),
        "cmpf" => return float_comparison(predicate(head)?, from),
        "select" => return Some(Pure::Select),
        "index_cast" | "casts" if result.width() > from.width() => return cast(Cast::SignExtend),
        "index_castui" | "castu" if result.width() > from.width() => {
            return cast(Cast::ZeroExtend);
        }
        "index_cast" | "index_castui" | "casts" | "castu" | "trunci" => {
            return cast(Cast::Truncate);
        }
        "extsi" => return cast(Cast::SignExtend),
        "extui" => return cast(Cast::ZeroExtend),
        "truncf" | "extf" => return cast(Cast::FloatToFloat),
        "sitofp" => return cast(Cast::SignedToFloat),
        "uitofp" => return cast(Cast::UnsignedToFloat),
        "fptosi" => return cast(Cast::FloatToSigned),
        "fptoui" => return cast(Cast::FloatToUnsigned),
        "bitcast" => return cast(Cast::Bits),
        "negf" => return Some(Pure::Unary(Unary::FloatNeg, from)),
        "addi" | "add" => Binary::Add,
        "subi" | "sub" => Binary::Sub,
        "muli" | "mul" => Binary::Mul,
        "divsi" | "divs" => Binary::DivS,
        "divui" | "divu" => Binary::DivU,
        "remsi" | "rems" => Binary::RemS,
        "remui" | "remu" => Binary::RemU,
        "ceildivsi" | "ceildivs" => Binary::CeilDivS,
        "ceildivui" | "ceildivu" => Binary::CeilDivU,
        "floordivsi" | "floordivs" => Binary::FloorDivS,
        "andi" | "and" => Binary::And,
        "ori" | "or" => Binary::Or,
        "xori" | "xor" => Binary::Xor,
        "shli" | "shl" => Binary::Shl,
        "shrsi" | "shrs" => Binary::ShrS,
        "shrui" | "shru" => Binary::ShrU,
        "minsi" | "mins" => Binary::MinS,
        "maxsi" | "maxs" => Binary::MaxS,
        "minui" | "minu" => Binary::MinU,
        "maxui" | "maxu" => Binary::MaxU,
        "addf" => Binary::FloatAdd,
        "subf" => Binary::FloatSub,
        "mulf" => Binary::FloatMul,
        "divf" => Binary::FloatDiv,
        "remf" => Binary::FloatRem,
        "minimumf" => Binary::Minimum,
        "maximumf" => Binary::Maximum,
        "minnumf" => Binary::MinimumNumber,
        "maxnumf" => Binary::MaximumNumber,
        _ => return None,
    };
    Some(Pure::Binary(binary, result))
}

fn integer_comparison(predicate: &str, scalar: Scalar) -> Option<Pure> {
    let compare = match predicate {
        "eq" => Compare::Eq,
        "ne" => Compare::Ne,
        "slt" => Compare::Slt,
        "sle" => Compare::Sle,
        "sgt" => Compare::Sgt,
        "sge" => Compare::Sge,
        "ult" => Compare::Ult,
        "ule" => Compare::Ule,
        "ugt" => Compare::Ugt,
        "uge" => Compare::Uge,
        _ => return None,
    };
    Some(Pure::Compare(compare, scalar))
}

fn float_comparison(predicate: &str, scalar: Scalar) -> Option<Pure> {
    let relation = match predicate {
        "false" | "uno" => Relation::Never,
        "true" | "ord" => Relation::Always,
        "oeq" | "ueq" => Relation::Eq,
        "one" | "une" => Relation::Ne,
        "olt" | "ult" => Relation::Lt,
        "ole" | "ule" => Relation::Le,
        "ogt" | "ugt" => Relation::Gt,
        "oge" | "uge" => Relation::Ge,
        _ => return None,
    };
    let unordered = predicate.starts_with('u') || predicate == "true";
    Some(Pure::Compare(Compare::Float { relation, unordered }, scalar))
}

fn math(name: &str, scalar: Scalar) -> Option<Pure> {
    let unary = match name {
        "absf" => Unary::FloatAbs,
        "absi" => Unary::AbsS,
        "ceil" => Unary::Ceil,
        "floor" => Unary::Floor,
        "round" => Unary::Round,
        "roundeven" => Unary::RoundEven,
        "sqrt" => Unary::Sqrt,
        "fma" => return Some(Pure::MultiplyAdd(scalar)),
        _ => return mnemonic::transcendental(if name == "powf" { "pow" } else { name }),
    };
    Some(Pure::Unary(unary, scalar))
}

/// An operation of the VM dialect. Comparisons with zero have only one operand.
fn vm(mnemonic: &str) -> Option<Pure> {
    match mnemonic::comparison(mnemonic) {
        Some((_, _)) if mnemonic.starts_with("cmp.nz") => None,
        Some((compare, scalar)) => Some(Pure::Compare(compare, scalar)),
        None => mnemonic::pure(mnemonic),
    }
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
        let cast = Pure::Cast(Cast::Truncate, Scalar::Int(64), Scalar::Int(32));
        assert_eq!(to_word, Meaning::Pure(cast));
        assert_eq!(meaning("util.call", &[], &[index], index), Meaning::Other);
    }
}

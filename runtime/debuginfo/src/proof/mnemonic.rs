//! The pure operations that VM instructions compute, by mnemonic: `add.i64`, `cmp.lt.f32.o`.
//!
//! The VM dialect has the same operations with the prefix `vm.`, so this serves both sides.

use super::arithmetic::{Binary, Cast, Compare, Pure, Relation, Scalar, Unary};

/// The operation of a pure instruction; `None` for any other instruction.
pub(crate) fn pure(mnemonic: &str) -> Option<Pure> {
    let parts: Vec<&str> = mnemonic.split('.').collect();
    let scalar = |index: usize| parts.get(index).and_then(|name| Scalar::parse(name));
    let first = scalar(1)?;
    let is_float = matches!(first, Scalar::F32 | Scalar::F64);
    let signed = parts.last() == Some(&"s");
    Some(match parts[0] {
        "select" => Pure::Select,
        "fma" => Pure::MultiplyAdd(first),
        "cmp" => return None,
        "trunc" | "ext" if is_float => Pure::Cast(Cast::FloatToFloat, first, scalar(2)?),
        "trunc" => Pure::Cast(Cast::Truncate, first, scalar(2)?),
        "ext" if signed => Pure::Cast(Cast::SignExtend, first, scalar(2)?),
        "ext" => Pure::Cast(Cast::ZeroExtend, first, scalar(2)?),
        "bitcast" => Pure::Cast(Cast::Bits, first, scalar(2)?),
        "cast" => cast(&parts)?,
        name => return unary(name, &parts, first).or_else(|| binary(name, signed, first)),
    })
}

/// A comparison. Its type comes second, as in `cmp.lt.i32.s`; `cmp.nz.i32` compares with zero.
pub(crate) fn comparison(mnemonic: &str) -> Option<(Compare, Scalar)> {
    let mut parts = mnemonic.strip_prefix("cmp.")?.split('.');
    let (relation, scalar) = (parts.next()?, Scalar::parse(parts.next()?)?);
    let last = parts.next();
    let is_unsigned = last == Some("u");
    let compare = match (relation, scalar) {
        ("eq", Scalar::Int(_)) => Compare::Eq,
        ("ne" | "nz", Scalar::Int(_)) => Compare::Ne,
        ("lt", Scalar::Int(_)) if is_unsigned => Compare::Ult,
        ("lt", Scalar::Int(_)) => Compare::Slt,
        (_, Scalar::Int(_)) => return None,
        ("eq", _) => float(Relation::Eq, is_unsigned),
        // Both are C's `!=`.
        ("ne", _) => float(Relation::Ne, true),
        ("lt", _) => float(Relation::Lt, is_unsigned),
        ("lte", _) => float(Relation::Le, is_unsigned),
        _ => return None,
    };
    Some((compare, scalar))
}

fn float(relation: Relation, unordered: bool) -> Compare {
    Compare::Float { relation, unordered }
}

/// `cast.si32.f32`, `cast.f32.ui64`.
fn cast(parts: &[&str]) -> Option<Pure> {
    let (from, to) = (parts.get(1)?, parts.get(2)?);
    let cast = match (from.as_bytes().first()?, to.as_bytes().first()?) {
        (b's', b'f') => Cast::SignedToFloat,
        (b'u', b'f') => Cast::UnsignedToFloat,
        (b'f', b's') => Cast::FloatToSigned,
        (b'f', b'u') => Cast::FloatToUnsigned,
        _ => return None,
    };
    Some(Pure::Cast(cast, Scalar::parse(from)?, Scalar::parse(to)?))
}

fn unary(name: &str, parts: &[&str], scalar: Scalar) -> Option<Pure> {
    let is_integer = matches!(scalar, Scalar::Int(_));
    let unary = match name {
        "not" => Unary::Not,
        "abs" if is_integer => Unary::AbsS,
        "neg" => Unary::FloatNeg,
        "abs" => Unary::FloatAbs,
        "ceil" => Unary::Ceil,
        "floor" => Unary::Floor,
        "round" if parts.last() == Some(&"even") => Unary::RoundEven,
        "round" => Unary::Round,
        "sqrt" => Unary::Sqrt,
        _ => return transcendental(name),
    };
    Some(Pure::Unary(unary, scalar))
}

/// Functions whose results differ between libraries in the last bit.
pub(crate) fn transcendental(name: &str) -> Option<Pure> {
    const NAMES: [&str; 18] = [
        "atan", "atan2", "cos", "sin", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2",
        "pow", "rsqrt", "tanh", "erf", "ctlz", "tan", "powf",
    ];
    NAMES.iter().find(|known| **known == name).map(|name| Pure::Named(name))
}

fn binary(name: &str, signed: bool, scalar: Scalar) -> Option<Pure> {
    let is_float = matches!(scalar, Scalar::F32 | Scalar::F64);
    let binary = match name {
        "add" if is_float => Binary::FloatAdd,
        "sub" if is_float => Binary::FloatSub,
        "mul" if is_float => Binary::FloatMul,
        "div" if is_float => Binary::FloatDiv,
        "rem" if is_float => Binary::FloatRem,
        "min" if is_float => Binary::LeftMinimum,
        "max" if is_float => Binary::LeftMaximum,
        "add" => Binary::Add,
        "sub" => Binary::Sub,
        "mul" => Binary::Mul,
        "div" if signed => Binary::DivS,
        "div" => Binary::DivU,
        "rem" if signed => Binary::RemS,
        "rem" => Binary::RemU,
        "min" if signed => Binary::MinS,
        "min" => Binary::MinU,
        "max" if signed => Binary::MaxS,
        "max" => Binary::MaxU,
        "and" => Binary::And,
        "or" => Binary::Or,
        "xor" => Binary::Xor,
        "shl" => Binary::Shl,
        "shr" if signed => Binary::ShrS,
        "shr" => Binary::ShrU,
        _ => return None,
    };
    Some(Pure::Binary(binary, scalar))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics() {
        assert_eq!(pure("add.i64"), Some(Pure::Binary(Binary::Add, Scalar::Int(64))));
        assert_eq!(pure("div.i32.s"), Some(Pure::Binary(Binary::DivS, Scalar::Int(32))));
        let extend = Pure::Cast(Cast::SignExtend, Scalar::Int(8), Scalar::Int(32));
        assert_eq!(pure("ext.i8.i32.s"), Some(extend));
        let cast = Pure::Cast(Cast::UnsignedToFloat, Scalar::Int(32), Scalar::F32);
        assert_eq!(pure("cast.ui32.f32"), Some(cast));
        assert_eq!(comparison("cmp.lt.i64.u"), Some((Compare::Ult, Scalar::Int(64))));
        for other in ["call", "buffer.load.i32", "const.i32", "list.get.i64", "cmp.eq.ref"] {
            assert_eq!((pure(other), comparison(other)), (None, None), "{other}");
        }
    }
}

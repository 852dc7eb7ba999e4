//! The pure operations that VM instructions compute, by mnemonic: `add.i64`, `cmp.lt.f32.o`.
//!
//! The VM dialect has the same operations with the prefix `vm.`, so this serves both sides.

use mlir::{
    Cast, FloatBinary as F, FloatUnary as U, IntegerBinary as I, IntegerUnary as N, Order,
    Scalar as Function,
};

use super::arithmetic::{ExtremeRule, Pure, Scalar};

/// The operation of a pure instruction; `None` for any other instruction.
pub(crate) fn pure(mnemonic: &str) -> Option<Pure> {
    let parts: Vec<&str> = mnemonic.split('.').collect();
    let scalar = |index: usize| parts.get(index).and_then(|name| Scalar::parse(name));
    let first = scalar(1)?;
    let is_float = matches!(first, Scalar::F32 | Scalar::F64);
    let signed = parts.last() == Some(&"s");
    let conversion = |cast: Cast| Some(cast.of(first.element(), scalar(2)?.element())?.into());
    match parts[0] {
        "select" if is_float => Some(Function::SelectFloat.into()),
        "select" => Some(Function::SelectInteger.into()),
        "fma" => Some(Pure::MultiplyAdd(first)),
        "cmp" => None,
        "trunc" | "ext" if is_float => conversion(Cast::Float),
        "ext" if signed => conversion(Cast::Signed),
        "trunc" | "ext" => conversion(Cast::Unsigned),
        "bitcast" => conversion(Cast::Bits),
        "cast" => cast(&parts),
        name => unary(name, &parts, first).or_else(|| binary(name, signed, first)),
    }
}

/// A comparison, and the type of its operands. That comes second, as in `cmp.lt.i32.s`;
/// `cmp.nz.i32` compares with zero, and `cmp.nan.f32` an operand with itself.
pub(crate) fn comparison(mnemonic: &str) -> Option<(Pure, Scalar)> {
    let mut parts = mnemonic.strip_prefix("cmp.")?.split('.');
    let (relation, scalar) = (parts.next()?, Scalar::parse(parts.next()?)?);
    let is_unsigned = parts.next() == Some("u");
    let function = match (relation, scalar) {
        ("eq", Scalar::Int(width)) => integers(Order::Equal, true, width),
        ("ne" | "nz", Scalar::Int(width)) => integers(Order::NotEqual, true, width),
        ("lt", Scalar::Int(width)) => integers(Order::Less, !is_unsigned, width),
        (_, Scalar::Int(_)) => return None,
        ("eq", _) => floats(Order::Equal, is_unsigned, scalar),
        // Both are C's `!=`.
        ("ne", _) => floats(Order::NotEqual, true, scalar),
        ("lt", _) => floats(Order::Less, is_unsigned, scalar),
        ("lte", _) => floats(Order::LessEqual, is_unsigned, scalar),
        ("nan", _) => floats(Order::Never, true, scalar),
        _ => return None,
    };
    Some((function.into(), scalar))
}

fn integers(order: Order, is_signed: bool, width: u32) -> Function {
    Function::CompareIntegers { order, is_signed, width }
}

fn floats(order: Order, unordered: bool, scalar: Scalar) -> Function {
    Function::CompareFloats { order, unordered, element: scalar.element() }
}

fn cast(parts: &[&str]) -> Option<Pure> {
    let (from, to) = (parts.get(1)?, parts.get(2)?);
    let cast = match (from.as_bytes().first()?, to.as_bytes().first()?) {
        (b's', b'f') => Cast::FromSigned,
        (b'u', b'f') => Cast::FromUnsigned,
        (b'f', b's') => Cast::ToSigned,
        (b'f', b'u') => Cast::ToUnsigned,
        _ => return None,
    };
    Some(cast.of(Scalar::parse(from)?.element(), Scalar::parse(to)?.element())?.into())
}

fn unary(name: &str, parts: &[&str], scalar: Scalar) -> Option<Pure> {
    if let Scalar::Int(width) = scalar {
        return match name {
            "not" => Some(Pure::Not(scalar)),
            "abs" => Some(Function::IntegerUnary(N::Absolute, width).into()),
            "ctlz" => Some(Function::IntegerUnary(N::LeadingZeros, width).into()),
            _ => None,
        };
    }
    let function = match name {
        "neg" => U::Negate,
        "abs" => U::Absolute,
        "ceil" => U::Ceil,
        "floor" => U::Floor,
        "round" if parts.last() == Some(&"even") => U::RoundEven,
        "round" => U::Round,
        "sqrt" => U::Sqrt,
        "rsqrt" => U::Rsqrt,
        "atan" => U::Atan,
        "cos" => U::Cos,
        "sin" => U::Sin,
        "tan" => U::Tan,
        "tanh" => U::Tanh,
        "exp" => U::Exp,
        "exp2" => U::Exp2,
        "expm1" => U::ExpM1,
        "log" => U::Log,
        "log10" => U::Log10,
        "log1p" => U::Log1p,
        "log2" => U::Log2,
        "erf" => U::Erf,
        _ => return None,
    };
    Some(Function::FloatUnary(function, scalar.element()).into())
}

fn binary(name: &str, signed: bool, scalar: Scalar) -> Option<Pure> {
    if let Scalar::F32 | Scalar::F64 = scalar {
        let function = match name {
            "add" => F::Add,
            "sub" => F::Subtract,
            "mul" => F::Multiply,
            "div" => F::Divide,
            "rem" => F::Remainder,
            "pow" => F::Power,
            "atan2" => F::Atan2,
            "min" | "max" => {
                let (is_least, rule) = (name == "min", ExtremeRule::Left);
                return Some(Pure::Extreme { is_least, rule, scalar });
            }
            _ => return None,
        };
        return Some(Function::FloatBinary(function, scalar.element()).into());
    }
    let function = match name {
        "add" => I::Add,
        "sub" => I::Subtract,
        "mul" => I::Multiply,
        "div" if signed => I::DivideSigned,
        "div" => I::DivideUnsigned,
        "rem" if signed => I::RemainderSigned,
        "rem" => I::RemainderUnsigned,
        "min" if signed => I::MinimumSigned,
        "min" => I::MinimumUnsigned,
        "max" if signed => I::MaximumSigned,
        "max" => I::MaximumUnsigned,
        "and" => I::And,
        "or" => I::Or,
        "xor" => I::Xor,
        "shl" => I::ShiftLeft,
        "shr" if signed => I::ShiftRightSigned,
        "shr" => I::ShiftRightUnsigned,
        _ => return None,
    };
    Some(Pure::integers(function, scalar))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics() {
        assert_eq!(pure("add.i64"), Some(Function::IntegerBinary(I::Add, 64).into()));
        assert_eq!(pure("div.i32.s"), Some(Function::IntegerBinary(I::DivideSigned, 32).into()));
        let extend = Function::SignExtend { from: 8, to: 32 };
        assert_eq!(pure("ext.i8.i32.s"), Some(extend.into()));
        let cast = Function::FromUnsigned { from: 32, to: Scalar::F32.element() };
        assert_eq!(pure("cast.ui32.f32"), Some(cast.into()));
        let less = integers(Order::Less, false, 64).into();
        assert_eq!(comparison("cmp.lt.i64.u"), Some((less, Scalar::Int(64))));
        for other in ["call", "buffer.load.i32", "const.i32", "list.get.i64", "cmp.eq.ref"] {
            assert_eq!((pure(other), comparison(other)), (None, None), "{other}");
        }
    }
}

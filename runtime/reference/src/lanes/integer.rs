//! Functions of integers: exact, with wrap-around at their width. A bound other than zero says that
//! an operand came from a float that may be rounded either way.

use crate::values::{canonical, signed, unsigned};
use mlir::{IntegerBinary as I, IntegerUnary};

/// What has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The program has no meaning.
    Undefined(&'static str),
    /// This value has none; it may be unused.
    Poison(&'static str),
}

/// A function of one integer.
pub(crate) fn unary(function: IntegerUnary, a: i64, width: u32) -> i64 {
    let bits = unsigned(a, width);
    let result = match function {
        IntegerUnary::Absolute => signed(a, width).wrapping_abs(),
        IntegerUnary::LeadingZeros => i64::from(bits.leading_zeros()) - i64::from(64 - width),
        IntegerUnary::TrailingZeros => i64::from(bits.trailing_zeros().min(width)),
        IntegerUnary::CountOnes => i64::from(bits.count_ones()),
    };
    canonical(result, width)
}

/// A function of two integers.
pub(crate) fn binary(function: I, a: i64, b: i64, width: u32) -> Result<i64, Fault> {
    let (x, y) = (signed(a, width), signed(b, width));
    let (u, v) = (unsigned(a, width), unsigned(b, width));
    let is_zero = v == 0;
    let least = signed(canonical(1_i64.wrapping_shl(width - 1), width), width);
    let divides = |result: i64| {
        if is_zero { Err(Fault::Undefined("a division by zero")) } else { Ok(result) }
    };
    let overflows = x == least && y == -1;
    let signed_division = |result: fn(i64, i64) -> i64| {
        if overflows {
            return Err(Fault::Undefined("a division whose result is too large"));
        }
        divides(if is_zero { 0 } else { result(x, y) })
    };
    let shift = |result: i64| {
        if v >= u64::from(width) {
            Err(Fault::Poison("a shift by the width or more"))
        } else {
            Ok(result)
        }
    };
    let amount = (v & 63) as u32;
    let result = match function {
        I::Add => x.wrapping_add(y),
        I::Subtract => x.wrapping_sub(y),
        I::Multiply => x.wrapping_mul(y),
        I::DivideSigned => signed_division(|x, y| x / y)?,
        I::RemainderSigned => {
            if overflows {
                0
            } else {
                divides(if is_zero { 0 } else { x % y })?
            }
        }
        I::FloorDivideSigned => {
            signed_division(|x, y| x / y - i64::from(x % y != 0 && (x < 0) != (y < 0)))?
        }
        I::CeilDivideSigned => {
            signed_division(|x, y| x / y + i64::from(x % y != 0 && (x < 0) == (y < 0)))?
        }
        I::DivideUnsigned => divides(u.checked_div(v).unwrap_or_default() as i64)?,
        I::RemainderUnsigned => divides(u.checked_rem(v).unwrap_or_default() as i64)?,
        I::CeilDivideUnsigned => divides(if is_zero { 0 } else { u.div_ceil(v) as i64 })?,
        I::And => a & b,
        I::Or => a | b,
        I::Xor => a ^ b,
        I::ShiftLeft => shift(x.wrapping_shl(amount))?,
        I::ShiftRightSigned => shift(x >> amount)?,
        I::ShiftRightUnsigned => shift((u >> amount) as i64)?,
        I::MaximumSigned => x.max(y),
        I::MinimumSigned => x.min(y),
        I::MaximumUnsigned => u.max(v) as i64,
        I::MinimumUnsigned => u.min(v) as i64,
        I::MultiplyHighSigned => ((i128::from(x) * i128::from(y)) >> width) as i64,
        I::MultiplyHighUnsigned => ((u128::from(u) * u128::from(v)) >> width) as i64,
        I::AddCarry => {
            i64::from(u128::from(u) + u128::from(v) > u128::from(u64::MAX >> (64 - width)))
        }
        I::Power => power(x, y)?,
    };
    // A carry is a boolean whatever the width of the operands.
    Ok(canonical(result, if function == I::AddCarry { 1 } else { width }))
}

/// `x` to the power of `y`, with wrap-around.
fn power(x: i64, y: i64) -> Result<i64, Fault> {
    if y < 0 {
        return match x {
            0 => Err(Fault::Undefined("zero to a negative power")),
            1 => Ok(1),
            -1 => Ok(if y % 2 == 0 { 1 } else { -1 }),
            _ => Ok(0),
        };
    }
    let (mut result, mut base, mut left) = (1_i64, x, y);
    while left > 0 {
        if left & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        left >>= 1;
    }
    Ok(result)
}

/// The bound of a result whose operands may be away.
pub(crate) fn bound(function: I, value: i64, a: (i64, f64), b: (i64, f64), width: u32) -> f64 {
    if a.1 == 0.0 && b.1 == 0.0 {
        return 0.0;
    }
    let (x, y) = (a.0 as f64, b.0 as f64);
    let bound = match function {
        I::Add | I::Subtract => a.1 + b.1,
        I::Multiply => x.abs() * b.1 + y.abs() * a.1 + a.1 * b.1,
        I::MaximumSigned | I::MinimumSigned => a.1.max(b.1),
        I::DivideSigned if b.1 == 0.0 && b.0 != 0 => (a.1 / y.abs()).ceil() + 1.0,
        I::ShiftRightSigned if b.1 == 0.0 => (a.1 / 2_f64.powi(b.0 as i32)).ceil() + 1.0,
        I::ShiftLeft if b.1 == 0.0 => a.1 * 2_f64.powi(b.0 as i32),
        I::And | I::Or | I::Xor if width == 1 => 1.0,
        _ => f64::INFINITY,
    };
    // Near the ends of the range it may wrap around.
    let limit = 2_f64.powi(width as i32 - 1);
    let wraps = width > 1 && (value as f64).abs() + bound >= limit;
    if wraps || bound.is_nan() { f64::INFINITY } else { bound }
}

#[cfg(test)]
mod tests {
    use super::{Fault, I, binary};

    /// Every pair of 8-bit and 4-bit integers, against Rust's own arithmetic.
    #[test]
    fn all_pairs_of_bytes() {
        for a in i8::MIN..=i8::MAX {
            for b in i8::MIN..=i8::MAX {
                let of = |function| binary(function, i64::from(a), i64::from(b), 8).ok();
                let (u, v) = (a.cast_unsigned(), b.cast_unsigned());
                let byte = |value: Option<i8>| value.map(i64::from);
                let unsigned = |value: Option<u8>| value.map(|it| i64::from(it.cast_signed()));
                assert_eq!(of(I::Add), byte(Some(a.wrapping_add(b))));
                assert_eq!(of(I::Multiply), byte(Some(a.wrapping_mul(b))));
                assert_eq!(of(I::DivideSigned), byte(a.checked_div(b)));
                assert_eq!(of(I::DivideUnsigned), unsigned(u.checked_div(v)));
                assert_eq!(of(I::RemainderUnsigned), unsigned(u.checked_rem(v)));
                assert_eq!(of(I::MaximumUnsigned), unsigned(Some(u.max(v))));
                let shift = u32::from(v);
                assert_eq!(of(I::ShiftLeft), byte((shift < 8).then(|| a << shift)));
                assert_eq!(of(I::ShiftRightSigned), byte((shift < 8).then(|| a >> shift)));
                assert_eq!(of(I::ShiftRightUnsigned), unsigned((shift < 8).then(|| u >> shift)));
                let high = (i16::from(a) * i16::from(b)) >> 8;
                assert_eq!(of(I::MultiplyHighSigned), Some(i64::from(high)));
                if b != 0 && !(a == i8::MIN && b == -1) {
                    let quotient = f64::from(a) / f64::from(b);
                    assert_eq!(of(I::FloorDivideSigned), Some(quotient.floor() as i64));
                    assert_eq!(of(I::CeilDivideSigned), Some(quotient.ceil() as i64));
                }
            }
        }
    }

    #[test]
    fn what_has_no_result() {
        assert!(matches!(binary(I::DivideSigned, 1, 0, 32), Err(Fault::Undefined(_))));
        assert!(matches!(binary(I::DivideSigned, i64::MIN, -1, 64), Err(Fault::Undefined(_))));
        assert!(matches!(binary(I::ShiftLeft, 1, 32, 32), Err(Fault::Poison(_))));
        assert_eq!(binary(I::AddCarry, -1, 1, 32), Ok(1));
        assert_eq!(binary(I::MultiplyHighUnsigned, -1, -1, 64), Ok(-2));
    }
}

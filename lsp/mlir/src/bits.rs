//! Functions of numbers on bits: what an operation gives for given operands, exactly, in the types
//! that it has. This is the reading that samples are drawn with, and constants folded.
//!
//! There is no result where MLIR defines none (a division by zero), where implementations may
//! differ (which zero the maximum of two zeros is), and for functions that are only approximated
//! (`math.exp`). Narrow floats have none either. All NaNs are one NaN.

use crate::element::{Element, Format};
use crate::scalar::{
    FloatBinary as F, FloatTest, FloatUnary as U, IntegerBinary as I, IntegerUnary as N, Order,
    Scalar,
};

/// A float type whose arithmetic the processor has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    Single,
    Double,
}

impl Width {
    fn of(element: Element) -> Option<Self> {
        match element {
            Element::Float(Format::F32) => Some(Self::Single),
            Element::Float(Format::F64) => Some(Self::Double),
            _ => None,
        }
    }

    fn value(self, bits: u64) -> f64 {
        match self {
            Self::Single => f64::from(f32::from_bits(bits as u32)),
            Self::Double => f64::from_bits(bits),
        }
    }

    /// The bits of a result, by the function in this type.
    fn bits(self, single: impl Fn() -> f32, double: impl Fn() -> f64) -> u64 {
        match self {
            Self::Single => {
                let value = single();
                u64::from(if value.is_nan() { f32::NAN } else { value }.to_bits())
            }
            Self::Double => {
                let value = double();
                if value.is_nan() { f64::NAN } else { value }.to_bits()
            }
        }
    }

    fn one(self) -> u64 {
        self.bits(|| 1.0, || 1.0)
    }

    fn nan(self) -> u64 {
        self.bits(|| f32::NAN, || f64::NAN)
    }
}

/// A number cut to a width.
#[must_use]
pub fn cut(width: u32, bits: u64) -> u64 {
    match width {
        64.. => bits,
        width => bits & ((1 << width) - 1),
    }
}

/// The number of this width as a signed one.
#[must_use]
pub fn signed(width: u32, bits: u64) -> i64 {
    match width {
        64.. => bits as i64,
        0 => 0,
        width => ((bits << (64 - width)) as i64) >> (64 - width),
    }
}

/// The bits of negative infinity in a type of floats that is computed here.
#[must_use]
pub fn negative_infinity(element: Element) -> Option<u64> {
    Some(Width::of(element)?.bits(|| f32::NEG_INFINITY, || f64::NEG_INFINITY))
}

/// Whether bits are a NaN of a type.
#[must_use]
pub fn is_nan(element: Element, bits: u64) -> bool {
    float(element, bits).is_some_and(f64::is_nan)
}

/// The number that bits are in a type of floats of 32 or 64 bits.
#[must_use]
pub fn float(element: Element, bits: u64) -> Option<f64> {
    Width::of(element).map(|width| width.value(bits))
}

impl Scalar {
    /// The result for these operands, each as bits.
    #[must_use]
    pub fn apply(&self, operands: &[u64]) -> Option<u64> {
        match (self, operands) {
            (Self::FloatUnary(function, of), [a]) => float_unary(*function, Width::of(*of)?, *a),
            (Self::FloatBinary(function, of), [a, b]) => {
                float_binary(*function, Width::of(*of)?, *a, *b)
            }
            (Self::IntegerUnary(function, width), [a]) => integer_unary(*function, *width, *a),
            (Self::IntegerBinary(function, width), [a, b]) => {
                integer_binary(*function, *width, *a, *b)
            }
            (Self::CompareFloats { order, unordered, element }, [a, b]) => {
                let width = Width::of(*element)?;
                compare_floats(*order, *unordered, width.value(*a), width.value(*b)).map(u64::from)
            }
            (Self::CompareIntegers { order, is_signed, width }, [a, b]) => {
                Some(u64::from(compare_integers(*order, *is_signed, *width, *a, *b)))
            }
            (Self::FloatTest(test, of), [a]) => {
                let width = Width::of(*of)?;
                Some(u64::from(is_class(*test, width, *a)))
            }
            (Self::SelectFloat | Self::SelectInteger, [condition, yes, no]) => {
                Some(if condition & 1 == 1 { *yes } else { *no })
            }
            (Self::FusedMultiplyAdd(of), [a, b, c]) => Some(match Width::of(*of)? {
                width @ Width::Single => {
                    let [a, b, c] = [a, b, c].map(|it| f32::from_bits(*it as u32));
                    width.bits(|| a.mul_add(b, c), || 0.0)
                }
                width @ Width::Double => {
                    let [a, b, c] = [a, b, c].map(|it| f64::from_bits(*it));
                    width.bits(|| 0.0, || a.mul_add(b, c))
                }
            }),
            (_, [a]) => self.convert(*a),
            _ => None,
        }
    }

    /// The result of a conversion.
    fn convert(&self, bits: u64) -> Option<u64> {
        // Outside of the type's range, implementations give different results.
        let whole = |from: Element, low: f64, high: f64| {
            let value = Width::of(from)?.value(bits).trunc();
            (value >= low && value < high).then_some(value)
        };
        let limit = |to: u32| 2_f64.powi(to.min(64) as i32);
        Some(match *self {
            Self::Narrow { to } => cut(to, bits),
            Self::ZeroExtend { from, to } => cut(to, cut(from, bits)),
            Self::SignExtend { from, to } => cut(to, signed(from, bits) as u64),
            Self::FromSigned { from, to } => {
                let value = signed(from, bits);
                Width::of(to)?.bits(|| value as f32, || value as f64)
            }
            Self::FromUnsigned { from, to } => {
                let value = cut(from, bits);
                Width::of(to)?.bits(|| value as f32, || value as f64)
            }
            Self::Convert { from, to } => {
                let value = Width::of(from)?.value(bits);
                Width::of(to)?.bits(|| value as f32, || value)
            }
            Self::ToSigned { from, to } => {
                let limit = limit(to) / 2.0;
                cut(to, whole(from, -limit, limit)? as i64 as u64)
            }
            Self::ToUnsigned { from, to } => cut(to, whole(from, 0.0, limit(to))? as u64),
            Self::Bitcast { from, to } => {
                let is_known = |it: Element| !it.is_float() || Width::of(it).is_some();
                (is_known(from) && is_known(to)).then_some(bits)?
            }
            _ => return None,
        })
    }

    /// Whether [`Self::apply`] has a result for some operands.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        match self {
            // What is computed at all is computed for one.
            Self::FloatUnary(_, of) => {
                Width::of(*of).is_some_and(|width| self.apply(&[width.one()]).is_some())
            }
            Self::FloatBinary(_, of) => {
                Width::of(*of).is_some_and(|width| self.apply(&[width.one(); 2]).is_some())
            }
            Self::IntegerBinary(function, _) => *function != I::Power,
            Self::PowerOfInteger(_) => false,
            _ => true,
        }
    }

    /// Whether some results depend on how the operation is compiled.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        match self {
            Self::FloatBinary(function, _) => {
                matches!(function, F::Minimum | F::Maximum | F::MinimumNumber | F::MaximumNumber)
            }
            Self::FloatUnary(function, _) => matches!(function, U::RoundEven),
            Self::CompareFloats { order: Order::NotEqual, unordered, .. } => !unordered,
            _ => false,
        }
    }
}

fn float_unary(function: U, width: Width, bits: u64) -> Option<u64> {
    let float = |single: fn(f32) -> f32, double: fn(f64) -> f64| {
        Some(width.bits(|| single(f32::from_bits(bits as u32)), || double(f64::from_bits(bits))))
    };
    match function {
        U::Negate => float(|a| -a, |a| -a),
        U::Absolute => float(f32::abs, f64::abs),
        U::Ceil => float(f32::ceil, f64::ceil),
        U::Floor => float(f32::floor, f64::floor),
        U::Round => float(f32::round, f64::round),
        // The VM makes a positive zero of -0.5.
        U::RoundEven if width.value(bits) == -0.5 => None,
        U::RoundEven => float(f32::round_ties_even, f64::round_ties_even),
        U::Truncate => float(f32::trunc, f64::trunc),
        U::Sqrt => float(f32::sqrt, f64::sqrt),
        _ => None,
    }
}

fn float_binary(function: F, width: Width, left: u64, right: u64) -> Option<u64> {
    let float = |single: fn(f32, f32) -> f32, double: fn(f64, f64) -> f64| {
        let one = |bits: u64| f32::from_bits(bits as u32);
        let two = f64::from_bits;
        Some(width.bits(|| single(one(left), one(right)), || double(two(left), two(right))))
    };
    match function {
        F::Add => float(|a, b| a + b, |a, b| a + b),
        F::Subtract => float(|a, b| a - b, |a, b| a - b),
        F::Multiply => float(|a, b| a * b, |a, b| a * b),
        F::Divide => float(|a, b| a / b, |a, b| a / b),
        F::CopySign => float(f32::copysign, f64::copysign),
        F::Minimum | F::Maximum | F::MinimumNumber | F::MaximumNumber => {
            extreme(function, width, left, right)
        }
        // The VM's instruction rounds the quotient, MLIR's operation cuts it.
        F::Remainder | F::Power | F::Atan2 => None,
    }
}

/// The lesser or the greater of two floats.
fn extreme(function: F, width: Width, left: u64, right: u64) -> Option<u64> {
    let (a, b) = (width.value(left), width.value(right));
    let keeps_number = matches!(function, F::MinimumNumber | F::MaximumNumber);
    match (a.is_nan(), b.is_nan()) {
        (true, false) if keeps_number => return Some(right),
        (false, true) if keeps_number => return Some(left),
        (true, _) | (_, true) => return Some(width.nan()),
        (false, false) => {}
    }
    if a == b {
        // Which of two zeros it is differs.
        return (left == right).then_some(left);
    }
    let is_least = matches!(function, F::Minimum | F::MinimumNumber);
    Some(if (a < b) == is_least { left } else { right })
}

fn integer_unary(function: N, width: u32, bits: u64) -> Option<u64> {
    let bits = cut(width, bits);
    let zeros = 64_u32.saturating_sub(width);
    Some(match function {
        N::Absolute => cut(width, signed(width, bits).unsigned_abs()),
        N::LeadingZeros => u64::from(bits.leading_zeros().saturating_sub(zeros)),
        N::TrailingZeros => u64::from(bits.trailing_zeros().min(width)),
        N::CountOnes => u64::from(bits.count_ones()),
    })
}

fn integer_binary(function: I, width: u32, left: u64, right: u64) -> Option<u64> {
    let (left, right) = (cut(width, left), cut(width, right));
    let (a, b) = (signed(width, left), signed(width, right));
    let shift = u32::try_from(right).ok().filter(|amount| *amount < width);
    let high = |product: i128| (product >> width.min(64)) as u64;
    let bits = match function {
        I::Add => left.wrapping_add(right),
        I::Subtract => left.wrapping_sub(right),
        I::Multiply => left.wrapping_mul(right),
        I::DivideSigned => a.checked_div(b)? as u64,
        I::DivideUnsigned => left.checked_div(right)?,
        I::RemainderSigned => a.checked_rem(b)? as u64,
        I::RemainderUnsigned => left.checked_rem(right)?,
        I::CeilDivideSigned => {
            let up = a.checked_rem(b)? != 0 && (a < 0) == (b < 0);
            (a.checked_div(b)? + i64::from(up)) as u64
        }
        I::CeilDivideUnsigned => left.checked_div(right)? + u64::from(!left.is_multiple_of(right)),
        I::FloorDivideSigned => {
            let down = a.checked_rem(b)? != 0 && (a < 0) != (b < 0);
            (a.checked_div(b)? - i64::from(down)) as u64
        }
        I::And => left & right,
        I::Or => left | right,
        I::Xor => left ^ right,
        I::ShiftLeft => left << shift?,
        I::ShiftRightSigned => (a >> shift?) as u64,
        I::ShiftRightUnsigned => left >> shift?,
        I::MinimumSigned => a.min(b) as u64,
        I::MaximumSigned => a.max(b) as u64,
        I::MinimumUnsigned => left.min(right),
        I::MaximumUnsigned => left.max(right),
        I::MultiplyHighSigned => high(i128::from(a) * i128::from(b)),
        I::MultiplyHighUnsigned => ((u128::from(left) * u128::from(right)) >> width.min(64)) as u64,
        I::AddCarry => {
            let sum = u128::from(left) + u128::from(right);
            return Some(u64::from(sum >> width.min(64) != 0));
        }
        I::Power => return None,
    };
    Some(cut(width, bits))
}

fn compare_floats(order: Order, unordered: bool, a: f64, b: f64) -> Option<bool> {
    match a.partial_cmp(&b) {
        Some(between) => Some(order.holds(between)),
        // The VM's instruction for `one` is C's `!=`, which holds for NaN.
        None => (order != Order::NotEqual || unordered).then_some(unordered),
    }
}

fn compare_integers(order: Order, is_signed: bool, width: u32, left: u64, right: u64) -> bool {
    let (left, right) = (cut(width, left), cut(width, right));
    order.holds(match is_signed {
        true => signed(width, left).cmp(&signed(width, right)),
        false => left.cmp(&right),
    })
}

fn is_class(test: FloatTest, width: Width, bits: u64) -> bool {
    let value = width.value(bits);
    match test {
        FloatTest::Nan => value.is_nan(),
        FloatTest::Infinite => value.is_infinite(),
        FloatTest::Finite => value.is_finite(),
        FloatTest::Normal => match width {
            Width::Single => f32::from_bits(bits as u32).is_normal(),
            Width::Double => value.is_normal(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const F32: Element = Element::Float(Format::F32);

    #[test]
    fn integers_keep_to_their_width() {
        let of = |function, left, right| Scalar::IntegerBinary(function, 8).apply(&[left, right]);
        assert_eq!(of(I::Add, 255, 2), Some(1));
        assert_eq!(of(I::DivideSigned, 0x80, 0xff), Some(0x80));
        assert_eq!(of(I::DivideSigned, 1, 0), None);
        assert_eq!(of(I::ShiftLeft, 1, 8), None);
        assert_eq!(of(I::ShiftRightSigned, 0x80, 7), Some(0xff));
        assert_eq!(of(I::FloorDivideSigned, 0xf9, 2), Some(0xfc));
        assert_eq!(of(I::CeilDivideSigned, 7, 2), Some(4));
        assert_eq!(of(I::MultiplyHighSigned, 0xff, 2), Some(0xff));
        assert_eq!(of(I::MultiplyHighUnsigned, 0xff, 2), Some(1));
        assert_eq!(of(I::AddCarry, 0xff, 1), Some(1));
        assert_eq!(Scalar::SignExtend { from: 8, to: 64 }.apply(&[0x80]), Some((-128_i64) as u64));
        assert_eq!(Scalar::IntegerUnary(N::LeadingZeros, 8).apply(&[1]), Some(7));
        assert_eq!(Scalar::IntegerUnary(N::TrailingZeros, 8).apply(&[0]), Some(8));
        let less = |is_signed| Scalar::CompareIntegers { order: Order::Less, is_signed, width: 8 };
        assert_eq!(less(true).apply(&[0xff, 1]), Some(1));
        assert_eq!(less(false).apply(&[0xff, 1]), Some(0));
    }

    #[test]
    fn floats_round_in_their_type() {
        let bits = |value: f32| u64::from(value.to_bits());
        let add = Scalar::FloatBinary(F::Add, F32);
        assert_eq!(add.apply(&[bits(16_777_216.0), bits(1.0)]), Some(bits(16_777_216.0)));
        let maximum =
            |left, right| Scalar::FloatBinary(F::Maximum, F32).apply(&[bits(left), bits(right)]);
        assert_eq!(maximum(f32::NAN, 1.0), Some(bits(f32::NAN)));
        assert_eq!(maximum(-0.0, 0.0), None);
        assert_eq!(maximum(-0.0, -0.0), Some(bits(-0.0)));
        let to_word = Scalar::ToSigned { from: F32, to: 32 };
        assert_eq!(to_word.apply(&[bits(3e9)]), None);
        assert_eq!(to_word.apply(&[bits(-3.7)]), Some((-3_i32) as u32 as u64));
        let less = Scalar::CompareFloats { order: Order::Less, unordered: true, element: F32 };
        assert_eq!(less.apply(&[bits(f32::NAN), 0]), Some(1));
        let half = Scalar::FloatBinary(F::Add, Element::Float(Format::F16));
        assert_eq!(half.apply(&[0, 0]), None);
    }
}

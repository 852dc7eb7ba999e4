//! The arithmetic of pure operations on numbers, the same for the source and the VM.
//!
//! A number is 64 bits. Its [`Scalar`] type uses the lowest ones; the others are zero.
//!
//! What is shown of a program is what it computes. Where compiled code departs from what MLIR says
//! of an operation (a NaN in `minimumf`, a zero of either sign), the operation has no result here:
//! nothing is concluded from those operands.

/// The type of a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scalar {
    /// An integer of this many bits, at most 64. `index` has 64.
    Int(u32),
    /// A 32-bit float.
    F32,
    /// A 64-bit float.
    F64,
}

/// How two numbers are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Compare {
    Eq,
    Ne,
    Slt,
    Sle,
    Sgt,
    Sge,
    Ult,
    Ule,
    Ugt,
    Uge,
    /// Of floats. With `unordered`, true if either is NaN.
    Float {
        relation: Relation,
        unordered: bool,
    },
}

/// A relation between two floats.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Relation {
    Never,
    Always,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// An operation on two numbers of one type, with a result of that type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    DivS,
    DivU,
    RemS,
    RemU,
    CeilDivS,
    CeilDivU,
    FloorDivS,
    And,
    Or,
    Xor,
    Shl,
    ShrS,
    ShrU,
    MinS,
    MaxS,
    MinU,
    MaxU,
    FloatAdd,
    FloatSub,
    FloatMul,
    FloatDiv,
    FloatRem,
    /// NaN if one is. Of zeros, no result says which.
    Minimum,
    /// As `Minimum`.
    Maximum,
    /// The other one if one is NaN. Of zeros, no result says which.
    MinimumNumber,
    /// As `MinimumNumber`.
    MaximumNumber,
    /// `Minimum` that became the VM's instruction, whose operands the compiler may have swapped: no
    /// result if only one is NaN.
    EitherMinimum,
    /// As `EitherMinimum`.
    EitherMaximum,
    /// The VM's instruction: the left one unless the right one is less.
    LeftMinimum,
    /// As `LeftMinimum`.
    LeftMaximum,
}

/// An operation on one number, with a result of the same type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Unary {
    Not,
    AbsS,
    FloatNeg,
    FloatAbs,
    Ceil,
    Floor,
    Round,
    RoundEven,
    Sqrt,
}

/// A conversion between types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Cast {
    /// Drops the upper bits, if any.
    Truncate,
    SignExtend,
    ZeroExtend,
    FloatToFloat,
    SignedToFloat,
    UnsignedToFloat,
    FloatToSigned,
    FloatToUnsigned,
    /// Keeps the bits and changes the type.
    Bits,
}

/// A pure operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Pure {
    Binary(Binary, Scalar),
    Unary(Unary, Scalar),
    Cast(Cast, Scalar, Scalar),
    Compare(Compare, Scalar),
    /// Of a condition and two values.
    Select,
    /// `a * b + c`; of floats rounded twice, as the VM does.
    MultiplyAdd(Scalar),
    /// A function that is not computed here. Equal operands give equal results; nothing else is
    /// known of it.
    Named(&'static str),
}

impl Scalar {
    /// The number of bits.
    #[must_use]
    pub fn width(self) -> u32 {
        match self {
            Self::Int(width) => width,
            Self::F32 => 32,
            Self::F64 => 64,
        }
    }

    /// A number cut to the bits of this type.
    #[must_use]
    pub fn cut(self, bits: u64) -> u64 {
        match self.width() {
            64.. => bits,
            width => bits & ((1 << width) - 1),
        }
    }

    /// Whether bits are the same number; any NaN is the same as another.
    #[must_use]
    pub fn is_same(self, one: u64, other: u64) -> bool {
        let is_nan = |bits| match self {
            Self::Int(_) => false,
            Self::F32 | Self::F64 => to_f64(self, bits).is_nan(),
        };
        self.cut(one) == self.cut(other) || is_nan(one) && is_nan(other)
    }

    /// The number as a signed integer.
    #[must_use]
    pub fn signed(self, bits: u64) -> i64 {
        match self.width() {
            64.. => bits as i64,
            0 => 0,
            width => ((bits << (64 - width)) as i64) >> (64 - width),
        }
    }

    /// The type of a name in MLIR; `index` has 64 bits.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "index" => Some(Self::Int(64)),
            "f32" => Some(Self::F32),
            "f64" => Some(Self::F64),
            _ => {
                let digits = name.strip_prefix(['s', 'u']).unwrap_or(name).strip_prefix('i')?;
                let width = digits.parse().ok()?;
                (1..=64).contains(&width).then_some(Self::Int(width))
            }
        }
    }
}

fn to_f64(scalar: Scalar, bits: u64) -> f64 {
    match scalar {
        Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// The bits of a float result. All NaNs become one NaN.
fn float_bits(scalar: Scalar, single: impl Fn() -> f32, double: impl Fn() -> f64) -> u64 {
    match scalar {
        Scalar::F32 => {
            let value = single();
            u64::from(if value.is_nan() { f32::NAN } else { value }.to_bits())
        }
        _ => {
            let value = double();
            if value.is_nan() { f64::NAN } else { value }.to_bits()
        }
    }
}

impl Binary {
    /// The result; `None` if there is none, as for a division by zero.
    fn apply(self, scalar: Scalar, left: u64, right: u64) -> Option<u64> {
        let (sl, sr) = (scalar.signed(left), scalar.signed(right));
        let shift = u32::try_from(right).ok().filter(|amount| *amount < scalar.width());
        let float = |single: fn(f32, f32) -> f32, double: fn(f64, f64) -> f64| {
            let one = |bits: u64| f32::from_bits(bits as u32);
            let two = f64::from_bits;
            Some(float_bits(
                scalar,
                || single(one(left), one(right)),
                || double(two(left), two(right)),
            ))
        };
        let bits = match self {
            Self::Add => left.wrapping_add(right),
            Self::Sub => left.wrapping_sub(right),
            Self::Mul => left.wrapping_mul(right),
            Self::DivS => sl.checked_div(sr)? as u64,
            Self::DivU => left.checked_div(right)?,
            Self::RemS => sl.checked_rem(sr)? as u64,
            Self::RemU => left.checked_rem(right)?,
            Self::CeilDivS => {
                let exact = sl.checked_rem(sr)? == 0;
                let up = !exact && (sl < 0) == (sr < 0);
                (sl.checked_div(sr)? + i64::from(up)) as u64
            }
            Self::CeilDivU => left.checked_div(right)? + u64::from(!left.is_multiple_of(right)),
            Self::FloorDivS => {
                let exact = sl.checked_rem(sr)? == 0;
                let down = !exact && (sl < 0) != (sr < 0);
                (sl.checked_div(sr)? - i64::from(down)) as u64
            }
            Self::And => left & right,
            Self::Or => left | right,
            Self::Xor => left ^ right,
            Self::Shl => left << shift?,
            Self::ShrS => (sl >> shift?) as u64,
            Self::ShrU => left >> shift?,
            Self::MinS => sl.min(sr) as u64,
            Self::MaxS => sl.max(sr) as u64,
            Self::MinU => left.min(right),
            Self::MaxU => left.max(right),
            Self::FloatAdd => return float(|a, b| a + b, |a, b| a + b),
            Self::FloatSub => return float(|a, b| a - b, |a, b| a - b),
            Self::FloatMul => return float(|a, b| a * b, |a, b| a * b),
            Self::FloatDiv => return float(|a, b| a / b, |a, b| a / b),
            // The VM's instruction rounds the quotient, MLIR's operation cuts it.
            Self::FloatRem => return None,
            Self::LeftMinimum | Self::LeftMaximum => {
                let (a, b) = (to_f64(scalar, left), to_f64(scalar, right));
                let is_right = if self == Self::LeftMinimum { b < a } else { a < b };
                if is_right { right } else { left }
            }
            Self::Minimum
            | Self::Maximum
            | Self::MinimumNumber
            | Self::MaximumNumber
            | Self::EitherMinimum
            | Self::EitherMaximum => return self.extremum(scalar, left, right),
        };
        Some(scalar.cut(bits))
    }

    /// The lesser or the greater of two floats; `None` if that depends on how it is compiled.
    fn extremum(self, scalar: Scalar, left: u64, right: u64) -> Option<u64> {
        let (a, b) = (to_f64(scalar, left), to_f64(scalar, right));
        let nan = float_bits(scalar, || f32::NAN, || f64::NAN);
        let keeps_number = matches!(self, Self::MinimumNumber | Self::MaximumNumber);
        match (a.is_nan(), b.is_nan()) {
            (true, true) => return Some(nan),
            (true, false) if keeps_number => return Some(right),
            (false, true) if keeps_number => return Some(left),
            (true, _) | (_, true) => {
                let is_either = matches!(self, Self::EitherMinimum | Self::EitherMaximum);
                return (!is_either).then_some(nan);
            }
            (false, false) => {}
        }
        if a == b {
            return (left == right).then_some(left);
        }
        let is_least = matches!(self, Self::Minimum | Self::MinimumNumber | Self::EitherMinimum);
        Some(if (a < b) == is_least { left } else { right })
    }
}

impl Unary {
    fn apply(self, scalar: Scalar, bits: u64) -> Option<u64> {
        let float = |single: fn(f32) -> f32, double: fn(f64) -> f64| {
            let one = || single(f32::from_bits(bits as u32));
            float_bits(scalar, one, || double(f64::from_bits(bits)))
        };
        let result = match self {
            Self::Not => scalar.cut(!bits),
            Self::AbsS => scalar.cut(scalar.signed(bits).unsigned_abs()),
            Self::FloatNeg => float(|a| -a, |a| -a),
            Self::FloatAbs => float(f32::abs, f64::abs),
            Self::Ceil => float(f32::ceil, f64::ceil),
            Self::Floor => float(f32::floor, f64::floor),
            Self::Round => float(f32::round, f64::round),
            // The VM makes a positive zero of -0.5.
            Self::RoundEven if to_f64(scalar, bits) == -0.5 => return None,
            Self::RoundEven => float(f32::round_ties_even, f64::round_ties_even),
            Self::Sqrt => float(f32::sqrt, f64::sqrt),
        };
        Some(result)
    }
}

impl Cast {
    fn apply(self, from: Scalar, to: Scalar, bits: u64) -> Option<u64> {
        let integer = |value: f64, low: f64, high: f64| {
            // Outside the type's range, implementations disagree on the result.
            (value >= low && value < high).then_some(value)
        };
        let width = to.width().min(64) as i32;
        Some(match self {
            Self::Truncate | Self::ZeroExtend | Self::Bits => to.cut(bits),
            Self::SignExtend => to.cut(from.signed(bits) as u64),
            Self::FloatToFloat => {
                let value = to_f64(from, bits);
                float_bits(to, || value as f32, || value)
            }
            Self::SignedToFloat => {
                let value = from.signed(bits);
                float_bits(to, || value as f32, || value as f64)
            }
            Self::UnsignedToFloat => float_bits(to, || bits as f32, || bits as f64),
            Self::FloatToSigned => {
                let limit = 2_f64.powi(width - 1);
                to.cut(integer(to_f64(from, bits).trunc(), -limit, limit)? as i64 as u64)
            }
            Self::FloatToUnsigned => {
                to.cut(integer(to_f64(from, bits).trunc(), 0.0, 2_f64.powi(width))? as u64)
            }
        })
    }
}

impl Compare {
    /// The result; `None` if that depends on how it is compiled.
    fn apply(self, scalar: Scalar, left: u64, right: u64) -> Option<bool> {
        let (sl, sr) = (scalar.signed(left), scalar.signed(right));
        Some(match self {
            Self::Eq => left == right,
            Self::Ne => left != right,
            Self::Slt => sl < sr,
            Self::Sle => sl <= sr,
            Self::Sgt => sl > sr,
            Self::Sge => sl >= sr,
            Self::Ult => left < right,
            Self::Ule => left <= right,
            Self::Ugt => left > right,
            Self::Uge => left >= right,
            Self::Float { relation, unordered } => {
                let (a, b) = (to_f64(scalar, left), to_f64(scalar, right));
                if a.is_nan() || b.is_nan() {
                    // The VM's instruction for `one` is C's `!=`, which holds for NaN.
                    let is_certain = relation != Relation::Ne || unordered;
                    return is_certain.then_some(unordered);
                }
                match relation {
                    Relation::Never => false,
                    Relation::Always => true,
                    Relation::Eq => a == b,
                    Relation::Ne => a != b,
                    Relation::Lt => a < b,
                    Relation::Le => a <= b,
                    Relation::Gt => a > b,
                    Relation::Ge => a >= b,
                }
            }
        })
    }
}

impl Pure {
    /// Whether some results depend on how the operation is compiled.
    pub(crate) fn is_partial(self) -> bool {
        match self {
            Self::Binary(binary, _) => matches!(
                binary,
                Binary::Minimum
                    | Binary::Maximum
                    | Binary::MinimumNumber
                    | Binary::MaximumNumber
                    | Binary::EitherMinimum
                    | Binary::EitherMaximum
            ),
            Self::Unary(Unary::RoundEven, _) => true,
            Self::Compare(Compare::Float { relation: Relation::Ne, unordered: false }, _) => true,
            _ => false,
        }
    }

    /// The result; `None` if there is none, or if it is not computed here.
    pub(crate) fn apply(self, operands: &[u64]) -> Option<u64> {
        Some(match (self, operands) {
            (Self::Binary(binary, scalar), [left, right]) => binary.apply(scalar, *left, *right)?,
            (Self::Unary(unary, scalar), [operand]) => unary.apply(scalar, *operand)?,
            (Self::Cast(cast, from, to), [operand]) => cast.apply(from, to, *operand)?,
            (Self::Compare(compare, scalar), [left, right]) => {
                u64::from(compare.apply(scalar, *left, *right)?)
            }
            (Self::Select, [condition, yes, no]) => {
                if condition & 1 == 1 {
                    *yes
                } else {
                    *no
                }
            }
            (Self::MultiplyAdd(scalar @ Scalar::Int(_)), [first, second, third]) => {
                scalar.cut(first.wrapping_mul(*second).wrapping_add(*third))
            }
            (Self::MultiplyAdd(scalar), [a, b, c]) => {
                let one = |bits: &u64| f32::from_bits(*bits as u32);
                let two = |bits: &u64| f64::from_bits(*bits);
                float_bits(scalar, || one(a) * one(b) + one(c), || two(a) * two(b) + two(c))
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_keep_to_their_width() {
        let byte = Scalar::Int(8);
        let of = |binary, left, right| Pure::Binary(binary, byte).apply(&[left, right]);
        assert_eq!(of(Binary::Add, 255, 2), Some(1));
        assert_eq!(of(Binary::DivS, 0x80, 0xff), Some(0x80));
        assert_eq!(of(Binary::DivS, 1, 0), None);
        assert_eq!(of(Binary::Shl, 1, 8), None);
        assert_eq!(of(Binary::ShrS, 0x80, 7), Some(0xff));
        assert_eq!(of(Binary::FloorDivS, 0xf9, 2), Some(0xfc));
        assert_eq!(of(Binary::CeilDivS, 7, 2), Some(4));
        let extend = Pure::Cast(Cast::SignExtend, byte, Scalar::Int(64));
        assert_eq!(extend.apply(&[0x80]), Some((-128_i64) as u64));
    }

    #[test]
    fn floats_round_in_their_type() {
        let bits = |value: f32| u64::from(value.to_bits());
        let add = Pure::Binary(Binary::FloatAdd, Scalar::F32);
        assert_eq!(add.apply(&[bits(16_777_216.0), bits(1.0)]), Some(bits(16_777_216.0)));
        let maximum = |left, right| {
            Pure::Binary(Binary::Maximum, Scalar::F32).apply(&[bits(left), bits(right)])
        };
        assert_eq!(maximum(f32::NAN, 1.0), Some(bits(f32::NAN)));
        assert_eq!(maximum(-0.0, 0.0), None);
        assert_eq!(maximum(-0.0, -0.0), Some(bits(-0.0)));
        let cast = Pure::Cast(Cast::FloatToSigned, Scalar::F32, Scalar::Int(32));
        assert_eq!(cast.apply(&[bits(3e9)]), None);
        assert_eq!(cast.apply(&[bits(-3.7)]), Some((-3_i32) as u32 as u64));
        let less = Compare::Float { relation: Relation::Lt, unordered: true };
        assert_eq!(Pure::Compare(less, Scalar::F32).apply(&[bits(f32::NAN), 0]), Some(1));
    }
}

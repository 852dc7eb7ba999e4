//! Pure operations on numbers, the same for the source and the VM: the functions of MLIR's table,
//! and the few that only the VM has.
//!
//! A number is 64 bits. Its [`Scalar`] type uses the lowest ones; the others are zero.
//!
//! What is shown of a program is what it computes. Where compiled code departs from what MLIR says
//! of an operation (a NaN in `minimumf`, a zero of either sign), the operation has no result here:
//! nothing is concluded from those operands.

use mlir::{Element, Format, IntegerBinary, Order, Scalar as Function};

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

/// A pure operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Pure {
    /// A function of MLIR. One that is not computed here has no result; equal operands give equal
    /// results, and nothing else is known of it.
    Of(Function),
    /// `!a`
    Not(Scalar),
    /// `a * b + c`; of floats rounded twice, as the VM does.
    MultiplyAdd(Scalar),
    /// The lesser or greater of two floats, where not even a NaN is certain to win.
    Extreme { is_least: bool, rule: ExtremeRule, scalar: Scalar },
}

/// How an extreme of floats departs from MLIR's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ExtremeRule {
    /// The left one, unless the right one is less (or greater): what the VM's instruction does.
    Left,
    /// MLIR's, but nothing is known if either is a NaN.
    Either,
}

impl From<Function> for Pure {
    fn from(function: Function) -> Self {
        Self::Of(function)
    }
}

impl Pure {
    /// A function of two integers of a type.
    pub(crate) fn integers(function: IntegerBinary, scalar: Scalar) -> Self {
        Self::Of(Function::IntegerBinary(function, scalar.width()))
    }

    /// `a < b` of signed integers.
    pub(crate) fn less(scalar: Scalar) -> Self {
        let width = scalar.width();
        Self::Of(Function::CompareIntegers { order: Order::Less, is_signed: true, width })
    }

    /// The functions that [`Self::MultiplyAdd`] is made of.
    pub(crate) fn multiply_and_add(scalar: Scalar) -> [Function; 2] {
        match scalar {
            Scalar::Int(width) => [IntegerBinary::Multiply, IntegerBinary::Add]
                .map(|function| Function::IntegerBinary(function, width)),
            _ => [mlir::FloatBinary::Multiply, mlir::FloatBinary::Add]
                .map(|function| Function::FloatBinary(function, scalar.element())),
        }
    }

    /// `a < b` of floats, or one of them is a NaN.
    pub(crate) fn less_or_nan(scalar: Scalar) -> Function {
        Function::CompareFloats { order: Order::Less, unordered: true, element: scalar.element() }
    }

    /// Whether the result is 0 or 1.
    pub(crate) fn is_comparison(self) -> bool {
        matches!(self, Self::Of(Function::CompareIntegers { .. } | Function::CompareFloats { .. }))
    }

    /// Whether it is a choice between two values.
    pub(crate) fn is_select(self) -> bool {
        matches!(self, Self::Of(Function::SelectFloat | Function::SelectInteger))
    }

    /// Whether it is computed here for some operands at least.
    pub(crate) fn is_computed(self) -> bool {
        match self {
            Self::Of(function) => function.is_exact(),
            _ => true,
        }
    }

    /// Whether some results depend on how the operation is compiled.
    pub(crate) fn is_partial(self) -> bool {
        match self {
            Self::Of(function) => function.is_partial(),
            Self::Extreme { rule, .. } => rule == ExtremeRule::Either,
            Self::Not(_) | Self::MultiplyAdd(_) => false,
        }
    }

    /// The result; `None` if there is none, or if it is not computed here.
    pub(crate) fn apply(self, operands: &[u64]) -> Option<u64> {
        match (self, operands) {
            (Self::Of(function), _) => function.apply(operands),
            (Self::Not(scalar), [operand]) => Some(scalar.cut(!operand)),
            (Self::MultiplyAdd(scalar), [one, other, third]) => {
                let [times, plus] = Self::multiply_and_add(scalar);
                plus.apply(&[times.apply(&[*one, *other])?, *third])
            }
            (Self::Extreme { is_least, rule, scalar }, [left, right]) => {
                let less = Function::CompareFloats {
                    order: Order::Less,
                    unordered: false,
                    element: scalar.element(),
                };
                let is_less = |one, other| Some(less.apply(&[one, other])? == 1);
                if rule == ExtremeRule::Left {
                    let (one, other) = if is_least { (*right, *left) } else { (*left, *right) };
                    return Some(if is_less(one, other)? { *right } else { *left });
                }
                if scalar.is_nan(*left) || scalar.is_nan(*right) {
                    return None;
                }
                Function::FloatBinary(Self::extreme(is_least), scalar.element()).apply(operands)
            }
            _ => None,
        }
    }

    /// MLIR's function for the lesser or greater of two floats.
    pub(crate) fn extreme(is_least: bool) -> mlir::FloatBinary {
        if is_least { mlir::FloatBinary::Minimum } else { mlir::FloatBinary::Maximum }
    }
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
        mlir::bits::cut(self.width(), bits)
    }

    /// Whether bits are the same number; any NaN is the same as another.
    #[must_use]
    pub fn is_same(self, one: u64, other: u64) -> bool {
        self.cut(one) == self.cut(other) || self.is_nan(one) && self.is_nan(other)
    }

    /// Whether bits are a NaN.
    pub(crate) fn is_nan(self, bits: u64) -> bool {
        mlir::bits::is_nan(self.element(), bits)
    }

    /// The type in MLIR.
    pub(crate) fn element(self) -> Element {
        match self {
            Self::Int(width) => Element::Integer(width),
            Self::F32 => Element::Float(Format::F32),
            Self::F64 => Element::Float(Format::F64),
        }
    }

    /// The number as a signed integer.
    #[must_use]
    pub fn signed(self, bits: u64) -> i64 {
        mlir::bits::signed(self.width(), bits)
    }

    /// The type of a name in MLIR; `index` has 64 bits.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match Element::parse(name)? {
            Element::Index => Some(Self::Int(64)),
            Element::Integer(width) => Some(Self::Int(width)),
            Element::Float(Format::F32) => Some(Self::F32),
            Element::Float(Format::F64) => Some(Self::F64),
            Element::Float(_) | Element::Complex(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_vm_computes() {
        let bits = |value: f32| u64::from(value.to_bits());
        let extreme = |rule, left, right| {
            let pure = Pure::Extreme { is_least: true, rule, scalar: Scalar::F32 };
            pure.apply(&[bits(left), bits(right)])
        };
        assert_eq!(extreme(ExtremeRule::Left, 2.0, 1.0), Some(bits(1.0)));
        assert_eq!(extreme(ExtremeRule::Left, 1.0, f32::NAN), Some(bits(1.0)));
        assert_eq!(extreme(ExtremeRule::Either, 2.0, 1.0), Some(bits(1.0)));
        assert_eq!(extreme(ExtremeRule::Either, 1.0, f32::NAN), None);
        let numbers = [0.0, -0.0, 1.0, -1.0, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
        for (one, other) in numbers.iter().flat_map(|one| numbers.map(|other| (*one, other))) {
            let is_less =
                Pure::less_or_nan(Scalar::F32).apply(&[bits(one), bits(other)]) == Some(1);
            for is_least in [false, true] {
                let chosen = if is_less == is_least { one } else { other };
                let pure =
                    Pure::Extreme { is_least, rule: ExtremeRule::Either, scalar: Scalar::F32 };
                if let Some(extreme) = pure.apply(&[bits(one), bits(other)]) {
                    assert_eq!(extreme, bits(chosen), "{one} {other}");
                }
            }
        }
        let fused = Pure::MultiplyAdd(Scalar::F32);
        let operands = [bits(1.0 + f32::EPSILON), bits(1.0 - f32::EPSILON), bits(-1.0)];
        assert_eq!(fused.apply(&operands), Some(bits(0.0)));
        let integers = Pure::MultiplyAdd(Scalar::Int(32));
        assert_eq!(integers.apply(&[3, 4, 5]), Some(17));
        assert_eq!(Pure::Not(Scalar::Int(8)).apply(&[1]), Some(0xfe));
    }
}

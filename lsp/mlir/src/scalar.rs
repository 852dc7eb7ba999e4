//! What operations do with numbers, with their types: the vocabulary that all readings of an
//! operation share. On tensors they are done for each element.

use std::cmp::Ordering;

use crate::element::Element;

/// A function of one float.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[expect(missing_docs, reason = "the functions of `math`, by their names")]
pub enum FloatUnary {
    Negate,
    Absolute,
    Ceil,
    Floor,
    Round,
    RoundEven,
    Truncate,
    Exp,
    Exp2,
    ExpM1,
    Log,
    Log2,
    Log10,
    Log1p,
    Sqrt,
    Rsqrt,
    Cbrt,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Erf,
    Erfc,
}

/// A function of two floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[expect(missing_docs, reason = "the functions of `arith` and `math`, by their names")]
pub enum FloatBinary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    /// NaN wins.
    Maximum,
    Minimum,
    /// NaN loses.
    MaximumNumber,
    MinimumNumber,
    Power,
    Atan2,
    CopySign,
}

/// A function of one integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[expect(missing_docs, reason = "the functions of `math`, by their names")]
pub enum IntegerUnary {
    Absolute,
    LeadingZeros,
    TrailingZeros,
    CountOnes,
}

/// A function of two integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[expect(missing_docs, reason = "the functions of `arith`, by their names")]
pub enum IntegerBinary {
    Add,
    Subtract,
    Multiply,
    DivideSigned,
    DivideUnsigned,
    RemainderSigned,
    RemainderUnsigned,
    CeilDivideSigned,
    CeilDivideUnsigned,
    FloorDivideSigned,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRightSigned,
    ShiftRightUnsigned,
    MaximumSigned,
    MaximumUnsigned,
    MinimumSigned,
    MinimumUnsigned,
    MultiplyHighSigned,
    MultiplyHighUnsigned,
    AddCarry,
    Power,
}

/// How two numbers are compared. For floats, `unordered` is the answer for NaN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[expect(missing_docs, reason = "orders, by their names")]
pub enum Order {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Ordered,
    Always,
    Never,
}

/// What a float is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[expect(missing_docs, reason = "the classes of IEEE 754, by their names")]
pub enum FloatTest {
    Nan,
    Infinite,
    Finite,
    Normal,
}

/// An operation that takes scalars to a scalar; on tensors it is done for each element.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Scalar {
    /// A function of one float of this type.
    FloatUnary(FloatUnary, Element),
    /// A function of two floats of this type.
    FloatBinary(FloatBinary, Element),
    /// `a * b + c`, rounded once.
    FusedMultiplyAdd(Element),
    /// A float to the power of an integer.
    PowerOfInteger(Element),
    /// A question to a float of this type.
    FloatTest(FloatTest, Element),
    /// A function of one integer of this width.
    IntegerUnary(IntegerUnary, u32),
    /// A function of two integers of this width.
    IntegerBinary(IntegerBinary, u32),
    /// A comparison of floats.
    CompareFloats {
        /// When it holds.
        order: Order,
        /// The answer if an operand is NaN.
        unordered: bool,
        /// The type of the operands.
        element: Element,
    },
    /// A comparison of integers.
    CompareIntegers {
        /// When it holds.
        order: Order,
        /// Whether the operands are signed.
        is_signed: bool,
        /// The width of the operands.
        width: u32,
    },
    /// One of two floats, by the first operand.
    SelectFloat,
    /// One of two integers, by the first operand.
    SelectInteger,
    /// A float in another format.
    Convert {
        /// The format before.
        from: Element,
        /// The format after.
        to: Element,
    },
    /// An integer in more bits, with copies of its sign.
    SignExtend {
        /// The width before.
        from: u32,
        /// The width after.
        to: u32,
    },
    /// An integer in more bits, with zeros.
    ZeroExtend {
        /// The width before.
        from: u32,
        /// The width after.
        to: u32,
    },
    /// Drops the bits above.
    Narrow {
        /// The width after.
        to: u32,
    },
    /// A signed integer as a float.
    FromSigned {
        /// The width of the integer.
        from: u32,
        /// The type of the float.
        to: Element,
    },
    /// An unsigned integer as a float.
    FromUnsigned {
        /// The width of the integer.
        from: u32,
        /// The type of the float.
        to: Element,
    },
    /// A float as a signed integer.
    ToSigned {
        /// The type of the float.
        from: Element,
        /// The width of the integer.
        to: u32,
    },
    /// A float as an unsigned integer.
    ToUnsigned {
        /// The type of the float.
        from: Element,
        /// The width of the integer.
        to: u32,
    },
    /// The same bits as another type.
    Bitcast {
        /// The type before.
        from: Element,
        /// The type after.
        to: Element,
    },
}

impl Scalar {
    /// The type of the result; `None` of a choice, which has that of what it chooses from.
    #[must_use]
    pub fn result(&self) -> Option<Element> {
        Some(match self {
            Self::FloatUnary(_, of)
            | Self::FloatBinary(_, of)
            | Self::FusedMultiplyAdd(of)
            | Self::PowerOfInteger(of) => *of,
            Self::FloatTest(..) | Self::CompareFloats { .. } | Self::CompareIntegers { .. } => {
                Element::Integer(1)
            }
            Self::IntegerUnary(_, width) | Self::IntegerBinary(_, width) => {
                Element::Integer(*width)
            }
            Self::SelectFloat | Self::SelectInteger => return None,
            Self::Convert { to, .. }
            | Self::FromSigned { to, .. }
            | Self::FromUnsigned { to, .. }
            | Self::Bitcast { to, .. } => *to,
            Self::SignExtend { to, .. }
            | Self::ZeroExtend { to, .. }
            | Self::Narrow { to }
            | Self::ToSigned { to, .. }
            | Self::ToUnsigned { to, .. } => Element::Integer(*to),
        })
    }

    /// Whether the operand with this number is a float.
    #[must_use]
    pub fn takes_float(&self, operand: usize) -> bool {
        match self {
            Self::FloatUnary(..)
            | Self::FloatBinary(..)
            | Self::FusedMultiplyAdd(_)
            | Self::FloatTest(..)
            | Self::CompareFloats { .. }
            | Self::Convert { .. }
            | Self::ToSigned { .. }
            | Self::ToUnsigned { .. } => true,
            Self::PowerOfInteger(_) => operand == 0,
            Self::SelectFloat => operand != 0,
            Self::Bitcast { from, .. } => from.is_float(),
            _ => false,
        }
    }
}

/// What an operation does with numbers, before its types are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Numbers {
    /// A function of one float.
    FloatUnary(FloatUnary),
    /// A function of two floats.
    FloatBinary(FloatBinary),
    /// `a * b + c`, rounded once.
    FusedMultiplyAdd,
    /// A float to the power of an integer.
    PowerOfInteger,
    /// A question to a float.
    FloatTest(FloatTest),
    /// A function of one integer.
    IntegerUnary(IntegerUnary),
    /// A function of two integers.
    IntegerBinary(IntegerBinary),
    /// A comparison of floats; its predicate is written with it.
    CompareFloats,
    /// A comparison of integers; its predicate is written with it.
    CompareIntegers,
    /// The second operand if the first is true, else the third.
    Select,
    /// Another type.
    Cast(Cast),
}

/// How a number becomes one of another type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Cast {
    /// A float in another format.
    Float,
    /// A signed integer of another width.
    Signed,
    /// An unsigned integer of another width.
    Unsigned,
    /// A signed integer as a float.
    FromSigned,
    /// An unsigned integer as a float.
    FromUnsigned,
    /// A float as a signed integer.
    ToSigned,
    /// A float as an unsigned integer.
    ToUnsigned,
    /// The same bits.
    Bits,
}

impl Numbers {
    /// How many operands it has.
    #[must_use]
    pub fn operands(self) -> usize {
        match self {
            Self::FloatUnary(_) | Self::FloatTest(..) | Self::IntegerUnary(_) | Self::Cast(_) => 1,
            Self::FusedMultiplyAdd | Self::Select => 3,
            _ => 2,
        }
    }

    /// The operation on operands of type `from` with a result of type `to`; `None` if it is none
    /// for them. The operands of a select are those it selects from.
    #[must_use]
    pub fn of(self, from: Element, to: Element, predicate: &str) -> Option<Scalar> {
        let is_float = from.is_float();
        let found = match self {
            Self::FloatUnary(function) if is_float => Scalar::FloatUnary(function, to),
            Self::FloatBinary(function) if is_float => Scalar::FloatBinary(function, to),
            Self::FusedMultiplyAdd if is_float => Scalar::FusedMultiplyAdd(to),
            Self::PowerOfInteger if is_float => Scalar::PowerOfInteger(to),
            Self::FloatTest(test) if is_float => Scalar::FloatTest(test, from),
            Self::IntegerUnary(function) if !is_float => Scalar::IntegerUnary(function, to.width()),
            Self::IntegerBinary(function) if !is_float => {
                Scalar::IntegerBinary(function, to.width())
            }
            Self::CompareFloats if is_float => {
                let (order, unordered) = Order::of_floats(predicate)?;
                Scalar::CompareFloats { order, unordered, element: from }
            }
            Self::CompareIntegers if !is_float => {
                let (order, is_signed) = Order::of_integers(predicate)?;
                Scalar::CompareIntegers { order, is_signed, width: from.width() }
            }
            Self::Select if is_float => Scalar::SelectFloat,
            Self::Select => Scalar::SelectInteger,
            Self::Cast(cast) => cast.of(from, to)?,
            _ => return None,
        };
        Some(found)
    }
}

impl Cast {
    /// The conversion between these types; `None` if it is none between them.
    #[must_use]
    pub fn of(self, from: Element, to: Element) -> Option<Scalar> {
        let (width, wanted) = (from.width(), to.width());
        Some(match (self, from.is_float(), to.is_float()) {
            (Self::Float, true, true) => Scalar::Convert { from, to },
            (Self::Signed | Self::Unsigned, false, false) if wanted < width => {
                Scalar::Narrow { to: wanted }
            }
            (Self::Signed, false, false) => Scalar::SignExtend { from: width, to: wanted },
            (Self::Unsigned, false, false) => Scalar::ZeroExtend { from: width, to: wanted },
            (Self::FromSigned, false, true) => Scalar::FromSigned { from: width, to },
            (Self::FromUnsigned, false, true) => Scalar::FromUnsigned { from: width, to },
            (Self::ToSigned, true, false) => Scalar::ToSigned { from, to: wanted },
            (Self::ToUnsigned, true, false) => Scalar::ToUnsigned { from, to: wanted },
            (Self::Bits, ..) => Scalar::Bitcast { from, to },
            _ => return None,
        })
    }

    /// The conversion that named operations of linalg make of what they read, if any is needed.
    #[must_use]
    pub fn between(from: Element, to: Element, is_signed: bool) -> Option<Scalar> {
        let cast = match (from.is_float(), to.is_float(), is_signed) {
            _ if from == to => return None,
            (true, true, _) => Self::Float,
            (false, true, true) => Self::FromSigned,
            (false, true, false) => Self::FromUnsigned,
            (true, false, true) => Self::ToSigned,
            (true, false, false) => Self::ToUnsigned,
            (false, false, true) => Self::Signed,
            (false, false, false) => Self::Unsigned,
        };
        cast.of(from, to)
    }
}

impl Order {
    /// Whether the order holds between two numbers that compare like this.
    #[must_use]
    pub fn holds(self, between: Ordering) -> bool {
        match self {
            Self::Equal => between.is_eq(),
            Self::NotEqual => between.is_ne(),
            Self::Less => between.is_lt(),
            Self::LessEqual => between.is_le(),
            Self::Greater => between.is_gt(),
            Self::GreaterEqual => between.is_ge(),
            Self::Ordered | Self::Always => true,
            Self::Never => false,
        }
    }

    /// The order of a predicate of `arith.cmpi`, and whether operands are signed.
    #[must_use]
    pub fn of_integers(predicate: &str) -> Option<(Self, bool)> {
        Some(match predicate {
            "eq" => (Self::Equal, true),
            "ne" => (Self::NotEqual, true),
            "slt" => (Self::Less, true),
            "sle" => (Self::LessEqual, true),
            "sgt" => (Self::Greater, true),
            "sge" => (Self::GreaterEqual, true),
            "ult" => (Self::Less, false),
            "ule" => (Self::LessEqual, false),
            "ugt" => (Self::Greater, false),
            "uge" => (Self::GreaterEqual, false),
            _ => return None,
        })
    }

    /// The order of a predicate of `arith.cmpf`, and what it answers if an operand is NaN.
    #[must_use]
    pub fn of_floats(predicate: &str) -> Option<(Self, bool)> {
        match predicate {
            "ord" => return Some((Self::Ordered, false)),
            "uno" => return Some((Self::Never, true)),
            "true" => return Some((Self::Always, true)),
            "false" => return Some((Self::Never, false)),
            _ => {}
        }
        let unordered = match predicate.get(..1)? {
            "o" => false,
            "u" => true,
            _ => return None,
        };
        let order = match predicate.get(1..)? {
            "eq" => Self::Equal,
            "ne" => Self::NotEqual,
            "lt" => Self::Less,
            "le" => Self::LessEqual,
            "gt" => Self::Greater,
            "ge" => Self::GreaterEqual,
            _ => return None,
        };
        Some((order, unordered))
    }
}

impl Scalar {
    /// Whether its two operands may be exchanged: the results are equal bit for bit, but for which
    /// NaN it is.
    #[must_use]
    pub fn is_commutative(&self) -> bool {
        match self {
            Self::FloatBinary(function, _) => matches!(
                function,
                FloatBinary::Add
                    | FloatBinary::Multiply
                    | FloatBinary::Maximum
                    | FloatBinary::Minimum
                    | FloatBinary::MaximumNumber
                    | FloatBinary::MinimumNumber
            ),
            Self::IntegerBinary(function, _) => matches!(
                function,
                IntegerBinary::Add
                    | IntegerBinary::Multiply
                    | IntegerBinary::And
                    | IntegerBinary::Or
                    | IntegerBinary::Xor
                    | IntegerBinary::MaximumSigned
                    | IntegerBinary::MaximumUnsigned
                    | IntegerBinary::MinimumSigned
                    | IntegerBinary::MinimumUnsigned
            ),
            Self::CompareFloats { order, .. } | Self::CompareIntegers { order, .. } => {
                matches!(order, Order::Equal | Order::NotEqual | Order::Ordered)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicates() {
        assert_eq!(Order::of_floats("une"), Some((Order::NotEqual, true)));
        assert_eq!(Order::of_floats("uno"), Some((Order::Never, true)));
        assert_eq!(Order::of_floats("ord"), Some((Order::Ordered, false)));
        assert_eq!(Order::of_floats("slt"), None);
        assert_eq!(Order::of_integers("uge"), Some((Order::GreaterEqual, false)));
        assert_eq!(Order::of_integers("oge"), None);
    }

    #[test]
    fn conversions() {
        let (byte, word) = (Element::Integer(8), Element::Integer(32));
        let f32 = Element::Float(crate::element::Format::F32);
        assert_eq!(Cast::between(byte, byte, true), None);
        assert_eq!(Cast::between(byte, word, true), Some(Scalar::SignExtend { from: 8, to: 32 }));
        assert_eq!(Cast::between(word, byte, false), Some(Scalar::Narrow { to: 8 }));
        assert_eq!(
            Cast::between(byte, f32, false),
            Some(Scalar::FromUnsigned { from: 8, to: f32 })
        );
        assert_eq!(Cast::Float.of(byte, f32), None);
    }
}

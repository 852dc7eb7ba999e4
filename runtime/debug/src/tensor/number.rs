//! Numbers as expressions compute with them: exact integers of any width, and floats.

use std::fmt::{self, Display, LowerExp};

use abi::element_type::{ElementType, NumericalKind};

/// A number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// An integer.
    Integer(i128),
    /// A float.
    Float(f64),
}

impl Number {
    /// The element in the first of these bytes.
    #[inline]
    pub(crate) fn of_element(element_type: ElementType, bytes: &[u8]) -> Self {
        if element_type.kind == NumericalKind::Float
            && element_type.bits == 32
            && let Some(bytes) = bytes.first_chunk()
        {
            return Self::Float(f32::from_le_bytes(*bytes).into());
        }
        let mut wide = [0_u8; 8];
        let length = bytes.len().min(8).min(element_type.byte_count());
        wide[..length].copy_from_slice(&bytes[..length]);
        let raw = u64::from_le_bytes(wide);
        match element_type.kind {
            NumericalKind::Integer | NumericalKind::SignedInteger => {
                let unused = 64 - u32::from(element_type.bits.clamp(1, 64));
                Self::Integer((raw.cast_signed() << unused >> unused).into())
            }
            NumericalKind::UnsignedInteger | NumericalKind::Boolean | NumericalKind::Opaque => {
                Self::Integer(raw.into())
            }
            _ => Self::Float(element_type.float_value(&wide[..length]).unwrap_or(f64::NAN)),
        }
    }

    /// As a float; integers beyond 2^53 are rounded.
    #[must_use]
    pub fn float(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    pub(crate) fn is_zero(self) -> bool {
        match self {
            Self::Integer(value) => value == 0,
            Self::Float(value) => value == 0.0,
        }
    }

    /// The text of the number as an element of a type.
    pub(crate) fn text_for(self, element_type: ElementType) -> String {
        let takes_integers = matches!(
            element_type.kind,
            NumericalKind::Integer
                | NumericalKind::SignedInteger
                | NumericalKind::UnsignedInteger
                | NumericalKind::Boolean
        );
        match self {
            Self::Float(value) if takes_integers && value.fract() == 0.0 => format!("{value:.0}"),
            other => other.to_string(),
        }
    }
}

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => Display::fmt(value, f),
            Self::Float(value) => f.write_str(&float_text(*value)),
        }
    }
}

/// A float in as many digits as tell it from its neighbours, with an exponent where it would have
/// many zeros. NaN, whatever its sign, and infinities are `NaN`, `inf` and `-inf`, in all that the
/// debugger writes.
pub(crate) fn float_text<F: Copy + Into<f64> + Display + LowerExp>(value: F) -> String {
    let size: f64 = value.into().abs();
    if size >= 1e17 || (size != 0.0 && size < 1e-5) {
        return format!("{value:e}");
    }
    value.to_string()
}

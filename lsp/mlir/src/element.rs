//! Element types: what one number is.

use std::fmt;

use abi::element_type::{ElementType, NumericalKind};

/// A float format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Format {
    /// Exponents only.
    E8M0Fnu,
    /// 8 bits, as in IEEE 754, with infinities.
    E5M2,
    /// 8 bits, without infinities.
    E4M3Fn,
    /// 8 bits, without infinities and negative zero.
    E5M2Fnuz,
    /// 8 bits, without infinities and negative zero.
    E4M3Fnuz,
    /// Half precision.
    F16,
    /// The upper half of f32.
    Bf16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

/// What an element is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Element {
    /// A float.
    Float(Format),
    /// An integer of 1 to 64 bits.
    Integer(u32),
    /// A size or a position; 64 bits in what is evaluated here.
    Index,
    /// A complex number with parts of this format. [`Self::parse`] does not read it: who knows
    /// complex numbers reads them with [`Self::parse_complex`].
    Complex(Format),
}

const FORMATS: [(&str, Format); 9] = [
    ("f8E8M0FNU", Format::E8M0Fnu),
    ("f8E5M2", Format::E5M2),
    ("f8E4M3FN", Format::E4M3Fn),
    ("f8E5M2FNUZ", Format::E5M2Fnuz),
    ("f8E4M3FNUZ", Format::E4M3Fnuz),
    ("f16", Format::F16),
    ("bf16", Format::Bf16),
    ("f32", Format::F32),
    ("f64", Format::F64),
];

impl Element {
    /// A truth value.
    pub const TRUTH: Self = Self::Integer(1);

    /// The element type with this name; `None` for one that is no number of at most 64 bits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text == "index" {
            return Some(Self::Index);
        }
        if let Some((_, format)) = FORMATS.iter().find(|(name, _)| *name == text) {
            return Some(Self::Float(*format));
        }
        let bits = ["si", "ui", "i"].iter().find_map(|prefix| text.strip_prefix(prefix))?;
        let is_number = !bits.is_empty() && bits.bytes().all(|digit| digit.is_ascii_digit());
        let bits = bits.parse().ok().filter(|_| is_number)?;
        (1..=64).contains(&bits).then_some(Self::Integer(bits))
    }

    /// The type `complex<f32>`.
    #[must_use]
    pub fn parse_complex(text: &str) -> Option<Self> {
        let part = text.strip_prefix("complex<")?.strip_suffix('>')?;
        match Self::parse(part)? {
            Self::Float(format) => Some(Self::Complex(format)),
            _ => None,
        }
    }

    /// Whether it is a float.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float(_))
    }

    /// The bits of an integer; `index` has 64.
    #[must_use]
    pub fn width(self) -> u32 {
        match self {
            Self::Integer(bits) => bits,
            _ => 64,
        }
    }

    /// How callers name this type.
    #[must_use]
    pub fn element_type(self) -> ElementType {
        let (kind, bits) = match self {
            Self::Float(Format::F16) => (NumericalKind::Float, 16),
            Self::Float(Format::Bf16) => (NumericalKind::BrainFloat, 16),
            Self::Float(Format::F32) => (NumericalKind::Float, 32),
            Self::Float(Format::F64) => (NumericalKind::Float, 64),
            Self::Float(Format::E8M0Fnu) => (NumericalKind::Float8E8M0Fnu, 8),
            Self::Float(Format::E5M2) => (NumericalKind::Float8E5M2, 8),
            Self::Float(Format::E4M3Fn) => (NumericalKind::Float8E4M3Fn, 8),
            Self::Float(Format::E5M2Fnuz) => (NumericalKind::Float8E5M2Fnuz, 8),
            Self::Float(Format::E4M3Fnuz) => (NumericalKind::Float8E4M3Fnuz, 8),
            Self::Integer(1) => (NumericalKind::Boolean, 8),
            Self::Integer(bits) => (NumericalKind::Integer, bits as u8),
            Self::Index => (NumericalKind::Integer, 64),
            Self::Complex(format) => {
                (NumericalKind::ComplexFloat, Self::Float(format).element_type().bits * 2)
            }
        };
        ElementType { kind, bits }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Float(format) => {
                let name = FORMATS.iter().find(|(_, it)| it == format);
                f.write_str(name.map_or("f?", |(name, _)| name))
            }
            Self::Integer(bits) => write!(f, "i{bits}"),
            Self::Index => f.write_str("index"),
            Self::Complex(format) => write!(f, "complex<{}>", Self::Float(*format)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_printed() {
        for (name, format) in FORMATS {
            assert_eq!(Element::parse(name), Some(Element::Float(format)));
            assert_eq!(Element::Float(format).to_string(), name);
        }
        assert_eq!(Element::parse("ui8"), Some(Element::Integer(8)));
        for other in ["", "i", "i0", "i65", "i+8", "f80", "complex<f32>", "!quant"] {
            assert_eq!(Element::parse(other), None, "{other}");
        }
        let complex = Element::parse_complex("complex<f32>").unwrap();
        assert_eq!(complex.to_string(), "complex<f32>");
        assert_eq!(complex.element_type().to_string(), "cf64");
        assert_eq!(Element::parse_complex("complex<i32>"), None);
    }
}

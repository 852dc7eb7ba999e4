//! Element types of tensors: their names in text (`f32`, `si8`, `f8E4M3FN`), their codes in
//! programs, and the text of one element.
//!
//! A code is `kind << 24 | bits`, as in the `hal.element_type` constants of bytecode: f32 is
//! `0x21000020`.

use std::fmt;
use std::str::FromStr;

use half::{bf16, f16};

use crate::text::c_float::format_g_upper;
use crate::values::scalar;
use crate::values::small_float::SmallFloat;

/// The meaning of an element's bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum NumericalKind {
    /// Opaque bits.
    Opaque = 0x00,
    /// An integer without a sign of its own: operations choose one.
    Integer = 0x10,
    /// A signed integer.
    SignedInteger = 0x11,
    /// An unsigned integer.
    UnsignedInteger = 0x12,
    /// 0 or 1, in a byte.
    Boolean = 0x13,
    /// A float as IEEE 754 defines it.
    Float = 0x21,
    /// A float with the exponent of f32 and a short fraction.
    BrainFloat = 0x22,
    /// Two floats of half the width: real and imaginary part.
    ComplexFloat = 0x23,
    /// `f8E5M2`
    Float8E5M2 = 0x24,
    /// `f8E4M3FN`
    Float8E4M3Fn = 0x25,
    /// `f8E5M2FNUZ`
    Float8E5M2Fnuz = 0x26,
    /// `f8E4M3FNUZ`
    Float8E4M3Fnuz = 0x27,
    /// `f8E8M0FNU`
    Float8E8M0Fnu = 0x28,
}

impl NumericalKind {
    /// The kinds whose names are followed by a width. A name comes before its prefixes.
    const PREFIXES: [(&str, NumericalKind); 8] = [
        ("si", Self::SignedInteger),
        ("ui", Self::UnsignedInteger),
        ("bf", Self::BrainFloat),
        ("cf", Self::ComplexFloat),
        ("i", Self::Integer),
        ("f", Self::Float),
        ("*", Self::Opaque),
        ("x", Self::Opaque),
    ];

    const FLOAT8: [(&str, NumericalKind); 5] = [
        ("f8E5M2", Self::Float8E5M2),
        ("f8E4M3FN", Self::Float8E4M3Fn),
        ("f8E5M2FNUZ", Self::Float8E5M2Fnuz),
        ("f8E4M3FNUZ", Self::Float8E4M3Fnuz),
        ("f8E8M0FNU", Self::Float8E8M0Fnu),
    ];

    fn from_code(code: u8) -> Option<Self> {
        let widths = Self::PREFIXES.iter().chain(&Self::FLOAT8).map(|(_, kind)| *kind);
        widths.chain([Self::Boolean]).find(|kind| *kind as u8 == code)
    }

    fn small_float(self) -> Option<SmallFloat> {
        Some(match self {
            Self::Float8E5M2 => SmallFloat::E5M2,
            Self::Float8E4M3Fn => SmallFloat::E4M3_FN,
            Self::Float8E5M2Fnuz => SmallFloat::E5M2_FNUZ,
            Self::Float8E4M3Fnuz => SmallFloat::E4M3_FNUZ,
            Self::Float8E8M0Fnu => SmallFloat::E8M0_FNU,
            _ => return None,
        })
    }
}

/// The type of a tensor's elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ElementType {
    /// The meaning of the bits.
    pub kind: NumericalKind,
    /// The number of bits.
    pub bits: u8,
}

/// A text or a number that is no element type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no element type; they are written i1, i32, si8, ui16, f32, bf16, cf64, f8E4M3FN or *8"
)]
pub struct ElementTypeError(String);

impl ElementType {
    /// The type with this code.
    ///
    /// # Errors
    /// No type has this code.
    pub fn from_code(code: u32) -> Result<Self, ElementTypeError> {
        let [bits, 0, 0, kind] = code.to_le_bytes() else {
            return Err(ElementTypeError(format!("{code:#010x}")));
        };
        NumericalKind::from_code(kind)
            .map(|kind| Self { kind, bits })
            .ok_or_else(|| ElementTypeError(format!("{code:#010x}")))
    }

    /// The code, as programs pass it.
    #[must_use]
    pub fn code(self) -> u32 {
        (self.kind as u32) << 24 | u32::from(self.bits)
    }

    /// The type with this code, or, if there is none, opaque bits of the same number.
    #[must_use]
    pub fn from_any_code(code: u32) -> Self {
        Self::from_code(code).unwrap_or(Self { kind: NumericalKind::Opaque, bits: code as u8 })
    }

    /// Whether elements are written as numbers; others are written as bytes in hexadecimal.
    #[must_use]
    pub fn has_numbers(self) -> bool {
        match self.kind {
            NumericalKind::Integer
            | NumericalKind::SignedInteger
            | NumericalKind::UnsignedInteger => self.has_integers(),
            _ => self.float_value(&[0; 8]).is_some(),
        }
    }

    /// Whether integers of this width are written as numbers.
    fn has_integers(self) -> bool {
        match self.bits {
            8 | 16 | 32 | 64 => true,
            bits => bits < 64 && self.is_packed(),
        }
    }

    /// The bytes of one element that shares no byte with another.
    #[must_use]
    pub fn byte_count(self) -> usize {
        usize::from(self.bits).div_ceil(8)
    }

    /// Whether consecutive elements share bytes. The first one has the lowest bits.
    #[must_use]
    pub fn is_packed(self) -> bool {
        !self.bits.is_multiple_of(8)
    }

    /// The bytes of this many consecutive elements; `None` if the number overflows.
    #[must_use]
    pub fn packed_byte_count(self, element_count: usize) -> Option<usize> {
        Some(element_count.checked_mul(usize::from(self.bits))?.div_ceil(8))
    }

    /// The mask of one packed element; packed elements are narrower than 64 bits.
    fn packed_mask(self) -> u64 {
        u64::MAX >> (64 - u32::from(self.bits.clamp(1, 64)))
    }

    /// The bytes of one element among packed ones, with zeros above its bits.
    #[must_use]
    pub fn unpack(self, bytes: &[u8], index: usize) -> [u8; 8] {
        let start = index * usize::from(self.bits);
        let mut window = [0; 16];
        let from = bytes.get(start / 8..).unwrap_or_default();
        let length = from.len().min(9);
        window[..length].copy_from_slice(&from[..length]);
        let value = u128::from_le_bytes(window) >> (start % 8);
        (value as u64 & self.packed_mask()).to_le_bytes()
    }

    /// Sets the bits of one element among packed ones; they have to be zero before.
    pub(crate) fn pack(self, value: u64, index: usize, bytes: &mut [u8]) {
        let start = index * usize::from(self.bits);
        let value = u128::from(value & self.packed_mask()) << (start % 8);
        for (byte, part) in bytes.iter_mut().skip(start / 8).zip(value.to_le_bytes()) {
            *byte |= part;
        }
    }

    /// The value of a float element; `None` for other types.
    #[must_use]
    pub fn float_value(self, bytes: &[u8]) -> Option<f64> {
        let raw = little_endian(bytes);
        Some(match (self.kind, self.bits) {
            (NumericalKind::Float, 16) => f16::from_bits(raw as u16).to_f64(),
            (NumericalKind::BrainFloat, 16) => bf16::from_bits(raw as u16).to_f64(),
            (NumericalKind::Float, 32) => f64::from(f32::from_bits(raw as u32)),
            (NumericalKind::Float, 64) => f64::from_bits(raw),
            (kind, 8) => f64::from(kind.small_float()?.decode(raw as u8)),
            _ => return None,
        })
    }

    /// The values of consecutive floats; `None` if the type has none.
    #[must_use]
    pub fn float_values(self, bytes: &[u8]) -> Option<Vec<f64>> {
        // Weights are millions of these.
        if (self.kind, self.bits) == (NumericalKind::Float, 32) {
            let (numbers, _) = bytes.as_chunks::<4>();
            return Some(numbers.iter().map(|it| f64::from(f32::from_le_bytes(*it))).collect());
        }
        if self.is_packed() || self.bits == 0 {
            return None;
        }
        bytes.chunks_exact(self.byte_count()).map(|it| self.float_value(it)).collect()
    }

    /// Appends the bytes of the element in `text`. Elements without numbers (booleans, complex and
    /// opaque types) are in hexadecimal, two digits per byte.
    pub(crate) fn parse_element(self, text: &str, out: &mut Vec<u8>) -> Option<()> {
        match (self.kind, self.bits) {
            (
                NumericalKind::Integer
                | NumericalKind::SignedInteger
                | NumericalKind::UnsignedInteger,
                _,
            ) if self.has_integers() => {
                out.extend(&self.parse_integer(text)?.to_le_bytes()[..self.byte_count()]);
            }
            (NumericalKind::Float, 16) => {
                out.extend(f16::from_f32(scalar::float(text)?).to_le_bytes());
            }
            (NumericalKind::BrainFloat, 16) => {
                out.extend(bf16::from_f32(scalar::float(text)?).to_le_bytes());
            }
            (NumericalKind::Float, 32) => {
                out.extend(scalar::float::<f32>(text)?.to_le_bytes());
            }
            (NumericalKind::Float, 64) => {
                out.extend(scalar::float::<f64>(text)?.to_le_bytes());
            }
            (kind, 8) if kind.small_float().is_some() => {
                out.push(kind.small_float()?.encode(scalar::float(text)?));
            }
            _ => return self.parse_hex(text, out),
        }
        Some(())
    }

    /// Parses an integer of this type. From 32 bits on, signed and unsigned spellings are both
    /// accepted, as by C's conversions: -1 for `ui32`, 4294967295 for `si32`. Integers wider than
    /// 64 bits are not written as numbers.
    pub(crate) fn parse_integer(self, text: &str) -> Option<i128> {
        let value = scalar::integer(text)?;
        let bits = u32::from(self.bits);
        if !(1..=64).contains(&bits) {
            return None;
        }
        let (signed, unsigned) = match self.kind {
            _ if matches!(bits, 32 | 64) => (true, true),
            NumericalKind::Integer => (true, true),
            NumericalKind::SignedInteger => (true, false),
            _ => (false, true),
        };
        let low = if signed { -(1_i128 << (bits - 1)) } else { 0 };
        let high = 1_i128 << if unsigned { bits } else { bits - 1 };
        (low..high).contains(&value).then_some(value)
    }

    pub(crate) fn parse_hex(self, text: &str, out: &mut Vec<u8>) -> Option<()> {
        let is_whole = text.is_ascii() && text.len() == 2 * self.byte_count();
        if !is_whole || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        for at in (0..text.len()).step_by(2) {
            out.push(u8::from_str_radix(&text[at..at + 2], 16).ok()?);
        }
        Some(())
    }

    /// Appends the text of element `index` of the consecutive elements in `bytes`.
    pub fn format_element_at(self, bytes: &[u8], index: usize, out: &mut String) {
        if self.is_packed() {
            let value = self.unpack(bytes, index);
            return self.format_element(&value[..self.byte_count().min(value.len())], out);
        }
        let size = self.byte_count();
        let bytes = bytes.get(index * size..(index + 1) * size).unwrap_or_default();
        self.format_element(bytes, out);
    }

    /// Appends the text of the one element in `bytes`, which has exactly its length.
    pub fn format_element(self, bytes: &[u8], out: &mut String) {
        let raw = little_endian(bytes);
        let text = match (self.kind, self.bits) {
            (NumericalKind::Integer | NumericalKind::SignedInteger, _) if self.has_integers() => {
                let unused = 64 - u32::from(self.bits);
                (raw.cast_signed() << unused >> unused).to_string()
            }
            (NumericalKind::UnsignedInteger, _) if self.has_integers() => raw.to_string(),
            // IREE loses the sign of a NaN when it widens it.
            _ => match self.float_value(bytes) {
                Some(value) if value.is_nan() && self.bits <= 16 => "NAN".to_owned(),
                Some(value) => format_g_upper(value),
                None => bytes.iter().map(|byte| format!("{byte:02X}")).collect(),
            },
        };
        out.push_str(&text);
    }
}

fn little_endian(bytes: &[u8]) -> u64 {
    let mut wide = [0_u8; 8];
    let length = bytes.len().min(8);
    wide[..length].copy_from_slice(&bytes[..length]);
    u64::from_le_bytes(wide)
}

impl FromStr for ElementType {
    type Err = ElementTypeError;

    fn from_str(text: &str) -> Result<Self, ElementTypeError> {
        if text == "i1" {
            return Ok(Self { kind: NumericalKind::Boolean, bits: 8 });
        }
        if let Some((_, kind)) = NumericalKind::FLOAT8.iter().find(|(name, _)| *name == text) {
            return Ok(Self { kind: *kind, bits: 8 });
        }
        // As MLIR writes it.
        if let Some(part) = text.strip_prefix("complex<").and_then(|text| text.strip_suffix('>')) {
            let bits = part.strip_prefix('f').and_then(|bits| bits.parse::<u8>().ok());
            let bits = bits.and_then(|bits| bits.checked_mul(2));
            let complex = bits.map(|bits| Self { kind: NumericalKind::ComplexFloat, bits });
            return complex.ok_or_else(|| ElementTypeError(text.to_owned()));
        }
        NumericalKind::PREFIXES
            .iter()
            .find_map(|(prefix, kind)| {
                let bits = text.strip_prefix(prefix)?.parse().ok()?;
                Some(Self { kind: *kind, bits })
            })
            .ok_or_else(|| ElementTypeError(text.to_owned()))
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == NumericalKind::Boolean {
            return f.write_str("i1");
        }
        if let Some((name, _)) = NumericalKind::FLOAT8.iter().find(|(_, kind)| *kind == self.kind) {
            return f.write_str(name);
        }
        let prefix = NumericalKind::PREFIXES.iter().find(|(_, kind)| *kind == self.kind);
        write!(f, "{}{}", prefix.map_or("*", |(prefix, _)| prefix), self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::ElementType;

    #[test]
    fn names_and_codes() {
        for (name, code, bytes) in [
            ("f32", 0x2100_0020, 4),
            ("f64", 0x2100_0040, 8),
            ("bf16", 0x2200_0010, 2),
            ("i1", 0x1300_0008, 1),
            ("i8", 0x1000_0008, 1),
            ("i4", 0x1000_0004, 1),
            ("si16", 0x1100_0010, 2),
            ("ui64", 0x1200_0040, 8),
            ("cf128", 0x2300_0080, 16),
            ("f8E4M3FN", 0x2500_0008, 1),
            ("f8E8M0FNU", 0x2800_0008, 1),
            ("*24", 0x0000_0018, 3),
        ] {
            let element_type: ElementType = name.parse().unwrap();
            assert_eq!(element_type.code(), code, "{name}");
            assert_eq!(ElementType::from_code(code), Ok(element_type));
            assert_eq!(element_type.to_string(), name);
            assert_eq!(element_type.byte_count(), bytes, "{name}");
        }
        for text in ["", "f", "u8", "i256", "f8E3M4", "i-8"] {
            assert!(text.parse::<ElementType>().is_err(), "{text}");
        }
        assert!(ElementType::from_code(0x2100_0120).is_err());
        assert!(ElementType::from_code(0x9900_0020).is_err());
    }
}

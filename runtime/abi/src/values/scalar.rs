//! Scalars as text: the meaning of `--input=5`, and how results are printed.
//!
//! Input follows `iree-run-module`, which passes the text to C's `strtol` (base 0) and `strtod`:
//! `0x10` is 16, `010` is 8, and text after the number is ignored, so that `1.5` for an i32 is 1.
//! In addition, the text of a result (`i32=5`) is accepted as input, and a number that does not fit
//! its type is an error, where C's conversion would wrap silently.

use std::fmt;

use crate::cconv::ValueType;
use crate::text::c_float::format_g;

/// A value other than a reference.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Scalar {
    /// A 32-bit integer.
    I32(i32),
    /// A 64-bit integer.
    I64(i64),
    /// A 32-bit float.
    F32(f32),
    /// A 64-bit float.
    F64(f64),
}

/// A text that is no value of the requested type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parsing value `{text}` as {value_type}{}", reason.map(|reason| format!(": {reason}")).unwrap_or_default())]
pub struct ScalarError {
    text: String,
    value_type: ValueType,
    reason: Option<&'static str>,
}

impl Scalar {
    /// Reads a value of the given type, which must be a scalar type.
    ///
    /// # Errors
    /// The text does not begin with such a value, or the value does not fit.
    pub fn parse(text: &str, value_type: &ValueType) -> Result<Self, ScalarError> {
        let fail =
            |reason| ScalarError { text: text.to_owned(), value_type: value_type.clone(), reason };
        let number = text
            .strip_prefix(&value_type.to_string())
            .and_then(|rest| rest.strip_prefix('='))
            .unwrap_or(text);
        let out_of_range = || fail(Some("out of range"));
        match value_type {
            ValueType::I32 => {
                let value = integer(number).ok_or_else(|| fail(None))?;
                // Unsigned spellings of negative numbers, such as 0xFFFFFFFF, are common.
                i32::try_from(value)
                    .or_else(|_| u32::try_from(value).map(u32::cast_signed))
                    .map(Self::I32)
                    .map_err(|_| out_of_range())
            }
            ValueType::I64 => {
                let value = integer(number).ok_or_else(|| fail(None))?;
                i64::try_from(value)
                    .or_else(|_| u64::try_from(value).map(u64::cast_signed))
                    .map(Self::I64)
                    .map_err(|_| out_of_range())
            }
            ValueType::F32 => {
                let value = float::<f32>(number).ok_or_else(|| fail(None))?;
                Ok(Self::F32(value))
            }
            ValueType::F64 => {
                let value = float::<f64>(number).ok_or_else(|| fail(None))?;
                Ok(Self::F64(value))
            }
            ValueType::Ref | ValueType::Span(_) => Err(fail(Some("not a scalar type"))),
        }
    }

    /// The zero of a scalar type; `None` for other types.
    #[must_use]
    pub fn zero(value_type: &ValueType) -> Option<Self> {
        Some(match value_type {
            ValueType::I32 => Self::I32(0),
            ValueType::I64 => Self::I64(0),
            ValueType::F32 => Self::F32(0.0),
            ValueType::F64 => Self::F64(0.0),
            ValueType::Ref | ValueType::Span(_) => return None,
        })
    }
}

/// `i32=5`, `f32=1.5`: floats with six significant digits, as C's `%g`.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::I32(value) => write!(f, "i32={value}"),
            Self::I64(value) => write!(f, "i64={value}"),
            Self::F32(value) => write!(f, "f32={}", format_g(f64::from(*value), 6)),
            Self::F64(value) => write!(f, "f64={}", format_g(*value, 6)),
        }
    }
}

/// The integer that `text` begins with, in C's notation of base 8, 10 or 16.
#[must_use]
pub fn integer(text: &str) -> Option<i128> {
    let text = text.trim_start();
    let (is_negative, digits) = sign(text);
    let (radix, digits) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) if hex.starts_with(|c: char| c.is_ascii_hexdigit()) => (16, hex),
        _ if digits.starts_with('0') => (8, digits),
        _ => (10, digits),
    };
    let length = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    if length == 0 {
        return None;
    }
    // A number too long for 128 bits is out of range of every type.
    let magnitude = i128::from_str_radix(&digits[..length], radix).unwrap_or(i128::MAX);
    Some(if is_negative { -magnitude } else { magnitude })
}

/// A float type that decimal text can be rounded to.
pub trait Float: std::str::FromStr + std::ops::Neg<Output = Self> {
    /// Rounds from f64.
    fn from_f64(value: f64) -> Self;
}

impl Float for f32 {
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl Float for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }
}

/// The float that `text` begins with, in C's notation: decimal, hexadecimal, `inf` or `nan`.
#[must_use]
pub fn float<F: Float>(text: &str) -> Option<F> {
    let text = text.trim_start();
    let (is_negative, magnitude) = sign(text);
    let lower = magnitude.to_ascii_lowercase();
    let value = if lower.starts_with("inf") {
        F::from_f64(f64::INFINITY)
    } else if lower.starts_with("nan") {
        F::from_f64(f64::NAN)
    } else if let Some(value) = lower.strip_prefix("0x").and_then(hexadecimal) {
        F::from_f64(value)
    } else {
        lower[..decimal_length(&lower)?].parse().ok()?
    };
    Some(if is_negative { -value } else { value })
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// The length of the decimal float that `text` begins with; `None` if there is none.
fn decimal_length(text: &str) -> Option<usize> {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
    };
    let integral = digits(0);
    let mut length = integral;
    let mut fraction = 0;
    if text[length..].starts_with('.') {
        fraction = digits(length + 1);
        length += 1 + fraction;
    }
    if integral + fraction == 0 {
        return None;
    }
    if text[length..].starts_with('e') {
        let signed = text[length + 1..].starts_with(['+', '-']);
        let start = length + 1 + usize::from(signed);
        let exponent = digits(start);
        if exponent > 0 {
            length = start + exponent;
        }
    }
    Some(length)
}

/// The value of `1.8p3` after its `0x`; digits beyond 53 bits are rounded once.
fn hexadecimal(text: &str) -> Option<f64> {
    let mut mantissa = 0_u64;
    let mut exponent = 0_i32;
    let mut digit_count = 0;
    let mut seen_point = false;
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        if c == '.' && !seen_point {
            seen_point = true;
            continue;
        }
        let Some(digit) = c.to_digit(16) else {
            end = at;
            break;
        };
        digit_count += 1;
        if mantissa >> 59 == 0 {
            mantissa = mantissa << 4 | u64::from(digit);
            exponent -= if seen_point { 4 } else { 0 };
        } else {
            // No room for the digit: keep what rounding needs.
            mantissa |= u64::from(digit != 0);
            exponent += if seen_point { 0 } else { 4 };
        }
    }
    if digit_count == 0 {
        return None;
    }
    if let Some(power) = text[end..].strip_prefix('p').and_then(decimal_exponent) {
        exponent = exponent.saturating_add(power);
    }
    // Two factors, because one power may be outside f64's range when the product is not.
    let half = exponent.clamp(-4000, 4000) / 2;
    let rest = exponent.clamp(-4000, 4000) - half;
    Some(mantissa as f64 * 2_f64.powi(half) * 2_f64.powi(rest))
}

fn decimal_exponent(text: &str) -> Option<i32> {
    let (is_negative, digits) = sign(text);
    let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    if length == 0 {
        return None;
    }
    let magnitude = digits[..length].parse::<i32>().unwrap_or(i32::MAX / 2);
    Some(if is_negative { -magnitude } else { magnitude })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_as_strtol_reads_them() {
        for (text, expected) in [
            ("5", Some(5)),
            (" -7", Some(-7)),
            ("+3", Some(3)),
            ("0x10", Some(16)),
            ("010", Some(8)),
            ("09", Some(0)),
            ("0x", Some(0)),
            ("1.5", Some(1)),
            ("12abc", Some(12)),
            ("", None),
            ("abc", None),
            ("-", None),
        ] {
            assert_eq!(integer(text), expected, "{text}");
        }
    }

    #[test]
    fn floats_as_strtod_reads_them() {
        for (text, expected) in [
            ("2.5", Some(2.5)),
            ("-.5e1x", Some(-5.0)),
            ("5.", Some(5.0)),
            ("1e", Some(1.0)),
            ("1e+", Some(1.0)),
            ("1e400", Some(f64::INFINITY)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            ("0x1.8p1", Some(3.0)),
            ("0x10", Some(16.0)),
            ("0xg", Some(0.0)),
            ("0x1p-1074", Some(f64::from_bits(1))),
            (".", None),
            ("e5", None),
            ("", None),
        ] {
            assert_eq!(float::<f64>(text), expected, "{text}");
        }
        assert!(float::<f32>("NaN").is_some_and(f32::is_nan));
        assert_eq!(float::<f32>("0.1"), Some(0.1));
    }

    #[test]
    fn values_round_trip_through_their_text() {
        for (text, value_type, expected) in [
            ("5", ValueType::I32, "i32=5"),
            ("i32=5", ValueType::I32, "i32=5"),
            ("0xFFFFFFFF", ValueType::I32, "i32=-1"),
            ("-9223372036854775808", ValueType::I64, "i64=-9223372036854775808"),
            ("1e300", ValueType::F64, "f64=1e+300"),
            ("f32=3.4028235e38", ValueType::F32, "f32=3.40282e+38"),
            ("-nan", ValueType::F64, "f64=-nan"),
        ] {
            assert_eq!(Scalar::parse(text, &value_type).unwrap().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn errors_name_text_and_type() {
        let error = Scalar::parse("abc", &ValueType::I32).unwrap_err();
        assert_eq!(error.to_string(), "parsing value `abc` as i32");
        let error = Scalar::parse("4294967296", &ValueType::I32).unwrap_err();
        assert_eq!(error.to_string(), "parsing value `4294967296` as i32: out of range");
    }
}

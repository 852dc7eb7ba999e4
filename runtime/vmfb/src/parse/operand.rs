//! The small parts of instructions: registers, numbers, labels, register copies.

use crate::decode::Immediate;
use crate::encode::Remap;
use crate::isa::Bank;
use crate::ordinals::Register;

use super::cursor::{Cursor, Mismatch, Parsed, is_symbol_byte, name};
use super::listing::{Label, Span};

/// A register as written, before the instruction tells its bank.
#[derive(Clone, Debug)]
pub(super) struct WrittenRegister {
    prefix: u8,
    ordinal: u32,
    /// The second half of a pair.
    high: Option<u32>,
    span: Span,
}

/// Reads `%i4`, `%i4:5`, `%r2` or `%R2`.
pub(super) fn written_register(cursor: &mut Cursor<'_>) -> Parsed<WrittenRegister> {
    let what = "a register like %i0, %i2:3 or %r0";
    let mut ahead = *cursor;
    ahead.skip_space();
    let start = ahead.offset();
    if !ahead.eat("%") {
        return Err(cursor.expected(what));
    }
    let prefix = ahead.take_while(|byte| b"irR".contains(&byte)).text;
    let &[prefix] = prefix else { return Err(cursor.expected(what)) };
    let ordinal = digits(&mut ahead).ok_or_else(|| cursor.expected(what))?;
    let mut behind_colon = ahead;
    let has_colon = behind_colon.eat(":");
    let high = if has_colon { digits(&mut behind_colon) } else { None };
    if high.is_some() {
        ahead = behind_colon;
    }
    let written = WrittenRegister { prefix, ordinal, high, span: start..ahead.offset() };
    *cursor = ahead;
    Ok(written)
}

/// A number without leading space; `None` if there is none or it is too large for any register.
fn digits(cursor: &mut Cursor<'_>) -> Option<u32> {
    let mut ahead = *cursor;
    if ahead.rest().start != ahead.offset() {
        return None;
    }
    let text = ahead.take_while(|byte| byte.is_ascii_digit());
    let number = std::str::from_utf8(text.text).ok()?.parse().ok()?;
    *cursor = ahead;
    Some(number)
}

impl WrittenRegister {
    /// The register, encoded for an instruction that uses it as `bank`.
    pub(super) fn encode(&self, bank: Bank) -> Parsed<Register> {
        let is_number = self.prefix == b'i';
        let fits = match bank {
            Bank::I32 | Bank::F32 => is_number && self.high.is_none(),
            Bank::I64 | Bank::F64 => is_number && self.high.is_some(),
            Bank::Ref => self.prefix == b'r',
            Bank::RefMove => !is_number,
            Bank::Any => true,
        };
        if !fits {
            return Err(self.expected(wanted(bank)));
        }
        if self.high.is_some_and(|high| Some(high) != self.ordinal.checked_add(1) || !is_number) {
            return Err(self.expected("a pair of neighbours like %i2:3"));
        }
        let last = u32::from(if is_number { Register::MAX_I32 } else { Register::MAX_REF }) - 1;
        let Some(ordinal) = u16::try_from(self.high.unwrap_or(self.ordinal))
            .ok()
            .filter(|ordinal| u32::from(*ordinal) <= last)
            .and(u16::try_from(self.ordinal).ok())
        else {
            let name = if is_number { "%i" } else { "%r" };
            return Err(self.expected(&format!("a register up to {name}{last}")));
        };
        Ok(Register(match self.prefix {
            b'r' => ordinal | Register::REF_BIT,
            b'R' => ordinal | Register::REF_BIT | Register::MOVE_BIT,
            _ => ordinal,
        }))
    }

    /// The register as an entry of a list of `bank`, where the second halves of pairs may be left
    /// out.
    pub(super) fn encode_in_list(&self, bank: Bank) -> Parsed<Register> {
        let is_pair_bank = matches!(bank, Bank::I64 | Bank::F64);
        self.encode(if is_pair_bank && self.high.is_none() { Bank::I32 } else { bank })
    }

    pub(super) fn span(&self) -> Span {
        self.span.clone()
    }

    fn expected(&self, what: &str) -> Mismatch {
        let prefix = char::from(self.prefix);
        let high = self.high.map(|high| format!(":{high}")).unwrap_or_default();
        let message = format!("expected {what}, found `%{prefix}{}{high}`", self.ordinal);
        Mismatch { span: self.span(), message }
    }
}

fn wanted(bank: Bank) -> &'static str {
    match bank {
        Bank::I32 => "an i32 register like %i0",
        Bank::F32 => "an f32 register like %i0",
        Bank::I64 => "an i64 register pair like %i2:3",
        Bank::F64 => "an f64 register pair like %i2:3",
        Bank::Ref => "a ref register like %r0, not to be moved",
        Bank::RefMove => "a ref register like %r0 or %R0",
        Bank::Any => "a register",
    }
}

/// Registers separated by commas, as many as there are.
pub(super) fn registers(cursor: &mut Cursor<'_>, bank: Bank) -> Parsed<Vec<Register>> {
    let mut list = Vec::new();
    if cursor.peek() != Some(b'%') {
        return Ok(list);
    }
    loop {
        list.push(written_register(cursor)?.encode_in_list(bank)?);
        if !cursor.eat(",") {
            return Ok(list);
        }
    }
}

/// The segment sizes of a variadic call: numbers in the form of a register list.
pub(super) fn sizes(cursor: &mut Cursor<'_>) -> Parsed<Vec<Register>> {
    let mut list = Vec::new();
    if !cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
        return Ok(list);
    }
    loop {
        list.push(Register(unsigned(cursor, "a number up to 65535")?));
        if !cursor.eat(",") {
            return Ok(list);
        }
    }
}

/// `%i0->%i1, %R0->%r2`, maybe nothing.
pub(super) fn remap(cursor: &mut Cursor<'_>) -> Parsed<Remap> {
    let mut copies = Remap::new();
    if cursor.peek() != Some(b'%') {
        return Ok(copies);
    }
    loop {
        let source = written_register(cursor)?.encode(Bank::Any)?;
        cursor.expect("->")?;
        let target = written_register(cursor)?.encode(Bank::Any)?;
        copies.push((source, target));
        if !cursor.eat(",") {
            return Ok(copies);
        }
    }
}

/// `^bb1`, without the caret.
pub(super) fn label<'s>(cursor: &mut Cursor<'s>) -> Parsed<Label<'s>> {
    let mut ahead = *cursor;
    if !ahead.eat("^") {
        return Err(cursor.expected("a block like ^bb1"));
    }
    let text = ahead.take_while(is_symbol_byte);
    if text.is_empty() {
        return Err(cursor.expected("a block like ^bb1"));
    }
    *cursor = ahead;
    name(text)
}

/// A decimal number, or a hexadecimal or octal one with C's prefixes.
pub(super) fn unsigned<T: TryFrom<u64>>(cursor: &mut Cursor<'_>, what: &str) -> Parsed<T> {
    let mut ahead = *cursor;
    let word = ahead.take_while(is_symbol_byte);
    let number = std::str::from_utf8(word.text).ok().and_then(c_magnitude);
    let number = number.and_then(|number| T::try_from(number).ok());
    let number = number.ok_or_else(|| cursor.expected(what))?;
    *cursor = ahead;
    Ok(number)
}

fn c_magnitude(text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(hex, 16).ok();
    }
    if text.len() > 1 && text.starts_with('0') {
        return u64::from_str_radix(text, 8).ok();
    }
    text.parse().ok()
}

/// The constant of a `const` instruction.
pub(super) fn immediate(cursor: &mut Cursor<'_>, bank: Bank) -> Parsed<Immediate> {
    let mut ahead = *cursor;
    let word = ahead.take_while(|byte| is_symbol_byte(byte) || b"+-()".contains(&byte));
    let value = std::str::from_utf8(word.text).ok().and_then(|text| match bank {
        Bank::I64 => integer(text, 64).map(Immediate::I64),
        Bank::F32 => float_32(text).map(Immediate::F32),
        Bank::F64 => float_64(text).map(Immediate::F64),
        _ => integer(text, 32).map(|value| Immediate::I32(value as i32)),
    });
    let what = match bank {
        Bank::I64 => "a 64-bit integer",
        Bank::F32 => "a float that fits f32, like 1.5, -inf or nan",
        Bank::F64 => "a float that fits f64, like 1.5, -inf or nan",
        _ => "a 32-bit integer",
    };
    let value = value.ok_or_else(|| cursor.expected(what))?;
    *cursor = ahead;
    Ok(value)
}

/// An integer, signed or unsigned, whose bits fit `width`.
fn integer(text: &str, width: u32) -> Option<i64> {
    let (is_negative, magnitude) = sign(text);
    let magnitude = i128::from(c_magnitude(magnitude)?);
    let value = if is_negative { -magnitude } else { magnitude };
    let (lowest, beyond) = (-(1_i128 << (width - 1)), 1_i128 << width);
    (lowest..beyond).contains(&value).then_some(value as i64)
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(magnitude) => (true, magnitude),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// The bits of an f32 as C's `strtof` reads them.
fn float_32(text: &str) -> Option<u32> {
    let (is_negative, magnitude) = sign(text);
    let bits = if magnitude.eq_ignore_ascii_case("nan") {
        0x7FC0_0000
    } else if let Some(value) = hex_float(magnitude) {
        let narrow = value as f32;
        (f64::from(narrow).to_bits() == value.to_bits()).then(|| narrow.to_bits())?
    } else {
        let value: f32 = decimal(magnitude)?.parse().ok()?;
        (value.is_finite() || is_infinity(magnitude)).then(|| value.to_bits())?
    };
    Some(bits | u32::from(is_negative) << 31)
}

/// The bits of an f64 as C's `strtod` reads them.
fn float_64(text: &str) -> Option<u64> {
    let (is_negative, magnitude) = sign(text);
    let bits = if magnitude.eq_ignore_ascii_case("nan") {
        0x7FF8_0000_0000_0000
    } else if let Some(value) = hex_float(magnitude) {
        value.to_bits()
    } else {
        let value: f64 = decimal(magnitude)?.parse().ok()?;
        (value.is_finite() || is_infinity(magnitude)).then(|| value.to_bits())?
    };
    Some(bits | u64::from(is_negative) << 63)
}

fn is_infinity(magnitude: &str) -> bool {
    magnitude.eq_ignore_ascii_case("inf") || magnitude.eq_ignore_ascii_case("infinity")
}

/// A decimal number without sign, or infinity.
fn decimal(magnitude: &str) -> Option<&str> {
    let begins = magnitude.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    (begins || is_infinity(magnitude)).then_some(magnitude)
}

/// `0x1.8p-3`; only numbers that need no rounding.
fn hex_float(magnitude: &str) -> Option<f64> {
    let digits = magnitude.strip_prefix("0x").or_else(|| magnitude.strip_prefix("0X"))?;
    let (digits, exponent) = digits.split_once(['p', 'P']).unwrap_or((digits, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mantissa = u64::from_str_radix(&format!("{whole}{fraction}"), 16).ok()?;
    let exponent: i32 = exponent.parse().ok()?;
    let exponent = exponent.checked_sub(i32::try_from(fraction.len()).ok()?.checked_mul(4)?)?;
    scale(mantissa, exponent)
}

/// `mantissa * 2^exponent` as an f64, if it can be one.
fn scale(mantissa: u64, exponent: i32) -> Option<f64> {
    if mantissa == 0 {
        return Some(0.0);
    }
    let zeros = mantissa.trailing_zeros();
    let (mantissa, exponent) = (mantissa >> zeros, exponent.checked_add(zeros as i32)?);
    let highest = 63 - mantissa.leading_zeros() as i32;
    let is_exact =
        highest <= 52 && (-1074..=1023).contains(&exponent) && exponent + highest <= 1023;
    // Two steps, because 2^-1074 is smaller than the smallest power that powi reaches without
    // rounding.
    let half = exponent / 2;
    is_exact.then(|| mantissa as f64 * 2_f64.powi(half) * 2_f64.powi(exponent - half))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::lines::Text;

    fn read(text: &str, bank: Bank) -> Option<Immediate> {
        let mut cursor = Cursor::new(Text { text: text.as_bytes(), start: 0 });
        immediate(&mut cursor, bank).ok().filter(|_| cursor.at_end())
    }

    #[test]
    fn integers_as_c_writes_them() {
        for (text, expected) in [
            ("0", Some(0)),
            ("-2147483648", Some(i32::MIN)),
            ("4294967295", Some(-1)),
            ("0xFFFFFFFF", Some(-1)),
            ("-0x10", Some(-16)),
            ("010", Some(8)),
            ("+7", Some(7)),
            ("4294967296", None),
            ("-2147483649", None),
            ("5x", None),
            ("", None),
        ] {
            assert_eq!(read(text, Bank::I32), expected.map(Immediate::I32), "{text}");
        }
        let least = Some(Immediate::I64(i64::MIN));
        assert_eq!(read("-9223372036854775808", Bank::I64), least);
        assert_eq!(read("18446744073709551615", Bank::I64), Some(Immediate::I64(-1)));
        assert_eq!(read("18446744073709551616", Bank::I64), None);
    }

    #[test]
    fn floats_as_c_writes_them() {
        for (text, expected) in [
            ("1.5", Some(1.5_f32.to_bits())),
            ("-0", Some(0x8000_0000)),
            ("1.40129846e-45", Some(1)),
            ("inf", Some(0x7F80_0000)),
            ("-inf", Some(0xFF80_0000)),
            ("nan", Some(0x7FC0_0000)),
            ("-nan", Some(0xFFC0_0000)),
            ("0x1.8p1", Some(3.0_f32.to_bits())),
            ("0x1p-149", Some(1)),
            ("1e39", None),
            ("1.5f", None),
            ("--1", None),
        ] {
            assert_eq!(read(text, Bank::F32), expected.map(Immediate::F32), "{text}");
        }
        assert_eq!(read("0x1p-1074", Bank::F64), Some(Immediate::F64(1)));
        let greatest = Some(Immediate::F64(f64::MAX.to_bits()));
        assert_eq!(read("0x1.fffffffffffffp1023", Bank::F64), greatest);
        assert_eq!(read("1e309", Bank::F64), None);
    }

    #[test]
    fn every_float_comes_back_from_its_text() {
        let mut bits = 1_u32;
        for _ in 0..100_000 {
            bits = bits.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            let value = f32::from_bits(bits);
            if !value.is_nan() {
                let text = abi::c_float::format_g(f64::from(value), 9);
                assert_eq!(read(&text, Bank::F32), Some(Immediate::F32(bits)), "{text}");
            }
            let wide = f64::from_bits(u64::from(bits) << 32 | u64::from(bits.rotate_left(7)));
            if !wide.is_nan() {
                let text = abi::c_float::format_g(wide, 17);
                assert_eq!(read(&text, Bank::F64), Some(Immediate::F64(wide.to_bits())), "{text}");
            }
        }
    }
}

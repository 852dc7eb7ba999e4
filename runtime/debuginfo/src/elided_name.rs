//! [`ElidedName`]: the name of a long constant that is left out of a text of the compiler. It tells
//! the constant's bytes from all others, so they are found again: in the source, or in the module.
//!
//! ```text
//! %0 = arith.constant dense<"__elided__32768_8d1f…"> : tensor<64x64xf32>
//! ```

use std::hash::Hasher;

use twox_hash::XxHash3_64;

/// What names of constants begin with that are left out; the compiler writes this alone.
const ELIDED: &str = "__elided__";
/// Constants of fewer digits in hexadecimal are not left out.
pub const LONGEST_WRITTEN: usize = 16_384;
/// The digits in hexadecimal as the compiler prints them, and as others do.
const UPPER: &[u8; 16] = b"0123456789ABCDEF";
const LOWER: &[u8; 16] = b"0123456789abcdef";
/// How many bytes are written as digits at a time.
const CHUNK: usize = 1 << 16;

/// The name of a constant that is left out: how many digits it has in hexadecimal, and their
/// digest.
#[derive(Clone, Default)]
pub struct ElidedName {
    digits: usize,
    digest: XxHash3_64,
}

impl ElidedName {
    /// The next digits.
    pub fn add(&mut self, digits: &[u8]) {
        self.digits += digits.len();
        self.digest.write(digits);
    }

    /// The name.
    #[must_use]
    pub fn finish(&self) -> String {
        format!("{ELIDED}{}_{:016x}", self.digits, self.digest.finish())
    }

    /// The name of the constant of these bytes, given the digits of the text: the compiler prints
    /// [`UPPER`].
    fn of_bytes(bytes: &[u8], digits: &[u8; 16]) -> String {
        let mut name = Self::default();
        for chunk in bytes.chunks(CHUNK) {
            let halves = chunk.iter().flat_map(|byte| [byte >> 4, byte & 15]);
            let written: Vec<u8> = halves.map(|half| digits[usize::from(half)]).collect();
            name.add(&written);
        }
        name.finish()
    }

    /// Whether these are the bytes of the constant with a name. A text that mixes cases of digits
    /// has no such bytes.
    #[must_use]
    pub fn is_of(name: &str, bytes: &[u8]) -> bool {
        Self::byte_length(name) == Some(bytes.len())
            && [UPPER, LOWER].iter().any(|digits| Self::of_bytes(bytes, digits) == name)
    }

    /// How many bytes the constant with a name has; `None` if it is no such name.
    #[must_use]
    pub fn byte_length(name: &str) -> Option<usize> {
        let (digits, _) = name.strip_prefix(ELIDED)?.split_once('_')?;
        let digits: usize = digits.parse().ok()?;
        digits.is_multiple_of(2).then_some(digits / 2)
    }

    /// The name of the constant that a text has, or has the digits of: `dense<"0xABCD…">`.
    #[must_use]
    pub fn of_constant(text: &str) -> Option<String> {
        if let Some(name) = Self::in_text(text) {
            return Some(name.to_owned());
        }
        let (_, digits) = text.split_once("\"0x")?;
        let (digits, _) = digits.split_once('"')?;
        let mut name = Self::default();
        name.add(digits.as_bytes());
        Some(name.finish())
    }

    /// The name in the text of an operation, if it has one.
    #[must_use]
    pub fn in_text(text: &str) -> Option<&str> {
        let rest = &text[text.find(ELIDED)?..];
        let end = rest.find(['"', '>'])?;
        Some(&rest[..end]).filter(|it| it.len() > ELIDED.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_some_bytes_only() {
        assert_eq!(ElidedName::in_text("dense_resource<__elided__> : tensor<4xf32>"), None);
        let bytes = vec![0xab; 9_000];
        for digits in ["AB", "ab"] {
            let name = ElidedName::of_constant(&format!("\"0x{}\"", digits.repeat(9_000))).unwrap();
            assert!(ElidedName::is_of(&name, &bytes), "{digits}");
            assert!(!ElidedName::is_of(&name, &bytes[1..]), "{digits}");
            assert!(!ElidedName::is_of(&name, &[0xac; 9_000]), "{digits}");
        }
        for none in ["__elided__", "__elided__7_0", "__elided__x_0", "w", "__elided__-2_0"] {
            assert_eq!(ElidedName::byte_length(none), None, "{none}");
        }
    }
}

//! Long constants that are left out of the phase `input`, by names that tell them apart: so that
//! each is found again in the source, which has its bytes.
//!
//! ```text
//! %0 = arith.constant dense<"__elided__32768_8d1f…"> : tensor<64x64xf32>
//! ```

use std::collections::HashMap;
use std::hash::Hasher;
use std::ops::Range;

use twox_hash::XxHash3_64;

/// What names of constants begin with that are left out; the compiler writes this alone.
const ELIDED: &str = "__elided__";
/// Constants of fewer digits in hexadecimal are not left out.
pub const LONGEST_WRITTEN: usize = 16_384;
/// The alignment of a resource, which comes before its bytes.
const ALIGNMENT: usize = "04000000".len();

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

/// The long constants of a text by their names.
#[derive(Debug, Default)]
pub(super) struct Elided {
    by_name: HashMap<String, Range<usize>>,
}

impl Elided {
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let resources = memchr::memmem::rfind(bytes, b"{-#").unwrap_or(bytes.len());
        let mut found = Self::default();
        let mut at = 0;
        while let Some(open) = memchr::memmem::find(&bytes[at..], b"\"0x") {
            let start = at + open + "\"0x".len();
            let Some(length) = memchr::memchr(b'"', &bytes[start..]) else { break };
            at = start + length + 1;
            let first = if start > resources { start + ALIGNMENT } else { start };
            let range = first..start + length;
            // A constant is left out by its length in the other text, where it may be a resource.
            if range.len() + ALIGNMENT >= LONGEST_WRITTEN {
                let mut name = ElidedName::default();
                name.add(&bytes[range.clone()]);
                found.by_name.insert(name.finish(), range);
            }
        }
        found
    }

    /// The digits of a constant.
    pub(super) fn get<'t>(&self, text: &'t str, name: &str) -> Option<&'t str> {
        text.get(self.by_name.get(name)?.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_found_by_what_is_in_them() {
        let (one, other) = ("AB".repeat(9_000), "CD".repeat(9_000));
        let text = format!(
            "%0 = arith.constant dense<\"0x{one}\"> : tensor<4500xf32>\n\
             {{-# dialect_resources: {{ builtin: {{ w: \"0x04000000{other}\""
        );
        let shortest = "EF".repeat(LONGEST_WRITTEN / 2);
        let text = format!("{text}, v: \"0x04000000{shortest}\" }} }} #-}}");
        let found = Elided::of(&text);
        for digits in [&one, &other, &shortest] {
            let mut name = ElidedName::default();
            digits.as_bytes().chunks(777).for_each(|it| name.add(it));
            let operation =
                format!("arith.constant dense<\"{}\"> : tensor<4500xf32>", name.finish());
            let name = ElidedName::in_text(&operation).unwrap();
            assert_eq!(found.get(&text, name), Some(digits.as_str()));
        }
        assert_eq!(ElidedName::in_text("dense_resource<__elided__> : tensor<4xf32>"), None);
        assert_eq!(found.get(&text, "__elided__18000_0000000000000000"), None);
    }
}

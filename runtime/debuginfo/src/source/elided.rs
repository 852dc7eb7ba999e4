//! Long constants that are left out of the phase `input`, by names that tell them apart: so that
//! each is found again in the source, which has its bytes.

use std::collections::HashMap;
use std::ops::Range;

use crate::dialect_resources::DIALECT_RESOURCES;
use crate::elided_name::{ElidedName, LONGEST_WRITTEN};

/// The alignment of a resource, which comes before its bytes.
const ALIGNMENT: usize = "04000000".len();

/// The long constants of a text by their names.
#[derive(Debug, Default)]
pub(super) struct Elided {
    by_name: HashMap<String, Range<usize>>,
}

impl Elided {
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let resources =
            memchr::memmem::rfind(bytes, DIALECT_RESOURCES.as_bytes()).unwrap_or(bytes.len());
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
        assert_eq!(found.get(&text, "__elided__18000_0000000000000000"), None);
    }
}

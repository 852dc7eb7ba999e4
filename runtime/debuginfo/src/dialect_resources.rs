//! The constants that a text of MLIR lists at its end, apart from the operations that use them:
//!
//! ```text
//! {-#
//!   dialect_resources: { builtin: { w: "0x040000000000803F", "a b": "0x08000000…" } }
//! #-}
//! ```

use std::ops::Range;

/// What begins the list.
pub const DIALECT_RESOURCES: &str = "{-#";

/// The constants that are listed at the end of a text, in their order: the name of each, and where
/// what is written in its quotes is.
pub fn dialect_resources(text: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    let start = memchr::memmem::rfind(text.as_bytes(), DIALECT_RESOURCES.as_bytes());
    let mut at = start.unwrap_or(text.len());
    // What a resource is stands in quotes after its name, which may be quoted, too.
    std::iter::from_fn(move || {
        let open = at + memchr::memmem::find(&text.as_bytes()[at..], b": \"")?;
        let written = open + ": \"".len();
        let end = written + memchr::memchr(b'"', &text.as_bytes()[written..])?;
        let before = text.get(at..open).unwrap_or_default().trim_end();
        let name = match before.strip_suffix('"') {
            Some(quoted) => quoted.rsplit('"').next(),
            None => before.rsplit(|it: char| it.is_whitespace() || it == '{').next(),
        };
        at = end + 1;
        Some((name.unwrap_or_default(), written..end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_be_quoted_and_lists_may_be_cut_off() {
        let text = "%0 = x dense_resource<w>\n{-#\n dialect_resources: {\n builtin: {\n \
                    w: \"0x0400\",\n \"a b\": \"__elided__7\"}, other: {c: \"\"";
        let listed = |text| {
            let listed = dialect_resources(text);
            listed.map(|(name, at)| format!("{name}={}", &text[at])).collect::<Vec<_>>()
        };
        assert_eq!(listed(text), ["w=0x0400", "a b=__elided__7", "c="]);
        assert_eq!(listed(&text[..text.len() - 1]), ["w=0x0400", "a b=__elided__7"]);
        assert!(listed("no: \"list\"").is_empty());
    }
}

//! What programs print, as text.

use std::process::Output;

/// Bytes as text.
#[must_use]
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// All that a program has printed: its output, then its errors.
#[must_use]
pub fn printed(output: &Output) -> String {
    text(&[output.stdout.as_slice(), output.stderr.as_slice()].concat())
}

/// What a program that has to succeed has printed on its standard output.
///
/// # Panics
/// It has failed.
#[track_caller]
pub fn succeeded(output: &Output) -> String {
    assert!(output.status.success(), "{}: {}", output.status, printed(output));
    text(&output.stdout)
}

/// The words of a text with a blank between them, so that where its lines end does not matter.
#[must_use]
pub fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_indentation_do_not_matter() {
        assert_eq!(words("  a\n    b c\n"), "a b c");
    }
}

//! [`LongText`]: a source of any size, line by line.
//!
//! A model with its weights in the text has lines like any other program, some of them very long.
//! Such a file is kept as it was read, with the offsets of its lines. It is not searched for names.

use std::borrow::Cow;

use syntax::Source;
use vmfb::FileBytes;

/// The most bytes of a line that are shown.
const LONGEST_LINE: usize = 1 << 16;

/// A text too long to be searched for names.
pub struct LongText {
    bytes: FileBytes,
    line_starts: Vec<usize>,
}

impl LongText {
    /// Takes the bytes of a file that was read completely.
    pub(crate) fn new(bytes: FileBytes) -> Self {
        let line_starts = line_starts(bytes.owned());
        Self { bytes, line_starts }
    }

    /// A line, numbered from one, without its end; only the beginning of a very long one.
    #[must_use]
    pub fn line(&self, line: u32) -> Option<Cow<'_, str>> {
        let index = (line as usize).checked_sub(1)?;
        let start = *self.line_starts.get(index)?;
        let end = self.line_starts.get(index + 1).copied().unwrap_or(self.bytes.len());
        let shown = end.min(start.saturating_add(LONGEST_LINE));
        let text = self.slice(start..shown);
        let length = text.trim_end_matches(['\n', '\r']).len();
        Some(match text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[..length]),
            Cow::Owned(text) => Cow::Owned(text[..length].to_owned()),
        })
    }

    /// The number of lines.
    #[must_use]
    pub fn line_count(&self) -> usize {
        self.line_starts.len()
    }
}

impl std::fmt::Debug for LongText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LongText({} bytes, {} lines)", self.bytes.len(), self.line_starts.len())
    }
}

impl Source for LongText {
    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn piece(&self, _offset: usize) -> (&[u8], usize) {
        (self.bytes.owned(), 0)
    }
}

/// The offsets at which the lines of a text begin.
pub(crate) fn line_starts(text: &[u8]) -> Vec<usize> {
    let after_newlines = memchr::memchr_iter(b'\n', text).map(|newline| newline + 1);
    std::iter::once(0).chain(after_newlines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_their_ends() {
        let long = format!("a\r\n{}\n\nc", "x".repeat(LONGEST_LINE + 5));
        let text = LongText::new(FileBytes::from(long.into_bytes()));
        assert_eq!(text.line_count(), 4);
        let lines: Vec<_> = (0..6).map(|line| text.line(line).map(|it| it.len())).collect();
        assert_eq!(lines, [None, Some(1), Some(LONGEST_LINE), Some(0), Some(1), None]);
    }
}

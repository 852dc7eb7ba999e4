//! [`Source`]: text that lies in pieces.
//!
//! Open documents live in ropes, files in memory maps, and tests in strings. Everything in this
//! crate reads through this trait, one piece at a time, so no reader needs the whole text in one
//! place.

use std::borrow::Cow;
use std::ops::Range;

/// A range of byte offsets into a text.
pub type TextRange = Range<usize>;

/// UTF-8 text that is read piece by piece.
pub trait Source {
    /// Length in bytes.
    fn len(&self) -> usize;

    /// Whether there is no text.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The stored piece that holds `offset`, and the offset where the piece begins. Never empty
    /// unless the text is empty. For the end of the text it is the last piece.
    fn piece(&self, offset: usize) -> (&[u8], usize);

    /// The text of `range`, clipped to the text. A character cut in half at either end becomes a
    /// replacement character.
    fn slice(&self, range: TextRange) -> Cow<'_, str> {
        let end = range.end.min(self.len());
        if range.start >= end {
            return Cow::Borrowed("");
        }
        let (piece, piece_start) = self.piece(range.start);
        if end <= piece_start + piece.len() {
            return String::from_utf8_lossy(&piece[range.start - piece_start..end - piece_start]);
        }
        let mut bytes = Vec::with_capacity(end - range.start);
        let mut at = range.start;
        while at < end {
            let (piece, piece_start) = self.piece(at);
            let piece_end = (piece_start + piece.len()).min(end);
            bytes.extend_from_slice(&piece[at - piece_start..piece_end - piece_start]);
            at = piece_end;
        }
        Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Source for str {
    fn len(&self) -> usize {
        str::len(self)
    }

    fn piece(&self, _offset: usize) -> (&[u8], usize) {
        (self.as_bytes(), 0)
    }
}

impl Source for String {
    fn len(&self) -> usize {
        str::len(self)
    }

    fn piece(&self, offset: usize) -> (&[u8], usize) {
        self.as_str().piece(offset)
    }
}

/// Text in pieces of a few bytes each. It exposes readers that forget that pieces end.
#[cfg(test)]
pub(crate) struct Shredded<'a>(pub(crate) &'a str, pub(crate) usize);

#[cfg(test)]
impl Source for Shredded<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn piece(&self, offset: usize) -> (&[u8], usize) {
        let last = self.0.len().saturating_sub(1);
        let start = offset.min(last) / self.1 * self.1;
        (&self.0.as_bytes()[start..(start + self.1).min(self.0.len())], start)
    }
}

#[cfg(test)]
mod tests {
    use super::{Shredded, Source};

    #[test]
    fn slices_across_pieces_and_beyond_the_end() {
        let text = "abcdéfgh";
        for size in 1..10 {
            let shredded = Shredded(text, size);
            assert_eq!(shredded.slice(1..6), "bcdé");
            assert_eq!(shredded.slice(6..100), "fgh");
            assert_eq!(shredded.slice(100..200), "");
        }
    }
}

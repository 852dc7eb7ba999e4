//! A byte cursor over a [`Source`]. No other code has to know where pieces end.

use crate::Source;

/// Reads forward. `peek` and `bump` cost one index into the current piece.
pub(crate) struct Cursor<'a, S: Source + ?Sized> {
    source: &'a S,
    piece: &'a [u8],
    piece_start: usize,
    at: usize,
}

impl<S: Source + ?Sized> Clone for Cursor<'_, S> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'a, S: Source + ?Sized> Cursor<'a, S> {
    pub(crate) fn new(source: &'a S, offset: usize) -> Self {
        let mut cursor = Self { source, piece: &[], piece_start: 0, at: 0 };
        cursor.seek(offset.min(source.len()));
        cursor
    }

    pub(crate) fn source(&self) -> &'a S {
        self.source
    }

    pub(crate) fn offset(&self) -> usize {
        self.piece_start + self.at
    }

    /// The bytes of a range if they lie in the current piece. This is cheaper than asking the
    /// source.
    pub(crate) fn here(&self, range: &std::ops::Range<usize>) -> Option<&'a [u8]> {
        let start = range.start.checked_sub(self.piece_start)?;
        self.piece.get(start..range.end - self.piece_start)
    }

    pub(crate) fn seek(&mut self, offset: usize) {
        let (piece, piece_start) = self.source.piece(offset);
        self.piece = piece;
        self.piece_start = piece_start;
        self.at = (offset - piece_start).min(piece.len());
    }

    /// The rest of the current piece; empty only at the end of the text.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        if self.at == self.piece.len() && self.offset() < self.source.len() {
            self.seek(self.offset());
        }
        &self.piece[self.at..]
    }

    pub(crate) fn peek(&mut self) -> Option<u8> {
        if let Some(&byte) = self.piece.get(self.at) {
            return Some(byte);
        }
        self.rest().first().copied()
    }

    pub(crate) fn bump(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Advances over `count` bytes of the result of [`Self::rest`].
    pub(crate) fn advance(&mut self, count: usize) {
        self.at = (self.at + count).min(self.piece.len());
    }

    pub(crate) fn skip_while(&mut self, matches: impl Fn(u8) -> bool) {
        loop {
            let rest = self.rest();
            let count = rest.iter().position(|&byte| !matches(byte)).unwrap_or(rest.len());
            self.advance(count);
            if count < rest.len() || rest.is_empty() {
                return;
            }
        }
    }

    /// Advances to the next line feed, not past it, or to the end.
    pub(crate) fn skip_line(&mut self) {
        loop {
            let rest = self.rest();
            match memchr::memchr(b'\n', rest) {
                Some(count) => return self.advance(count),
                None if rest.is_empty() => return,
                None => self.advance(rest.len()),
            }
        }
    }

    /// Advances from after an opening quote to after the closing one. Returns `false` where the
    /// line or the text ends first; then the cursor stays before the line feed. Strings of this
    /// syntax never span lines, so a lost quote costs one line.
    pub(crate) fn skip_string(&mut self) -> bool {
        loop {
            let rest = self.rest();
            let Some(count) = memchr::memchr3(b'"', b'\\', b'\n', rest) else {
                if rest.is_empty() {
                    return false;
                }
                self.advance(rest.len());
                continue;
            };
            self.advance(count);
            match rest[count] {
                b'"' => {
                    self.advance(1);
                    return true;
                }
                b'\n' => return false,
                _ => {
                    self.advance(1);
                    if self.peek().is_some_and(|byte| byte != b'\n') {
                        self.bump();
                    }
                }
            }
        }
    }
}

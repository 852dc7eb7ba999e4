//! Conversion between bytes and LSP positions, in the negotiated encoding.
//!
//! Lines end at `\n`, `\r\n` and `\r` only; the rope is configured likewise. A position beyond a
//! line's end means the end of the line, one beyond the text the end of the text, and one inside a
//! character its start. Nothing panics.

use ropey::Rope;
use tower_lsp::lsp_types::{Position, PositionEncodingKind, Range};

/// The unit of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, which every client understands.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// The best encoding that the client offers. Bytes cost nothing here; UTF-16 is the protocol's
    /// default.
    pub(crate) fn negotiate(offered: &[PositionEncodingKind]) -> Self {
        if offered.contains(&PositionEncodingKind::UTF8) {
            Self::Utf8
        } else if offered.contains(&PositionEncodingKind::UTF32)
            && !offered.contains(&PositionEncodingKind::UTF16)
        {
            Self::Utf32
        } else {
            Self::Utf16
        }
    }

    /// Its name in the protocol.
    pub(crate) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }
}

/// The character at a position. A position outside the text moves to the nearest one inside.
pub(crate) fn to_char(rope: &Rope, position: Position, encoding: Encoding) -> usize {
    let line = position.line as usize;
    if line >= rope.len_lines() {
        return rope.len_chars();
    }
    let start = rope.line_to_char(line);
    let end = line_end(rope, line);
    let column = position.character as usize;
    let at = match encoding {
        Encoding::Utf32 => start.saturating_add(column),
        Encoding::Utf8 => {
            let byte = rope.char_to_byte(start).saturating_add(column);
            rope.byte_to_char(byte.min(rope.char_to_byte(end)))
        }
        Encoding::Utf16 => {
            let unit = rope.char_to_utf16_cu(start).saturating_add(column);
            rope.utf16_cu_to_char(unit.min(rope.char_to_utf16_cu(end)))
        }
    };
    at.min(end)
}

/// The byte at a position.
pub(crate) fn to_byte(rope: &Rope, position: Position, encoding: Encoding) -> usize {
    rope.char_to_byte(to_char(rope, position, encoding))
}

/// The position of a byte. Beyond the text it is the end of the text.
pub(crate) fn to_position(rope: &Rope, byte: usize, encoding: Encoding) -> Position {
    let at = rope.byte_to_char(byte.min(rope.len_bytes()));
    let line = rope.char_to_line(at);
    let start = rope.line_to_char(line);
    // Between `\r` and `\n`, the position is still the end of the line.
    let at = at.min(line_end(rope, line));
    let column = match encoding {
        Encoding::Utf32 => at - start,
        Encoding::Utf8 => rope.char_to_byte(at) - rope.char_to_byte(start),
        Encoding::Utf16 => rope.char_to_utf16_cu(at) - rope.char_to_utf16_cu(start),
    };
    let clamp = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    Position { line: clamp(line), character: clamp(column) }
}

/// The LSP range of a byte range.
pub(crate) fn to_range(rope: &Rope, range: &std::ops::Range<usize>, encoding: Encoding) -> Range {
    Range {
        start: to_position(rope, range.start, encoding),
        end: to_position(rope, range.end, encoding),
    }
}

/// Positions of bytes in mostly ascending order. Within a line it counts on from the last position
/// instead of looking each one up.
pub(crate) struct Walk<'a> {
    rope: &'a Rope,
    encoding: Encoding,
    /// The current position, its byte, and the bytes from there on as far as they are known.
    at: Position,
    byte: usize,
    ahead: &'a str,
}

impl<'a> Walk<'a> {
    /// A walk that starts at the beginning.
    pub(crate) fn new(rope: &'a Rope, encoding: Encoding) -> Self {
        Self { rope, encoding, at: Position::new(0, 0), byte: 0, ahead: "" }
    }

    /// Equals [`to_position`].
    pub(crate) fn position(&mut self, byte: usize) -> Position {
        let passed =
            byte.checked_sub(self.byte).and_then(|length| self.ahead.split_at_checked(length));
        if let Some((passed, ahead)) = passed
            && !passed.contains(['\n', '\r'])
        {
            let units = match self.encoding {
                Encoding::Utf8 => passed.len(),
                Encoding::Utf16 => passed.encode_utf16().count(),
                Encoding::Utf32 => passed.chars().count(),
            };
            self.at.character =
                self.at.character.saturating_add(u32::try_from(units).unwrap_or(u32::MAX));
            self.ahead = ahead;
        } else {
            self.at = to_position(self.rope, byte, self.encoding);
            let (piece, start, _, _) = self.rope.chunk_at_byte(byte.min(self.rope.len_bytes()));
            // Between `\r` and `\n`, the position lies before the byte, so counting cannot start
            // there.
            let in_break = byte > 0 && self.rope.get_byte(byte - 1) == Some(b'\r');
            self.ahead =
                piece.get(byte.saturating_sub(start)..).filter(|_| !in_break).unwrap_or("");
        }
        self.byte = byte;
        self.at
    }

    /// Equals [`to_range`].
    pub(crate) fn range(&mut self, range: &std::ops::Range<usize>) -> Range {
        Range { start: self.position(range.start), end: self.position(range.end) }
    }
}

/// The character after the last one of a line, without the line break.
fn line_end(rope: &Rope, line: usize) -> usize {
    let start = rope.line_to_char(line);
    let mut end = rope.line_to_char(line + 1);
    if end > start && rope.char(end - 1) == '\n' {
        end -= 1;
        if end > start && rope.char(end - 1) == '\r' {
            end -= 1;
        }
    } else if end > start && rope.char(end - 1) == '\r' {
        end -= 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use ropey::Rope;
    use tower_lsp::lsp_types::{Position, PositionEncodingKind as Kind};

    use super::{Encoding, Walk, to_byte, to_position};

    #[test]
    fn columns_in_every_encoding() {
        // ü: 2 bytes, 1 unit. 日: 3 bytes, 1 unit. 😀: 4 bytes, 2 units. U+2028 is no line break
        // here.
        let rope = Rope::from_str("aü\u{2028}日😀b\r\nc\rd\n\ne");
        let byte = rope.byte_to_char("aü\u{2028}日😀".len());
        assert_eq!(byte, 5);
        for (encoding, column) in [(Encoding::Utf8, 13), (Encoding::Utf16, 6), (Encoding::Utf32, 5)]
        {
            assert_eq!(to_byte(&rope, Position::new(0, column), encoding), 13);
            assert_eq!(to_position(&rope, 13, encoding), Position::new(0, column));
            // Converts every character to a position and back.
            for at in 0..=rope.len_chars() {
                let byte = rope.char_to_byte(at);
                let back = to_byte(&rope, to_position(&rope, byte, encoding), encoding);
                let in_break = at > 0
                    && at < rope.len_chars()
                    && rope.char(at - 1) == '\r'
                    && rope.char(at) == '\n';
                assert_eq!(back, if in_break { byte - 1 } else { byte }, "{encoding:?} {at}");
            }
        }
        assert_eq!(to_position(&rope, rope.len_bytes(), Encoding::Utf16), Position::new(4, 1));
    }

    #[test]
    fn walks_count_what_look_ups_find() {
        // Longer than one piece of the rope.
        let rope = Rope::from_str(&"aü日😀b\r\nc\rd\n\n\n%e = f\r\r\n".repeat(100));
        let ends: Vec<usize> = (0..=rope.len_chars()).map(|at| rope.char_to_byte(at)).collect();
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            for step in [1, 3, 1000, 1999] {
                let mut walk = Walk::new(&rope, encoding);
                for at in 0..ends.len() {
                    // A step that does not divide the count goes backwards now and then.
                    let byte = ends[at * step % ends.len()];
                    assert_eq!(walk.position(byte), to_position(&rope, byte, encoding), "{byte}");
                }
            }
        }
    }

    #[test]
    fn positions_outside_are_moved_inside() {
        let rope = Rope::from_str("a😀\r\nb");
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            assert_eq!(to_byte(&rope, Position::new(0, u32::MAX), encoding), 5);
            assert_eq!(to_byte(&rope, Position::new(1, 9), encoding), 8);
            assert_eq!(to_byte(&rope, Position::new(u32::MAX, 0), encoding), 8);
            assert_eq!(to_position(&rope, usize::MAX, encoding).line, 1);
        }
        // Inside a character beyond the BMP: its start.
        assert_eq!(to_byte(&rope, Position::new(0, 2), Encoding::Utf16), 1);
        assert_eq!(to_byte(&rope, Position::new(0, 3), Encoding::Utf8), 1);
        assert_eq!(to_byte(&Rope::new(), Position::new(0, 0), Encoding::Utf16), 0);
    }

    #[test]
    fn bytes_are_preferred_and_utf16_is_the_default() {
        assert_eq!(Encoding::negotiate(&[]), Encoding::Utf16);
        assert_eq!(Encoding::negotiate(&[Kind::UTF16, Kind::UTF8]), Encoding::Utf8);
        assert_eq!(Encoding::negotiate(&[Kind::UTF32]), Encoding::Utf32);
        assert_eq!(Encoding::negotiate(&[Kind::UTF16, Kind::UTF32]), Encoding::Utf16);
    }
}

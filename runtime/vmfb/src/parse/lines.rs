//! Lines of a `.vmasm` text without the parts for readers: comments (`//` and `#`, outside strings)
//! and bytecode offsets (`[0000000C]` at the beginning).

use super::listing::Span;

/// A part of the source and its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'s> {
    pub(super) text: &'s [u8],
    pub(super) start: usize,
}

impl<'s> Text<'s> {
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn span(&self) -> Span {
        self.start..self.start + self.text.len()
    }

    pub(super) fn slice(&self, range: Span) -> Text<'s> {
        Text { text: &self.text[range.clone()], start: self.start + range.start }
    }

    pub(super) fn trim(&self) -> Text<'s> {
        let end = self.text.trim_ascii_end().len();
        let start = end - self.text[..end].trim_ascii_start().len();
        self.slice(start..end)
    }
}

/// In the comment of a segment whose bytes are not printed.
const ELIDED: &[u8] = b"bytes elided";
/// The most lines that a string may span.
const MAXIMUM_STRING_LINES: usize = 100;

/// The lines of a text, one after another.
pub(super) struct Lines<'s> {
    source: &'s [u8],
    position: usize,
}

impl<'s> Lines<'s> {
    pub(super) fn new(source: &'s [u8]) -> Self {
        Self { source, position: 0 }
    }

    pub(super) fn next(&mut self) -> Option<SourceLine<'s>> {
        if self.position >= self.source.len() {
            return None;
        }
        let (text, after) = self.line_at(self.position);
        self.position = after;
        Some(SourceLine { text })
    }

    /// Continues at a position.
    pub(super) fn skip_to(&mut self, position: usize) {
        self.position = position;
    }

    /// The line joined with one more line, two more, …, each with the position after it: strings
    /// are printed without escapes, so a string with a newline spans lines. Ends before a line that
    /// begins a block or ends a function, so that a missing quote spoils one block at most.
    pub(super) fn joined_with_next(
        &self,
        line: &SourceLine<'s>,
    ) -> impl Iterator<Item = (Text<'s>, usize)> + use<'s> {
        let (source, start) = (self.source, line.whole().start);
        let rest = Self { source, position: self.position };
        let mut position = self.position;
        std::iter::from_fn(move || {
            if position >= source.len() {
                return None;
            }
            let (next, after) = rest.line_at(position);
            let next = without_offset(next.trim()).text;
            if next.starts_with(b"^bb") || next == b"}" || next.starts_with(b"vm.func ") {
                return None;
            }
            position = after;
            Some((Text { text: &source[start..after], start }.trim(), after))
        })
        .take(MAXIMUM_STRING_LINES)
    }

    fn line_at(&self, start: usize) -> (Text<'s>, usize) {
        let rest = &self.source[start..];
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let after = (start + length + 1).min(self.source.len());
        (Text { text: &rest[..length], start }, after)
    }
}

/// One line of the source.
pub(super) struct SourceLine<'s> {
    text: Text<'s>,
}

impl<'s> SourceLine<'s> {
    /// The line without comment, offset and surrounding space.
    pub(super) fn without_comment(&self) -> Text<'s> {
        without_offset(self.text.slice(0..scan(self.text.text).comment).trim())
    }

    /// The line without offset and surrounding space.
    pub(super) fn whole(&self) -> Text<'s> {
        without_offset(self.text.trim())
    }

    /// Whether a line of rodata leaves out its bytes: it has a comment of ours, or the spaces that
    /// the reference prints for segments that are too large for it.
    pub(super) fn leaves_out_bytes(&self) -> bool {
        let text = self.text.text;
        let comment = &text[scan(text).comment..];
        comment.windows(ELIDED.len()).any(|window| window == ELIDED) || text.ends_with(b"   ")
    }

    /// Whether a quote is open at its end.
    pub(super) fn ends_in_string(&self) -> bool {
        scan(self.text.text).in_string
    }
}

struct Scan {
    /// The position of the comment; the line's length if there is none.
    comment: usize,
    in_string: bool,
}

fn scan(line: &[u8]) -> Scan {
    let mut in_string = false;
    for (index, byte) in line.iter().enumerate() {
        match byte {
            b'"' => in_string = !in_string,
            b'#' if !in_string => return Scan { comment: index, in_string },
            b'/' if !in_string && line.get(index + 1) == Some(&b'/') => {
                return Scan { comment: index, in_string };
            }
            _ => {}
        }
    }
    Scan { comment: line.len(), in_string }
}

fn without_offset(text: Text<'_>) -> Text<'_> {
    if !text.text.starts_with(b"[") {
        return text;
    }
    match text.text.iter().position(|byte| *byte == b']') {
        Some(close) => text.slice(close + 1..text.text.len()).trim(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(line: &str) -> String {
        let line = Lines::new(line.as_bytes()).next().unwrap();
        String::from_utf8(line.without_comment().text.to_vec()).unwrap()
    }

    #[test]
    fn comments_and_offsets_are_taken_off() {
        for (line, expected) in [
            ("  %i0 = vm.const.i32 5  // 0x00000005\n", "%i0 = vm.const.i32 5"),
            ("[0000000C]  vm.return\r\n", "vm.return"),
            ("[00000000]^bb0:", "^bb0:"),
            ("vm.fail %i0, \"a // b # c\" # d", "vm.fail %i0, \"a // b # c\""),
            ("// nothing", ""),
            ("", ""),
        ] {
            if !line.is_empty() {
                assert_eq!(stripped(line), expected, "{line}");
            }
        }
    }

    #[test]
    fn an_open_string_reaches_over_lines_but_not_over_blocks() {
        let mut lines = Lines::new(b"vm.fail %i0, \"a\nb\nc\"\n^bb1:\nvm.return\n");
        let first = lines.next().unwrap();
        assert!(first.ends_in_string());
        let joined: Vec<_> = lines.joined_with_next(&first).map(|(text, _)| text.text).collect();
        assert_eq!(joined, [&b"vm.fail %i0, \"a\nb"[..], b"vm.fail %i0, \"a\nb\nc\""]);
    }
}

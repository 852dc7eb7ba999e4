//! Reading one line from left to right. A cursor is cheap to copy: code that tries an alternative
//! keeps a copy to return to.

use super::lines::Text;
use super::listing::{Name, Span};

/// An expectation and its place in the line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Mismatch {
    pub(super) span: Span,
    pub(super) message: String,
}

/// A parsed value, or why it is missing.
pub(super) type Parsed<T> = Result<T, Mismatch>;

/// A place in a line.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'s> {
    line: Text<'s>,
    position: usize,
}

impl<'s> Cursor<'s> {
    pub(super) fn new(line: Text<'s>) -> Self {
        Self { line, position: 0 }
    }

    /// The rest of the line, without space at both ends.
    pub(super) fn rest(&self) -> Text<'s> {
        self.line.slice(self.position..self.line.text.len()).trim()
    }

    /// The whole line.
    pub(super) fn line(&self) -> Text<'s> {
        self.line
    }

    /// The place in the source.
    pub(super) fn offset(&self) -> usize {
        self.line.start + self.position
    }

    pub(super) fn skip_space(&mut self) {
        let rest = &self.line.text[self.position..];
        self.position += rest.len() - rest.trim_ascii_start().len();
    }

    pub(super) fn at_end(&self) -> bool {
        self.rest().is_empty()
    }

    /// The next byte after spaces.
    pub(super) fn peek(&self) -> Option<u8> {
        self.rest().text.first().copied()
    }

    /// Takes `word`, after spaces, if it is next.
    pub(super) fn eat(&mut self, word: &str) -> bool {
        let mut ahead = *self;
        ahead.skip_space();
        let found = ahead.line.text[ahead.position..].starts_with(word.as_bytes());
        if found {
            ahead.position += word.len();
            *self = ahead;
        }
        found
    }

    /// Takes `word` if it is next and no name continues after it.
    pub(super) fn eat_keyword(&mut self, word: &str) -> bool {
        let mut ahead = *self;
        let found = ahead.eat(word)
            && !ahead.line.text.get(ahead.position).copied().is_some_and(is_symbol_byte);
        if found {
            *self = ahead;
        }
        found
    }

    /// Takes `word`, or fails if it is missing.
    pub(super) fn expect(&mut self, word: &str) -> Parsed<()> {
        if self.eat(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    pub(super) fn expect_end(&self) -> Parsed<()> {
        if self.at_end() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    /// Takes bytes of a kind, after spaces; possibly none.
    pub(super) fn take_while(&mut self, is_of_kind: impl Fn(u8) -> bool) -> Text<'s> {
        self.skip_space();
        let rest = &self.line.text[self.position..];
        let length = rest.iter().position(|byte| !is_of_kind(*byte)).unwrap_or(rest.len());
        self.take(length)
    }

    /// Takes the next `length` bytes.
    pub(super) fn take(&mut self, length: usize) -> Text<'s> {
        let taken = self.line.slice(self.position..self.position + length);
        self.position += length;
        taken
    }

    /// Takes the rest of the line.
    pub(super) fn take_rest(&mut self) -> Text<'s> {
        let rest = self.rest();
        self.position = self.line.text.len();
        rest
    }

    /// Takes a name of letters, digits, `_`, `$` and `.`.
    pub(super) fn symbol(&mut self, what: &str) -> Parsed<Name<'s>> {
        let mut ahead = *self;
        let text = ahead.take_while(is_symbol_byte);
        if text.is_empty() {
            return Err(self.expected(what));
        }
        *self = ahead;
        name(text)
    }

    /// Where `word` occurs from here on, as distances from here.
    pub(super) fn occurrences(&self, word: &str) -> impl Iterator<Item = usize> + use<'s> {
        let rest = &self.line.text[self.position..];
        let word = word.as_bytes().to_vec();
        (0..rest.len()).filter(move |at| rest[*at..].starts_with(&word))
    }

    /// The error that something else was expected here.
    pub(super) fn expected(&self, what: &str) -> Mismatch {
        let mut here = *self;
        here.skip_space();
        let rest = &here.line.text[here.position..];
        let Some(first) = rest.first() else {
            let span = here.offset()..here.offset();
            return Mismatch {
                span,
                message: format!("expected {what}, found the end of the line"),
            };
        };
        let is_word = |byte: &u8| is_symbol_byte(*byte) || b"%@^!:".contains(byte);
        let length = if is_word(first) {
            let word = &rest[..rest.iter().position(|byte| !is_word(byte)).unwrap_or(rest.len())];
            word.strip_suffix(b":").map_or(word.len(), |before| before.len().max(1))
        } else {
            // A whole character, so that the quote is valid text.
            let text = String::from_utf8_lossy(&rest[..rest.len().min(4)]);
            text.chars().next().map_or(1, char::len_utf8).min(rest.len())
        };
        let found = String::from_utf8_lossy(&rest[..length.min(60)]);
        Mismatch {
            span: here.offset()..here.offset() + length,
            message: format!("expected {what}, found `{found}`"),
        }
    }
}

/// A part of the source as a name; names are stored as UTF-8.
pub(super) fn name(text: Text<'_>) -> Parsed<Name<'_>> {
    match std::str::from_utf8(text.text) {
        Ok(name) => Ok(Name { text: name, span: text.span() }),
        Err(_) => {
            Err(Mismatch { span: text.span(), message: "expected a name in UTF-8".to_owned() })
        }
    }
}

/// Whether a byte can be in a name that needs no care.
pub(super) fn is_symbol_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_$.".contains(&byte)
}

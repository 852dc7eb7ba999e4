//! A position in a text, and the small tokens of MLIR as iree-compile prints it.

use syntax::Brackets;

use crate::refusal::{Refusal, Result};

/// How deep brackets, regions and expressions may nest: recursion on hostile text ends here.
pub(crate) const MOST_NESTED: usize = 30;

#[derive(Clone)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    /// The line of the start of the text.
    first_line: usize,
    /// A position whose line is known, so that lines are counted once.
    counted: (usize, usize),
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str, first_line: usize) -> Self {
        Self { text, at: 0, first_line, counted: (0, 0) }
    }

    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Goes this many bytes on, to the start of a character.
    pub(crate) fn bump(&mut self, bytes: usize) {
        self.at += bytes;
        while self.at < self.text.len() && !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
    }

    /// The current line, from 1 in the whole text.
    pub(crate) fn line(&mut self) -> usize {
        let (from, lines) = self.counted;
        let (from, lines) = if from <= self.at { (from, lines) } else { (0, 0) };
        let new = self.text.as_bytes()[from..self.at.min(self.text.len())].iter();
        self.counted = (self.at, lines + new.filter(|byte| **byte == b'\n').count());
        self.first_line + self.counted.1
    }

    pub(crate) fn error<T>(&mut self, reason: impl Into<String>) -> Result<T> {
        let line = self.line();
        Err(Refusal::malformed(line, reason))
    }

    /// Skips white space, line ends and comments.
    pub(crate) fn skip(&mut self) {
        loop {
            let rest = self.rest().as_bytes();
            let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            self.at += blank;
            if !self.rest().starts_with("//") {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// Takes this token, if it is next. A word is taken only as a whole.
    pub(crate) fn eat(&mut self, token: &str) -> bool {
        self.skip();
        let Some(after) = self.rest().strip_prefix(token) else { return false };
        let is_word = token.ends_with(|last: char| last.is_ascii_alphanumeric());
        if is_word && after.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_') {
            return false;
        }
        self.at += token.len();
        true
    }

    pub(crate) fn expect(&mut self, token: &str) -> Result<()> {
        if self.eat(token) {
            return Ok(());
        }
        let found: String = self.rest().chars().take(20).take_while(|it| *it != '\n').collect();
        self.error(format!("expected `{token}`, found `{found}`"))
    }

    /// Whether this token is next.
    pub(crate) fn sees(&mut self, token: &str) -> bool {
        self.clone().eat(token)
    }

    fn take_while(&mut self, accept: impl Fn(u8) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.bytes().position(|byte| !accept(byte)).unwrap_or(rest.len());
        // A byte that is accepted is ASCII, so the end is a boundary of characters.
        self.at += length;
        &rest[..length]
    }

    /// A keyword, a mnemonic, a type's or an attribute's name; empty if there is none.
    pub(crate) fn word(&mut self) -> &'t str {
        self.skip();
        self.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$'))
    }

    /// The next word, which stays.
    pub(crate) fn peek_word(&mut self) -> &'t str {
        self.clone().word()
    }

    /// The name of a value after its `%`, with `#1` if it is one of several results.
    pub(crate) fn value(&mut self) -> Result<&'t str> {
        self.expect("%")?;
        let name = self.take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'-' | b'#')
        });
        if name.is_empty() {
            return self.error("expected the name of a value after `%`");
        }
        Ok(name)
    }

    /// An alias after its `#`, such as `map1`.
    pub(crate) fn alias(&mut self) -> Result<&'t str> {
        self.expect("#")?;
        Ok(self.word())
    }

    /// The name of a symbol after its `@`, plain or quoted.
    pub(crate) fn symbol(&mut self) -> Result<String> {
        self.expect("@")?;
        if self.peek() == Some(b'"') {
            return self.string();
        }
        let accept =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'-');
        Ok(self.take_while(accept).to_owned())
    }

    /// A quoted string, without its quotes and with its escapes replaced.
    pub(crate) fn string(&mut self) -> Result<String> {
        self.expect("\"")?;
        let start = self.at;
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    let text = self.text.get(start..self.at).unwrap_or_default();
                    self.at += 1;
                    return Ok(syntax::unquote(text));
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = self.text.len();
        self.error("this string has no closing quote")
    }

    /// A decimal integer with an optional sign.
    pub(crate) fn integer(&mut self) -> Result<i64> {
        self.skip();
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        self.take_while(|byte| byte.is_ascii_digit());
        let text = self.text.get(start..self.at).unwrap_or_default();
        match text.parse() {
            Ok(number) => Ok(number),
            Err(_) => self.error(format!("`{text}` is no 64-bit integer")),
        }
    }

    /// A number of any notation, as text: `1`, `-1.5e+02`, `0xFF800000`.
    pub(crate) fn number(&mut self) -> Result<&'t str> {
        self.skip();
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.rest().starts_with("0x") {
            self.at += 2;
            self.take_while(|byte| byte.is_ascii_hexdigit());
        } else {
            self.take_while(|byte| byte.is_ascii_digit() || byte == b'.');
            let mark = self.at;
            if matches!(self.peek(), Some(b'e' | b'E')) {
                self.at += 1;
                if matches!(self.peek(), Some(b'+' | b'-')) {
                    self.at += 1;
                }
                if self.take_while(|byte| byte.is_ascii_digit()).is_empty() {
                    self.at = mark;
                }
            }
        }
        if self.at == start {
            return self.error("expected a number");
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    /// Skips the bracketed group that begins here, with all that is in it.
    pub(crate) fn skip_group(&mut self) -> Result<&'t str> {
        self.skip();
        let start = self.at;
        let mut brackets = Brackets::default();
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'-' if bytes.get(self.at + 1) == Some(&b'>') => self.at += 1,
                byte if brackets.closes(*byte) => {
                    self.at += 1;
                    return Ok(self.text.get(start..self.at).unwrap_or_default());
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = start;
        self.error("this bracket is never closed")
    }

    /// Skips `loc(…)`, if it is next.
    pub(crate) fn skip_location(&mut self) -> Result<()> {
        self.skip();
        if self.rest().starts_with("loc(") {
            self.at += 3;
            self.skip_group()?;
        }
        Ok(())
    }

    /// What stands between separators `,`, up to and with `end`.
    pub(crate) fn list<T>(
        &mut self,
        end: &str,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(end) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.eat(end) {
                return Ok(items);
            }
            self.expect(",")?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_end_where_their_bracket_does() {
        for group in ["<(d0) : (d0 >= 0)>", "<(d0) -> (d0)>", "{a = \"}>\", b = [c<d>]}"] {
            let text = format!("{group} and more");
            assert_eq!(Cursor::new(&text, 1).skip_group().ok(), Some(group));
        }
        assert!(Cursor::new("<(d0) : (d0 >= 0)", 1).skip_group().is_err());
    }

    #[test]
    fn strings_have_their_escapes_replaced() {
        let mut cursor = Cursor::new(r#""a \22b\22 \C3\A9 \\ \"c\" \n""#, 1);
        assert_eq!(cursor.string().ok().as_deref(), Some("a \"b\" é \\ \"c\" \n"));
        assert_eq!(Cursor::new(r#"@"x\2Fy""#, 1).symbol().ok().as_deref(), Some("x/y"));
    }
}

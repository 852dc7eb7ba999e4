//! A position in a text that iree-compile prints, and the small tokens of MLIR.
//!
//! Everything here reads each byte at most once and copies only what it returns, so hundreds of
//! megabytes of constants cost one `memchr` over them.

use std::borrow::Cow;

use syntax::Brackets;

use super::error::MlirTextError;

/// A reader's position in a text.
#[derive(Clone)]
pub(crate) struct Cursor<'t> {
    text: &'t [u8],
    at: usize,
}

pub(crate) type Result<T> = std::result::Result<T, MlirTextError>;

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        Self { text, at: 0 }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn jump(&mut self, at: usize) {
        self.at = at.min(self.text.len());
    }

    pub(crate) fn rest(&self) -> &'t [u8] {
        &self.text[self.at..]
    }

    pub(crate) fn slice(&self, from: usize, to: usize) -> &'t [u8] {
        self.text.get(from..to).unwrap_or_default()
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(crate) fn previous(&self) -> Option<u8> {
        self.at.checked_sub(1).map(|before| self.text[before])
    }

    pub(crate) fn bump(&mut self) {
        if self.at < self.text.len() {
            self.at += 1;
        }
    }

    pub(crate) fn starts_with(&self, prefix: &[u8]) -> bool {
        self.rest().starts_with(prefix)
    }

    pub(crate) fn eat(&mut self, prefix: &[u8]) -> bool {
        let found = self.starts_with(prefix);
        if found {
            self.at += prefix.len();
        }
        found
    }

    pub(crate) fn expect(&mut self, what: &'static str) -> Result<()> {
        if self.eat(what.as_bytes()) {
            Ok(())
        } else {
            Err(self.error(format!("expected `{what}`")))
        }
    }

    pub(crate) fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips spaces and line ends.
    pub(crate) fn skip_blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// The end of the current line: the position of its `\n`, or of the end of the text.
    pub(crate) fn line_end(&self) -> usize {
        memchr::memchr(b'\n', self.rest()).map_or(self.text.len(), |length| self.at + length)
    }

    pub(crate) fn skip_line(&mut self) {
        self.at = (self.line_end() + 1).min(self.text.len());
    }

    fn take_while(&mut self, accept: impl Fn(u8) -> bool) -> &'t [u8] {
        let rest = self.rest();
        let length = rest.iter().position(|byte| !accept(*byte)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// A keyword, a mnemonic or an attribute name; empty if there is none.
    pub(crate) fn word(&mut self) -> &'t [u8] {
        self.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$'))
    }

    /// The name of an SSA value or block after its `%` or `^`.
    pub(crate) fn value_name(&mut self) -> &'t [u8] {
        self.take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'-')
        })
    }

    /// A number; one that does not fit saturates.
    pub(crate) fn number(&mut self) -> Result<u32> {
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.error("expected a number".to_owned()));
        }
        Ok(digits.iter().fold(0_u32, |sum, digit| {
            sum.saturating_mul(10).saturating_add(u32::from(digit - b'0'))
        }))
    }

    /// A quoted string, without its quotes and with its escapes replaced.
    pub(crate) fn string(&mut self) -> Result<Cow<'t, str>> {
        let start = self.at + 1;
        self.skip_string()?;
        let text = String::from_utf8_lossy(&self.text[start..self.at - 1]);
        Ok(if text.contains('\\') { Cow::Owned(syntax::unquote(&text)) } else { text })
    }

    /// Skips a quoted string.
    pub(crate) fn skip_string(&mut self) -> Result<()> {
        let start = self.at;
        self.expect("\"")?;
        loop {
            let Some(length) = memchr::memchr2(b'"', b'\\', self.rest()) else {
                self.at = start;
                return Err(self.error("this string has no closing quote".to_owned()));
            };
            self.at += length;
            let found = self.text[self.at];
            self.at += 1;
            if found == b'"' {
                return Ok(());
            }
            self.bump();
        }
    }

    /// A symbol's name after its `@`, plain or quoted.
    pub(crate) fn symbol(&mut self) -> Result<Cow<'t, str>> {
        self.expect("@")?;
        if self.peek() == Some(b'"') {
            return self.string();
        }
        let name = self.value_name();
        if name.is_empty() {
            return Err(self.error("expected a symbol name after `@`".to_owned()));
        }
        Ok(String::from_utf8_lossy(name))
    }

    /// Skips the bracketed group that begins here, with everything in it.
    pub(crate) fn skip_group(&mut self) -> Result<()> {
        let start = self.at;
        let mut brackets = Brackets::default();
        loop {
            match self.peek() {
                None => {
                    self.at = start;
                    return Err(self.error("this bracket is never closed".to_owned()));
                }
                Some(b'"') => {
                    self.skip_string()?;
                    continue;
                }
                Some(b'-') if self.starts_with(b"->") => self.bump(),
                Some(byte) if brackets.closes(byte) => {
                    self.bump();
                    return Ok(());
                }
                Some(_) => {}
            }
            self.bump();
        }
    }

    /// Skips the value of an attribute, up to the `,` or `}` after it.
    pub(crate) fn skip_attribute(&mut self) -> Result<()> {
        loop {
            match self.peek() {
                None => return Err(self.error("the text ends inside an attribute".to_owned())),
                Some(b',' | b'}' | b']' | b')' | b'>') => return Ok(()),
                Some(b'"') => self.skip_string()?,
                Some(b'(' | b'[' | b'{' | b'<') => self.skip_group()?,
                Some(b'-') if self.starts_with(b"->") => self.at += 2,
                Some(_) => self.bump(),
            }
        }
    }

    /// A type, as text: `i64`, `!vm.ref<!hal.buffer>`, `tuple<i32, i64>`.
    pub(crate) fn type_text(&mut self) -> Result<&'t [u8]> {
        let start = self.at;
        self.take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'!' | b'_' | b'.' | b'$' | b'?' | b'#')
        });
        if self.at == start {
            return Err(self.error("expected a type".to_owned()));
        }
        if self.peek() == Some(b'<') {
            self.skip_group()?;
        }
        Ok(self.slice(start, self.at))
    }

    /// An error at the current position.
    pub(crate) fn error(&self, message: String) -> MlirTextError {
        let before = &self.text[..self.at];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        MlirTextError {
            line: memchr::memchr_iter(b'\n', before).count() + 1,
            column: before.len() - line_start + 1,
            message,
        }
    }
}

/// The value of a hexadecimal digit; of anything else, zero.
pub(crate) fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_end_where_their_bracket_does() {
        for group in ["<(d0) : (d0 >= 0)>", "<(d0) -> (d0)>", "{a = \"}>\", b = [c<d>]}"] {
            let text = format!("{group} and more");
            let mut cursor = Cursor::new(text.as_bytes());
            assert!(cursor.skip_group().is_ok());
            assert_eq!(cursor.rest(), b" and more", "{group}");
        }
        assert!(Cursor::new(b"<(d0) : (d0 >= 0)").skip_group().is_err());
    }

    #[test]
    fn strings_have_their_escapes_replaced() {
        let mut cursor = Cursor::new(br#""a \22b\22 \C3\A9 \\ \"c\" \n""#);
        assert_eq!(cursor.string().ok().as_deref(), Some("a \"b\" é \\ \"c\" \n"));
    }
}

//! Tokens of MLIR and `.vmasm`.
//!
//! One flat lexer for both. No token spans lines, so lexing may begin at any line start. `memchr`
//! finds the ends of strings and comments, so a constant of 50 MB is one token and is never copied.
//! Comments are tokens, white space is not.

use crate::cursor::Cursor;
use crate::{Source, TextRange};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// `// …` to the end of the line.
    Comment,
    /// `"…"`.
    String,
    /// `"…` without a closing quote on its line.
    UnterminatedString,
    /// `@name` or `@"name"`.
    Symbol,
    /// `%name`.
    Value,
    /// `^name`.
    Block,
    /// `!name`: a type alias or the name of a dialect's type.
    Type,
    /// `#name`: an attribute alias or the name of a dialect's attribute.
    Attribute,
    /// A keyword, an operation, a built-in type: `func.func`, `tensor`, `i32`.
    Word,
    /// A number, or a shape such as `4x8xf32`.
    Number,
    /// `->` or `=>`.
    Arrow,
    /// Any other byte. A comparison such as `>=` counts as `=`.
    Punct(u8),
    /// Text outside ASCII, strings and comments.
    Unknown,
}

/// A token and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// Its bytes.
    pub range: TextRange,
    /// Whether it is the first on its line, as far as the lexer has seen the line.
    pub line_start: bool,
    /// Bytes of white space before it on its line; 0 unless `line_start`.
    pub indent: usize,
}

impl Token {
    /// Whether it is the punctuation `byte`.
    pub fn is(&self, byte: u8) -> bool {
        self.kind == TokenKind::Punct(byte)
    }

    /// Its text.
    pub fn text<'a, S: Source + ?Sized>(&self, source: &'a S) -> std::borrow::Cow<'a, str> {
        source.slice(self.range.clone())
    }

    /// The name of a symbol or the content of a string, without sigil and quotes.
    pub fn name<S: Source + ?Sized>(&self, source: &S) -> String {
        unquote(&source.slice(self.name_range(source)))
    }

    /// Where that name lies, without quotes.
    pub fn name_range<S: Source + ?Sized>(&self, source: &S) -> TextRange {
        let mut range = self.range.clone();
        if matches!(
            self.kind,
            TokenKind::Symbol
                | TokenKind::Value
                | TokenKind::Block
                | TokenKind::Type
                | TokenKind::Attribute
        ) {
            range.start += 1;
        }
        let text = source.slice(range.start..(range.start + 1).min(range.end));
        if text == "\"" {
            range.start += 1;
            if range.end > range.start && source.slice(range.end - 1..range.end) == "\"" {
                range.end -= 1;
            }
        }
        range
    }
}

/// Undoes the escapes of a string literal: `\"`, `\\`, `\n`, `\t` and `\E2`-style hex bytes.
pub fn unquote(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(high) => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                match (digit(high), bytes.peek().copied().and_then(digit)) {
                    (Some(high), Some(low)) => {
                        bytes.next();
                        out.push((high * 16 + low) as u8);
                    }
                    _ => out.push(high),
                }
            }
            None => out.push(b'\\'),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The tokens from an offset on. Cloning is cheap: it is the way to look ahead.
pub struct Lexer<'a, S: Source + ?Sized> {
    pub(crate) cursor: Cursor<'a, S>,
    line_start: bool,
    line_begin: usize,
}

impl<S: Source + ?Sized> Clone for Lexer<'_, S> {
    fn clone(&self) -> Self {
        Self { cursor: self.cursor.clone(), ..*self }
    }
}

impl<'a, S: Source + ?Sized> Lexer<'a, S> {
    /// A lexer that begins at `offset`, which should be the start of a line or a token.
    pub fn new(source: &'a S, offset: usize) -> Self {
        Self { cursor: Cursor::new(source, offset), line_start: true, line_begin: offset }
    }

    /// The text of a token near the lexer: like [`Token::text`], but mostly without asking the
    /// source again.
    pub fn text(&self, token: &Token) -> std::borrow::Cow<'a, str> {
        match self.cursor.here(&token.range).map(std::str::from_utf8) {
            Some(Ok(text)) => text.into(),
            _ => self.cursor.source().slice(token.range.clone()),
        }
    }

    /// The name of a token near the lexer, like [`Token::name`].
    pub fn name(&self, token: &Token) -> String {
        let text = self.text(token);
        match text.as_bytes() {
            [b'@', first, ..] if *first != b'"' => text[1..].to_owned(),
            _ => token.name(self.cursor.source()),
        }
    }

    /// The offset where the search for the next token begins.
    pub fn offset(&self) -> usize {
        self.cursor.offset()
    }

    fn skip_space(&mut self) {
        loop {
            self.cursor.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
            if self.cursor.peek() != Some(b'\n') {
                return;
            }
            self.cursor.bump();
            self.line_start = true;
            self.line_begin = self.cursor.offset();
        }
    }

    fn kind(&mut self, first: u8) -> TokenKind {
        match first {
            b'/' if self.cursor.peek() == Some(b'/') => {
                self.cursor.skip_line();
                TokenKind::Comment
            }
            b'"' => self.string(),
            b'@' => {
                if self.cursor.peek() == Some(b'"') {
                    self.cursor.bump();
                    return match self.string() {
                        TokenKind::String => TokenKind::Symbol,
                        other => other,
                    };
                }
                if self.suffix() { TokenKind::Symbol } else { TokenKind::Punct(b'@') }
            }
            b'%' => self.sigil(TokenKind::Value),
            b'^' => self.sigil(TokenKind::Block),
            b'!' => self.sigil(TokenKind::Type),
            b'#' => self.sigil(TokenKind::Attribute),
            b'-' if self.cursor.peek() == Some(b'>') => {
                self.cursor.bump();
                TokenKind::Arrow
            }
            b'=' if self.cursor.peek() == Some(b'>') => {
                self.cursor.bump();
                TokenKind::Arrow
            }
            b'<' | b'>' | b'=' if self.cursor.peek() == Some(b'=') => {
                self.cursor.bump();
                TokenKind::Punct(b'=')
            }
            b'0'..=b'9' => {
                self.cursor.skip_while(is_word);
                TokenKind::Number
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.cursor.skip_while(is_word);
                TokenKind::Word
            }
            0x80.. => {
                self.cursor.skip_while(|byte| byte >= 0x80);
                TokenKind::Unknown
            }
            other => TokenKind::Punct(other),
        }
    }

    fn string(&mut self) -> TokenKind {
        if self.cursor.skip_string() { TokenKind::String } else { TokenKind::UnterminatedString }
    }

    fn sigil(&mut self, kind: TokenKind) -> TokenKind {
        self.suffix();
        kind
    }

    /// Reads a name after its sigil and returns whether there is one. The name may hold dashes, but
    /// not the dash of an arrow (`%a->%b`).
    fn suffix(&mut self) -> bool {
        let start = self.cursor.offset();
        loop {
            self.cursor.skip_while(is_word);
            let named = self.cursor.offset() > start;
            let mut ahead = self.cursor.clone();
            if !named || ahead.bump() != Some(b'-') || !ahead.peek().is_some_and(is_suffix) {
                return named;
            }
            self.cursor = ahead;
        }
    }
}

impl<S: Source + ?Sized> Iterator for Lexer<'_, S> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.skip_space();
        let start = self.cursor.offset();
        let first = self.cursor.bump()?;
        let kind = self.kind(first);
        let line_start = std::mem::replace(&mut self.line_start, false);
        let indent = if line_start { start - self.line_begin } else { 0 };
        Some(Token { kind, range: start..self.cursor.offset(), line_start, indent })
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

/// Names with a sigil may hold a dash.
fn is_suffix(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

#[cfg(test)]
mod tests {
    use super::{Lexer, TokenKind as Kind};
    use crate::source::Shredded;

    #[test]
    fn tokens_do_not_depend_on_pieces() {
        let text = "func.func @\"größe 😀\"(%a: !vm.ref<?>) -> 4x8xf32 // \"c\n  #a = \"x\\\"y\" >= ^bb0 \"open\n}";
        let whole: Vec<_> = Lexer::new(text, 0).collect();
        let kinds: Vec<_> = whole.iter().map(|token| token.kind).collect();
        let p = Kind::Punct;
        assert_eq!(
            kinds,
            [
                Kind::Word,
                Kind::Symbol,
                p(b'('),
                Kind::Value,
                p(b':'),
                Kind::Type,
                p(b'<'),
                p(b'?'),
                p(b'>'),
                p(b')'),
                Kind::Arrow,
                Kind::Number,
                Kind::Comment,
                Kind::Attribute,
                p(b'='),
                Kind::String,
                p(b'='),
                Kind::Block,
                Kind::UnterminatedString,
                p(b'}'),
            ]
        );
        assert_eq!(whole[1].name(text), "größe 😀");
        assert_eq!(whole[13].indent, 2);
        assert_eq!(whole[15].name(text), "x\"y");
        for size in 1..9 {
            assert_eq!(Lexer::new(&Shredded(text, size), 0).collect::<Vec<_>>(), whole);
        }
    }

    #[test]
    fn any_bytes_end() {
        for text in ["", "\"", "\"\\", "@", "@\"", "-", "//", "\u{feff}%", "\\"] {
            assert!(Lexer::new(text, 0).count() <= 2, "{text:?}");
        }
    }
}

//! Shared by the parsers of signatures: [`SyntaxError`] with its position, and a cursor over text.

/// A syntax error and its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (byte {position})")]
pub struct SyntaxError {
    /// The byte offset into the text; the text's length if something is missing at the end.
    pub position: usize,
    /// The problem.
    pub message: String,
}

impl SyntaxError {
    /// An error at a byte.
    pub fn at(position: usize, message: impl Into<String>) -> Self {
        Self { position, message: message.into() }
    }
}

/// The deepest nesting of values that is accepted. The parsers recurse, and hostile texts must not
/// exhaust the stack.
pub(crate) const DEEPEST: usize = 64;

/// Fails if the nesting is too deep.
pub(crate) fn check_depth(depth: usize, position: usize) -> Result<(), SyntaxError> {
    if depth < DEEPEST {
        return Ok(());
    }
    Err(SyntaxError::at(position, format!("nested more than {DEEPEST} levels deep")))
}

/// A position in a text.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, position: 0 }
    }

    pub(crate) fn position(&self) -> usize {
        self.position
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest().is_empty()
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn bump(&mut self) -> Option<char> {
        let found = self.peek()?;
        self.position += found.len_utf8();
        Some(found)
    }

    pub(crate) fn skip_space(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
    }

    /// Consumes `token`, with spaces before it, if it is next.
    pub(crate) fn eat(&mut self, token: &str) -> bool {
        let before = self.position;
        self.skip_space();
        if self.rest().starts_with(token) {
            self.position += token.len();
            return true;
        }
        self.position = before;
        false
    }

    /// Consumes `word` if it is next and is not the beginning of a longer word.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let before = self.position;
        if self.eat(word) && !self.peek().is_some_and(is_word) {
            return true;
        }
        self.position = before;
        false
    }

    pub(crate) fn expect(&mut self, token: &str) -> Result<(), SyntaxError> {
        if self.eat(token) {
            return Ok(());
        }
        self.skip_space();
        Err(self.expected(&format!("`{token}`")))
    }

    /// Consumes characters while they are accepted.
    pub(crate) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.position += taken;
        &rest[..taken]
    }

    pub(crate) fn word(&mut self) -> &'a str {
        self.take_while(is_word)
    }

    /// An error that names what was expected here, and what is there instead.
    pub(crate) fn expected(&self, what: &str) -> SyntaxError {
        let found = match self.peek() {
            Some(found) => format!("`{}`", found.escape_debug()),
            None => "the text ends".to_owned(),
        };
        SyntaxError::at(self.position, format!("expected {what}, but {found} here"))
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> SyntaxError {
        SyntaxError::at(self.position, message)
    }

    /// Fails unless the whole text was consumed.
    pub(crate) fn finish(mut self) -> Result<(), SyntaxError> {
        self.skip_space();
        if self.is_at_end() {
            return Ok(());
        }
        Err(self.error(format!("`{}` after the end", excerpt(self.rest()))))
    }

    pub(crate) fn go_to(&mut self, position: usize) {
        self.position = position;
    }
}

pub(crate) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-')
}

/// The beginning of a text, for messages.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown: String = text.chars().take(LONGEST).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

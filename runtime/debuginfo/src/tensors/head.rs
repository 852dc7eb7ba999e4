//! The head of an operation: its tokens between its name and its regions, and the values among
//! them.

use std::ops::Range;

use syntax::{Brackets, TokenKind};

use crate::source::functions::{OperationIndex, SourceFunction, ValueIndex};

/// The tokens of an operation without its name, results, regions and location.
pub(crate) struct Head<'f> {
    tokens: Vec<(TokenKind, &'f str)>,
    /// The value that each token names.
    values: Vec<Option<ValueIndex>>,
}

/// A type in a list, or the operand that a result is tied to.
pub(crate) struct ListedType {
    pub(crate) tied: Option<ValueIndex>,
    pub(crate) text: Option<String>,
    /// The sizes in braces after it.
    pub(crate) sizes: Vec<ValueIndex>,
}

impl<'f> Head<'f> {
    pub(crate) fn of(function: &'f SourceFunction, operation: OperationIndex) -> Self {
        let mut tokens = function.head(operation);
        let start = tokens.iter().rposition(|(_, text)| *text == "loc");
        if let Some(start) = start.filter(|at| is_punct(&tokens, at + 1, b'(')) {
            tokens.truncate(start);
        }
        let mut pending: &[ValueIndex] =
            function.operations.get(operation).map_or(&[], |it| &it.operands);
        let mut values = vec![None; tokens.len()];
        for (at, (kind, text)) in tokens.iter().enumerate() {
            if *kind != TokenKind::Value {
                continue;
            }
            let Some((first, rest)) = pending.split_first() else { break };
            let name = function.values.get(*first).map_or("", |it| it.name.as_str());
            if name.strip_prefix(text).is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
            {
                values[at] = Some(*first);
                pending = rest;
            }
        }
        Self { tokens, values }
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The text of a token; empty after the last one.
    pub(crate) fn token(&self, at: usize) -> &'f str {
        self.tokens.get(at).map_or("", |(_, text)| text)
    }

    pub(crate) fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|(kind, _)| *kind)
    }

    /// The token after the first word of a text, outside of brackets.
    pub(crate) fn after(&self, word: &str) -> Option<usize> {
        let mut at = 0;
        while at < self.len() {
            if self.token(at) == word {
                return Some(at + 1);
            }
            at = if self.is_open(at) { self.group_end(at) } else { at + 1 };
        }
        None
    }

    /// The token after a word and a `=`, if there is one, wherever the word is.
    pub(crate) fn anywhere(&self, word: &str) -> Option<usize> {
        let at = (0..self.len()).find(|at| self.token(*at) == word)?;
        Some(at + usize::from(self.token(at + 1) == "="))
    }

    fn is_open(&self, at: usize) -> bool {
        matches!(self.kind(at), Some(TokenKind::Punct(b'(' | b'[' | b'{' | b'<')))
    }

    /// The end of the bracketed group that begins at a token: the index after its last token.
    pub(crate) fn group_end(&self, start: usize) -> usize {
        let mut brackets = Brackets::default();
        let mut closes =
            |at| matches!(self.kind(at), Some(TokenKind::Punct(byte)) if brackets.closes(byte));
        (start..self.len()).find(|at| closes(*at)).map_or(self.len(), |last| last + 1)
    }

    /// The tokens inside the brackets that begin at a token; empty if none begin there.
    pub(crate) fn inside(&self, start: usize) -> Range<usize> {
        if !self.is_open(start) {
            return start..start;
        }
        let end = self.group_end(start);
        start + 1..end.saturating_sub(1).max(start + 1)
    }

    /// The tokens inside of the brackets after a word.
    pub(crate) fn group_after(&self, word: &str) -> Option<Range<usize>> {
        let mut at = self.after(word)?;
        if self.token(at) == "=" {
            at += 1;
        }
        self.is_open(at).then(|| self.inside(at))
    }

    /// The values that some tokens name, in order.
    pub(crate) fn values(&self, range: Range<usize>) -> Vec<ValueIndex> {
        self.values.get(range).unwrap_or_default().iter().flatten().copied().collect()
    }

    pub(crate) fn value(&self, at: usize) -> Option<ValueIndex> {
        self.values.get(at).copied().flatten()
    }

    /// The text of some tokens. Only words have blanks between them.
    pub(crate) fn text(&self, range: Range<usize>) -> String {
        let mut text = String::new();
        for (kind, token) in self.tokens.get(range).unwrap_or_default() {
            let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
            if text.ends_with(is_word) && token.starts_with(is_word) && *kind != TokenKind::Punct(0)
            {
                text.push(' ');
            }
            text.push_str(token);
        }
        text
    }

    /// Splits tokens at the commas outside of brackets.
    pub(crate) fn parts(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut start = range.start;
        let mut at = range.start;
        while at < range.end {
            if self.kind(at) == Some(TokenKind::Punct(b',')) {
                parts.push(start..at);
                start = at + 1;
            }
            at = if self.is_open(at) { self.group_end(at) } else { at + 1 };
        }
        if start < range.end {
            parts.push(start..range.end);
        }
        parts
    }

    /// The token after the last colon or arrow outside of brackets, whichever `is_it` accepts.
    fn after_last(&self, is_it: impl Fn(TokenKind) -> bool) -> Option<usize> {
        let mut found = None;
        let mut at = 0;
        while at < self.len() {
            if self.kind(at).is_some_and(&is_it) {
                found = Some(at + 1);
            }
            at = if self.is_open(at) { self.group_end(at) } else { at + 1 };
        }
        found
    }

    /// The token after the last colon outside of brackets.
    pub(crate) fn after_colon(&self) -> Option<usize> {
        self.after_last(|kind| kind == TokenKind::Punct(b':'))
    }

    /// The token after the last arrow outside of brackets.
    pub(crate) fn after_arrow(&self) -> Option<usize> {
        self.after_last(|kind| kind == TokenKind::Arrow)
    }

    /// A list of types, in parentheses or not.
    pub(crate) fn types(&self, start: usize) -> Vec<ListedType> {
        let range = match self.kind(start) {
            Some(TokenKind::Punct(b'(')) => self.inside(start),
            _ => start..self.len(),
        };
        self.parts(range).into_iter().map(|part| self.listed_type(part)).collect()
    }

    fn listed_type(&self, part: Range<usize>) -> ListedType {
        let tied = self.value(part.start);
        let mut start = part.start;
        if let Some(tied) = tied {
            if self.token(start + 1) != "as" {
                let sizes = self.values(start + 1..part.end);
                return ListedType { tied: Some(tied), text: None, sizes };
            }
            start += 2;
        }
        let mut end = start;
        while end < part.end && self.kind(end) != Some(TokenKind::Punct(b'{')) {
            end = if self.is_open(end) { self.group_end(end) } else { end + 1 };
        }
        let end = end.min(part.end);
        ListedType { tied, text: Some(self.text(start..end)), sizes: self.values(end..part.end) }
    }
}

fn is_punct(tokens: &[(TokenKind, &str)], at: usize, byte: u8) -> bool {
    tokens.get(at).is_some_and(|(kind, _)| *kind == TokenKind::Punct(byte))
}

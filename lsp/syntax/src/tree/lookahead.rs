//! What the tokens ahead show: questions that need no tree.
//!
//! No dialect is known here. The shape of the text decides where an operation begins, where a list
//! of results ends, and what a brace opens.

use std::borrow::Cow;

use super::nodes::{Leaf, NodeKind};
use crate::lexer::{Lexer, TokenKind};
use crate::{Language, Source, TextRange};

/// The tokens of a range and their text.
pub(super) struct Lookahead<'a, S: Source + ?Sized> {
    source: &'a S,
    base: usize,
    /// All tokens, comments included, relative to the start of the range.
    pub(super) tokens: Vec<Leaf>,
}

/// The tokens of a range. The tree counts in 32 bits, so bytes beyond 4 GiB stay unread.
fn lex<S: Source + ?Sized>(source: &S, range: &TextRange, language: Language) -> Vec<Leaf> {
    let base = range.start;
    let limit = range.end.min(base.saturating_add(u32::MAX as usize));
    let mut tokens: Vec<Leaf> = Vec::new();
    for token in Lexer::new(source, base).take_while(|token| token.range.start < limit) {
        let leaf = Leaf {
            start: (token.range.start - base) as u32,
            end: (token.range.end.min(limit) - base) as u32,
            kind: token.kind,
            line_start: token.line_start,
        };
        tokens.push(leaf);
        // `[0000002A]  %i0 = …`: the line begins after the offset.
        if language == Language::Vmasm
            && let [.., open, _, close, last] = tokens.as_mut_slice()
            && open.line_start
            && open.is(b'[')
            && close.is(b']')
        {
            last.line_start = true;
        }
    }
    tokens
}

/// Operations that are written without their dialect.
fn is_bare_operation(word: &str) -> bool {
    matches!(word, "return" | "call" | "call_indirect" | "module" | "func" | "yield")
}

impl<'a, S: Source + ?Sized> Lookahead<'a, S> {
    /// Reads the tokens of `range`.
    pub(super) fn new(source: &'a S, range: &TextRange, language: Language) -> Self {
        Self { source, base: range.start, tokens: lex(source, range, language) }
    }

    /// Whether an instruction's offset in a disassembly begins here: `[0000002A]`.
    pub(super) fn is_offset(&self, index: usize) -> bool {
        self.is(index + 2, b']') && self.token(index + 3).is_some_and(|token| token.line_start)
    }

    /// The index of the first token from `index` on that is no comment.
    pub(super) fn significant(&self, mut index: usize) -> usize {
        while self.tokens.get(index).is_some_and(|token| token.kind == TokenKind::Comment) {
            index += 1;
        }
        index
    }

    pub(super) fn next_of(&self, index: usize) -> usize {
        self.significant(index + 1)
    }

    pub(super) fn token(&self, index: usize) -> Option<&Leaf> {
        self.tokens.get(index)
    }

    pub(super) fn is(&self, index: usize, byte: u8) -> bool {
        self.token(index).is_some_and(|token| token.is(byte))
    }

    pub(super) fn kind(&self, index: usize) -> Option<TokenKind> {
        self.token(index).map(|token| token.kind)
    }

    pub(super) fn word(&self, index: usize) -> Cow<'_, str> {
        match self.token(index) {
            Some(token) if token.kind == TokenKind::Word => token.text(self.source, self.base),
            _ => "".into(),
        }
    }

    /// Whether `^name:` or `^name(…):` begins here. A successor has no colon.
    pub(super) fn is_label(&self, index: usize) -> bool {
        self.label_end(index).is_some()
    }

    /// The index after the label's colon.
    pub(super) fn label_end(&self, index: usize) -> Option<usize> {
        let mut next = self.next_of(index);
        if self.is(next, b'(') {
            let mut nest = 0_u32;
            loop {
                match self.kind(next)? {
                    TokenKind::Punct(b'(' | b'[' | b'{') => nest += 1,
                    TokenKind::Punct(b')' | b']' | b'}') => nest = nest.saturating_sub(1),
                    _ => {}
                }
                next = self.next_of(next);
                if nest == 0 {
                    break;
                }
            }
        }
        self.is(next, b':').then(|| next + 1)
    }

    /// The index of the `=` after a list of values.
    pub(super) fn results_end(&self, mut index: usize) -> Option<usize> {
        loop {
            if self.kind(index)? != TokenKind::Value {
                return None;
            }
            index = self.next_of(index);
            if self.is(index, b':') && self.kind(self.next_of(index))? == TokenKind::Number {
                index = self.next_of(self.next_of(index));
            }
            if self.is(index, b'=') {
                return Some(index);
            }
            if !self.is(index, b',') {
                return None;
            }
            index = self.next_of(index);
        }
    }

    /// Whether an operation may begin here, by the tokens alone, in a node of kind `inside` with
    /// `depth` nodes open.
    pub(super) fn may_begin_operation(&self, index: usize, inside: NodeKind, depth: usize) -> bool {
        let next = self.next_of(index);
        match self.kind(index) {
            Some(TokenKind::Value) => self.results_end(index).is_some(),
            Some(TokenKind::String) => self.is(next, b'('),
            Some(TokenKind::Block) => self.is_label(index),
            Some(TokenKind::Attribute | TokenKind::Type) => self.is(next, b'=') && depth <= 2,
            Some(TokenKind::Word) => {
                let word = self.word(index);
                let follows = self.kind(next);
                let is_key =
                    matches!(follows, Some(TokenKind::Punct(b'=' | b',' | b')' | b']' | b'>')));
                if word.contains('.') {
                    !(is_key || self.is(next, b'}') && inside.is_bracket())
                } else {
                    is_bare_operation(&word)
                        && !is_key
                        && follows != Some(TokenKind::Punct(b'<'))
                        && follows != Some(TokenKind::Punct(b'('))
                }
            }
            Some(TokenKind::Punct(b'[')) => {
                self.is_offset(index) && self.kind(index + 1) == Some(TokenKind::Number)
            }
            Some(TokenKind::Punct(b'{')) => self.is(next, b'-') && depth <= 2,
            _ => false,
        }
    }

    /// Whether this begins an operation that no group can hold: `%x = name`, `"name"(`, a label, or
    /// a word with a dialect followed by an operand.
    pub(super) fn surely_begins_operation(&self, index: usize) -> bool {
        if !self.token(index).is_some_and(|token| token.line_start) {
            return false;
        }
        // A generic operation's regions are within parentheses; a dictionary's keys are words.
        match self.kind(index) {
            Some(TokenKind::Value) => self.results_end(index).is_some_and(|equals| {
                let name = self.next_of(equals);
                match self.kind(name) {
                    Some(TokenKind::Word) => self.word(name).contains('.'),
                    Some(TokenKind::String) => self.is(self.next_of(name), b'('),
                    _ => false,
                }
            }),
            Some(TokenKind::Block) => self.is_label(index),
            Some(TokenKind::Word) => {
                let next = self.next_of(index);
                self.word(index).contains('.')
                    && matches!(self.kind(next), Some(TokenKind::Value | TokenKind::Symbol))
                    && !self.token(next).is_some_and(|token| token.line_start)
            }
            _ => false,
        }
    }

    /// What the brace at the token `at` opens.
    pub(super) fn brace_kind(&self, at: usize, inside: NodeKind, open_end: bool) -> NodeKind {
        let first = self.next_of(at);
        let second = self.next_of(first);
        let before = at.checked_sub(1).and_then(|index| self.token(index));
        let here = self.tokens[at];
        // `tensor<?xf32>{%n}`, and `{` inside `<`, `[` or a dictionary.
        let touches = before.is_some_and(|token| {
            token.end == here.start && (token.is(b'>') || token.kind == TokenKind::Type)
        });
        let in_data = matches!(
            inside,
            NodeKind::Angle | NodeKind::Bracket | NodeKind::Dictionary | NodeKind::Brace
        );
        let may_hold_region = !in_data;
        let after_keyword = at > 0 && self.word(at - 1) == "attributes";
        match self.kind(first) {
            Some(TokenKind::Block) if self.is_label(first) => NodeKind::Region,
            Some(TokenKind::Value) if self.results_end(first).is_some() => NodeKind::Region,
            Some(TokenKind::String) if may_hold_region && self.is(second, b'(') => NodeKind::Region,
            Some(TokenKind::Word | TokenKind::String)
                if matches!(self.kind(second), Some(TokenKind::Punct(b'=' | b','))) =>
            {
                NodeKind::Dictionary
            }
            Some(TokenKind::Word) if self.is(second, b'}') => {
                let word = self.word(first);
                let last = word.rsplit('.').next().unwrap_or_default();
                let ends = ["return", "yield", "terminator", "end", "unreachable"];
                let is_terminator = ends.iter().any(|end| last.ends_with(end));
                if may_hold_region && is_terminator && !after_keyword {
                    NodeKind::Region
                } else {
                    NodeKind::Dictionary
                }
            }
            Some(TokenKind::Word) if self.is(second, b':') => NodeKind::Brace,
            Some(TokenKind::Word) if may_hold_region && !touches && !after_keyword => {
                NodeKind::Region
            }
            Some(TokenKind::Punct(b'}')) if may_hold_region && !touches && !after_keyword => {
                NodeKind::Region
            }
            Some(TokenKind::Punct(b'}')) => NodeKind::Dictionary,
            Some(TokenKind::Punct(b'['))
                if may_hold_region
                    && self.token(first + 3).is_some_and(|token| token.line_start) =>
            {
                NodeKind::Region
            }
            None if open_end && may_hold_region => NodeKind::Region,
            _ => NodeKind::Brace,
        }
    }
}

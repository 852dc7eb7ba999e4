//! Completion: what may stand at the cursor, by the operation that is being typed there.
//!
//! Only the text before the cursor says what may follow, so the text after it may be broken. A
//! place is described by `statement`; `examples` learns from other operations of the same name how
//! this one goes on; the other files turn that into values, types, symbols, words and operations.

mod examples;
mod expected;
mod item;
mod operations;
mod statement;
mod symbols;
mod types;
mod values;
mod words;

use syntax::{Language, Lexer, TokenKind};

use crate::Document;
use crate::resolve::{line_start, type_of};
use crate::text::LocalDefinition;
use examples::{Continuation, Form, Surroundings, continuations, forms};
use expected::{expected, written_after};
pub use item::{CompletionItem, CompletionItemKind, Completions};
use item::{LIMIT, item};
use statement::{Piece, Statement};

/// The completions at `offset`.
pub fn complete(document: &Document, offset: usize) -> Completions {
    let text = document.text();
    let start = line_start(text, offset);
    let tokens: Vec<_> =
        Lexer::new(text, start).take_while(|token| token.range.start < offset).collect();
    // A bracket and the like ends the name before it.
    let current = tokens.last().filter(|token| {
        let is_word = !matches!(token.kind, TokenKind::Punct(sign) if !b"%@^#!".contains(&sign));
        token.range.end >= offset && is_word
    });
    let kind = current.map(|token| token.kind);
    let in_string = matches!(kind, Some(TokenKind::String | TokenKind::UnterminatedString));
    let is_offered = matches!(
        kind,
        None | Some(
            TokenKind::Punct(b'%' | b'@' | b'^' | b'#' | b'!')
                | TokenKind::Word
                | TokenKind::Value
                | TokenKind::Symbol
                | TokenKind::Block
                | TokenKind::Attribute
                | TokenKind::Type
        )
    );
    if !is_offered && !in_string {
        return Completions { replaces: offset..offset, ..Completions::default() };
    }
    let mut replaces = current.map_or(offset..offset, |token| token.range.start..offset);
    let typed = text.slice(replaces.clone()).into_owned();
    let mut items = match kind {
        Some(kind) if in_string => {
            // The closing quote is typed already, perhaps by the editor.
            if kind == TokenKind::String {
                replaces.end = current.map_or(offset, |token| token.range.end);
            }
            Place::of(document, replaces.start).map_or(Vec::new(), |place| place.strings())
        }
        Some(kind) => at_word(document, offset, replaces.start, kind, &typed),
        None => at_word(document, offset, offset, TokenKind::Word, ""),
    };
    items.retain(|item| {
        item.label.starts_with(&typed)
            || typed.len() <= 1
            || item.label.contains(typed.trim_start_matches(['%', '@', '^', '#', '!']))
    });
    let is_incomplete = items.len() > LIMIT;
    items.truncate(LIMIT);
    Completions { replaces, items, is_incomplete }
}

/// What may stand in the place of a word of this kind, which begins at `start`.
fn at_word(
    document: &Document,
    offset: usize,
    start: usize,
    kind: TokenKind,
    typed: &str,
) -> Vec<CompletionItem> {
    let place = (document.language() == Language::Mlir).then(|| Place::of(document, start));
    let place = place.flatten();
    let around = place.as_ref().map(|place| (&place.statement, &place.around));
    match kind {
        TokenKind::Value | TokenKind::Punct(b'%') => match &place {
            Some(place) => place.values(offset),
            None => registers(document, offset),
        },
        TokenKind::Symbol | TokenKind::Punct(b'@') => symbols::symbols(document, around, offset),
        TokenKind::Block | TokenKind::Punct(b'^') => {
            values::blocks(document, around.map(|it| it.0), offset)
        }
        TokenKind::Attribute | TokenKind::Punct(b'#') => symbols::aliases(document, offset, "#"),
        TokenKind::Type | TokenKind::Punct(b'!') => {
            let mut found = place.as_ref().map_or(Vec::new(), Place::types);
            found.retain(|item| item.label.starts_with('!'));
            let aliases = symbols::aliases(document, offset, "!");
            let is_new = |item: &CompletionItem| !found.iter().any(|it| it.label == item.label);
            let aliases: Vec<_> = aliases.into_iter().filter(is_new).collect();
            found.extend(aliases);
            found
        }
        _ => match &place {
            Some(place) => place.words(offset, typed),
            None => operations::operations(document, None, offset, typed),
        },
    }
}

/// A place in an operation, with what is near it.
struct Place<'a> {
    document: &'a Document,
    statement: Statement,
    around: Surroundings,
    forms: Vec<Form>,
}

impl<'a> Place<'a> {
    fn of(document: &'a Document, start: usize) -> Option<Self> {
        let statement = Statement::before(document, start)?;
        let around = Surroundings::of(document, &statement, start);
        let forms = match statement.op {
            Some(_) => forms(document, &around, &statement.name),
            None => Vec::new(),
        };
        Some(Self { document, statement, around, forms })
    }

    fn continuations(&self) -> Vec<Continuation<'_>> {
        continuations(&self.forms, &self.statement.pieces)
    }

    fn values(&self, offset: usize) -> Vec<CompletionItem> {
        let written = written_after(self.document, offset);
        let next = self.continuations();
        let expected = expected(self.document, &self.statement, &self.around, &next, &written);
        values::values(self.document, &self.statement, &self.around, &expected)
    }

    fn types(&self) -> Vec<CompletionItem> {
        types::types(self.document, &self.statement, &self.around, &self.continuations())
    }

    fn strings(&self) -> Vec<CompletionItem> {
        words::strings(&self.statement, &self.continuations())
    }

    /// What may stand here: an operation where one begins, else types, words and values.
    fn words(&self, offset: usize, typed: &str) -> Vec<CompletionItem> {
        if self.statement.op.is_none() {
            let around = Some((&self.statement, &self.around));
            return operations::operations(self.document, around, offset, typed);
        }
        let next = self.continuations();
        if types::begins_type(&self.statement, &next) {
            return self.types();
        }
        let mut found = words::words(self.document, &self.statement, &next);
        let values = next.iter().filter(|it| *it.piece == Piece::Value);
        let is_operand = values.map(|it| it.weight).sum::<f64>() * 2.0
            > next.iter().map(|it| it.weight).sum::<f64>();
        if is_operand && typed.is_empty() {
            let words = std::mem::replace(&mut found, self.values(offset));
            found.extend(words);
        }
        found
    }
}

/// The registers of a function in `.vmasm`, latest first.
fn registers(document: &Document, offset: usize) -> Vec<CompletionItem> {
    let Some(here) = document.analysis_at(offset) else { return Vec::new() };
    let at = here.relative(offset);
    let mut seen = std::collections::HashSet::new();
    let values = here.analysis.names.values.iter().enumerate().rev();
    let before = values.filter(|(_, value)| (value.span.end as usize) < at);
    let mut items = Vec::new();
    for (index, value) in before {
        if seen.insert(value.hash) && items.len() <= LIMIT {
            let found = LocalDefinition { analysed: here.clone(), index: index as u32 };
            let label = document.text().slice(found.value_range()).into_owned();
            let ty = type_of(document, &found).unwrap_or_default();
            items.push(item(label, CompletionItemKind::Value, ty));
        }
    }
    items
}

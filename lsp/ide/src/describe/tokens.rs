//! Semantic tokens: the class of each word, which a grammar of regular expressions can only guess.

use std::collections::{HashMap, HashSet};

use syntax::TokenKind as Lexeme;
use syntax::{NodeKind, TextRange};

use crate::Document;
use crate::text::{AnalysedChunk, ValueKind};

/// The class of a token, for colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenClass {
    /// The name of an operation.
    Operation,
    /// A symbol.
    Symbol,
    /// A result of an operation.
    Value,
    /// An argument of a function, block or region.
    Argument,
    /// A block.
    Block,
    /// A type.
    Type,
    /// A type's or attribute's alias, or a dialect's attribute.
    Attribute,
    /// The key of an attribute.
    Key,
    /// A word of an operation's syntax.
    Keyword,
    /// A number.
    Number,
    /// A string.
    String,
    /// A comment.
    Comment,
}

impl TokenClass {
    /// All classes, in the order of the legend.
    pub const ALL: [Self; 12] = [
        Self::Operation,
        Self::Symbol,
        Self::Value,
        Self::Argument,
        Self::Block,
        Self::Type,
        Self::Attribute,
        Self::Key,
        Self::Keyword,
        Self::Number,
        Self::String,
        Self::Comment,
    ];
}

/// A token of a document and its class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SemanticToken {
    /// Where it stands; never across lines.
    pub range: TextRange,
    /// Its class.
    pub class: TokenClass,
    /// Whether it defines the name.
    pub is_definition: bool,
}

/// The tokens that touch `range`, in order. Incomplete if `cancelled`, which is asked between
/// chunks, becomes true.
pub fn semantic_tokens(
    document: &Document,
    range: &TextRange,
    cancelled: &dyn Fn() -> bool,
) -> Vec<SemanticToken> {
    let mut found = Vec::new();
    for placed in document.chunks().iter_from(range.start) {
        if placed.start >= range.end || cancelled() {
            break;
        }
        if placed.range().end > range.start {
            in_chunk(document, &document.analysis(&placed), range, &mut found);
        }
    }
    found
}

fn in_chunk(
    document: &Document,
    analysed: &AnalysedChunk,
    range: &TextRange,
    found: &mut Vec<SemanticToken>,
) {
    let names = &analysed.analysis.names;
    let tree = &analysed.analysis.tree;
    let class_of_value = |index: usize| match names.values[index].kind {
        ValueKind::Result(_) => TokenClass::Value,
        _ => TokenClass::Argument,
    };
    let mut values: HashMap<u32, (TokenClass, bool)> = HashMap::new();
    for (index, value) in names.values.iter().enumerate() {
        values.insert(value.span.start, (class_of_value(index), true));
    }
    for used in &names.value_uses {
        let class =
            used.definition.map_or(TokenClass::Value, |index| class_of_value(index as usize));
        values.insert(used.span.start, (class, false));
    }
    let blocks: HashSet<u32> = names.blocks.iter().map(|block| block.span.start).collect();
    let defines = syntax::Symbol::read(document.text(), &analysed.placed)
        .map(|symbol| symbol.name_token.start);
    let kinds = kinds_of_tokens(analysed);
    for (index, token) in tree.tokens().iter().enumerate() {
        let place = analysed.absolute(&(token.start..token.end));
        if place.end <= range.start {
            continue;
        }
        if place.start >= range.end {
            return;
        }
        let next = tree.tokens().get(index + 1);
        let (class, is_definition) = match token.kind {
            Lexeme::Comment => (TokenClass::Comment, false),
            Lexeme::String if kinds[index] == NodeKind::Name => (TokenClass::Operation, false),
            Lexeme::String | Lexeme::UnterminatedString => (TokenClass::String, false),
            Lexeme::Symbol => (TokenClass::Symbol, defines == Some(place.start)),
            Lexeme::Value => {
                values.get(&token.start).copied().unwrap_or((TokenClass::Value, false))
            }
            Lexeme::Block => (TokenClass::Block, blocks.contains(&token.start)),
            Lexeme::Type => (TokenClass::Type, false),
            Lexeme::Attribute => (TokenClass::Attribute, false),
            Lexeme::Number => {
                let text = short(document, &place);
                let is_shape = text.contains('x') && !text.starts_with("0x");
                (if is_shape { TokenClass::Type } else { TokenClass::Number }, false)
            }
            Lexeme::Word if kinds[index] == NodeKind::Name => (TokenClass::Operation, false),
            Lexeme::Word => {
                let is_key = kinds[index] == NodeKind::Dictionary
                    && next.is_none_or(|next| next.is(b'=') || next.is(b',') || next.is(b'}'));
                let text = short(document, &place);
                let class = if is_key {
                    TokenClass::Key
                } else if is_type(&text) {
                    TokenClass::Type
                } else {
                    TokenClass::Keyword
                };
                (class, false)
            }
            Lexeme::Arrow | Lexeme::Punct(_) | Lexeme::Unknown => continue,
        };
        found.push(SemanticToken { range: place, class, is_definition });
    }
}

fn short(document: &Document, range: &TextRange) -> String {
    document.text().slice(range.start..range.end.min(range.start + 64)).into_owned()
}

/// The kind of the innermost node around each token.
fn kinds_of_tokens(analysed: &AnalysedChunk) -> Vec<NodeKind> {
    let tree = &analysed.analysis.tree;
    let mut kinds = vec![NodeKind::Root; tree.tokens().len()];
    // Inner nodes come later and overwrite outer ones.
    for node in tree.nodes() {
        kinds[node.first as usize..node.last as usize].fill(node.kind);
    }
    kinds
}

/// Whether a word is a built-in type, or the rest of a shape after `?`.
fn is_type(word: &str) -> bool {
    let digits = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    matches!(
        word,
        "index" | "none" | "tensor" | "vector" | "memref" | "tuple" | "complex" | "bf16" | "tf32"
    ) || ["i", "si", "ui", "f"].iter().any(|prefix| word.strip_prefix(prefix).is_some_and(digits))
        || word.starts_with("f8E")
        || word
            .strip_prefix('x')
            .is_some_and(|rest| rest.starts_with(|c: char| "0123456789ifuscbt".contains(c)))
}

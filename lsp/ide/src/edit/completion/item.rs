//! [`CompletionItem`]: one proposal.

use syntax::TextRange;

/// The kind of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionItemKind {
    /// A value.
    Value,
    /// A symbol.
    Symbol,
    /// A block.
    Block,
    /// An alias.
    Alias,
    /// An operation.
    Operation,
    /// An attribute's key.
    Key,
    /// A type.
    Type,
    /// A keyword, or the value of an attribute.
    Word,
}

/// One proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionItem {
    /// The text to show and to insert.
    pub label: String,
    /// Its kind.
    pub kind: CompletionItemKind,
    /// One line that describes it.
    pub detail: String,
    /// Markdown that describes it.
    pub documentation: String,
    /// The text to insert instead, with places to fill in such as `${1:name}`.
    pub snippet: Option<String>,
}

/// Items and the text that they replace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completions {
    /// The part of the name that is already typed, sigil included.
    pub replaces: TextRange,
    /// The items, nearest first.
    pub items: Vec<CompletionItem>,
    /// Whether some items were left out.
    pub is_incomplete: bool,
}

/// The most items.
pub(super) const LIMIT: usize = 500;

/// An item that is inserted as it is.
pub(super) fn item(label: String, kind: CompletionItemKind, detail: String) -> CompletionItem {
    CompletionItem { label, kind, detail, documentation: String::new(), snippet: None }
}

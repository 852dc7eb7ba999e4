//! A chunk laid out for the checks that go from token to token: its text in one piece, the
//! innermost node of each token, and the operation of each node.

use std::borrow::Cow;

use syntax::{Leaf, NodeId, NodeKind, TextRange, TokenKind, Tree};

use crate::Document;
use crate::operations::{dialect_of, is_listed};
use crate::text::AnalysedChunk;

/// Larger chunks, in bytes, hold constants rather than operations.
const LARGEST: usize = 8 << 20;

/// A chunk, ready to be read token by token.
pub(super) struct Reading<'a> {
    pub document: &'a Document,
    pub analysed: &'a AnalysedChunk,
    pub tree: &'a Tree,
    text: Cow<'a, str>,
    /// The tokens that are no comments, each with its innermost node.
    pub tokens: Vec<(usize, NodeId)>,
    /// The operation or alias of each node; 0 outside.
    operation: Vec<NodeId>,
    /// Whether a node lies in text that only a dialect of the user's own knows.
    opaque: Vec<bool>,
    /// The operations' names.
    names: Vec<(NodeId, String)>,
}

impl<'a> Reading<'a> {
    /// A chunk laid out; `None` if it is too large.
    pub(super) fn of(document: &'a Document, analysed: &'a AnalysedChunk) -> Option<Self> {
        let range = analysed.placed.range();
        let tree = &analysed.analysis.tree;
        if range.len() > LARGEST {
            return None;
        }
        let text = document.text().slice(range.clone());
        if text.len() != range.len() {
            return None; // Damaged UTF-8 was replaced, and offsets have shifted.
        }
        let is_read =
            |(token, _): &(usize, NodeId)| tree.tokens()[*token].kind != TokenKind::Comment;
        let names = tree.operations().map(|id| (id, tree.op_name(&*text, 0, id))).collect();
        let mut reading = Self {
            document,
            analysed,
            tree,
            text,
            tokens: tree.tokens_in_nodes().filter(is_read).collect(),
            operation: Vec::new(),
            opaque: Vec::new(),
            names,
        };
        reading.lay_out();
        Some(reading)
    }

    fn lay_out(&mut self) {
        let nodes = self.tree.nodes();
        let mut operation = vec![0; nodes.len()];
        let mut opaque = vec![false; nodes.len()];
        for (index, node) in nodes.iter().enumerate().skip(1) {
            let parent = node.parent as usize;
            operation[index] = operation[parent];
            opaque[index] = opaque[parent];
            match node.kind {
                NodeKind::Operation => {
                    operation[index] = index as NodeId;
                    let name = self.op(index as NodeId);
                    let dialect = dialect_of(name);
                    opaque[index] = !dialect.is_empty()
                        && !is_listed(dialect)
                        && !self.is_generic(index as NodeId);
                }
                NodeKind::Alias => operation[index] = index as NodeId,
                NodeKind::Angle => opaque[index] |= self.is_foreign(node.first as usize),
                _ => {}
            }
        }
        self.operation = operation;
        self.opaque = opaque;
    }

    /// Whether `<` opens the parameters of a type or attribute of an unlisted dialect.
    fn is_foreign(&self, open: usize) -> bool {
        let Some(before) = open.checked_sub(1).map(|at| self.tree.tokens()[at]) else {
            return false;
        };
        matches!(before.kind, TokenKind::Type | TokenKind::Attribute)
            && !is_listed(dialect_of(&self.text(&before)[1..]))
    }

    /// The name of an operation; empty for an alias.
    pub(super) fn op(&self, id: NodeId) -> &str {
        let found = self.names.binary_search_by_key(&id, |(id, _)| *id);
        found.map_or("", |at| &self.names[at].1)
    }

    /// The operations of the chunk with their names.
    pub(super) fn operations(&self) -> impl Iterator<Item = (NodeId, &str)> {
        self.names.iter().map(|(id, name)| (*id, name.as_str()))
    }

    /// The operation or alias that holds a node.
    pub(super) fn operation_of(&self, node: NodeId) -> NodeId {
        self.operation[node as usize]
    }

    /// Whether only a dialect that is not listed knows the form of a node's text.
    pub(super) fn is_opaque(&self, node: NodeId) -> bool {
        self.opaque[node as usize]
    }

    /// The text of a token.
    pub(super) fn text(&self, token: &Leaf) -> &str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// The text of a span of the chunk.
    pub(super) fn span(&self, span: std::ops::Range<u32>) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// A token's place in the document.
    pub(super) fn range(&self, token: &Leaf) -> TextRange {
        self.analysed.absolute(&(token.start..token.end))
    }

    /// The place of an operation's name in the document.
    pub(super) fn name_range(&self, id: NodeId) -> TextRange {
        let range = self.tree.range(self.tree.child(id, NodeKind::Name).unwrap_or(id));
        self.analysed.base() + range.start..self.analysed.base() + range.end
    }

    /// Whether an operation is written as `"name"(…)`.
    pub(super) fn is_generic(&self, id: NodeId) -> bool {
        let name = self.tree.child(id, NodeKind::Name);
        name.and_then(|name| self.tree.tokens_of(name).first())
            .is_some_and(|token| token.kind == TokenKind::String)
    }
}

//! [`Tree`] and its nodes: the data, and walks through it.

use std::borrow::Cow;

use crate::lexer::TokenKind;
use crate::{Source, TextRange};

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// The whole chunk.
    Root,
    /// An operation with its regions.
    Operation,
    /// `#name = …` or `!name = …`.
    Alias,
    /// `{-# … #-}`.
    Resources,
    /// The values that an operation defines, without the `=`.
    Results,
    /// An operation's name.
    Name,
    /// `{ … }` with operations.
    Region,
    /// The operations after a label, or those before the first label.
    Block,
    /// `^name(%argument: type):`.
    Label,
    /// `( … )`.
    Paren,
    /// `[ … ]`.
    Bracket,
    /// `< … >`.
    Angle,
    /// `{ key = value }`.
    Dictionary,
    /// Other braces, such as the sizes after a type.
    Brace,
    /// Text that could not be read.
    Error,
}

impl NodeKind {
    /// Whether it is a pair of brackets within an operation.
    #[must_use]
    pub fn is_group(self) -> bool {
        matches!(self, Self::Paren | Self::Bracket | Self::Angle | Self::Dictionary | Self::Brace)
    }

    /// Whether it is a group or a region.
    pub(super) fn is_bracket(self) -> bool {
        self.is_group() || self == Self::Region
    }
}

/// A token of a tree. Offsets count from the tree's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// The offset where it begins.
    pub start: u32,
    /// The offset where it ends.
    pub end: u32,
    /// Its kind.
    pub kind: TokenKind,
    /// Whether it is the first on its line. The offset that a disassembly prints before an
    /// instruction does not count.
    pub line_start: bool,
}

impl Leaf {
    /// Whether it is the punctuation `byte`.
    pub fn is(&self, byte: u8) -> bool {
        self.kind == TokenKind::Punct(byte)
    }

    /// Its text. The tree begins at `base` of `source`.
    pub(super) fn text<'s, S: Source + ?Sized>(&self, source: &'s S, base: usize) -> Cow<'s, str> {
        source.slice(base + self.start as usize..base + self.end as usize)
    }
}

/// A node of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Its kind.
    pub kind: NodeKind,
    /// Whether its closing bracket is missing.
    pub unclosed: bool,
    /// Its parent; the root is its own parent.
    pub parent: u32,
    /// The index of its first token.
    pub first: u32,
    /// The index of the token after its last.
    pub last: u32,
    /// The index of the node after its subtree.
    pub end: u32,
}

/// A fault that no dialect would accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Its bytes, from the tree's start.
    pub range: std::ops::Range<u32>,
    /// Its kind.
    pub kind: SyntaxErrorKind,
}

/// The kind of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// This bracket has no partner before the next operation begins.
    Unclosed(u8),
    /// This bracket closes nothing.
    Stray(u8),
    /// This is nested too deeply to be read.
    TooDeep,
    /// `%x =` is not followed by an operation.
    NoOperation,
    /// No operation can begin like this.
    NotAnOperation,
    /// A string without a closing quote on its line.
    OpenString,
}

/// The tree of a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tree {
    pub(super) tokens: Vec<Leaf>,
    pub(super) nodes: Vec<Node>,
    pub(super) errors: Vec<SyntaxError>,
}

/// The index of a node.
pub type NodeId = u32;

impl Tree {
    /// Its tokens, comments included.
    pub fn tokens(&self) -> &[Leaf] {
        &self.tokens
    }

    /// Its nodes in preorder.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Its faults, in the order of the text.
    pub fn errors(&self) -> &[SyntaxError] {
        &self.errors
    }

    /// The node of an id. Ids come from this tree, so it exists.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// The children of a node.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.node(id).end;
        let mut next = id + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let child = next;
                next = self.node(child).end;
                child
            })
        })
    }

    /// The first child of a kind.
    pub fn child(&self, id: NodeId, kind: NodeKind) -> Option<NodeId> {
        self.children(id).find(|&child| self.node(child).kind == kind)
    }

    /// The tokens of a node.
    pub fn tokens_of(&self, id: NodeId) -> &[Leaf] {
        let node = self.node(id);
        self.tokens.get(node.first as usize..node.last as usize).unwrap_or_default()
    }

    /// The bytes of a node, from the tree's start; empty where the node has no token.
    pub fn range(&self, id: NodeId) -> TextRange {
        match self.tokens_of(id) {
            [] => 0..0,
            tokens @ [first, ..] => {
                first.start as usize..tokens.last().map_or(first.end, |last| last.end) as usize
            }
        }
    }

    /// The index of the token that holds `offset` or ends there. Where two tokens touch, the
    /// second.
    pub fn token_at(&self, offset: usize) -> Option<usize> {
        let after = self.tokens.partition_point(|token| token.start as usize <= offset);
        let index = after.checked_sub(1)?;
        (offset <= self.tokens[index].end as usize).then_some(index)
    }

    /// The innermost node that holds a token.
    pub fn node_of_token(&self, token: usize) -> NodeId {
        let token = token as u32;
        let mut id = 0;
        'down: loop {
            for child in self.children(id) {
                let node = self.node(child);
                if node.first <= token && token < node.last {
                    id = child;
                    continue 'down;
                }
            }
            return id;
        }
    }

    /// Each token with the innermost node that holds it, in one walk.
    pub fn tokens_in_nodes(&self) -> impl Iterator<Item = (usize, NodeId)> + '_ {
        let mut open: Vec<NodeId> = vec![0];
        let mut next = 1;
        (0..self.tokens.len()).map(move |token| {
            while open.len() > 1 && open.last().is_some_and(|&id| self.ends(id) <= token) {
                open.pop();
            }
            while next < self.nodes.len() && self.nodes[next].first as usize <= token {
                if self.nodes[next].last as usize > token {
                    open.push(next as NodeId);
                }
                next += 1;
            }
            (token, open.last().copied().unwrap_or(0))
        })
    }

    /// The token after a node.
    fn ends(&self, id: NodeId) -> usize {
        self.node(id).last as usize
    }

    /// The innermost node around `offset`, which may be in white space.
    pub fn node_at(&self, offset: usize) -> NodeId {
        let mut id = 0;
        'down: loop {
            for child in self.children(id) {
                let range = self.range(child);
                if range.start <= offset && offset < range.end {
                    id = child;
                    continue 'down;
                }
            }
            return id;
        }
    }

    /// A node and its ancestors, innermost first.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let mut next = Some(id);
        std::iter::from_fn(move || {
            let id = next?;
            next = (id != 0).then(|| self.node(id).parent);
            Some(id)
        })
    }

    /// The innermost operation or alias that holds a node, which may be the node itself.
    pub fn operation_of(&self, id: NodeId) -> Option<NodeId> {
        self.ancestors(id)
            .find(|&id| matches!(self.node(id).kind, NodeKind::Operation | NodeKind::Alias))
    }

    /// Every operation, in the order of the text.
    pub fn operations(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.nodes.len() as u32).filter(|&id| self.node(id).kind == NodeKind::Operation)
    }

    /// The name of an operation as written in `source`, without quotes. The tree begins at `base`.
    pub fn op_name<S: Source + ?Sized>(&self, source: &S, base: usize, id: NodeId) -> String {
        let Some(name) = self.child(id, NodeKind::Name) else { return String::new() };
        let range = self.range(name);
        let text = source.slice(base + range.start..base + range.end);
        text.trim_matches('"').to_owned()
    }

    /// The text of a token. The tree begins at `base` of `source`.
    pub fn text<'s, S: Source + ?Sized>(
        &self,
        source: &'s S,
        base: usize,
        token: &Leaf,
    ) -> Cow<'s, str> {
        token.text(source, base)
    }

    /// The tree as text, one line per node, for tests.
    pub fn shown<S: Source + ?Sized>(&self, source: &S, base: usize) -> String {
        let mut out = String::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let depth = self.ancestors(index as u32).count() - 1;
            let range = self.range(index as u32);
            let text = source.slice(base + range.start..base + range.end);
            let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let shown: String = line.chars().take(40).collect();
            let mark = if node.unclosed { " UNCLOSED" } else { "" };
            out += &format!("{}{:?}{mark} {shown}\n", "  ".repeat(depth), node.kind);
        }
        for error in &self.errors {
            out += &format!("error {:?} at {:?}\n", error.kind, error.range);
        }
        out
    }
}

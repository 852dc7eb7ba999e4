//! [`Tree`] and its nodes: the data, and how to walk it.

use std::borrow::Cow;

use crate::lexer::TokenKind;
use crate::{Source, TextRange};

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// All of the chunk.
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
    /// The operations after a label, or those before the first one.
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
    /// Other braces, such as the sizes behind a type.
    Brace,
    /// What could not be read.
    Error,
}

impl NodeKind {
    /// Whether it is a pair of brackets within an operation.
    pub(super) fn is_group(self) -> bool {
        matches!(self, Self::Paren | Self::Bracket | Self::Angle | Self::Dictionary | Self::Brace)
    }

    /// Whether it is a group or a region.
    pub(super) fn is_bracket(self) -> bool {
        self.is_group() || self == Self::Region
    }
}

/// A token of a tree, relative to its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// Where it begins.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    /// What it is.
    pub kind: TokenKind,
    /// Whether it is the first on its line; offsets that a disassembly prints before instructions
    /// do not count.
    pub line_start: bool,
}

impl Leaf {
    /// Whether it is the punctuation `byte`.
    pub fn is(&self, byte: u8) -> bool {
        self.kind == TokenKind::Punct(byte)
    }

    /// Its text. `base` is where the tree begins in `source`.
    pub(super) fn text<'s, S: Source + ?Sized>(&self, source: &'s S, base: usize) -> Cow<'s, str> {
        source.slice(base + self.start as usize..base + self.end as usize)
    }
}

/// A node of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Whether its end is missing.
    pub unclosed: bool,
    /// The node around it; the root's is itself.
    pub parent: u32,
    /// Its first token.
    pub first: u32,
    /// The token after its last.
    pub last: u32,
    /// The node after its subtree.
    pub end: u32,
}

/// Something that no dialect would accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where, relative to the tree's start.
    pub range: std::ops::Range<u32>,
    /// What.
    pub kind: SyntaxErrorKind,
}

/// What is wrong with the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// This bracket has no partner before the next operation begins.
    Unclosed(u8),
    /// This bracket closes nothing.
    Stray(u8),
    /// It is nested deeper than anything is read.
    TooDeep,
    /// `%x =` is not followed by an operation.
    NoOperation,
    /// Nothing that an operation could begin with.
    NotAnOperation,
    /// A string that its line does not close.
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

    /// What is wrong, in the order of the text.
    pub fn errors(&self) -> &[SyntaxError] {
        &self.errors
    }

    /// A node. Ids come from this tree, so there is one.
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

    /// The bytes of a node, relative to the tree's start; empty where it has no token.
    pub fn range(&self, id: NodeId) -> TextRange {
        match self.tokens_of(id) {
            [] => 0..0,
            tokens @ [first, ..] => {
                first.start as usize..tokens.last().map_or(first.end, |last| last.end) as usize
            }
        }
    }

    /// The index of the token that holds `offset`, or ends there; the one that begins there where
    /// two touch.
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

    /// The innermost node that holds `offset`, in white space too.
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

    /// A node and those around it, innermost first.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let mut next = Some(id);
        std::iter::from_fn(move || {
            let id = next?;
            next = (id != 0).then(|| self.node(id).parent);
            Some(id)
        })
    }

    /// The operation or alias around a node, itself included.
    pub fn operation_of(&self, id: NodeId) -> Option<NodeId> {
        self.ancestors(id)
            .find(|&id| matches!(self.node(id).kind, NodeKind::Operation | NodeKind::Alias))
    }

    /// Every operation, in the order of the text.
    pub fn operations(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.nodes.len() as u32).filter(|&id| self.node(id).kind == NodeKind::Operation)
    }

    /// The name of an operation as written in `source`, quotes left out. `base` is where the tree
    /// begins.
    pub fn op_name<S: Source + ?Sized>(&self, source: &S, base: usize, id: NodeId) -> String {
        let Some(name) = self.child(id, NodeKind::Name) else { return String::new() };
        let range = self.range(name);
        let text = source.slice(base + range.start..base + range.end);
        text.trim_matches('"').to_owned()
    }

    /// The text of a token.
    pub fn text<'s, S: Source + ?Sized>(
        &self,
        source: &'s S,
        base: usize,
        token: &Leaf,
    ) -> Cow<'s, str> {
        token.text(source, base)
    }

    /// The tree as text, one node a line, for tests.
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

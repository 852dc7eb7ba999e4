//! [`ChunkView`]: the tokens of a chunk with what their layout depends on: the regions around each,
//! the bracket that it is in, and whether the white space there may be part of a value.

use syntax::{Leaf, NodeId, NodeKind, OpClass, Placed, TextRange, TokenKind, Tree, class_of};

use crate::operations::{dialect_of, is_listed};

/// A chunk of a text.
pub(super) struct ChunkView<'t> {
    /// The text of the document.
    whole: &'t str,
    base: usize,
    pub(super) tree: &'t Tree,
    /// The innermost node of each token.
    pub(super) node_of: Vec<NodeId>,
    facts: Vec<Facts>,
    /// For each token the first from there on that is no comment.
    code_from: Vec<usize>,
    /// How many containers are around the chunk.
    pub(super) nesting: usize,
}

/// What holds for all of a node.
#[derive(Debug, Clone, Copy)]
struct Facts {
    /// The regions around its content, with those of other chunks.
    regions: usize,
    /// It is in `<…>`.
    is_in_angle: bool,
    /// Its white space is not to be touched.
    is_verbatim: bool,
    /// It has several parts.
    has_comma: bool,
}

impl<'t> ChunkView<'t> {
    pub(super) fn new(whole: &'t str, placed: &Placed, tree: &'t Tree) -> Self {
        let nesting = placed.chunk.nesting();
        let mut view = Self {
            whole,
            base: placed.start,
            tree,
            node_of: tree.tokens_in_nodes().map(|(_, node)| node).collect(),
            facts: Vec::with_capacity(tree.nodes().len()),
            code_from: vec![tree.tokens().len(); tree.tokens().len() + 1],
            nesting,
        };
        for (id, node) in tree.nodes().iter().enumerate() {
            let around = match id {
                0 => Facts {
                    regions: nesting,
                    is_in_angle: false,
                    is_verbatim: false,
                    has_comma: false,
                },
                _ => view.facts[node.parent as usize],
            };
            let facts = match node.kind {
                NodeKind::Region => Facts { regions: around.regions + 1, ..around },
                NodeKind::Angle => Facts {
                    is_in_angle: true,
                    is_verbatim: around.is_verbatim || view.is_opaque(node.first as usize),
                    ..around
                },
                NodeKind::Resources | NodeKind::Error => Facts { is_verbatim: true, ..around },
                _ => around,
            };
            view.facts.push(facts);
        }
        for (token, &node) in view.node_of.iter().enumerate() {
            view.facts[node as usize].has_comma |= tree.tokens()[token].is(b',');
        }
        for token in (0..tree.tokens().len()).rev() {
            let is_comment = view.is_comment(token);
            view.code_from[token] = if is_comment { view.code_from[token + 1] } else { token };
        }
        view
    }

    /// Whether the `<` at a token begins the content of a type or an attribute whose dialect is not
    /// listed. The compiler may not know that dialect either, and then white space is content.
    fn is_opaque(&self, open: usize) -> bool {
        let Some(name) = open.checked_sub(1) else { return false };
        let is_sigil = matches!(self.tokens()[name].kind, TokenKind::Type | TokenKind::Attribute);
        is_sigil && !is_listed(dialect_or_whole(&self.text(name)[1..]))
    }

    pub(super) fn tokens(&self) -> &'t [Leaf] {
        self.tree.tokens()
    }

    pub(super) fn range(&self, token: usize) -> TextRange {
        let leaf = self.tokens()[token];
        let range = self.base + leaf.start as usize..self.base + leaf.end as usize;
        if leaf.kind != TokenKind::Comment || self.is_separator(token) {
            return range;
        }
        // White space at the end of a comment's line is not the comment's.
        range.start..range.start + self.whole[range].trim_end().len()
    }

    pub(super) fn text(&self, token: usize) -> &'t str {
        let leaf = self.tokens()[token];
        &self.whole[self.base + leaf.start as usize..self.base + leaf.end as usize]
    }

    /// Its columns.
    pub(super) fn width(&self, token: usize) -> usize {
        self.whole[self.range(token)].chars().count()
    }

    pub(super) fn is_comment(&self, token: usize) -> bool {
        self.tokens()[token].kind == TokenKind::Comment
    }

    /// Whether a token is the `// -----` that ends a part of the text. A mark of this form is one
    /// wherever it stands, so it is left where it is.
    pub(super) fn is_separator(&self, token: usize) -> bool {
        self.is_comment(token) && self.text(token).starts_with("// -----")
    }

    /// The first token from here on that is no comment.
    pub(super) fn code_from(&self, token: usize) -> Option<usize> {
        Some(self.code_from[token]).filter(|&code| code < self.tokens().len())
    }

    /// The innermost node with both this token and the one before it.
    pub(super) fn node_of_gap(&self, token: usize) -> NodeId {
        let ancestors = self.tree.ancestors(self.node_of[token]);
        let mut around = ancestors.skip_while(|&id| self.tree.node(id).first as usize >= token);
        around.next().unwrap_or(0)
    }

    /// Whether the white space before a token has to stay as it is.
    pub(super) fn is_verbatim(&self, token: usize) -> bool {
        self.facts[self.node_of_gap(token) as usize].is_verbatim
    }

    /// Whether the white space before a token is in `<…>`.
    pub(super) fn is_in_angle(&self, token: usize) -> bool {
        self.facts[self.node_of_gap(token) as usize].is_in_angle
    }

    /// Whether the white space in a node has to stay as it is.
    pub(super) fn keeps_its_space(&self, node: NodeId) -> bool {
        self.facts[node as usize].is_verbatim
    }

    /// Whether a node has several parts, with commas between them.
    pub(super) fn has_parts(&self, node: NodeId) -> bool {
        self.facts[node as usize].has_comma
    }

    /// The regions around the content of a node.
    pub(super) fn regions(&self, node: NodeId) -> usize {
        self.facts[node as usize].regions
    }

    /// The node of this kind that begins with a token.
    pub(super) fn begins(&self, token: usize, wanted: impl Fn(NodeKind) -> bool) -> Option<NodeId> {
        self.tree
            .ancestors(self.node_of[token])
            .take_while(|&id| self.tree.node(id).first as usize == token)
            .find(|&id| wanted(self.tree.node(id).kind))
    }

    /// Whether a node is the operation of a function.
    pub(super) fn is_function(&self, node: NodeId) -> bool {
        let Some(name) = self.tree.child(node, NodeKind::Name) else { return false };
        let name = self.text(self.tree.node(name).first as usize);
        self.tree.node(node).kind == NodeKind::Operation && class_of(name) == OpClass::Function
    }

    /// Whether a token is the bracket that closes this node.
    pub(super) fn closes(&self, token: usize, node: NodeId) -> bool {
        let found = self.tree.node(node);
        !found.unclosed && found.last as usize == token + 1 && found.first as usize != token
    }

    /// The innermost group, `(…)` or the like, around a token that is not its opening bracket, as
    /// far as the node `owner`.
    pub(super) fn group_of(&self, token: usize, owner: NodeId) -> Option<NodeId> {
        self.tree.ancestors(self.node_of[token]).take_while(|&id| id != owner).find(|&id| {
            self.tree.node(id).kind.is_group() && self.tree.node(id).first as usize != token
        })
    }
}

/// The dialect of `hal.device`, or a whole name without one.
fn dialect_or_whole(name: &str) -> &str {
    if name.contains('.') { dialect_of(name) } else { name }
}

//! [`Statement`]: the operation that is being typed, as far as the cursor, in pieces.
//!
//! Only what stands before the cursor is read, so what follows may be broken in any way.

use syntax::{Leaf, NodeId, NodeKind, Placed, TokenKind, Tree};

use crate::Document;
use crate::operations::is_type;
use crate::text::{AnalysedChunk, ScopeId};

/// A part of an operation's text. A type with its parameters is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Value,
    Type(String),
    Symbol,
    Block,
    Number(String),
    Text(String),
    Attribute(String),
    Word(String),
    Sign(u8),
    Arrow,
    Region,
}

impl Piece {
    /// Whether two forms have the same part here: the same word, any type.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Word(left), Self::Word(right)) => left == right,
            (Self::Sign(left), Self::Sign(right)) => left == right,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// A piece and its bytes in its chunk.
#[derive(Debug, Clone)]
pub(super) struct PlacedPiece {
    pub piece: Piece,
    pub start: u32,
}

/// The operation that is being typed.
pub(super) struct Statement {
    /// The chunk as far as the cursor.
    pub analysed: AnalysedChunk,
    /// The operation; none where one begins.
    pub op: Option<NodeId>,
    /// Its name, empty where one begins.
    pub name: String,
    /// What stands after its name.
    pub pieces: Vec<PlacedPiece>,
    /// The innermost open brackets or region.
    pub inside: NodeId,
    /// Whether results are named: `%0 = `.
    pub has_results: bool,
}

impl Statement {
    /// The statement before `start`, where the word at the cursor begins.
    pub(super) fn before(document: &Document, start: usize) -> Option<Self> {
        let placed = chunk_before(document, start)?;
        let analysed = document.analysis_before(&placed, start)?;
        let tree = &analysed.analysis.tree;
        let inside = innermost_open(tree);
        let tokens = tree.tokens();
        let line = crate::resolve::line_start(document.text(), start);
        let from = tokens.partition_point(|leaf| analysed.base() + (leaf.start as usize) < line);
        let on_line = &tokens[from..];
        let text = |leaf: &Leaf| tree.text(document.text(), analysed.base(), leaf);
        let is_bracket = matches!(
            tree.node(inside).kind,
            NodeKind::Paren | NodeKind::Bracket | NodeKind::Angle | NodeKind::Dictionary
        );
        // `%0, %1:2 =`
        let is_definition = |leaf: &Leaf| {
            matches!(
                leaf.kind,
                TokenKind::Value | TokenKind::Number | TokenKind::Punct(b',' | b':' | b'=')
            )
        };
        let defines = on_line.first().is_some_and(|leaf| leaf.kind == TokenKind::Value)
            && on_line.last().is_some_and(|leaf| leaf.is(b'='))
            && on_line.iter().all(is_definition);
        let significant = tokens.iter().rfind(|leaf| leaf.kind != TokenKind::Comment);
        let goes_on = significant.is_some_and(|leaf| {
            matches!(leaf.kind, TokenKind::Punct(b',' | b':' | b'=' | b'(' | b'[' | b'<'))
                || leaf.kind == TokenKind::Arrow
        });
        let is_label = |leaf: &Leaf| leaf.kind == TokenKind::Block && leaf.line_start;
        let after_label = on_line.first().is_some_and(is_label)
            && on_line.last().is_some_and(|leaf| leaf.is(b':'));
        let starts_line = on_line.is_empty() && !is_bracket && !goes_on
            || on_line.is_empty() && significant.is_some_and(|leaf| leaf.is(b':')) && {
                let label = tree.nodes().last();
                label.is_some_and(|node| node.kind == NodeKind::Label)
            };
        let begins = defines || starts_line || after_label;
        let operation = || {
            let last = tree.tokens().len() as u32;
            let around = tree
                .ancestors(inside)
                .find(|&id| matches!(tree.node(id).kind, NodeKind::Operation | NodeKind::Alias));
            let innermost = (0..tree.nodes().len() as u32).rev().find(|&id| {
                let node = tree.node(id);
                node.kind == NodeKind::Operation && node.last == last && node.first < last
            });
            if is_bracket { around.or(innermost) } else { innermost.or(around) }
        };
        let op = if begins { None } else { operation() };
        let name = op.map(|id| tree.op_name(document.text(), analysed.base(), id));
        let pieces = op.map(|id| pieces(tree, id, &text)).unwrap_or_default();
        let has_results = match op {
            Some(id) => tree.child(id, NodeKind::Results).is_some(),
            None => defines,
        };
        let name = name.unwrap_or_default();
        Some(Self { op, name, pieces, inside, has_results, analysed })
    }

    /// The scope at the cursor.
    pub(super) fn scope(&self) -> ScopeId {
        let tree = &self.analysed.analysis.tree;
        let around: Vec<NodeId> = tree.ancestors(self.inside).collect();
        let scopes = self.analysed.analysis.names.scopes.iter().enumerate();
        let inner = scopes.filter(|(_, scope)| around.contains(&scope.node));
        inner.map(|(at, _)| at as ScopeId).next_back().unwrap_or(0)
    }

    /// The kind of the innermost open brackets.
    pub(super) fn brackets(&self) -> NodeKind {
        self.analysed.analysis.tree.node(self.inside).kind
    }

    /// The operation around the one that is being typed.
    pub(super) fn around(&self) -> Option<NodeId> {
        let tree = &self.analysed.analysis.tree;
        match self.op {
            Some(op) => tree.operation_of(tree.node(op).parent),
            None => tree.operation_of(self.inside),
        }
    }

    /// The name of an operation of the chunk.
    pub(super) fn name_of(&self, document: &Document, id: NodeId) -> String {
        self.analysed.analysis.tree.op_name(document.text(), self.analysed.base(), id)
    }

    /// The piece before the cursor.
    pub(super) fn last(&self) -> Option<&Piece> {
        self.pieces.last().map(|placed| &placed.piece)
    }

    /// Where the last brackets of this kind open among the pieces, of those that are open.
    pub(super) fn opened(&self) -> Option<usize> {
        let mut nest = 0_usize;
        self.pieces.iter().rposition(|placed| match placed.piece {
            Piece::Sign(b')' | b']' | b'}' | b'>') => {
                nest += 1;
                false
            }
            Piece::Sign(b'(' | b'[' | b'{' | b'<') if nest > 0 => {
                nest -= 1;
                false
            }
            Piece::Sign(b'(' | b'[' | b'{' | b'<') => true,
            _ => false,
        })
    }
}

/// The chunk that what is typed at `start` belongs to: white space before an operation belongs to
/// the operation, so at the end of a line that is the chunk before.
fn chunk_before(document: &Document, start: usize) -> Option<Placed> {
    let chunks = document.chunks();
    let Some(here) = chunks.at(start) else { return chunks.iter().last() };
    let is_lead = start <= here.op_start() && here.index > 0;
    if is_lead && !document.text().slice(here.start..start).contains('\n') {
        return chunks.iter().nth(here.index - 1);
    }
    Some(here)
}

/// The innermost brackets or region that are open at the end of a tree; else the node there.
fn innermost_open(tree: &Tree) -> NodeId {
    let count = tree.tokens().len() as u32;
    let is_open = |id: NodeId| {
        let node = tree.node(id);
        if node.last != count || node.first >= count {
            return false;
        }
        match node.kind {
            kind if kind.is_group() => node.unclosed,
            // Its own brace is the last token, unless a node inside has that.
            NodeKind::Region => {
                let ends = tree.tokens().last().is_some_and(|leaf| leaf.is(b'}'));
                let inner = tree.children(id).last().is_some_and(|it| tree.node(it).last == count);
                node.first + 1 == count || inner || !ends
            }
            _ => false,
        }
    };
    let mut found = (0..tree.nodes().len() as u32).rev().find(|&id| is_open(id)).unwrap_or(0);
    // The block at the end of a region.
    if tree.node(found).kind == NodeKind::Region
        && let Some(block) = tree.children(found).last()
    {
        found = block;
    }
    found
}

/// The pieces of an operation after its name, without its regions.
pub(super) fn pieces<'t>(
    tree: &Tree,
    id: NodeId,
    text: &dyn Fn(&Leaf) -> std::borrow::Cow<'t, str>,
) -> Vec<PlacedPiece> {
    /// Longer operations hold constants.
    const MOST: usize = 400;
    let node = tree.node(id);
    let first = tree.child(id, NodeKind::Name).map_or(node.first, |name| tree.node(name).last);
    let regions: Vec<(usize, usize)> = (id + 1..node.end)
        .filter(|&inner| tree.node(inner).kind == NodeKind::Region)
        .map(|inner| (tree.node(inner).first as usize, tree.node(inner).last as usize))
        .collect();
    let tokens = tree.tokens();
    let mut found = Vec::new();
    let mut at = first as usize;
    while at < node.last as usize && found.len() < MOST {
        let leaf = &tokens[at];
        let start = leaf.start;
        // A brace at the end of what is typed may open anything.
        let region = regions.iter().find(|(first, last)| *first == at && *last > at + 1);
        if let Some(&(_, last)) = region {
            found.push(PlacedPiece { piece: Piece::Region, start });
            at = last;
            continue;
        }
        at += 1;
        let piece = match leaf.kind {
            TokenKind::Comment => continue,
            TokenKind::Value => Piece::Value,
            TokenKind::Symbol => Piece::Symbol,
            TokenKind::Block => Piece::Block,
            TokenKind::Number => Piece::Number(text(leaf).into_owned()),
            TokenKind::String | TokenKind::UnterminatedString => {
                Piece::Text(text(leaf).into_owned())
            }
            TokenKind::Arrow => Piece::Arrow,
            TokenKind::Punct(byte) => Piece::Sign(byte),
            TokenKind::Word if text(leaf) == "loc" => break,
            TokenKind::Word if !is_type(&text(leaf)) => Piece::Word(text(leaf).into_owned()),
            TokenKind::Attribute if text(leaf)[1..].bytes().all(|b| b.is_ascii_digit()) => continue,
            TokenKind::Type | TokenKind::Word | TokenKind::Attribute => {
                let (whole, after) = with_parameters(tokens, at - 1, text);
                at = after;
                match leaf.kind {
                    TokenKind::Attribute => Piece::Attribute(whole),
                    _ => Piece::Type(whole),
                }
            }
            TokenKind::Unknown => continue,
        };
        found.push(PlacedPiece { piece, start });
    }
    found
}

/// A type or attribute with the parameters that touch it, and the token after it. Where these are
/// not closed, the name alone.
fn with_parameters<'t>(
    tokens: &[Leaf],
    at: usize,
    text: &dyn Fn(&Leaf) -> std::borrow::Cow<'t, str>,
) -> (String, usize) {
    let mut whole = text(&tokens[at]).into_owned();
    let touches = |at: usize| tokens[at].is(b'<') && tokens[at].start == tokens[at - 1].end;
    if tokens.get(at + 1).is_none() || !touches(at + 1) {
        return (whole, at + 1);
    }
    let (name, mut nest) = (whole.len(), 0_usize);
    for (index, leaf) in tokens.iter().enumerate().skip(at + 1) {
        if leaf.start > tokens[index - 1].end {
            whole.push(' ');
        }
        whole += &text(leaf);
        nest += usize::from(leaf.is(b'<'));
        nest -= usize::from(leaf.is(b'>')).min(nest);
        if nest == 0 {
            return (whole, index + 1);
        }
    }
    whole.truncate(name);
    (whole, at + 1)
}

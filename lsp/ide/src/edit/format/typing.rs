//! The indentation of a line while it is typed: after Enter, and after the `}` that begins it.
//!
//! Only what precedes the line is read, since what follows may be broken.

use syntax::{Language, NodeId, NodeKind, TextRange, TokenKind, Tree};

use crate::Document;
use crate::resolve::line_start;
use crate::text::{AnalysedChunk, Replacement};

/// The replacement that indents the line of `offset`, where a character was just typed; none where
/// the line is as it should be.
pub fn format_on_type(document: &Document, offset: usize) -> Option<Replacement> {
    if document.language() != Language::Mlir {
        return None;
    }
    let text = document.text();
    let start = line_start(text, offset);
    let line = text.slice(start..text.len().min(start + LONGEST_INDENT));
    let old = line.len() - line.trim_start_matches([' ', '\t']).len();
    let first = line.as_bytes().get(old).copied().filter(|byte| !matches!(byte, b'\r' | b'\n'));
    let wanted = " ".repeat(indentation(document, start, first)?);
    let range = start..start + old;
    (line[..old] != wanted).then_some(Replacement { range, text: wanted })
}

/// The most white space, in bytes, that is taken for indentation.
const LONGEST_INDENT: usize = 1 << 10;

/// The indentation of the line at `start`, which begins with the byte `first` if it is not empty.
fn indentation(document: &Document, start: usize, first: Option<u8>) -> Option<usize> {
    let Some(last) = start.checked_sub(1) else { return Some(0) };
    let placed = document.chunks().at(last)?;
    let analysed = document.analysis_before(&placed, start)?;
    let tree = &analysed.analysis.tree;
    let is_code = |token: &usize| tree.tokens()[*token].kind != TokenKind::Comment;
    let nesting = placed.chunk.nesting();
    let Some(token) = (0..tree.tokens().len()).rev().find(is_code) else {
        return Some(2 * nesting.saturating_sub(usize::from(first == Some(b'}'))));
    };
    let ancestors: Vec<NodeId> = tree.ancestors(tree.node_of_token(token)).collect();
    let open: Vec<NodeId> = ancestors.iter().copied().filter(|&id| is_open(tree, id)).collect();
    let regions = open.iter().filter(|&&id| tree.node(id).kind == NodeKind::Region).count();
    let depth = nesting + regions;
    let group = open.first().copied().filter(|&id| tree.node(id).kind.is_group());
    if let Some(group) = group {
        let open = tree.node(group).first as usize;
        let line = Line::of(document, &analysed, open);
        let closes = matches!(first, Some(b'}' | b')' | b']'));
        let is_paren = tree.node(group).kind == NodeKind::Paren;
        return Some(match line.column_after(tree, open) {
            _ if closes => line.indent,
            Some(content) => content,
            None => line.indent + if is_paren { 4 } else { 2 },
        });
    }
    if first == Some(b'}') || first == Some(b'^') {
        return Some(2 * depth.saturating_sub(1));
    }
    let goes_on = matches!(
        tree.tokens()[token].kind,
        TokenKind::Arrow | TokenKind::Punct(b',' | b'=' | b':')
    );
    let is_label = ancestors.iter().any(|&id| tree.node(id).kind == NodeKind::Label);
    if goes_on && !is_label {
        let owner = ancestors.iter().find(|&&id| tree.node(id).kind == NodeKind::Operation);
        let first = owner.map_or(token, |&id| tree.node(id).first as usize);
        return Some(Line::of(document, &analysed, first).indent + 4);
    }
    Some(2 * depth)
}

/// Whether a bracket is still open where the text ends.
fn is_open(tree: &Tree, id: NodeId) -> bool {
    let node = tree.node(id);
    let closing = match node.kind {
        NodeKind::Paren => b')',
        NodeKind::Bracket => b']',
        NodeKind::Angle => b'>',
        NodeKind::Dictionary | NodeKind::Brace | NodeKind::Region => b'}',
        _ => return false,
    };
    let last = tree.tokens_of(id).last();
    node.last == node.first + 1 || !last.is_some_and(|last| last.is(closing))
}

/// The line of a token.
struct Line {
    start: usize,
    indent: usize,
    /// The text of the line, up to the end of what was read.
    text: String,
}

impl Line {
    fn of(document: &Document, analysed: &AnalysedChunk, token: usize) -> Self {
        let leaf = analysed.analysis.tree.tokens()[token];
        let place: TextRange = analysed.absolute(&(leaf.start..leaf.end));
        let start = line_start(document.text(), place.start);
        let end = analysed.placed.range().end;
        let text = document.text().slice(start..end.max(place.end)).into_owned();
        let indent = text.len() - text.trim_start_matches([' ', '\t']).len();
        Self { start: start - analysed.base().min(start), indent, text }
    }

    /// The column of the token after an opening bracket, if it is on the same line.
    fn column_after(&self, tree: &Tree, open: usize) -> Option<usize> {
        let next = tree.tokens().get(open + 1).filter(|next| !next.line_start)?;
        let is_content = next.kind != TokenKind::Comment;
        let before = self.text.get(..(next.start as usize).checked_sub(self.start)?)?;
        is_content.then(|| before.chars().count())
    }
}

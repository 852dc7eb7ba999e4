//! Folding: regions, dictionaries and other groups over several lines, runs of comments, resources,
//! and the parts of a split file.

use syntax::{ChunkKind, NodeKind, OpClass, TextRange, TokenKind};

use crate::Document;

/// The kind of a fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoldKind {
    /// Operations or other content.
    Code,
    /// Comments.
    Comment,
    /// The text between two `// -----`.
    Section,
}

/// A range that folds to its first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// From the opening bracket to the closing one.
    pub range: TextRange,
    /// Its kind.
    pub kind: FoldKind,
}

/// The largest text, in bytes, that folds inside its symbols too.
const DEEP: usize = 4 << 20;

/// The folds of a document, at most `limit`. A fold may lie on one line: only line numbers tell.
pub fn folds(document: &Document, limit: usize) -> Vec<Fold> {
    let is_deep = document.text().len() <= DEEP;
    let mut folds = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut section = 0;
    for placed in document.chunks().iter() {
        if folds.len() >= limit {
            break;
        }
        let head_end = placed.start + (placed.chunk.head as usize).min(placed.chunk.len);
        let range = placed.range();
        match placed.chunk.kind {
            ChunkKind::Open => open.push(head_end.saturating_sub(1)),
            ChunkKind::Close => {
                if let Some(start) = open.pop() {
                    folds.push(Fold { range: start..range.end, kind: FoldKind::Code });
                }
            }
            ChunkKind::Separator => {
                folds.push(Fold { range: section..placed.op_start(), kind: FoldKind::Section });
                section = range.end;
                open.clear();
            }
            ChunkKind::Item if placed.chunk.class == OpClass::Resources => {
                folds.push(Fold { range: placed.op_start()..range.end, kind: FoldKind::Code });
            }
            ChunkKind::Item if !is_deep && head_end < range.end => {
                folds.push(Fold { range: head_end - 1..range.end, kind: FoldKind::Code });
            }
            _ => {}
        }
        if is_deep {
            inner(document, &placed, &mut folds);
        }
    }
    if section > 0 {
        folds.push(Fold { range: section..document.text().len(), kind: FoldKind::Section });
    }
    folds.truncate(limit);
    folds
}

fn inner(document: &Document, placed: &syntax::Placed, folds: &mut Vec<Fold>) {
    let analysed = document.analysis(placed);
    let tree = &analysed.analysis.tree;
    for (id, node) in tree.nodes().iter().enumerate() {
        let folds_here = matches!(
            node.kind,
            NodeKind::Region
                | NodeKind::Dictionary
                | NodeKind::Brace
                | NodeKind::Paren
                | NodeKind::Bracket
        );
        if folds_here && !node.unclosed && node.last > node.first + 2 {
            let range = tree.range(id as u32);
            let range = analysed.base() + range.start..analysed.base() + range.end;
            folds.push(Fold { range, kind: FoldKind::Code });
        }
    }
    let mut run: Option<TextRange> = None;
    for token in tree.tokens() {
        let is_own_line = token.kind == TokenKind::Comment && token.line_start;
        let range = analysed.absolute(&(token.start..token.end));
        match (&mut run, is_own_line) {
            (Some(run), true) => run.end = range.end,
            (None, true) => run = Some(range),
            _ => folds.extend(run.take().map(|range| Fold { range, kind: FoldKind::Comment })),
        }
    }
    folds.extend(run.map(|range| Fold { range, kind: FoldKind::Comment }));
}

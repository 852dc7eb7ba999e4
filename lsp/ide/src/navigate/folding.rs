//! What can be folded: regions, dictionaries and other groups over several lines, runs of comments,
//! and files of a split file.

use syntax::{ChunkKind, NodeKind, TextRange, TokenKind};

use crate::Document;

/// Why a range folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoldKind {
    /// Operations or other content.
    Code,
    /// Comments.
    Comment,
    /// What lies between two `// -----`.
    Section,
}

/// A range that folds to its first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// From the opening bracket to the closing one.
    pub range: TextRange,
    /// Why.
    pub kind: FoldKind,
}

/// Longer texts fold at their symbols only.
const DEEP: usize = 4 << 20;

/// The folds of a document, at most `limit`. They may be on one line: only positions tell.
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

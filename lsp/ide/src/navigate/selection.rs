//! Growing selections: a name, its group, its operation, the block, the region, the function, the
//! module, the file.

use syntax::TextRange;

use crate::Document;

/// The ranges around `offset`, innermost first. Each contains the one before and is larger.
pub fn selection_ranges(document: &Document, offset: usize) -> Vec<TextRange> {
    let mut ranges: Vec<TextRange> = Vec::new();
    let mut add = |range: TextRange| {
        let grows = ranges.last().is_none_or(|last: &TextRange| {
            range.start <= last.start && range.end >= last.end && range != *last
        });
        if grows && !range.is_empty() && range.start <= offset && offset <= range.end {
            ranges.push(range);
        }
    };
    if let Some(analysed) = document.analysis_at(offset) {
        let tree = &analysed.analysis.tree;
        let at = analysed.relative(offset);
        let mut node = tree.node_at(at);
        if let Some(index) = tree.token_at(at) {
            let token = tree.tokens()[index];
            add(analysed.absolute(&(token.start..token.end)));
            node = tree.node_of_token(index);
        }
        for id in tree.ancestors(node) {
            let range = tree.range(id);
            add(analysed.base() + range.start..analysed.base() + range.end);
        }
        // A container extends to its closing chunk, the next one at its depth.
        for open in document.chunks().ancestors(analysed.placed.index).iter().rev() {
            let depth = open.chunk.nesting();
            let close = document.chunks().iter().skip(open.index + 1).find(|placed| {
                placed.chunk.kind == syntax::ChunkKind::Close && placed.chunk.nesting() == depth + 1
            });
            let end = close.map_or(document.text().len(), |close| close.range().end);
            add(open.op_start()..end);
        }
    }
    add(0..document.text().len());
    if ranges.is_empty() {
        ranges.push(offset..offset);
    }
    ranges
}

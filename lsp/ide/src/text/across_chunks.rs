//! Values and blocks that several chunks share.
//!
//! Most functions are one chunk, and so are the names they use. There are two exceptions: a long
//! function is cut into parts ([`syntax::ChunkKind::Part`]), and operations outside functions are a
//! chunk each. There a name is looked up in the table of shared names, if the document has one yet;
//! else it is searched for as text, so only chunks that mention it are read.

use syntax::{ChunkKind, IN_FUNCTION, OpClass, Placed, TextRange, find_all};

use super::analysis::AnalysedChunk;
use super::names::{Span, Use};
use super::shared_names::NameKind;
use crate::Document;

/// The chunks that may share values with a chunk: the parts of its long function, the surrounding
/// operations outside functions, or only the chunk itself.
pub(crate) fn chunks_sharing_values(document: &Document, placed: &Placed) -> Vec<Placed> {
    let in_body = placed.chunk.depth & IN_FUNCTION != 0;
    if !in_body && !placed.chunk.is_long_function() {
        return if stands_alone(placed) { vec![*placed] } else { around(document, placed) };
    }
    let mut function: Vec<Placed> = Vec::new();
    for other in document.chunks().iter() {
        let starts = other.chunk.is_long_function();
        if starts && other.index > placed.index {
            break;
        }
        if starts {
            function.clear();
        }
        if starts || other.chunk.depth & IN_FUNCTION != 0 {
            function.push(other);
            if other.chunk.kind == ChunkKind::Close && other.index >= placed.index {
                break;
            }
        }
    }
    function
}

/// A function from its name to its end, with all parts of a long one, and what stands after it in
/// its last part.
pub(crate) fn function_range(document: &Document, placed: &Placed) -> TextRange {
    let parts = chunks_sharing_values(document, placed);
    let end = parts.last().map_or(0, |it| it.range().end);
    placed.op_start()..end.max(placed.range().end)
}

/// Whether no other chunk can define a value that this one uses.
fn stands_alone(placed: &Placed) -> bool {
    placed.chunk.class != OpClass::Other
        || matches!(placed.chunk.kind, ChunkKind::Separator | ChunkKind::Trivia)
}

/// The operations outside functions in the same file that are no deeper than this one.
fn around(document: &Document, placed: &Placed) -> Vec<Placed> {
    let mut found = Vec::new();
    for other in document.chunks().iter() {
        if other.chunk.kind == ChunkKind::Separator {
            if other.index > placed.index {
                break;
            }
            found.clear();
        } else if !stands_alone(&other)
            && other.chunk.depth & IN_FUNCTION == 0
            && other.chunk.depth <= placed.chunk.depth
        {
            found.push(other);
        }
    }
    // With so many, a search of all chunks for each name would take too long.
    if found.len() > MOST_AROUND { vec![*placed] } else { found }
}

/// The most operations outside functions that are searched for values.
const MOST_AROUND: usize = 2000;

/// The other chunks that mention `name` and pass a filter: those before `from`, nearest first, then
/// those after it.
fn mentioning<'a>(
    document: &'a Document,
    from: &AnalysedChunk,
    name: &'a str,
    filter: &'a dyn Fn(&Placed) -> bool,
) -> impl Iterator<Item = AnalysedChunk> + 'a {
    let index = from.placed.index;
    let function = chunks_sharing_values(document, &from.placed);
    let (before, after): (Vec<_>, Vec<_>) = function
        .into_iter()
        .filter(|placed| placed.index != index)
        .partition(|placed| placed.index < index);
    before
        .into_iter()
        .rev()
        .chain(after)
        .filter(move |placed| find_all(document.text(), placed.range(), name).next().is_some())
        .filter(filter)
        .map(|placed| document.analysis(&placed))
}

/// Whether a name in this scope of a chunk is visible in all of its long function.
pub(super) fn is_outer(analysed: &AnalysedChunk, scope: u32) -> bool {
    match analysed.placed.chunk.kind {
        // The function's arguments, and the region that continues in the next chunk.
        ChunkKind::Open => true,
        _ => scope == 0,
    }
}

/// A definition of a value or block.
#[derive(Debug, Clone)]
pub(crate) struct LocalDefinition {
    /// The chunk that holds it.
    pub analysed: AnalysedChunk,
    /// The index of the value or block among the chunk's names.
    pub index: u32,
}

impl LocalDefinition {
    /// The range of the value's name.
    pub(crate) fn value_range(&self) -> TextRange {
        let value = &self.analysed.analysis.names.values[self.index as usize];
        self.analysed.absolute(&value.span)
    }

    /// The range of the block's name.
    pub(crate) fn block_range(&self) -> TextRange {
        let block = &self.analysed.analysis.names.blocks[self.index as usize];
        self.analysed.absolute(&block.span)
    }
}

/// Whether a chunk belongs to a function that is cut into parts.
pub(crate) fn is_in_long_function(placed: &Placed) -> bool {
    placed.chunk.depth & IN_FUNCTION != 0 || placed.chunk.is_long_function()
}

/// Whether a chunk shares values with others.
pub(crate) fn shares(placed: &Placed) -> bool {
    is_in_long_function(placed) || !stands_alone(placed)
}

fn name_of(document: &Document, analysed: &AnalysedChunk, hash: u64) -> Option<String> {
    let names = &analysed.analysis.names;
    let uses = names.value_uses.iter().chain(&names.block_uses);
    let spans = uses.map(|used| (&used.span, used.hash));
    let values = names.values.iter().map(|value| (&value.span, value.hash));
    let blocks = names.blocks.iter().map(|block| (&block.span, block.hash));
    let span = spans.chain(values).chain(blocks).find(|(_, other)| *other == hash)?.0;
    Some(document.text().slice(analysed.absolute(span)).into_owned())
}

/// The value of this name in another chunk that shares values with `from`.
fn value_elsewhere(
    document: &Document,
    from: &AnalysedChunk,
    hash: u64,
) -> Option<LocalDefinition> {
    elsewhere(document, from, NameKind::Value, hash, |analysed| {
        let mut values = analysed.analysis.names.values.iter();
        values.rposition(|value| value.hash == hash && is_outer(analysed, value.scope))
    })
}

/// The block of this name in another chunk of the same long function.
pub(crate) fn block_elsewhere(
    document: &Document,
    from: &AnalysedChunk,
    hash: u64,
) -> Option<LocalDefinition> {
    elsewhere(document, from, NameKind::Block, hash, |analysed| {
        let mut blocks = analysed.analysis.names.blocks.iter();
        blocks.position(|block| block.hash == hash && is_outer(analysed, block.scope))
    })
}

/// The first result of `index_in` among the chunks that share values with `from` and mention the
/// name with this hash.
fn elsewhere(
    document: &Document,
    from: &AnalysedChunk,
    kind: NameKind,
    hash: u64,
    index_in: impl Fn(&AnalysedChunk) -> Option<usize>,
) -> Option<LocalDefinition> {
    if !shares(&from.placed) {
        return None;
    }
    let definition_in = |analysed: AnalysedChunk| {
        let index = index_in(&analysed)? as u32;
        Some(LocalDefinition { index, analysed })
    };
    if let Some(shared) = document.shared_names() {
        let start = shared.nearest(&from.placed, kind, hash)?;
        return definition_in(document.analysis_at(start)?);
    }
    let name = name_of(document, from, hash)?;
    let at_line_start = |placed: &Placed| {
        placed.chunk.kind == ChunkKind::Open
            || find_all(document.text(), placed.range(), &name)
                .any(|found| begins_line(document, found))
    };
    // Nearly all definitions begin a line, and a hot name is used in nearly all chunks.
    mentioning(document, from, &name, &at_line_start)
        .find_map(definition_in)
        .or_else(|| mentioning(document, from, &name, &|_| true).find_map(definition_in))
}

/// Whether only spaces, and not too many, stand between the start of a line and `offset`.
fn begins_line(document: &Document, offset: usize) -> bool {
    let before = document.text().slice(offset.saturating_sub(100)..offset);
    before.trim_end_matches([' ', '\t']).ends_with('\n')
}

/// The definition of the value that is used.
pub(crate) fn value_of_use(
    document: &Document,
    analysed: &AnalysedChunk,
    used: &Use,
) -> Option<LocalDefinition> {
    match used.definition {
        Some(index) => Some(LocalDefinition { analysed: analysed.clone(), index }),
        None => value_elsewhere(document, analysed, used.hash),
    }
}

/// The definition of the block that is used.
pub(crate) fn block_of_use(
    document: &Document,
    analysed: &AnalysedChunk,
    used: &Use,
) -> Option<LocalDefinition> {
    match used.definition {
        Some(index) => Some(LocalDefinition { analysed: analysed.clone(), index }),
        None => block_elsewhere(document, analysed, used.hash),
    }
}

/// The uses of a definition in its chunk and, in a long function, in other chunks without a nearer
/// definition.
fn uses_of(
    document: &Document,
    found: &LocalDefinition,
    hash: u64,
    scope: u32,
    uses: impl Fn(&AnalysedChunk) -> Vec<Use>,
) -> Vec<TextRange> {
    let own = uses(&found.analysed);
    let mut ranges: Vec<TextRange> = own
        .iter()
        .filter(|used| used.definition == Some(found.index))
        .map(|used| found.analysed.absolute(&used.span))
        .collect();
    if shares(&found.analysed.placed) && is_outer(&found.analysed, scope) {
        let name = name_of(document, &found.analysed, hash).unwrap_or_default();
        for other in mentioning(document, &found.analysed, &name, &|_| true) {
            let elsewhere = uses(&other);
            ranges.extend(
                elsewhere
                    .iter()
                    .filter(|used| used.hash == hash && used.definition.is_none())
                    .map(|used| other.absolute(&used.span)),
            );
        }
        ranges.sort_by_key(|range| range.start);
    }
    ranges
}

/// The uses of a value.
pub(crate) fn uses_of_value(document: &Document, found: &LocalDefinition) -> Vec<TextRange> {
    let value = found.analysed.analysis.names.values[found.index as usize].clone();
    uses_of(document, found, value.hash, value.scope, |analysed| {
        analysed.analysis.names.value_uses.clone()
    })
}

/// The uses of a block.
pub(crate) fn uses_of_block(document: &Document, found: &LocalDefinition) -> Vec<TextRange> {
    let block = found.analysed.analysis.names.blocks[found.index as usize].clone();
    uses_of(document, found, block.hash, block.scope, |analysed| {
        analysed.analysis.names.block_uses.clone()
    })
}

/// Whether a span holds an offset or ends there.
pub(crate) fn touches(span: &Span, at: usize) -> bool {
    span.start as usize <= at && at <= span.end as usize
}

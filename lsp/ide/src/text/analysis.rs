//! A cache of chunks' trees and names.
//!
//! The key is the content, so nothing needs invalidating: a chunk that moved is found again, and a
//! changed one has another key. All versions of a document share the cache, which drops its oldest
//! entries when it is full.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use syntax::{Language, Placed, Shape, Source, TextRange, Tree};

use super::names::{Names, Span};

/// The tree and the names of a chunk. Offsets count from the chunk's start.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    /// Its operations.
    pub tree: Tree,
    /// Its names.
    pub names: Names,
}

/// An analysis, and the place of its chunk in a document.
#[derive(Debug, Clone)]
pub(crate) struct AnalysedChunk {
    /// The chunk.
    pub placed: Placed,
    /// Its tree and names.
    pub analysis: Arc<Analysis>,
}

impl AnalysedChunk {
    /// Where the chunk begins.
    pub(crate) fn base(&self) -> usize {
        self.placed.start
    }

    /// A range of the document, from a span of the chunk.
    pub(crate) fn absolute(&self, span: &Span) -> TextRange {
        self.base() + span.start as usize..self.base() + span.end as usize
    }

    /// An offset in the chunk, from an offset of the document; 0 before the chunk.
    pub(crate) fn relative(&self, offset: usize) -> usize {
        offset.saturating_sub(self.base())
    }
}

/// Chunks up to this size, in bytes, are copied before they are read. Larger ones (constants) are
/// read in place.
const COPIED: usize = 256 << 10;
/// The most tokens in the cache: about 10 MB. A reader looks at a few chunks at a time.
const CAPACITY: usize = 256 << 10;

/// Analyses by content.
#[derive(Debug, Default)]
pub(crate) struct Analyses {
    cache: Mutex<Cache>,
}

#[derive(Debug, Default)]
struct Cache {
    by_content: HashMap<(u64, usize), Arc<Analysis>>,
    order: VecDeque<((u64, usize), usize)>,
    tokens: usize,
}

impl Analyses {
    /// The analysis of a chunk.
    pub(crate) fn of<S: Source + ?Sized>(
        &self,
        source: &S,
        placed: &Placed,
        language: Language,
    ) -> AnalysedChunk {
        let key = key(source, placed, language);
        let known = self.lock().by_content.get(&key).cloned();
        let analysis = known.unwrap_or_else(|| {
            let made = Arc::new(analyse(source, placed, language));
            self.lock().insert(key, &made);
            made
        });
        AnalysedChunk { placed: *placed, analysis }
    }

    /// The analysis of a chunk, which is not kept.
    pub(crate) fn in_passing<S: Source + ?Sized>(
        &self,
        source: &S,
        placed: &Placed,
        language: Language,
    ) -> AnalysedChunk {
        let analysis = Arc::new(analyse(source, placed, language));
        AnalysedChunk { placed: *placed, analysis }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cache {
    fn insert(&mut self, key: (u64, usize), made: &Arc<Analysis>) {
        let size = made.tree.tokens().len() + 16;
        if self.by_content.insert(key, made.clone()).is_none() {
            self.tokens += size;
            self.order.push_back((key, size));
        }
        // The newest stays, however long it is: it is what the reader looks at.
        while self.tokens > CAPACITY
            && self.order.len() > 1
            && let Some((oldest, size)) = self.order.pop_front()
        {
            self.by_content.remove(&oldest);
            self.tokens -= size;
        }
    }
}

fn analyse<S: Source + ?Sized>(source: &S, placed: &Placed, language: Language) -> Analysis {
    let range = placed.range();
    let shape = Shape::of(placed.chunk.kind);
    if range.len() <= COPIED {
        let text = source.slice(range.clone());
        // Replacing damaged UTF-8 would shift the offsets after it.
        if text.len() == range.len() {
            let tree = Tree::parse(&*text, 0..text.len(), language, shape);
            let names = Names::of(&*text, 0, &tree, language);
            return Analysis { tree, names };
        }
    }
    let tree = Tree::parse(source, range.clone(), language, shape);
    let names = Names::of(source, range.start, &tree, language);
    Analysis { tree, names }
}

/// The analysis of a chunk as far as `end`: what an author has typed so far. Open regions and
/// brackets go on there.
pub(super) fn analysis_before<S: Source + ?Sized>(
    source: &S,
    placed: &Placed,
    language: Language,
    end: usize,
) -> Option<AnalysedChunk> {
    let mut placed = *placed;
    placed.chunk.len = end.checked_sub(placed.start).filter(|&length| length <= COPIED)?;
    let text = source.slice(placed.range());
    let shape = Shape { open_end: true, ..Shape::of(placed.chunk.kind) };
    if text.len() != placed.chunk.len {
        return None; // Damaged UTF-8 was replaced, and offsets have shifted.
    }
    let tree = Tree::parse(&*text, 0..text.len(), language, shape);
    let names = Names::of(&*text, 0, &tree, language);
    Some(AnalysedChunk { placed, analysis: Arc::new(Analysis { tree, names }) })
}

fn key<S: Source + ?Sized>(source: &S, placed: &Placed, language: Language) -> (u64, usize) {
    let range = placed.range();
    (content_hash(source, &range, language, placed), range.len())
}

fn content_hash<S: Source + ?Sized>(
    source: &S,
    range: &TextRange,
    language: Language,
    placed: &Placed,
) -> u64 {
    let mut hash = placed.chunk.kind as u64 * 2 + language as u64;
    let mut at = range.start;
    while at < range.end {
        let (piece, start) = source.piece(at);
        let end = (start + piece.len()).min(range.end);
        hash = twox_hash::XxHash3_64::oneshot_with_seed(hash, &piece[at - start..end - start]);
        at = end;
    }
    hash
}

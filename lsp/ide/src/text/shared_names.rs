//! [`SharedNames`]: where the values and blocks are defined that several chunks of a document
//! share, as one table.
//!
//! A long function has thousands of chunks, and a name such as `%c0` may be used in all of them.
//! Searching earlier chunks for each use takes quadratic time. So the pass over all chunks that
//! finds diagnostics collects the definitions on its way, and leaves the table with the document;
//! `across_chunks` looks names up there, or searches as long as there is no table.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use syntax::{ChunkKind, Placed};

use super::across_chunks::{is_in_long_function, is_outer, shares};
use super::analysis::AnalysedChunk;

/// Chunks that share names: a long function, or the operations outside functions of one file.
type Group = u32;

/// A definition that other chunks of its group see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Definition {
    group: Group,
    hash: u64,
    /// Its chunk, as an index of `SharedNames::chunks`.
    chunk: u32,
}

/// A chunk that shares names.
#[derive(Debug, Clone, Copy)]
struct SharingChunk {
    index: usize,
    start: usize,
    depth: u16,
    in_function: bool,
    group: Group,
}

/// The shared definitions of a document.
#[derive(Debug, Default)]
pub(crate) struct SharedNames {
    chunks: Vec<SharingChunk>,
    values: Vec<Definition>,
    blocks: Vec<Definition>,
}

/// What a name names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKind {
    /// A value.
    Value,
    /// A block.
    Block,
}

impl SharedNames {
    /// The start of the chunk with the nearest definition of a name before the chunk `from`, else
    /// with the first one after it.
    pub(crate) fn nearest(&self, from: &Placed, kind: NameKind, hash: u64) -> Option<usize> {
        let own = self.chunks.partition_point(|chunk| chunk.index < from.index);
        let here = *self.chunks.get(own).filter(|chunk| chunk.index == from.index)?;
        let all = match kind {
            NameKind::Value => &self.values,
            NameKind::Block => &self.blocks,
        };
        let first = all.partition_point(|found| (found.group, found.hash) < (here.group, hash));
        let same = &all[first..];
        let length = same.partition_point(|found| (found.group, found.hash) <= (here.group, hash));
        let same = &same[..length];
        let before = same.partition_point(|found| (found.chunk as usize) < own);
        let nearest = same[..before].iter().rev().chain(&same[before..]);
        let mut seen = nearest.map(|found| self.chunks[found.chunk as usize]);
        let is_seen = |chunk: &SharingChunk| {
            chunk.index != here.index && (here.in_function || chunk.depth <= here.depth)
        };
        seen.find(is_seen).map(|chunk| chunk.start)
    }

    /// The definitions of values that an earlier chunk of the same long function has already, each
    /// as its chunk's start and its hash, with the earlier chunk's start.
    pub(crate) fn repeated(&self) -> impl Iterator<Item = (usize, u64, usize)> + '_ {
        self.values.windows(2).filter_map(|pair| {
            let (first, second) = (pair[0], pair[1]);
            let same = (first.group, first.hash) == (second.group, second.hash);
            let (first, chunk) =
                (self.chunks[first.chunk as usize], self.chunks[second.chunk as usize]);
            (same && chunk.in_function).then_some((chunk.start, second.hash, first.start))
        })
    }
}

/// Collects the shared definitions of chunks, in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    found: SharedNames,
    /// The groups of the current long function and of the current file, and the next free one.
    function: Group,
    file: Group,
    next: Group,
    /// What the current groups define so far, each with the smallest depth.
    known: HashMap<(bool, Group, u64), u16>,
}

impl Collector {
    /// A collector that has seen nothing.
    pub(crate) fn new() -> Self {
        Self { file: 1, next: 1, ..Self::default() }
    }

    /// Adds a chunk, if it shares names.
    pub(crate) fn add(&mut self, analysed: &AnalysedChunk) {
        let placed = &analysed.placed;
        if placed.chunk.kind == ChunkKind::Separator {
            self.file = self.fresh();
        }
        if placed.chunk.is_long_function() {
            self.function = self.fresh();
        }
        if !shares(placed) {
            return;
        }
        let in_function = is_in_long_function(placed);
        let group = if in_function { self.function } else { self.file };
        let chunk = self.found.chunks.len() as u32;
        let (index, start, depth) = (placed.index, placed.start, placed.chunk.depth);
        self.found.chunks.push(SharingChunk { index, start, depth, in_function, group });
        let names = &analysed.analysis.names;
        let values = names.values.iter().map(|value| (value.scope, value.hash));
        let blocks = names.blocks.iter().map(|block| (block.scope, block.hash));
        for (list, is_block, defined) in [
            (&mut self.found.values, false, values.collect::<Vec<_>>()),
            (&mut self.found.blocks, true, blocks.collect()),
        ] {
            let first = list.len();
            for (scope, hash) in defined {
                if !is_outer(analysed, scope) {
                    continue;
                }
                list.push(Definition { group, hash, chunk });
                match self.known.entry((is_block, group, hash)) {
                    Slot::Occupied(mut known) => {
                        let least = depth.min(*known.get());
                        known.insert(least);
                    }
                    Slot::Vacant(free) => {
                        free.insert(depth);
                    }
                }
            }
            // A register is written many times in one chunk.
            let mut fresh = list.split_off(first);
            fresh.sort_unstable();
            fresh.dedup();
            list.append(&mut fresh);
        }
    }

    fn fresh(&mut self) -> Group {
        // Only the current groups are looked up.
        let file = self.file;
        self.known.retain(|(_, group, _), _| *group == file);
        self.next += 1;
        self.next
    }

    /// Whether a chunk that was added defines a name that `from`, the next one, sees.
    pub(crate) fn knows(&self, from: &Placed, kind: NameKind, hash: u64) -> bool {
        let in_function = is_in_long_function(from);
        let group = if in_function { self.function } else { self.file };
        let known = self.known.get(&(kind == NameKind::Block, group, hash));
        known.is_some_and(|least| in_function || *least <= from.chunk.depth)
    }

    /// The table, after all chunks.
    pub(crate) fn finish(mut self) -> SharedNames {
        self.found.values.sort_unstable();
        self.found.blocks.sort_unstable();
        self.found
    }
}

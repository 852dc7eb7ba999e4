//! [`ChunkTable`]: all chunks of a text, and how an edit changes them.

use std::sync::Arc;

use super::chunk::{Chunk, ChunkKind, Placed};
use super::scan::scan_chunk;
use crate::{Source, TextEdit};

/// The chunks of a text, in order. Together they cover the whole text.
///
/// Versions of a text share blocks of chunks, so an edit copies one block and not a table of a
/// hundred thousand rows.
#[derive(Debug, Clone, Default)]
pub struct ChunkTable {
    blocks: Vec<Arc<Block>>,
    len: usize,
}

/// Consecutive chunks, with summaries that save most lookups a pass over the chunks.
#[derive(Debug)]
struct Block {
    chunks: Vec<Chunk>,
    bytes: usize,
    /// [`Chunk::name`] of each chunk: a search for a name reads four bytes per chunk.
    names: Vec<u32>,
    /// Whether the nesting is the same everywhere in the block and after it.
    is_flat: bool,
}

impl Block {
    fn new(chunks: Vec<Chunk>) -> Self {
        let bytes = chunks.iter().map(|chunk| chunk.len).sum();
        let names = chunks.iter().map(|chunk| chunk.name).collect();
        let is_flat = chunks.iter().all(|chunk| {
            matches!(chunk.kind, ChunkKind::Item | ChunkKind::Part | ChunkKind::Trivia)
        });
        Self { chunks, bytes, names, is_flat }
    }

    /// Its chunks, given the index and the start of the first.
    fn placed(&self, index: usize, start: usize) -> impl Iterator<Item = Placed> + '_ {
        self.chunks.iter().scan((index, start), |(index, start), &chunk| {
            let placed = Placed { index: *index, start: *start, chunk };
            *index += 1;
            *start += chunk.len;
            Some(placed)
        })
    }
}

/// The number of chunks in a full block.
const BLOCK: usize = 512;

impl PartialEq for ChunkTable {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for ChunkTable {}

/// A place in a table: a chunk, and the byte where it begins.
#[derive(Debug, Clone, Copy)]
struct Place {
    block: usize,
    chunk: usize,
    offset: usize,
}

impl ChunkTable {
    /// Cuts a text into chunks.
    pub fn scan<S: Source + ?Sized>(source: &S) -> Self {
        let mut table = Self::default();
        let mut chunks = Vec::new();
        let (mut offset, mut depth) = (0, 0);
        while offset < source.len() {
            let chunk = scan_chunk(source, offset, depth);
            offset += chunk.len;
            depth = chunk.depth_after();
            chunks.push(chunk);
            if chunks.len() == BLOCK {
                table.append(&chunks);
                chunks.clear();
            }
        }
        table.append(&chunks);
        table
    }

    /// Appends chunks in blocks of their own.
    fn append(&mut self, chunks: &[Chunk]) {
        for part in chunks.chunks(BLOCK) {
            self.blocks.push(Arc::new(Block::new(part.to_vec())));
            self.len += part.len();
        }
    }

    fn share(&mut self, blocks: &[Arc<Block>]) {
        self.len += blocks.iter().map(|block| block.chunks.len()).sum::<usize>();
        self.blocks.extend_from_slice(blocks);
    }

    /// The table of `source`, where `self` is the table of the text before `edit`.
    #[must_use]
    pub fn edited<S: Source + ?Sized>(&self, source: &S, edit: TextEdit) -> Self {
        let first = self.rescan_from(edit.start);
        let mut offset = first.offset;
        let mut depth = self.chunk(first).map_or(0, |chunk| chunk.depth);
        let mut fresh = Vec::new();
        // `old` walks the old boundaries in parallel.
        let mut old = first;
        let old_end = edit.start + edit.removed;
        while offset < source.len() {
            let chunk = scan_chunk(source, offset, depth);
            offset += chunk.len;
            depth = chunk.depth_after();
            fresh.push(chunk);
            if offset < edit.start + edit.inserted {
                continue;
            }
            let wanted = offset - edit.inserted + edit.removed;
            while let Some(chunk) = self.chunk(old).filter(|_| old.offset < wanted) {
                old.offset += chunk.len;
                old = self.next(old);
            }
            let same = old.offset == wanted && wanted >= old_end;
            if same && self.chunk(old).is_some_and(|next| next.depth == depth) {
                return self.spliced(first, &fresh, Some(old));
            }
        }
        self.spliced(first, &fresh, None)
    }

    fn chunk(&self, place: Place) -> Option<&Chunk> {
        self.blocks.get(place.block)?.chunks.get(place.chunk)
    }

    /// The place of the next chunk. Its offset is not updated.
    fn next(&self, mut place: Place) -> Place {
        place.chunk += 1;
        if place.chunk == self.blocks[place.block].chunks.len() {
            place.block += 1;
            place.chunk = 0;
        }
        place
    }

    /// The chunks before `first`, then `fresh`, then the chunks from `old` on.
    fn spliced(&self, first: Place, fresh: &[Chunk], old: Option<Place>) -> Self {
        let mut table = Self::default();
        table.share(&self.blocks[..first.block.min(self.blocks.len())]);
        let before =
            self.blocks.get(first.block).map_or(&[][..], |block| &block.chunks[..first.chunk]);
        let mut middle = before.to_vec();
        middle.extend_from_slice(fresh);
        if let Some(block) = old.and_then(|old| Some((self.blocks.get(old.block)?, old.chunk))) {
            middle.extend_from_slice(&block.0.chunks[block.1..]);
        }
        table.append(&middle);
        if let Some(old) = old {
            table.share(self.blocks.get(old.block + 1..).unwrap_or_default());
        }
        table
    }

    /// The chunk before the one that holds `offset`, because a chunk's end depends on the first
    /// token after it. White space at the end of the text holds no token, so from there it goes one
    /// chunk further back.
    fn rescan_from(&self, offset: usize) -> Place {
        let mut place = Place { block: 0, chunk: 0, offset: 0 };
        while let Some(block) = self.blocks.get(place.block)
            && place.offset + block.bytes <= offset
        {
            place.offset += block.bytes;
            place.block += 1;
        }
        while let Some(chunk) = self.chunk(place)
            && place.offset + chunk.len <= offset
        {
            place.offset += chunk.len;
            place.chunk += 1;
        }
        let mut back = 1;
        while back > 0 && (place.block, place.chunk) != (0, 0) {
            if place.chunk == 0 {
                place.block -= 1;
                place.chunk = self.blocks[place.block].chunks.len();
            }
            place.chunk -= 1;
            let chunk = &self.blocks[place.block].chunks[place.chunk];
            place.offset -= chunk.len;
            back -= usize::from(chunk.kind != ChunkKind::Trivia);
        }
        place
    }

    /// Every chunk with its place.
    pub fn iter(&self) -> impl Iterator<Item = Placed> + '_ {
        self.after_block(0, 0, 0)
    }

    /// Every chunk from `block` on. The block's first chunk has the given index and start.
    fn after_block(
        &self,
        block: usize,
        index: usize,
        start: usize,
    ) -> impl Iterator<Item = Placed> + '_ {
        let chunks =
            self.blocks[block.min(self.blocks.len())..].iter().flat_map(|block| &block.chunks);
        chunks.scan((index, start), |(index, start), &chunk| {
            let placed = Placed { index: *index, start: *start, chunk };
            *index += 1;
            *start += chunk.len;
            Some(placed)
        })
    }

    /// The chunks from the one that holds `offset` to the last.
    pub fn iter_from(&self, offset: usize) -> impl Iterator<Item = Placed> + '_ {
        let (mut block, mut index, mut start) = (0, 0, 0);
        while let Some(candidate) = self.blocks.get(block)
            && start + candidate.bytes <= offset
        {
            index += candidate.chunks.len();
            start += candidate.bytes;
            block += 1;
        }
        self.after_block(block, index, start).skip_while(move |placed| placed.range().end <= offset)
    }

    /// The chunk that holds `offset`. At the end of the text, the last chunk.
    pub fn at(&self, offset: usize) -> Option<Placed> {
        self.iter_from(offset).next().or_else(|| {
            let before = self.blocks.len().checked_sub(1)?;
            let start = self.blocks[..before].iter().map(|block| block.bytes).sum();
            let index = self.blocks[..before].iter().map(|block| block.chunks.len()).sum();
            self.after_block(before, index, start).last()
        })
    }

    /// Every block, with the index and the start of its first chunk.
    fn placed_blocks(&self) -> impl Iterator<Item = (&Block, usize, usize)> + '_ {
        self.blocks.iter().scan((0, 0), |(index, start), block| {
            let placed = (&**block, *index, *start);
            *index += block.chunks.len();
            *start += block.bytes;
            Some(placed)
        })
    }

    /// The chunks that define a symbol whose name has this [`name_hash`](crate::name_hash).
    pub fn named(&self, hash: u32) -> impl Iterator<Item = Placed> + '_ {
        self.placed_blocks()
            .filter(move |(block, ..)| block.names.contains(&hash))
            .flat_map(|(block, index, start)| block.placed(index, start))
            .filter(move |placed| placed.chunk.name == hash)
    }

    /// The separators of a text of several files.
    pub fn separators(&self) -> impl Iterator<Item = Placed> + '_ {
        self.placed_blocks()
            .filter(|(block, ..)| !block.is_flat)
            .flat_map(|(block, first, start)| block.placed(first, start))
            .filter(|placed| placed.chunk.kind == ChunkKind::Separator)
    }

    /// The containers around the chunk `index`, outermost first.
    pub fn ancestors(&self, index: usize) -> Vec<Placed> {
        let mut open = Vec::new();
        let nested = self.placed_blocks().filter(|(block, ..)| !block.is_flat);
        let before = nested
            .flat_map(|(block, first, start)| block.placed(first, start))
            .take_while(|placed| placed.index < index);
        for placed in before {
            match placed.chunk.kind {
                ChunkKind::Open => open.push(placed),
                ChunkKind::Close => {
                    open.pop();
                }
                ChunkKind::Separator => open.clear(),
                ChunkKind::Item | ChunkKind::Part | ChunkKind::Trivia => {}
            }
        }
        open
    }

    /// How many chunks there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the text was empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

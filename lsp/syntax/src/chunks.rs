//! Level 1: a whole text as a table of chunks, kept up to date by rescanning what an edit touched.
//!
//! A chunk is an operation at the level of symbols, with the white space and comments before it. An operation whose region
//! holds symbols (a module, an executable) gives an *opening* chunk up to its brace, then its content's chunks, then a
//! *closing* one. So the table is flat, nesting is a counter, and one module of 100 000 functions is 100 000 chunks.
//!
//! ```text
//! module {              Open      depth 0
//!   func.func @a() {    Item      depth 1
//!     return
//!   }
//! }                     Close     depth 1
//! ```
//!
//! Scanning a chunk depends on nothing but the text after its start and the depth there. That is what makes
//! [`ChunkTable::edited`] simple: scan from the chunk before the edit until a boundary falls on an old one, at the same depth.
//!
//! A function with a very long body is a container too, of [`ChunkKind::Part`]s of some thousand lines: so an
//! edit in a function of a hundred megabytes costs a part.
//!
//! ```text
//! func.func @f() {      Open
//!   %0 = …              Part       depth 1 | IN_FUNCTION
//!   %9000 = …           Close      the rest, with the brace
//! }
//! ```
//!
//! Damage is contained: strings end with their line, `// -----` closes everything, and a line that begins with a word of
//! [`crate::ops`], indented no deeper than the open operation, ends that operation.

use crate::ops::OpClass;
use crate::scan::scan_chunk;
use crate::{Source, TextRange};

/// A replacement of text, in bytes: what lay in `start..start + removed` became `inserted` bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextEdit {
    /// Where it begins, in the old and in the new text.
    pub start: usize,
    /// Bytes that went away.
    pub removed: usize,
    /// Bytes that came.
    pub inserted: usize,
}

impl TextEdit {
    /// The one edit that covers this one and then `next`.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        let start = self.start.min(next.start);
        let middle_end = (self.start + self.inserted).max(next.start + next.removed);
        let removed = middle_end + self.removed - self.inserted - start;
        let inserted = middle_end + next.inserted - next.removed - start;
        Self { start, removed, inserted }
    }
}

/// What a chunk is for the nesting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkKind {
    /// An operation, or something that stands where one should.
    Item,
    /// An operation up to the brace that opens its region of symbols.
    Open,
    /// The brace that closes such a region.
    Close,
    /// Operations within a function that is too long to be one chunk.
    Part,
    /// `// -----`: the next text is a file of its own.
    Separator,
    /// White space and comments at the end.
    Trivia,
}

/// What is wrong with a chunk, as far as braces and quotes go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Damage {
    /// Its region is not closed.
    pub unclosed: bool,
    /// A string is not closed on its line.
    pub open_string: bool,
    /// It closes a region that nothing opened.
    pub stray_close: bool,
}

/// One row of the table. Holds lengths only, so that an edit before it changes nothing in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// Bytes in all.
    pub len: usize,
    /// Bytes of white space and comments before the operation.
    pub lead: u32,
    /// Bytes up to and with the brace that opens the operation's first region; all of them where it has none.
    pub head: u32,
    /// [`name_hash`] of the symbol that it defines; 0 for none.
    pub name: u32,
    /// How many containers are open before it, and [`IN_FUNCTION`] where the innermost is a long function.
    pub depth: u16,
    /// Its part in the nesting.
    pub kind: ChunkKind,
    /// What its operation is.
    pub class: OpClass,
    /// What is wrong with it.
    pub damage: Damage,
}

/// A bit of [`Chunk::depth`]: the text is in the body of a function that is longer than a chunk should be, so it is cut into
/// parts between its operations.
pub const IN_FUNCTION: u16 = 0x8000;
/// Deeper nesting is counted no more.
const DEEPEST: u16 = 0x7FFE;

impl Chunk {
    /// How many containers are open before it.
    pub fn nesting(&self) -> usize {
        usize::from(self.depth & !IN_FUNCTION)
    }

    /// Whether it opens a function whose body is cut into parts.
    pub fn is_long_function(&self) -> bool {
        self.kind == ChunkKind::Open && self.class == OpClass::Function
    }

    fn depth_after(&self) -> u16 {
        match self.kind {
            ChunkKind::Item | ChunkKind::Part | ChunkKind::Trivia => self.depth,
            ChunkKind::Open if self.is_long_function() => (self.depth + 1) | IN_FUNCTION,
            ChunkKind::Open => (self.depth + 1).min(DEEPEST),
            ChunkKind::Close => (self.depth & !IN_FUNCTION).saturating_sub(1),
            ChunkKind::Separator => 0,
        }
    }
}

/// Hash of a symbol's name, to find it without reading text. Never 0.
pub fn name_hash(name: &str) -> u32 {
    let hash = name
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash.max(1)
}

/// A chunk with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Its row.
    pub index: usize,
    /// Where it begins.
    pub start: usize,
    /// The row.
    pub chunk: Chunk,
}

impl Placed {
    /// Its bytes.
    pub fn range(&self) -> TextRange {
        self.start..self.start + self.chunk.len
    }

    /// Where its operation begins.
    pub fn op_start(&self) -> usize {
        self.start + self.chunk.lead as usize
    }
}

/// The chunks of a text, in order; together they are the whole of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChunkTable {
    chunks: Vec<Chunk>,
}

impl ChunkTable {
    /// Cuts a text.
    pub fn scan<S: Source + ?Sized>(source: &S) -> Self {
        let mut chunks = Vec::new();
        let (mut offset, mut depth) = (0, 0);
        while offset < source.len() {
            let chunk = scan_chunk(source, offset, depth);
            offset += chunk.len;
            depth = chunk.depth_after();
            chunks.push(chunk);
        }
        Self { chunks }
    }

    /// The table of `source`, given that this is the table of the text before `edit`.
    #[must_use]
    pub fn edited<S: Source + ?Sized>(&self, source: &S, edit: TextEdit) -> Self {
        let (first, mut offset) = self.rescan_from(edit.start);
        let mut depth = self.chunks.get(first).map_or(0, |chunk| chunk.depth);
        let mut fresh = Vec::new();
        // `old` and `old_offset` walk the old boundaries alongside.
        let (mut old, mut old_offset) = (first, offset);
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
            while old < self.chunks.len() && old_offset < wanted {
                old_offset += self.chunks[old].len;
                old += 1;
            }
            let same = old_offset == wanted && wanted >= old_end;
            if same && self.chunks.get(old).is_some_and(|next| next.depth == depth) {
                return self.spliced(first, fresh, old);
            }
        }
        self.spliced(first, fresh, self.chunks.len())
    }

    fn spliced(&self, first: usize, fresh: Vec<Chunk>, old: usize) -> Self {
        let mut chunks = Vec::with_capacity(first + fresh.len() + self.chunks.len() - old);
        chunks.extend_from_slice(&self.chunks[..first]);
        chunks.extend(fresh);
        chunks.extend_from_slice(&self.chunks[old..]);
        Self { chunks }
    }

    /// The chunk before the one that holds `offset`, since its end depends on the first token after it. White space at the
    /// end of the text holds no token, so from there one more.
    fn rescan_from(&self, offset: usize) -> (usize, usize) {
        let (mut first, mut start) = (0, 0);
        while first < self.chunks.len() && start + self.chunks[first].len <= offset {
            start += self.chunks[first].len;
            first += 1;
        }
        let mut back = 1;
        while first > 0 && back > 0 {
            first -= 1;
            start -= self.chunks[first].len;
            back -= usize::from(self.chunks[first].kind != ChunkKind::Trivia);
        }
        (first, start)
    }

    /// Every chunk with its place.
    pub fn iter(&self) -> impl Iterator<Item = Placed> + '_ {
        self.chunks.iter().enumerate().scan(0, |offset, (index, &chunk)| {
            let start = *offset;
            *offset += chunk.len;
            Some(Placed { index, start, chunk })
        })
    }

    /// The chunk that holds `offset`, or ends there at the end of the text.
    pub fn at(&self, offset: usize) -> Option<Placed> {
        let last = self.chunks.len().checked_sub(1)?;
        self.iter().find(|placed| offset < placed.range().end || placed.index == last)
    }

    /// The containers around the chunk `index`, outermost first.
    pub fn ancestors(&self, index: usize) -> Vec<Placed> {
        let mut open = Vec::new();
        for placed in self.iter().take(index) {
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
        self.chunks.len()
    }

    /// Whether the text was empty.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }
}

//! [`Chunk`]: one row of the chunk table, and what it says of its operation.

use crate::TextRange;
use crate::ops::OpClass;

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
    /// Bytes up to and with the brace that opens the operation's first region; all of them where it
    /// has none.
    pub head: u32,
    /// [`name_hash`] of the symbol that it defines; 0 for none.
    pub name: u32,
    /// How many containers are open before it, and [`IN_FUNCTION`] where the innermost is a long
    /// function.
    pub depth: u16,
    /// Its part in the nesting.
    pub kind: ChunkKind,
    /// What its operation is.
    pub class: OpClass,
    /// What is wrong with it.
    pub damage: Damage,
}

/// A bit of [`Chunk::depth`]: the text is in the body of a function that is longer than a chunk
/// should be, so it is cut into parts between its operations.
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

    /// How many containers are open after it, with [`IN_FUNCTION`] where it applies.
    pub(crate) fn depth_after(&self) -> u16 {
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

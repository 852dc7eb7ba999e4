//! [`Chunk`]: one row of the chunk table, and its place in a text.

use crate::TextRange;
use crate::ops::OpClass;

/// The role of a chunk in the nesting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkKind {
    /// A whole operation, or text where one should stand.
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

/// The faults of a chunk, as far as braces and quotes show them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Damage {
    /// Its region is not closed.
    pub unclosed: bool,
    /// A string is not closed on its line.
    pub open_string: bool,
    /// It closes a region that nothing opened.
    pub stray_close: bool,
}

/// One row of the table. It holds lengths only, so an edit before it leaves it unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// Length in bytes.
    pub len: usize,
    /// Bytes of white space and comments before the operation.
    pub lead: u32,
    /// Bytes up to and including the brace that opens the operation's first region; all bytes where
    /// it has no region.
    pub head: u32,
    /// [`name_hash`] of the symbol that the chunk defines; 0 for none.
    pub name: u32,
    /// How many containers are open before the chunk, with [`IN_FUNCTION`] set where the innermost
    /// is a long function.
    pub depth: u16,
    /// Its role in the nesting.
    pub kind: ChunkKind,
    /// The class of its operation.
    pub class: OpClass,
    /// Its faults.
    pub damage: Damage,
}

/// A bit of [`Chunk::depth`]: the chunk lies in the body of a long function, which is cut into
/// parts between its operations.
pub const IN_FUNCTION: u16 = 0x8000;
/// The counter stops here: deeper nesting counts as this deep.
const DEEPEST: u16 = 0x7FFE;

impl Chunk {
    /// How many containers are open before the chunk.
    pub fn nesting(&self) -> usize {
        usize::from(self.depth & !IN_FUNCTION)
    }

    /// Whether the chunk opens a function whose body is cut into parts.
    pub fn is_long_function(&self) -> bool {
        self.kind == ChunkKind::Open && self.class == OpClass::Function
    }

    /// The depth of the next chunk.
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

/// Hash of a symbol's name, for lookups that read no text. Never 0.
pub fn name_hash(name: &str) -> u32 {
    let hash = name
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash.max(1)
}

/// A chunk and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Its index in the table.
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

    /// The offset where its operation begins.
    pub fn op_start(&self) -> usize {
        self.start + self.chunk.lead as usize
    }
}

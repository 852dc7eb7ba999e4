//! Text of MLIR and `.vmasm`: what is where, without meaning.
//!
//! Two levels, because files reach hundreds of megabytes and are broken most of the time while
//! someone types:
//!
//! 1. [`ChunkTable`] cuts a whole text into *chunks*, one a top-level operation (descending into
//!    modules and executables), with a brace, string and comment aware scan. It holds lengths, not
//!    offsets, so an edit rescans only the chunks that it touches. Damage stays in its chunk: an
//!    unclosed brace ends at the next line that must be a new symbol.
//! 2. [`Tree`] is one chunk's operations, regions and blocks; [`Symbol`] and [`FunctionType`] read
//!    only its head. Each is made when somebody asks.
//!
//! Both read through [`Source`], so a rope is never copied and large constants (`dense<"0x…">`,
//! resources, rodata) are stepped over where they lie. Both languages share one lexical shape, so
//! one scanner serves them.
//!
//! This crate knows no dialect: [`ops`] lists the operations whose *shape* matters (they define
//! symbols or contain such), and everything else is read by the same rules. It never fails: any
//! bytes give some table.
//!
//! Where to look: [`source`] reading text · [`lexer`] tokens · [`chunks`] level 1 (`scan` finds the
//! end of one) · [`tree`], [`symbol`], [`function_type`] level 2 · [`search`] text by content.

pub mod chunks;
mod cursor;
pub mod function_type;
pub mod lexer;
pub mod ops;
mod parser;
mod scan;
pub mod search;
pub mod source;
pub mod symbol;
pub mod tree;

pub use chunks::{Chunk, ChunkKind, ChunkTable, TextEdit};
pub use function_type::{FunctionType, Slot};
pub use lexer::{Lexer, Token, TokenKind};
pub use ops::OpClass;
pub use parser::Shape;
pub use source::{Source, TextRange};
pub use symbol::{Symbol, Visibility};
pub use tree::{NodeId, NodeKind, SyntaxErrorKind, Tree};

/// The languages that this crate reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// MLIR, any dialect, pretty or generic form.
    Mlir,
    /// The VM's assembly text, as `iree-dump-module --output=disassembly` prints it.
    Vmasm,
}

impl Language {
    /// The language of a file by its name: `.vmasm`, or else MLIR.
    pub fn of_path(path: &str) -> Self {
        if path.ends_with(".vmasm") { Self::Vmasm } else { Self::Mlir }
    }
}

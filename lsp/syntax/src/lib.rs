//! Text of MLIR and `.vmasm`: what is where, without meaning.
//!
//! Files reach hundreds of megabytes, and text that is being typed is broken most of the time. So
//! text is read on two levels:
//!
//! 1. [`ChunkTable`] cuts a whole text into *chunks*, one per top-level operation (the contents of
//!    modules and executables are chunks too), with a scan that knows braces, strings and comments.
//!    The table holds lengths, not offsets, so an edit rescans only the chunks that it touches.
//!    Damage stays in its chunk: an unclosed brace ends at the next line that must begin a new
//!    symbol.
//! 2. [`Tree`] is one chunk's operations, regions and blocks. [`Symbol`] and [`FunctionType`] read
//!    only its head. All are made on demand.
//!
//! Both read through [`Source`], so a rope is never copied, and large constants (`dense<"0x…">`,
//! resources, rodata) are skipped in place. MLIR and `.vmasm` share one lexical shape, so one
//! scanner serves both.
//!
//! This crate knows no dialect: `ops` lists the operations whose *shape* matters because they
//! define or contain symbols, and all others follow the same rules. Nothing here fails: any bytes
//! give a table and a tree.
//!
//! Lowest first; a module uses only modules above it in this table.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `language` | the two languages |
//! | `source` | text in pieces, read through a trait |
//! | `edit` | a replacement of text |
//! | `search` | finding a string across pieces |
//! | `cursor` | reading bytes across pieces |
//! | `brackets` | where a bracketed group ends |
//! | `lexer` | tokens |
//! | `ops` | the operations whose shape matters |
//! | `function_type` | parameters and results of a function |
//! | `chunks` | level 1: the chunk table, the scan of one chunk, rescans after edits |
//! | `symbol` | level 2: the head of a chunk as a symbol |
//! | `tree` | level 2: the tree of a chunk and its parser |

mod brackets;
mod chunks;
mod cursor;
mod edit;
mod function_type;
mod language;
mod lexer;
mod ops;
mod search;
mod source;
mod symbol;
mod tree;

pub use brackets::Brackets;
pub use chunks::{Chunk, ChunkKind, ChunkTable, Damage, IN_FUNCTION, Placed, name_hash};
pub use edit::TextEdit;
pub use function_type::{FunctionType, Slot, read_types};
pub use language::Language;
pub use lexer::{Lexer, Token, TokenKind, unquote};
pub use ops::{OpClass, class_of};
pub use search::find_all;
pub use source::{Source, TextRange};
pub use symbol::{Symbol, Visibility};
pub use tree::{Leaf, Node, NodeId, NodeKind, Shape, SyntaxError, SyntaxErrorKind, Tree};

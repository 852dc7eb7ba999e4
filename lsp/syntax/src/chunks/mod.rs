//! Level 1: a whole text as a table of chunks, kept up to date by rescanning what an edit touched.
//!
//! A chunk is an operation at the level of symbols, with the white space and comments before it. An
//! operation whose region holds symbols (a module, an executable) gives an *opening* chunk up to
//! its brace, then its content's chunks, then a *closing* one. So the table is flat, nesting is a
//! counter, and one module of 100 000 functions is 100 000 chunks.
//!
//! ```text
//! module {              Open      depth 0
//!   func.func @a() {    Item      depth 1
//!     return
//!   }
//! }                     Close     depth 1
//! ```
//!
//! Scanning a chunk depends on nothing but the text after its start and the depth there. That is
//! what makes [`ChunkTable::edited`] simple: scan from the chunk before the edit until a boundary
//! falls on an old one, at the same depth.
//!
//! A function with a very long body is a container too, of [`ChunkKind::Part`]s of some thousand
//! lines: so an edit in a function of a hundred megabytes costs a part.
//!
//! ```text
//! func.func @f() {      Open
//!   %0 = …              Part       depth 1 | IN_FUNCTION
//!   %9000 = …           Close      the rest, with the brace
//! }
//! ```
//!
//! Damage is contained: strings end with their line, `// -----` closes everything, and a line that
//! begins with a word of [`crate::ops`], indented no deeper than the open operation, ends that
//! operation.

mod chunk;
mod scan;
mod table;

pub use chunk::{Chunk, ChunkKind, Damage, IN_FUNCTION, Placed, name_hash};
pub use table::ChunkTable;

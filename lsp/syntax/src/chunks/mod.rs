//! Level 1: a whole text as a table of chunks. An edit rescans only the chunks that it touches.
//!
//! A chunk is one symbol-level operation and the white space and comments before it. An operation
//! whose region holds symbols (a module, an executable) becomes an *opening* chunk up to its brace,
//! the chunks of its contents, and a *closing* chunk. So the table is flat, nesting is a counter,
//! and a module of 100,000 functions is 100,000 chunks.
//!
//! ```text
//! module {              Open      depth 0
//!   func.func @a() {    Item      depth 1
//!     return
//!   }
//! }                     Close     depth 1
//! ```
//!
//! The scan of a chunk depends only on the text after its start and on the depth there. So
//! [`ChunkTable::edited`] is simple: it scans from the chunk before the edit until a boundary falls
//! on an old boundary at the same depth.
//!
//! A function with a very long body is a container too. Its [`ChunkKind::Part`]s have at least 32
//! KiB each, so an edit in a function of a hundred megabytes rescans one part.
//!
//! ```text
//! func.func @f() {      Open
//!   %0 = …              Part       depth 1 | IN_FUNCTION
//!   %9000 = …           Close      the rest, with the brace
//! }
//! ```
//!
//! Damage is contained: strings end with their line, `// -----` closes everything, and a line that
//! begins with an operation of `crate::ops`, indented no deeper than the open operation, ends that
//! operation.

mod chunk;
mod scan;
mod table;

pub use chunk::{Chunk, ChunkKind, Damage, IN_FUNCTION, Placed, name_hash};
pub use table::ChunkTable;

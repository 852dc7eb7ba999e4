//! Texts and the names in them: a document, its chunks' trees, and what each name in a chunk means.
//!
//! Knows no feature and no compiled module; all other folders stand on this one.

mod across_chunks;
mod analysis;
mod document;
mod names;

pub(crate) use across_chunks::{
    LocalDefinition, block_elsewhere, block_of_use, chunks_sharing_values, is_beyond_search,
    is_in_long_function, touches, uses_of_block, uses_of_value, value_elsewhere, value_of_use,
};
pub(crate) use analysis::AnalysedChunk;
pub use document::{Document, Text};
pub(crate) use names::{Span, Value, ValueKind, hash};

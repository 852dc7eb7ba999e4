//! Texts and their names: a document, the trees of its chunks, and the meaning of each name in a
//! chunk.
//!
//! Knows no feature and no compiled module. All other folders build on this one.

mod across_chunks;
mod analysis;
mod document;
mod dominance;
mod inputs;
mod names;
mod replacement;
mod shared_names;

pub(crate) use across_chunks::{
    LocalDefinition, block_elsewhere, block_of_use, chunks_sharing_values, function_range,
    is_in_long_function, shares, touches, uses_of_block, uses_of_value, value_of_use,
};
pub(crate) use analysis::AnalysedChunk;
pub use document::{Document, Text};
pub(crate) use dominance::Dominance;
pub(crate) use inputs::Inputs;
pub(crate) use names::{ScopeId, Span, Use, Value, ValueKind, hash};
pub use replacement::Replacement;
pub(crate) use shared_names::{Collector, NameKind, SharedNames};

//! The functions of a source file: operations, values, blocks and regions out of the syntax tree,
//! with names and types resolved. Nothing here knows what an operation means.
//!
//! - [`function`]: the data, and what is in scope where
//! - [`lines`]: offsets as lines and columns
//! - [`types`]: the types that an operation's text declares
//! - [`reader`]: text to [`SourceFunction`]
//! - [`index`]: where the functions and globals of a file begin

mod function;
mod index;
mod lines;
mod reader;
mod symbols;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use function::{
    LineColumn, OperationIndex, SourceFunction, SourceOperation, SourceRegion, ValueIndex,
};
pub(crate) use index::FunctionIndex;
pub(crate) use symbols::symbol_name;

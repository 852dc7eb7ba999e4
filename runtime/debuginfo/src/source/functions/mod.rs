//! The functions of a source file: operations, values, blocks and regions, read from the syntax
//! tree, with names and types resolved. Nothing here knows what an operation means.
//!
//! - [`function`]: the data, and what is in scope at an operation
//! - [`types`]: the types that an operation's text declares
//! - [`symbols`]: the names of symbols
//! - [`reader`]: reading a [`SourceFunction`] from its text
//! - [`index`]: where the functions and globals of a file are

mod function;
mod index;
mod reader;
mod symbols;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use function::{
    LineColumn, OperationIndex, SourceBlock, SourceFunction, SourceOperation, SourceRegion,
    ValueIndex,
};
pub(crate) use index::FunctionIndex;
pub(crate) use symbols::symbol_name;

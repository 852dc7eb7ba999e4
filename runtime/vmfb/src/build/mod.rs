//! Writing modules: tables in memory to the bytes of a `.vmfb`, the inverse of `load`.
//!
//! ```text
//! u32 size prefix             four bytes, little-endian
//! FlatBuffer                  tables first, then bytecode and embedded rodata
//! padding                     to a multiple of 64 of the file
//! external rodata             each segment at a multiple of 64
//! ```
//!
//! This is the flat form, as `iree-as-module` and the compiler without its polyglot zip write it.
//! FlatBuffers are built from the end, so what is created first lies last. The debug database has
//! its own file, `debug_database.rs`; `alignment.rs` holds what the builder cannot do by itself.

mod alignment;
mod build_error;
mod debug_database;
mod module_image;

pub use build_error::BuildError;
pub use module_image::{ModuleImage, RodataImage};

//! Writing modules: tables in memory to the bytes of a `.vmfb`, the inverse of `module/loading.rs`.
//!
//! ```text
//! u32 size prefix             four bytes, little-endian
//! FlatBuffer                  tables first, then bytecode and embedded rodata
//! padding                     to a multiple of 64 of the file
//! external rodata             each segment at a multiple of 64
//! ```
//!
//! This is the flat form, which `iree-as-module` writes, and the compiler without its polyglot zip.
//! FlatBuffers are built from the end, so the first part created is the last in the file. The debug
//! database has its own file, `debug_database.rs`; `alignment.rs` does what the FlatBuffer builder
//! cannot.

mod alignment;
mod build_error;
mod debug_database;
mod module_image;

pub use build_error::BuildError;
pub use module_image::{ModuleImage, RodataImage};

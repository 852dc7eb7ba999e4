//! What an IREE VM module *is*: the archive, the schema, the instructions, the text. No execution.
//!
//! | file | holds |
//! | --- | --- |
//! | `archive` | the container: zip header, size prefix, external rodata |
//! | `file`, `mapping` | the bytes of a file, which may change on disk; memory mapping |
//! | `budget` | how much memory a module's tables may take |
//! | `schema` | FlatBuffer accessors, generated |
//! | `peek` | the bytecode version of a module of any schema |
//! | `load`, `module` | reading and checking the tables; the model that everything else uses |
//! | `parse`, `assemble` | `.vmasm` text to modules |
//! | `build` | writing modules |
//! | `debug_database` | locations of instructions, as stored |
//! | `isa` | the one table of instructions |
//! | `decode`, `encode` | bytes to instructions and back |
//! | `verify` | judging bytecode, before anybody executes it |
//! | `print` | the disassembly and the metadata report |
//! | `ordinals` | the numbers that things are addressed by |
//!
//! Start at [`Module::open`].

pub mod archive;
pub mod assemble;
mod budget;
pub mod build;
pub mod debug_database;
pub mod decode;
pub mod encode;
mod error;
mod file;
pub mod isa;
mod load;
pub mod mapping;
pub mod module;
pub mod ordinals;
mod parse;
mod peek;
pub mod print;
mod schema;
pub mod verify;

pub use debug_database::DebugDatabase;
pub use decode::{Instruction, decode, instructions};
pub use error::LoadError;
pub use file::{FileBytes, FileChange};
pub use isa::Op;
pub use mapping::PrivateMapping;
pub use module::Module;
pub use ordinals::{
    BytecodeOffset, Callee, ExportOrdinal, FunctionOrdinal, ImportOrdinal, Register, RodataOrdinal,
    TypeOrdinal,
};

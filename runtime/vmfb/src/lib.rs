//! What an IREE VM module *is*: the archive, the schema, the instructions, the text. No execution.
//!
//! Start at [`Module::open`]. A room uses only the rooms above it in this table.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `ordinals` | the numbers by which modules address their parts |
//! | `versions` | the versions of bytecode: which are supported, which compilers write them |
//! | `load_error` | why a file cannot be loaded as a module |
//! | `file` | the bytes of a file, which may change on disk; memory mapping |
//! | `archive` | the container: zip header, size prefix, external rodata |
//! | `isa` | the instruction table: opcodes, fields, meanings, text templates |
//! | `decode` | bytes to instructions |
//! | `encode` | instructions to bytes |
//! | `schema` | FlatBuffer accessors, generated |
//! | `table_budget` | how much memory a module's tables may take |
//! | `debug_database` | locations of instructions, as stored |
//! | `module` | the model that everything else uses; reading and checking the tables |
//! | `verify` | checks bytecode, and gives a `VerifiedModule` |
//! | `build` | writing modules |
//! | `diagnostic` | errors in a text, with line, column and caret |
//! | `parse` | `.vmasm` text to parsed lines |
//! | `assemble` | lines to modules |
//! | `print` | the disassembly, the metadata report, JSON |

pub mod archive;
pub mod assemble;
pub mod build;
pub mod debug_database;
pub mod decode;
mod diagnostic;
pub mod encode;
mod file;
pub mod isa;
mod load_error;
mod module;
mod ordinals;
mod parse;
pub mod print;
mod schema;
mod table_budget;
pub mod verify;
mod versions;

pub use debug_database::DebugDatabase;
pub use decode::{Instruction, decode, instructions};
pub use file::{FileBytes, FileChange, PrivateMapping, WholeFile, read_to_its_end, read_up_to};
pub use isa::Op;
pub use load_error::LoadError;
pub use module::{
    Attribute, Dependency, Export, Features, Function, FunctionSignature, Import, Module,
    ModuleState, RodataSegment, TypeDef,
};
pub use ordinals::{
    BytecodeOffset, Callee, ExportOrdinal, FunctionOrdinal, ImportOrdinal, Register, RodataOrdinal,
    TypeOrdinal,
};
pub use versions::{BytecodeVersion, Compilers, SupportedVersion, VERSIONS, newest_compiler};

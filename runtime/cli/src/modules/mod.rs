//! The modules of a command line: of bytecode, and native libraries. Nothing here runs a function.

mod bytecode;
mod error;
mod libraries;
mod library_call;

pub(crate) use bytecode::{LoadedModules, is_for_users, open};
pub(crate) use libraries::{ArgumentSnapshot, link_library, split_libraries};
pub(crate) use library_call::calling_module;

//! The program under the debugger, as it was loaded: modules with their debug information, the
//! texts and lines of their instructions, and the meanings of names there.
//!
//! Nothing here changes while the program runs, except that modules for devices are added when they
//! are loaded (`Program::meet_modules`). The folder uses only `tensor`, `view` and `interrupt`; it
//! must not look at a running program.

pub(crate) mod arithmetic;
pub(crate) mod cache;
pub(crate) mod calls;
pub(crate) mod catalog;
pub(crate) mod device_lines;
pub(crate) mod dispatch_memory;
pub(crate) mod files;
pub(crate) mod functions;
pub(crate) mod globals;
pub(crate) mod instruction_effects;
pub(crate) mod launch;
pub(crate) mod level;
pub(crate) mod lines;
pub(crate) mod listing;
pub(crate) mod meaning;
pub(crate) mod module;
pub(crate) mod operations;
pub(crate) mod parameter_types;
pub(crate) mod program;
pub(crate) mod python_lines;
pub(crate) mod reachability;
pub(crate) mod reader;
pub(crate) mod recorded;
pub(crate) mod registers;
pub(crate) mod resolve;
pub(crate) mod run_table;
pub(crate) mod tensor_signature;
pub(crate) mod tensors;
pub(crate) mod written_operation;

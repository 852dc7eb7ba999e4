//! The subcommands, one per file or folder. Only `main` uses them; what several of them share
//! stands below, in the other modules.
//!
//! To add one: a file with an `Arguments` struct and a `run` function, and in `command` a variant
//! of `Command` and an arm of `Command::run`.

mod abi;
mod asm;
mod bench;
mod check;
mod command;
mod compile;
mod completions;
mod dap;
mod debug;
mod diff;
mod doctor;
mod dump;
mod examples;
mod lsp;
mod man;
mod mcp;
mod onnx_tensors;
mod recorded_diff;
mod repro;
mod run;
mod table;
mod tensors;
mod trust;
mod verify;
mod view;
mod why;

pub(crate) use command::CommandLine;
pub(crate) use compile::run_iree_compile;

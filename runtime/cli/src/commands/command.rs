//! The table of subcommands.

use super::{abi, asm, bench, check, compile, dap, debug, dump, lsp, run, tensors, verify};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;

/// A subcommand. The comments are the help of `iree-dbg`.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Print a module: metadata, disassembly or JSON (like iree-dump-module)
    Dump(dump::Arguments),
    /// Make a module from VM assembly text (like iree-as-module)
    Asm(asm::Arguments),
    /// Call a function of a module (like iree-run-module)
    Run(run::Arguments),
    /// Measure how long a call of a function takes (like iree-benchmark-module)
    Bench(bench::Arguments),
    /// Compile a source to a module and its debug companion (drives iree-compile)
    Compile(compile::Arguments),
    /// Debug a module in the terminal (like gdb); without a module, the embedded example
    Debug(debug::Arguments),
    /// Print a line for each tensor that a dispatch leaves: shape, statistics, NaN, hash
    Tensors(tensors::Arguments),
    /// Check that a module's bytecode can be executed
    Verify(verify::Arguments),
    /// Run every test that a module exports (like iree-check-module)
    Check(check::Arguments),
    /// Read signature strings
    Abi(abi::Arguments),
    /// Serve editors over the Debug Adapter Protocol
    Dap(dap::Arguments),
    /// Serve editors over the Language Server Protocol
    Lsp(lsp::Arguments),
}

impl Command {
    /// Runs the subcommand.
    pub(crate) fn run(&self) -> Result<ExitStatus, Failure> {
        match self {
            Self::Dump(arguments) => dump::run(arguments),
            Self::Asm(arguments) => asm::run(arguments),
            Self::Run(arguments) => run::run(arguments),
            Self::Bench(arguments) => bench::run(arguments),
            Self::Compile(arguments) => compile::run(arguments),
            Self::Debug(arguments) => debug::run(arguments),
            Self::Tensors(arguments) => tensors::run(arguments),
            Self::Verify(arguments) => verify::run(arguments),
            Self::Check(arguments) => check::run(arguments),
            Self::Abi(arguments) => abi::run(arguments),
            Self::Dap(arguments) => dap::run(arguments),
            Self::Lsp(arguments) => lsp::run(arguments),
        }
    }
}

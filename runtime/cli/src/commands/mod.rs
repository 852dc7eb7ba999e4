//! The subcommands. To add one: a file with an `Arguments` struct and a `run` function, and a line
//! in [`Command`] and in [`Command::run`].

mod abi;
mod asm;
mod bench;
mod check;
mod compile;
mod dap;
mod debug;
mod dump;
mod lsp;
mod run;
mod verify;

use std::error::Error;
use std::process::ExitCode;

/// Why a command failed. What it prints is what the user sees after `error: `.
pub(crate) type Failure = Box<dyn Error>;

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
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        match self {
            Self::Dump(arguments) => dump::run(arguments),
            Self::Asm(arguments) => asm::run(arguments),
            Self::Run(arguments) => run::run(arguments),
            Self::Bench(arguments) => bench::run(arguments),
            Self::Compile(arguments) => compile::run(arguments),
            Self::Debug(arguments) => debug::run(arguments),
            Self::Verify(arguments) => verify::run(arguments),
            Self::Check(arguments) => check::run(arguments),
            Self::Abi(arguments) => abi::run(arguments),
            Self::Dap(arguments) => dap::run(arguments),
            Self::Lsp(arguments) => lsp::run(arguments),
        }
    }
}

/// Tells the user why the command failed. A reader that went away (`iree-dbg dump … | head`) is
/// no failure to speak of.
pub(crate) fn report(error: &Failure) {
    let io = error.downcast_ref::<std::io::Error>();
    if io.is_none_or(|error| error.kind() != std::io::ErrorKind::BrokenPipe) {
        eprintln!("error: {error}");
    }
}

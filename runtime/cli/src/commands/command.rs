//! The table of subcommands.

use clap::CommandFactory;

use super::{
    abi, asm, bench, check, compile, completions, dap, debug, diff, doctor, dump, examples, lsp,
    man, mcp, repro, run, table, tensors, trust, verify, view, why,
};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::version;

/// Debugger and language server for IREE VM modules.
#[derive(clap::Parser)]
#[command(
    name = "iree-dbg",
    version,
    long_version = version::LONG.as_str(),
    propagate_version = true,
    about,
    arg_required_else_help = true,
    // As in IREE's tools, a flag that comes again replaces the one before.
    args_override_self = true
)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// A subcommand. The comments are the help of `iree-dbg`.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Print a module: metadata, disassembly or JSON (like iree-dump-module)
    #[command(after_help = examples::DUMP)]
    Dump(dump::Arguments),
    /// Make a module from VM assembly text (like iree-as-module)
    #[command(after_help = examples::ASM)]
    Asm(asm::Arguments),
    /// Call a function of a module (like iree-run-module)
    #[command(after_help = examples::RUN)]
    Run(run::Arguments),
    /// Measure how long a call of a function takes (like iree-benchmark-module)
    #[command(after_help = examples::BENCH)]
    Bench(bench::Arguments),
    /// Compile a source to a module and its debug companion (drives iree-compile)
    #[command(after_help = examples::COMPILE)]
    Compile(compile::Arguments),
    /// Debug a module in the terminal (like gdb); without a module, the embedded example
    #[command(after_help = examples::DEBUG)]
    Debug(debug::Arguments),
    /// Print a line for each tensor that a dispatch leaves: shape, statistics, NaN, hash
    #[command(after_help = examples::TENSORS)]
    Tensors(tensors::Arguments),
    /// Print the table of a recorded run: what each command has left, with its hash
    #[command(after_help = examples::TABLE)]
    Table(table::Arguments),
    /// Write a dispatch of a run as a folder that IREE's own tools compile and run again
    #[command(after_help = examples::REPRO)]
    Repro(repro::Arguments),
    /// Find the dispatch that is wrong: machine code against bytecode, dispatch by dispatch
    #[command(after_help = examples::DIFF)]
    Diff(diff::Arguments),
    /// Compile and run a source, and say which dispatch makes its results other than expected
    #[command(after_help = examples::WHY)]
    Why(why::Arguments),
    /// Draw a tensor of a file: .npy, .irpa, .safetensors, .gguf, .bin
    #[command(after_help = examples::VIEW)]
    View(view::Arguments),
    /// Trust a folder, so that the compiler in its `.venv` may run
    #[command(after_help = examples::TRUST)]
    Trust(trust::Arguments),
    /// Say as JSON what a module or a recording would do, without running anything of it
    #[command(after_help = examples::DOCTOR)]
    Doctor(doctor::Arguments),
    /// Check that a module's bytecode can be executed
    #[command(after_help = examples::VERIFY)]
    Verify(verify::Arguments),
    /// Run every test that a module exports (like iree-check-module)
    #[command(after_help = examples::CHECK)]
    Check(check::Arguments),
    /// Read signature strings
    #[command(after_help = examples::ABI)]
    Abi(abi::Arguments),
    /// Serve editors over the Debug Adapter Protocol
    #[command(after_help = examples::DAP)]
    Dap(dap::Arguments),
    /// Serve editors over the Language Server Protocol
    #[command(after_help = examples::LSP)]
    Lsp(lsp::Arguments),
    /// Serve agents over the Model Context Protocol
    #[command(after_help = examples::MCP)]
    Mcp(mcp::Arguments),
    /// Print the script with which a shell completes commands and flags
    #[command(after_help = examples::COMPLETIONS)]
    Completions(completions::Arguments),
    /// Print the page of the manual, or write a page for each command
    #[command(after_help = examples::MAN)]
    Man(man::Arguments),
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
            Self::Table(arguments) => table::run(arguments),
            Self::Repro(arguments) => repro::run(arguments),
            Self::Diff(arguments) => diff::run(arguments),
            Self::Why(arguments) => why::run(arguments),
            Self::View(arguments) => view::run(arguments),
            Self::Trust(arguments) => trust::run(arguments),
            Self::Doctor(arguments) => doctor::run(arguments),
            Self::Verify(arguments) => verify::run(arguments),
            Self::Check(arguments) => check::run(arguments),
            Self::Abi(arguments) => abi::run(arguments),
            Self::Dap(arguments) => dap::run(arguments),
            Self::Lsp(arguments) => lsp::run(arguments),
            Self::Mcp(arguments) => mcp::run(arguments),
            Self::Completions(arguments) => completions::run(arguments, CommandLine::command()),
            Self::Man(arguments) => man::run(arguments, CommandLine::command()),
        }
    }
}

//! The `iree-dbg` binary: one subcommand a file in `commands`, each a thin shell over a library
//! crate.
//!
//! Results go to standard output and nothing else does; errors are one `error: …` on standard
//! error. The exit status is 0 for success, 1 for a failure, 2 for a command line that cannot be
//! read.

mod commands;
mod device_list;
mod example;
mod failure;
mod flag_files;
mod idle_breakpoints;
mod libraries;
mod limits;
mod listening;
mod measure;
mod modules;
mod outputs;
mod program;
mod structured;
mod terminal;
mod trace;

use std::process::ExitCode;

use clap::Parser;

/// Debugger and language server for IREE VM modules.
#[derive(Parser)]
#[command(name = "iree-dbg", version, about, arg_required_else_help = true)]
struct CommandLine {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    let arguments = match flag_files::expand(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(error) => {
            commands::report(&error.into());
            return ExitCode::from(2);
        }
    };
    if let Some(devices) = device_list::asked_for(&arguments) {
        print!("{devices}");
        return ExitCode::SUCCESS;
    }
    ffi::catch_faults();
    match CommandLine::parse_from(arguments).command.run() {
        Ok(code) => code,
        Err(error) => {
            commands::report(&error);
            ExitCode::FAILURE
        }
    }
}

//! The `iree-dbg` binary: one file per subcommand in `commands`, each a thin shell over a library
//! crate.
//!
//! Results go to standard output, and nothing else does; an error is one `error: …` on standard
//! error. See [`exit_status`] for the exit status.
//!
//! Each module uses only modules above it in this table.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `exit_status` | what each exit status means |
//! | `command_line` | `--flagfile` and `--list_devices`, before clap reads the command line |
//! | `modules` | modules and native libraries that the command line names, loaded and linked |
//! | `failure` | why a command failed, and how the user hears of it |
//! | `program` | flags for a program, its inputs and its outputs; its loading and running |
//! | `trace` | `--trace_execution`: every instruction with the values that it reads |
//! | `measurement` | how long a call takes, and breakpoints that a call does not reach |
//! | `listening` | `--listen`: who may connect, and running a program that debuggers attach to |
//! | `example` | the embedded module of `iree-dbg debug` without arguments |
//! | `terminal` | the terminal debugger |
//! | `tensor_files` | tensors of a run as files that NumPy reads |
//! | `prompt` | its prompt: completion and history |
//! | `commands` | one file or folder per subcommand |

mod command_line;
mod commands;
mod example;
mod exit_status;
mod failure;
mod listening;
mod measurement;
mod modules;
mod program;
mod prompt;
mod tensor_files;
mod terminal;
mod trace;

use std::process::ExitCode;

use clap::Parser;

use exit_status::ExitStatus;

/// Debugger and language server for IREE VM modules.
#[derive(Parser)]
#[command(name = "iree-dbg", version, about, arg_required_else_help = true)]
struct CommandLine {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    let arguments = match command_line::expand_flag_files(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(error) => {
            failure::report(&error.into());
            return ExitStatus::Usage.into();
        }
    };
    if let Some(devices) = command_line::device_list(&arguments) {
        print!("{devices}");
        return ExitStatus::Success.into();
    }
    ffi::catch_faults();
    let arguments = command_line::expand_eval_commands(arguments);
    let status = CommandLine::parse_from(arguments).command.run().unwrap_or_else(|error| {
        failure::report(&error);
        ExitStatus::Failure
    });
    status.into()
}

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
//! | `printing` | standard output, whose reader may go away |
//! | `exit_status` | what each exit status means |
//! | `command_line` | names of IREE's tools, `--flagfile`, lists of devices: before clap reads the command line |
//! | `modules` | modules and native libraries that the command line names, loaded and linked |
//! | `failure` | why a command failed, and how the user hears of it |
//! | `program` | flags for a program, its inputs and its outputs; its loading and running |
//! | `trace` | `--trace_execution`: every instruction with the values that it reads |
//! | `profiling` | `--device_profiling_output`: what the device has done, as a file of IREE's |
//! | `measurement` | how long a call takes, and breakpoints that a call does not reach |
//! | `listening` | `--listen`: who may connect, and running a program that debuggers attach to |
//! | `recorded_run` | `run --record`: running a program so that a file of the run is left |
//! | `example` | the embedded module of `iree-dbg debug` without arguments |
//! | `terminal` | the terminal debugger |
//! | `tensor_files` | tensors of a run as files that NumPy reads |
//! | `kept_tensors` | both sides of what a comparison has found, as files that NumPy reads |
//! | `kept_values` | what a run leaves on the lines of its sources, for editors |
//! | `progress_line` | what a comparison is at, on a terminal |
//! | `terminal_modes` | a signal that ends the debugger leaves the terminal as it was |
//! | `prompt` | its prompt: completion and history |
//! | `version` | what `--version` says |
//! | `commands` | one file or folder per subcommand |

#[macro_use]
mod printing;

mod command_line;
mod commands;
mod example;
mod exit_status;
mod failure;
mod kept_tensors;
mod kept_values;
mod listening;
mod measurement;
mod modules;
mod profiling;
mod program;
mod progress_line;
mod prompt;
mod recorded_run;
mod tensor_files;
mod terminal;
mod terminal_modes;
mod trace;
mod version;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use commands::CommandLine;
use exit_status::ExitStatus;

fn main() -> ExitCode {
    hal::serve_sandbox();
    hal::offer_sandbox("/proc/self/exe".into());
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let status = if command_line::is_iree_compile(&arguments) {
        commands::run_iree_compile(&arguments[1..])
    } else {
        perform(command_line::expand_tool_name(arguments))
    };
    let status = status.unwrap_or_else(|error| {
        failure::report(&error);
        ExitStatus::Failure
    });
    status.into()
}

fn perform(arguments: Vec<OsString>) -> Result<ExitStatus, failure::Failure> {
    let arguments = match command_line::expand_flag_files(arguments.into_iter()) {
        Ok(arguments) => arguments,
        Err(error) => {
            failure::report(&error.into());
            return Ok(ExitStatus::Usage);
        }
    };
    if let Some(listing) = command_line::listing(&arguments) {
        out!("{listing}");
        return Ok(ExitStatus::Success);
    }
    ffi::catch_faults();
    let arguments = command_line::expand_eval_commands(arguments);
    let arguments = command_line::move_compile_flags(arguments);
    CommandLine::parse_from(arguments).command.run()
}

//! The subcommands. To add one: a file with an `Arguments` struct and a `run` function, and a line
//! in [`Command`] and in [`Command::run`].

mod dump;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use vmfb::{LoadError, Module};

/// Why a command failed. What it prints is what the user sees after `error: `.
type Failure = Box<dyn Error>;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Print a module: metadata, disassembly or JSON (like iree-dump-module)
    Dump(dump::Arguments),
}

impl Command {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        match self {
            Self::Dump(arguments) => dump::run(arguments),
        }
    }
}

/// Loads a module, with its path in the error.
fn open_module(path: &Path) -> Result<Module, Failure> {
    Module::open(path).map_err(|error| match error {
        LoadError::Io { .. } => Failure::from(error),
        other => format!("{}: {other}", path.display()).into(),
    })
}

/// Tells the user why the command failed. A reader that went away (`iree-dbg dump … | head`) is
/// no failure to speak of.
pub(crate) fn report(error: &Failure) {
    let io = error.downcast_ref::<std::io::Error>();
    if io.is_none_or(|error| error.kind() != std::io::ErrorKind::BrokenPipe) {
        eprintln!("error: {error}");
    }
}

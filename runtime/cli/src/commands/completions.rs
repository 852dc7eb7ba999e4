//! `iree-dbg completions`: the script with which a shell completes commands and flags.

use std::io::Write;

use clap_complete::{Shell, generate};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The shell; its own manual says where such scripts are kept
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(
    arguments: &Arguments,
    mut command: clap::Command,
) -> Result<ExitStatus, Failure> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut command, "iree-dbg", &mut script);
    crate::printing::output().write_all(&script)?;
    Ok(ExitStatus::Success)
}

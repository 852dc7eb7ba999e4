//! `iree-dbg man`: pages of the manual, made of the same text as `--help`.

use std::io::Write;
use std::path::PathBuf;

use clap_mangen::{Man, generate_to};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write a page for the program and one for each command into this folder; without it the
    /// program's page is printed
    #[arg(long, value_name = "FOLDER")]
    directory: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, command: clap::Command) -> Result<ExitStatus, Failure> {
    match &arguments.directory {
        Some(folder) => {
            std::fs::create_dir_all(folder)?;
            generate_to(command, folder)?;
        }
        None => {
            let mut page = Vec::new();
            Man::new(command).render(&mut page)?;
            crate::printing::output().write_all(&page)?;
        }
    }
    Ok(ExitStatus::Success)
}

//! `iree-dbg compile`: runs iree-compile with the flags that debugging needs.
//!
//! Writes the module and, beside it, its debug companion and the sources of its dispatches.

use std::path::PathBuf;

use compile::{Cancellation, CompileRequest, compile};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The source
    #[arg(value_name = "INPUT.mlir")]
    input: PathBuf,

    /// The module to write; the debug companion and the sources of dispatches get its name with the
    /// suffixes `.companion.mlir` and `.dispatches.mlir`
    #[arg(short, long, value_name = "MODULE.vmfb")]
    output: PathBuf,

    /// Which iree-compile to run; by default $IREE_COMPILE, or the one on PATH or in the `.venv` of
    /// the project
    #[arg(long = "iree-compile", value_name = "FILE")]
    compiler: Option<PathBuf>,

    /// Flags for iree-compile; they override the flags that are added here
    #[arg(last = true, value_name = "FLAG")]
    flags: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let request = CompileRequest {
        input: arguments.input.clone(),
        output: arguments.output.clone(),
        flags: arguments.flags.clone(),
        compiler: arguments.compiler.clone(),
        directory: None,
        environment: Vec::new(),
    };
    let cancellation = Cancellation::default();
    let cancel = cancellation.clone();
    ctrlc::set_handler(move || cancel.cancel())?;
    let output = compile(&request, &cancellation, &mut |line| eprintln!("{line}"))?;
    println!("{}", output.module.display());
    match output.companion {
        Ok(companion) => {
            println!("{}", companion.display());
            if let Some(dispatches) = output.dispatches {
                println!("{}", dispatches.display());
            }
            Ok(ExitStatus::Success)
        }
        Err(reason) => Err(format!(
            "{} was written, its debug companion was not: {reason}",
            output.module.display()
        )
        .into()),
    }
}

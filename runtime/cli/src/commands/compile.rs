//! `iree-dbg compile`: runs iree-compile with the flags that debugging needs.
//!
//! Writes the module and, beside it, its debug file; or only that of a module that is there.

use std::path::PathBuf;

use compile::{Cancellation, CompileRequest, compile};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The source
    #[arg(value_name = "INPUT.mlir")]
    input: PathBuf,

    /// The module to write; the debug file gets its name with the suffix `.debug`
    #[arg(short, long, value_name = "MODULE.vmfb", required_unless_present = "shipped")]
    output: Option<PathBuf>,

    /// Write the debug file of a module that is there, if the source compiles to that very module
    /// with these flags; no others are added
    #[arg(long = "for", value_name = "MODULE.vmfb", conflicts_with = "output")]
    shipped: Option<PathBuf>,

    /// The directory for the debug file, instead of the module's
    #[arg(long = "debug-directory", value_name = "DIRECTORY")]
    debug_directory: Option<PathBuf>,

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
        output: arguments.shipped.clone().or_else(|| arguments.output.clone()).unwrap_or_default(),
        is_shipped: arguments.shipped.is_some(),
        debug_directory: arguments.debug_directory.clone(),
        flags: arguments.flags.clone(),
        compiler: arguments.compiler.clone(),
        ..CompileRequest::default()
    };
    let cancellation = Cancellation::default();
    let cancel = cancellation.clone();
    ctrlc::set_handler(move || cancel.cancel())?;
    let output = compile(&request, &cancellation, &mut |line| eprintln!("{line}"))?;
    if !request.is_shipped {
        println!("{}", output.module.display());
    }
    println!("{}", output.debug_file.display());
    match output.no_companion {
        None => Ok(ExitStatus::Success),
        Some(reason) => Err(format!(
            "{} was written without a debug companion: {reason}",
            output.debug_file.display()
        )
        .into()),
    }
}

//! `iree-dbg compile`: runs iree-compile with the flags that debugging needs.
//!
//! Writes the module and, beside it, its debug file; or only that of a module that is there.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use compile::{Cancellation, CompileRequest, compile, find_compiler};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The source; or an ONNX model, which is imported to a source beside the module first
    #[arg(value_name = "INPUT.mlir|MODEL.onnx")]
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

    /// Bring an ONNX model to this version of ONNX before it is imported: 17 is one that IREE knows
    #[arg(long = "opset-version", alias = "opset_version", value_name = "NUMBER")]
    opset: Option<u32>,

    /// Flags for iree-compile; they override the flags that are added here. The `--` may be left
    /// out
    #[arg(last = true, value_name = "FLAG")]
    flags: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let request = CompileRequest {
        input: arguments.input.clone(),
        output: arguments.shipped.clone().or_else(|| arguments.output.clone()).unwrap_or_default(),
        is_shipped: arguments.shipped.is_some(),
        debug_directory: arguments.debug_directory.clone(),
        opset: arguments.opset,
        flags: arguments.flags.clone(),
        compiler: arguments.compiler.clone(),
        ..CompileRequest::default()
    };
    let cancellation = Cancellation::default();
    let cancel = cancellation.clone();
    ctrlc::set_handler(move || cancel.cancel())?;
    let output = compile(&request, &cancellation, &mut |line| errln!("{line}"))?;
    if !request.is_shipped {
        outln!("{}", output.module.display());
    }
    outln!("{}", output.debug_file.display());
    if let Some(import) = &output.import {
        outln!("{}", import.display());
    }
    match output.no_companion {
        None => Ok(ExitStatus::Success),
        Some(reason) => Err(format!(
            "{} was written without a debug companion: {reason}",
            output.debug_file.display()
        )
        .into()),
    }
}

/// iree-compile itself, under our name in its place: no flag is added and nothing else is written.
pub(crate) fn run_iree_compile(arguments: &[OsString]) -> Result<ExitStatus, Failure> {
    let compiler = find_compiler(&std::env::current_dir()?)?;
    let mut command = Command::new(compile::without_script(&compiler).as_ref());
    command.args(arguments);
    become_program(command)
        .map_err(|error| format!("cannot run {}: {error}", compiler.display()).into())
}

/// The program takes the place of this process, so that signals are for it.
#[cfg(unix)]
fn become_program(mut command: Command) -> std::io::Result<ExitStatus> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec())
}

/// The status of the program.
#[cfg(not(unix))]
fn become_program(mut command: Command) -> std::io::Result<ExitStatus> {
    let status = command.status()?;
    Ok(if status.success() { ExitStatus::Success } else { ExitStatus::Failure })
}

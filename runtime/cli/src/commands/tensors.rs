//! `iree-dbg tensors`: runs a function, and prints a line for each tensor that a dispatch leaves,
//! as it is when the dispatch has run. Nothing has to be compiled again.

use std::io::{self, Write};
use std::path::PathBuf;

use commands::TensorRow;
use debug::{
    BreakpointSpec, Debugger, DispatchMoment, FrameId, LaunchOptions, ModuleSource, Resume,
    StopReason,
};
use vm::FrameIndex;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::modules::split_libraries;
use crate::program::DeviceArguments;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The module, which --module= can name too
    #[arg(value_name = "MODULE.vmfb")]
    module: Option<PathBuf>,

    /// A module; each may import from the modules before it, and the last one has the function
    #[arg(long = "module", value_name = "MODULE.vmfb")]
    modules: Vec<PathBuf>,

    /// The exported function to call; optional if there is only one
    #[arg(long, value_name = "NAME")]
    function: Option<String>,

    /// An argument, in order: 5, 0x10, 2.5, 2x2xf32=1,2,3,4, @x.npy
    #[arg(long = "input", value_name = "VALUE", allow_hyphen_values = true)]
    inputs: Vec<String>,

    /// How to print them
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Print only tensors with NaN, infinities, or an element more than 20 standard deviations from
    /// the mean
    #[arg(long)]
    outliers: bool,

    #[command(flatten)]
    device: DeviceArguments,

    /// A directory to search for source files
    #[arg(long = "directory", value_name = "DIRECTORY")]
    directories: Vec<PathBuf>,
}

/// How tensors are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Format {
    /// A table.
    Table,
    /// One JSON object per line.
    Json,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let mut debugger = Debugger::load(options(arguments)?)?;
    for note in debugger.program().notes() {
        eprintln!("note: {note}");
    }
    let (pattern, when) = ("*".to_owned(), DispatchMoment::After);
    debugger.add_breakpoint(BreakpointSpec::Dispatch { pattern, when });
    let innermost = FrameId::from(FrameIndex(0));
    let mut output = io::stdout().lock();
    let mut rows = Vec::new();
    let failure = loop {
        match debugger.resume(Resume::Continue) {
            StopReason::Completed(_) => break None,
            StopReason::Failed(failure) => break Some(failure),
            _ => {}
        }
        let left = debugger.machine().tensors_left(innermost);
        let found = left.iter().map(TensorRow::of);
        let found = found.filter(|row| !arguments.outliers || row.is_suspicious);
        match arguments.format {
            Format::Table => rows.extend(found),
            Format::Json => {
                for row in found {
                    writeln!(output, "{}", row.data)?;
                }
            }
        }
    };
    if arguments.format == Format::Table {
        output.write_all(TensorRow::table(&rows).as_bytes())?;
    }
    match failure {
        Some(failure) => Err(failure.to_string().into()),
        None => Ok(ExitStatus::Success),
    }
}

fn options(arguments: &Arguments) -> Result<LaunchOptions, Failure> {
    let paths: Vec<PathBuf> = arguments.modules.iter().chain(&arguments.module).cloned().collect();
    let (modules, libraries) = split_libraries(&paths);
    let beside = modules.iter().filter_map(|path| path.parent()).map(PathBuf::from);
    let here = std::env::current_dir().into_iter();
    let directories = arguments.directories.iter().cloned().chain(here).chain(beside).collect();
    Ok(LaunchOptions {
        modules: modules.into_iter().map(ModuleSource::Path).collect(),
        function: arguments.function.clone(),
        inputs: arguments.inputs.clone(),
        host: arguments.device.config_with(&libraries)?,
        source_directories: directories,
        ..LaunchOptions::default()
    })
}

//! `iree-dbg tensors`: runs a function, and prints a line for each tensor that a dispatch leaves,
//! as it is when the dispatch has run. Nothing has to be compiled again.

use std::io::{self, Write};
use std::path::PathBuf;

use commands::TensorRow;
use debug::{BreakpointSpec, Debugger, DispatchMoment, FrameId, Resume, StopReason};
use vm::FrameIndex;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::program::DebuggeeArguments;
use crate::tensor_files::TensorFiles;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The module, which --module= can name too
    #[arg(value_name = "MODULE.vmfb")]
    module: Option<PathBuf>,

    #[command(flatten)]
    program: DebuggeeArguments,

    /// How to print or write them
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Print only tensors with NaN, infinities, or an element more than 20 standard deviations from
    /// the mean
    #[arg(long)]
    outliers: bool,

    /// The file of --format=npz, or the directory of --format=npz-dir
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
}

/// How tensors are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Format {
    /// A table.
    Table,
    /// One JSON object per line.
    Json,
    /// A file that numpy.load reads, with all elements.
    Npz,
    /// A directory of files that numpy.load reads.
    NpzDir,
}

/// Where the tensors go.
enum Sink {
    Table(Vec<TensorRow>),
    Json,
    Files(TensorFiles),
}

impl Sink {
    fn of(arguments: &Arguments) -> Result<Self, Failure> {
        let path = || {
            let missing = "--format=npz and npz-dir write files; name where with --output=PATH";
            arguments.output.as_deref().ok_or(missing)
        };
        let files = match arguments.format {
            _ if arguments.format.is_printed() && arguments.output.is_some() => {
                return Err("--output goes with --format=npz or npz-dir".into());
            }
            Format::Table => return Ok(Self::Table(Vec::new())),
            Format::Json => return Ok(Self::Json),
            Format::Npz => TensorFiles::archive(path()?),
            Format::NpzDir => TensorFiles::directory(path()?),
        };
        let path = path()?.display();
        Ok(Self::Files(files.map_err(|error| format!("cannot write {path}: {error}"))?))
    }
}

impl Format {
    fn is_printed(self) -> bool {
        matches!(self, Self::Table | Self::Json)
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let options = arguments.program.launch_options(arguments.module.as_ref(), Ok)?;
    let mut debugger = Debugger::load(options.ok_or("name a module")?)?;
    for note in debugger.program().notes() {
        eprintln!("note: {note}");
    }
    let mut sink = Sink::of(arguments)?;
    let (pattern, when) = ("*".to_owned(), DispatchMoment::After);
    debugger.add_breakpoint(BreakpointSpec::Dispatch { pattern, when });
    let innermost = FrameId::from(FrameIndex(0));
    let mut output = io::stdout().lock();
    let failure = loop {
        match debugger.resume(Resume::Continue) {
            StopReason::Completed(_) => break None,
            StopReason::Failed(failure) => break Some(failure),
            _ => {}
        }
        for entry in debugger.machine().tensors_left(innermost) {
            let row = TensorRow::of(&entry);
            if arguments.outliers && !row.is_suspicious {
                continue;
            }
            match &mut sink {
                Sink::Table(rows) => rows.push(row),
                Sink::Json => writeln!(output, "{}", row.data)?,
                Sink::Files(files) => files.add(&entry, row.data)?,
            }
        }
    };
    match sink {
        Sink::Table(rows) => output.write_all(TensorRow::table(&rows).as_bytes())?,
        Sink::Json => {}
        Sink::Files(files) => files.finish()?,
    }
    match failure {
        Some(failure) => Err(failure.to_string().into()),
        None => Ok(ExitStatus::Success),
    }
}

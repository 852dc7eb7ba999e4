//! `iree-dbg tensors`: runs a function, and prints a line for each tensor that a dispatch leaves,
//! as it is when the dispatch has run. Nothing has to be compiled again. Each line is printed
//! before the program goes on, and nothing of it is kept: a run may take as long as it likes.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use commands::{TensorColumns, TensorRow};
use debug::{
    AllTensors, BreakpointSpec, Debugger, DispatchMoment, FrameId, Machine, Resume, StopReason,
    TensorEntry,
};
use serde_json::{Map, Value};
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

    /// Print each tensor that the source computes, once, at the end: those that dispatches leave,
    /// and the others computed again from these, with a mark
    #[arg(long)]
    all: bool,

    /// How to print or write them
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Print only tensors with NaN, infinities, or an element more than 20 standard deviations from
    /// the mean
    #[arg(long)]
    outliers: bool,

    /// With --format=trace: the most elements of a tensor that are printed
    #[arg(long, value_name = "N", default_value_t = 1024)]
    elements: usize,

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
    /// What each dispatch reads and leaves, as --iree-flow-trace-dispatch-tensors prints it.
    Trace,
    /// A file that numpy.load reads, with all elements.
    Npz,
    /// A directory of files that numpy.load reads.
    NpzDir,
}

/// The version of the objects of `--format=json`; their schema is `schemas/tensors.schema.json`.
const SCHEMA: u32 = 1;

/// Where the tensors go.
enum Sink {
    /// A table, whose columns are known once the program is loaded.
    Table(Option<TensorColumns>),
    Json,
    Trace,
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
            Format::Table => return Ok(Self::Table(None)),
            Format::Json => return Ok(Self::Json),
            Format::Trace if arguments.outliers => {
                return Err("--format=trace prints all tensors; --outliers goes with others".into());
            }
            Format::Trace if arguments.all => {
                return Err(
                    "--format=trace prints what dispatches read; --all goes with others".into()
                );
            }
            Format::Trace => return Ok(Self::Trace),
            Format::Npz => TensorFiles::archive(path()?),
            Format::NpzDir => TensorFiles::directory(path()?),
        };
        let path = path()?.display();
        Ok(Self::Files(files.map_err(|error| format!("cannot write {path}: {error}"))?))
    }

    /// Prints or writes a tensor.
    fn put(
        &mut self,
        entry: &TensorEntry,
        number: u64,
        only_outliers: bool,
        machine: &Machine,
        output: &mut impl Write,
    ) -> Result<(), Failure> {
        let row = TensorRow::of(entry);
        if only_outliers && !row.is_suspicious {
            return Ok(());
        }
        match self {
            Self::Table(columns) => {
                let is_first = columns.is_none();
                let list = || TensorColumns::of(&machine.dispatch_list());
                let columns = columns.get_or_insert_with(list);
                if is_first {
                    writeln!(output, "{}", columns.heading())?;
                }
                writeln!(output, "{}", row.line(columns))?;
            }
            Self::Trace => {}
            Self::Json => writeln!(output, "{}", versioned(row.data, number))?,
            Self::Files(files) => files.add(entry, row.data)?,
        }
        Ok(())
    }
}

impl Format {
    fn is_printed(self) -> bool {
        matches!(self, Self::Table | Self::Json | Self::Trace)
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let options = arguments.program.launch_options(arguments.module.as_ref(), Ok)?;
    let mut debugger = Debugger::load(options.ok_or("name a module")?)?;
    for note in debugger.program().notes() {
        errln!("note: {note}");
    }
    let mut sink = Sink::of(arguments)?;
    let moments = match sink {
        Sink::Trace => &[DispatchMoment::Before, DispatchMoment::After][..],
        _ => &[DispatchMoment::After],
    };
    for &when in moments {
        debugger.edit_breakpoints().add(BreakpointSpec::Dispatch { pattern: "*".to_owned(), when });
    }
    let innermost = FrameId::from(FrameIndex(0));
    let mut output = crate::printing::output();
    let mut progress = Progress::new(arguments.format);
    let mut number = 0_u64;
    let mut all = arguments.all.then(AllTensors::default);
    let failure = loop {
        match debugger.resume(Resume::Continue) {
            StopReason::Completed(_) => break None,
            StopReason::Failed(failure) => break Some(failure),
            _ => {}
        }
        if let Sink::Trace = sink {
            output.write_all(traced(&debugger, arguments.elements).as_bytes())?;
            continue;
        }
        if let Some(all) = &mut all {
            all.keep(debugger.machine(), innermost);
            continue;
        }
        for entry in debugger.machine().tensors_left(innermost) {
            sink.put(&entry, number, arguments.outliers, debugger.machine(), &mut output)?;
            number += 1;
        }
        progress.show(number);
    };
    progress.end();
    let computed = all.map(|it| it.finish(debugger.machine())).unwrap_or_default();
    if arguments.all && computed.is_empty() {
        errln!(
            "note: the operations of the source are not known, which --all goes by: they are in \
             the debug file that `iree-dbg compile` writes beside the module"
        );
    }
    for (number, entry) in (0..).zip(&computed) {
        sink.put(entry, number, arguments.outliers, debugger.machine(), &mut output)?;
    }
    match sink {
        Sink::Table(None) => {
            let list = debugger.machine().dispatch_list();
            writeln!(output, "{}", TensorColumns::of(&list).heading())?;
        }
        Sink::Table(Some(_)) | Sink::Json | Sink::Trace => {}
        Sink::Files(files) => files.finish()?,
    }
    match failure {
        Some(failure) => Err(failure.to_string().into()),
        None => Ok(ExitStatus::Success),
    }
}

/// The tensors that a dispatch reads, where the program stands before it, or those that it has
/// left.
fn traced(debugger: &Debugger, elements: usize) -> String {
    let state = match debugger.machine().dispatch_state() {
        Ok(state) => state,
        Err(reason) => {
            let export = debugger.machine().dispatch_export().unwrap_or_default();
            return format!("=== {export} ===\n<{reason}>\n\n");
        }
    };
    let what = if state.has_run { "outputs" } else { "inputs" };
    let mut text = format!("=== {} {what} ===\n", state.export);
    for operand in state.operands {
        let is_used = if state.has_run { operand.is_written } else { operand.is_read };
        if is_used {
            match operand.tensor {
                Some(tensor) => text.push_str(&tensor.format(elements)),
                None => text.push_str(&format!("<{} is not there>", operand.tensor_type)),
            }
            text.push('\n');
        }
    }
    text.push('\n');
    text
}

/// An object of `--format=json`. Programs read it: add keys, never change one.
fn versioned(data: Value, number: u64) -> Value {
    let mut all = Map::new();
    all.insert("schema_version".to_owned(), SCHEMA.into());
    all.insert("number".to_owned(), number.into());
    if let Value::Object(data) = data {
        all.extend(data);
    }
    Value::Object(all)
}

/// How far the run is, on the terminal, where the lines themselves do not show it.
struct Progress {
    is_shown: bool,
    last: Option<Instant>,
}

impl Progress {
    /// How long nothing is shown.
    const PATIENCE: Duration = Duration::from_millis(200);

    fn new(format: Format) -> Self {
        let shows_lines = format.is_printed() && crate::printing::output().is_terminal();
        Self { is_shown: crate::printing::errors().is_terminal() && !shows_lines, last: None }
    }

    fn show(&mut self, number: u64) {
        let is_due = self.last.is_none_or(|last| last.elapsed() >= Self::PATIENCE);
        if self.is_shown && is_due {
            self.last = Some(Instant::now());
            let _ = crate::printing::errors().write_own(&format!("\r{number} tensors"));
        }
    }

    fn end(&self) {
        if self.last.is_some() {
            // The line is cleared, for what is printed next.
            let _ = crate::printing::errors().write_own("\r\x1b[K");
        }
    }
}

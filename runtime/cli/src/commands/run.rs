//! `iree-dbg run`: calls a function of a module and prints, writes or checks its results.

use std::path::{Path, PathBuf};

use debug::LaunchOptions;
use vm::{Observer, Value};

use crate::exit_status::ExitStatus;
use crate::failure::{ErrorFormat, Failure, RunFailure};
use crate::kept_values;
use crate::listening::{self, AccessArguments};
use crate::profiling;
use crate::program::{
    OutputArguments, Program, ProgramArguments, StatisticsArguments, parse_switch,
    write_instruments,
};
use crate::recorded_run::{self, Has, Leaves};
use crate::trace::{TracedModules, Tracer};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    program: ProgramArguments,

    #[command(flatten)]
    outputs: OutputArguments,

    /// Print every instruction to standard error before it runs
    #[arg(long = "trace_execution", alias = "trace-execution", value_name = "BOOL")]
    #[arg(num_args = 0..=1, require_equals = true)]
    #[arg(default_value = "false", default_missing_value = "true", value_parser = parse_switch)]
    trace_execution: bool,

    #[command(flatten)]
    statistics: StatisticsArguments,

    /// Write what instrumented code has recorded into this file
    #[arg(long = "instrument_file", value_name = "FILE")]
    instrument_file: Option<String>,

    /// The format of a failure on standard error
    #[arg(
        long = "error_format",
        alias = "error-format",
        value_name = "FORMAT",
        default_value = "text"
    )]
    error_format: ErrorFormat,

    /// Write a profile of what the device does, which `iree-profile` takes and VS Code shows
    #[arg(long = "device_profiling_output", alias = "device-profiling-output")]
    #[arg(value_name = "FILE.ireeprof", conflicts_with = "listen")]
    device_profiling_output: Option<String>,

    /// Let debuggers attach over this TCP address while the program runs, one after the other; port
    /// 0 takes any free port
    #[arg(long, value_name = "HOST:PORT")]
    #[arg(conflicts_with_all = ["trace_execution", "inputs_json", "keywords", "outputs_json"])]
    listen: Option<String>,

    /// Record the run in a file, which `iree-dbg debug FILE` makes again, here or elsewhere
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = RECORDING_CONFLICTS)]
    record: Option<PathBuf>,

    /// The same, if the run fails; otherwise no file is left
    #[arg(long = "record-on-failure", value_name = "FILE")]
    #[arg(conflicts_with_all = RECORDING_CONFLICTS, conflicts_with = "record")]
    record_on_failure: Option<PathBuf>,

    /// The recording has what each dispatch leaves, too: it is then walked without machine code, on
    /// any processor
    #[arg(long = "with-results")]
    with_results: bool,

    /// Keep the figures of each tensor (min, max, NaN) for editors, which show them on the lines of
    /// the source; in this folder for caches, or else in the user's own
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, require_equals = true)]
    #[arg(conflicts_with_all = RECORDING_CONFLICTS)]
    #[arg(conflicts_with_all = ["record", "record_on_failure"])]
    values: Option<Option<PathBuf>>,

    /// Begin when the first debugger has attached and set its breakpoints
    #[arg(long = "wait-for-debugger", requires = "listen")]
    wait_for_debugger: bool,

    #[command(flatten)]
    access: AccessArguments,

    /// Let attached debuggers read memory of this process by address (`r0 as memref<?xf32>`), also
    /// outside the program
    #[arg(long = "foreign-memory", requires = "listen")]
    foreign_memory: bool,
}

/// A recorded run is one of the debugger.
const RECORDING_CONFLICTS: [&str; 6] = [
    "trace_execution",
    "inputs_json",
    "keywords",
    "outputs_json",
    "listen",
    "device_profiling_output",
];

impl Arguments {
    /// The file that the run is recorded in, and whether only a failure leaves it.
    fn recording(&self) -> Option<(&Path, Leaves)> {
        let always = self.record.as_deref().map(|path| (path, Leaves::Always));
        let failed = self.record_on_failure.as_deref().map(|path| (path, Leaves::Failure));
        always.or(failed)
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    Ok(execute(arguments).unwrap_or_else(|error| {
        arguments.error_format.report(&error);
        ExitStatus::Failure
    }))
}

fn execute(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    if arguments.with_results && arguments.recording().is_none() {
        return Err("--with-results says what a recording has: name its file with \
                    --record=FILE or --record-on-failure=FILE"
            .into());
    }
    let profile = arguments.device_profiling_output.as_deref().filter(|file| !file.is_empty());
    // With JSON, standard error gets nothing but the failure.
    let is_text = arguments.error_format == ErrorFormat::Text;
    arguments.program.compile(&mut |line| {
        if is_text {
            errln!("{line}");
        }
    })?;
    let mut program = arguments.program.load_as(profile.is_some())?;
    if is_text {
        program.remarks().iter().for_each(|remark| errln!("note: {remark}"));
    }
    if let Some(address) = &arguments.listen {
        let options = LaunchOptions {
            foreign_memory: arguments.foreign_memory,
            ..arguments.program.launch_options()?
        };
        let waits = arguments.wait_for_debugger;
        let results = listening::run(options, address, &arguments.access, waits)?;
        return arguments.outputs.process(&program, &results);
    }
    if let Some((path, leaves)) = arguments.recording() {
        let options = arguments.program.launch_options()?;
        let has = if arguments.with_results { Has::Results } else { Has::Digests };
        let results = recorded_run::run(options, path, leaves, has, &program)??;
        return arguments.outputs.process(&program, &results);
    }
    if let Some(folder) = &arguments.values {
        let options = arguments.program.launch_options()?;
        let results = kept_values::run(options, folder.as_deref(), is_text, &program)??;
        return arguments.outputs.process(&program, &results);
    }
    let statistics = arguments.statistics.begin(&program.host);
    let results = if arguments.trace_execution {
        let modules = TracedModules::new(&program.context);
        let names = modules.names();
        let mut tracer = Tracer::new(&modules, &names, crate::printing::errors());
        call(&mut program, Some(&mut tracer))
    } else {
        call(&mut program, None)
    };
    // Of a run that has failed, too.
    if let Some(path) = profile {
        let device = program.host.device();
        profiling::write(Path::new(path), device.kind().name(), device.history())?;
    }
    let results = results?;
    for path in program.overwritten_files() {
        errln!(
            "warning: {} was written while the program read its constants from it: the results \
             may be wrong",
            path.display()
        );
    }
    let code = arguments.outputs.process(&program, &results)?;
    if let Some(snapshot) = &program.snapshot {
        out!("{}", snapshot.changed());
    }
    if let Some(path) = arguments.instrument_file.as_deref().filter(|it| !it.is_empty()) {
        write_instruments(&mut program, Path::new(path))?;
    }
    let unmet = program.host.expectations().take();
    drop((program, results));
    statistics.print();
    if unmet.is_empty() {
        return Ok(code);
    }
    Err(format!("expectations that did not hold:\n{}", unmet.join("\n")).into())
}

fn call(
    program: &mut Program,
    mut observer: Option<&mut dyn Observer>,
) -> Result<Vec<Value>, RunFailure> {
    // Not `as_deref_mut`: the trait object would have to live as long as the option.
    program.initialize(match &mut observer {
        Some(observer) => Some(&mut **observer),
        None => None,
    })?;
    if !program.prints_json() {
        outln!("EXEC @{}", program.function_name);
    }
    program.call(observer)
}

//! `iree-dbg bench`: how long calls take, as iree-benchmark-module measures and reports it.
//!
//! With `--json` or `--breakpoints` it measures one function as the debugger's own benchmarks do:
//! medians of many samples, and what breakpoints cost that are not hit.

use std::time::Duration;

use serde_json::{Value, json};

use crate::exit_status::ExitStatus;
use crate::failure::{Failure, RunFailure};
use crate::measurement::{
    Benchmark, BenchmarkFlags, Counter, IdleBreakpoints, Measurement, Report, Row, TimeUnit,
    measure, run_benchmark, set_idle_breakpoints,
};
use crate::program::{
    Callee, CalleeKind, OutputArguments, Program, ProgramArguments, StatisticsArguments,
    parse_switch,
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    program: ProgramArguments,

    #[command(flatten)]
    benchmark: BenchmarkFlags,

    /// How many calls one iteration stands for: --iree-hal-benchmark-dispatch-repeat-count of the
    /// compiler, which benchmarks of dispatches get as their argument
    #[arg(long = "batch_size", value_name = "COUNT", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    batch_size: u32,

    /// How many calls of a batch may overlap; devices run one after the other here
    #[arg(long = "batch_concurrency", value_name = "COUNT", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    batch_concurrency: u32,

    /// The unit of times; by default ms, and us for dispatches
    #[arg(long = "time_unit", value_enum, value_name = "UNIT")]
    time_unit: Option<TimeUnit>,

    /// Add a row for each dispatch of a benchmark: its time, calls, and share of the dispatches
    #[arg(long = "dispatch_statistics", value_name = "BOOL", num_args = 0..=1)]
    #[arg(require_equals = true, default_value = "false", default_missing_value = "true")]
    #[arg(value_parser = parse_switch)]
    dispatch_statistics: bool,

    /// Print, write or check the results of the last call; without it --output and
    /// --expected_output do nothing
    #[arg(long = "enable_output_processing", value_name = "BOOL", num_args = 0..=1)]
    #[arg(require_equals = true, default_value = "false", default_missing_value = "true")]
    #[arg(value_parser = parse_switch)]
    enable_output_processing: bool,

    #[command(flatten)]
    outputs: OutputArguments,

    #[command(flatten)]
    statistics: StatisticsArguments,

    /// Taken for compatibility: `run` traces
    #[arg(long = "trace_execution", value_name = "BOOL", num_args = 0..=1, hide = true)]
    #[arg(require_equals = true, default_value = "false", default_missing_value = "true")]
    #[arg(value_parser = parse_switch)]
    trace_execution: bool,

    /// Refused: `run` writes profiles
    #[arg(long = "device_profiling_output", value_name = "FILE", hide = true)]
    profile: Option<String>,

    /// Measure one function, and set this many breakpoints that the call does not reach, to see
    /// their cost
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    breakpoints: usize,

    /// Measure one function, and print one JSON object with the median of many samples
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    if arguments.json || arguments.breakpoints > 0 {
        return measure_one(arguments);
    }
    if arguments.profile.as_ref().is_some_and(|file| !file.is_empty()) {
        return Err("UNIMPLEMENTED; --device_profiling_output: `bench` writes no profiles; `run` \
                    does"
            .into());
    }
    if arguments.trace_execution {
        errln!("note: --trace_execution: what is traced takes another time; `run` traces");
    }
    let (mut program, callees) = arguments.program.load_benchmarks()?;
    program.remarks().iter().for_each(|remark| errln!("note: {remark}"));
    note_of_clock(arguments);
    let selects = arguments.benchmark.selects()?;
    let chosen: Vec<(Benchmark, Callee)> = callees
        .into_iter()
        .map(|callee| (benchmark(arguments, &callee), callee))
        .filter(|(benchmark, _)| selects(&benchmark.row_name()))
        .enumerate()
        .map(|(family, (benchmark, callee))| (Benchmark { family, ..benchmark }, callee))
        .collect();
    if chosen.is_empty() {
        errln!(
            "Failed to match any benchmarks against regex: {}\nnote: without --function=, exports \
             without arguments are benchmarks; the others want --function= and --input=",
            arguments.benchmark.filter
        );
        return Ok(ExitStatus::Success);
    }
    if arguments.benchmark.list_tests {
        chosen.iter().for_each(|(benchmark, _)| outln!("{}", benchmark.row_name()));
        return Ok(ExitStatus::Success);
    }
    let statistics = arguments.statistics.begin(&program.host);
    if arguments.dispatch_statistics {
        program.host.device().time_dispatches();
    }
    program.initialize(None)?;
    let names: Vec<String> = chosen.iter().map(|(benchmark, _)| benchmark.row_name()).collect();
    let mut sink = if arguments.dispatch_statistics {
        // How wide names are is known in the end.
        Sink::Rows(Vec::new())
    } else {
        Sink::Report(Report::begin(&names, &arguments.benchmark, false)?)
    };
    let mut results = Vec::new();
    for (benchmark, callee) in &chosen {
        program.aim(callee, arguments.batch_size)?;
        match measured(arguments, benchmark, &mut program) {
            Ok((rows, last)) => {
                results = last;
                sink.add(rows)?;
            }
            Err(failure) => {
                sink.end(&arguments.benchmark)?;
                return Err(format!("{}: {failure}", benchmark.row_name()).into());
            }
        }
    }
    sink.end(&arguments.benchmark)?;
    let status = if arguments.enable_output_processing {
        arguments.outputs.process(&program, &results)?
    } else {
        ExitStatus::Success
    };
    drop((program, results));
    statistics.print();
    Ok(status)
}

/// Where rows go.
enum Sink {
    /// To the user at once.
    Report(Report),
    /// To the user in the end.
    Rows(Vec<Row>),
}

impl Sink {
    fn add(&mut self, rows: Vec<Row>) -> std::io::Result<()> {
        match self {
            Self::Report(report) => rows.iter().try_for_each(|row| report.add(row)),
            Self::Rows(all) => {
                all.extend(rows);
                Ok(())
            }
        }
    }

    fn end(self, flags: &BenchmarkFlags) -> std::io::Result<()> {
        let rows = match self {
            Self::Report(report) => return report.end(),
            Self::Rows(rows) => rows,
        };
        let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
        let mut report = Report::begin(&names, flags, true)?;
        rows.iter().try_for_each(|row| report.add(row))?;
        report.end()
    }
}

fn benchmark(arguments: &Arguments, callee: &Callee) -> Benchmark {
    let (usual_unit, batch) = match callee.kind {
        CalleeKind::Dispatch => (TimeUnit::Us, arguments.batch_size),
        CalleeKind::Call => (TimeUnit::Ms, arguments.batch_size),
        // Each call of a batch is made, and a batch holds whole rounds of concurrent ones.
        CalleeKind::Fenced => (TimeUnit::Ms, 1),
    };
    Benchmark {
        name: format!("BM_{}", callee.name),
        family: 0,
        unit: arguments.time_unit.unwrap_or(usual_unit),
        batch: batch.into(),
    }
}

/// The rows of a benchmark, and the results of its last call.
fn measured(
    arguments: &Arguments,
    benchmark: &Benchmark,
    program: &mut Program,
) -> Result<(Vec<Row>, Vec<vm::Value>), RunFailure> {
    let mut last = Vec::new();
    let device = program.host.device().clone();
    let mut call = || program.call(None).map(|results| last = results);
    // Only the dispatches of rows count.
    let discard = || {
        if arguments.dispatch_statistics {
            drop(device.take_dispatch_times());
        }
    };
    let mut rows = run_benchmark(benchmark, &arguments.benchmark, &mut call, discard)?;
    if arguments.dispatch_statistics {
        let repetitions = rows.iter().filter(|row| !row.is_aggregate());
        let calls = repetitions.map(|row| row.iterations).sum();
        rows.extend(dispatch_rows(benchmark, program, calls));
    }
    Ok((rows, last))
}

/// A row for each dispatch, the one that takes longest first.
fn dispatch_rows(benchmark: &Benchmark, program: &Program, calls: u64) -> Vec<Row> {
    let mut times = program.host.device().take_dispatch_times();
    times.sort_by_key(|dispatch| std::cmp::Reverse(dispatch.time));
    let all: Duration = times.iter().map(|dispatch| dispatch.time).sum();
    let rows = times.into_iter().map(|dispatch| {
        let share = 100.0 * dispatch.time.as_secs_f64() / all.as_secs_f64().max(1e-12);
        let per_call = dispatch.calls as f64 / calls.max(1) as f64;
        Row::of_dispatch(
            format!("{}/{}", benchmark.name, dispatch.name),
            benchmark,
            dispatch.calls,
            dispatch.time,
            vec![
                Counter { name: "calls", value: per_call, is_rate: false },
                Counter { name: "percent", value: share, is_rate: false },
            ],
        )
    });
    rows.collect()
}

/// CPU time is that of this process.
fn note_of_clock(arguments: &Arguments) {
    if arguments.program.is_sandboxed() {
        errln!(
            "note: machine code runs in a sandbox, whose CPU time is not counted; compare wall \
             times"
        );
    }
}

/// `--json` and `--breakpoints`.
fn measure_one(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let mut program = arguments.program.load()?;
    program.remarks().iter().for_each(|remark| errln!("note: {remark}"));
    note_of_clock(arguments);
    program.initialize(None)?;
    let idle = set_idle_breakpoints(&mut program, arguments.breakpoints)?;
    let budget = Duration::from_secs_f64(arguments.benchmark.seconds());
    let measurement = measure(budget, || program.call(None).map(drop))?;
    if arguments.json {
        outln!("{}", report(&program.function_name, &measurement, &idle));
    } else {
        print(&program.function_name, &measurement, &idle);
    }
    Ok(ExitStatus::Success)
}

/// The object that `--json` prints. Times are CPU time unless their key says `wall`. Its schema is
/// `schemas/bench.schema.json`.
fn report(function: &str, measurement: &Measurement, idle: &IdleBreakpoints) -> Value {
    json!({
        "schema_version": 1,
        "function": function,
        "ns_per_call": measurement.median_ns,
        "iterations": measurement.iterations,
        "min_ns_per_call": measurement.minimum_ns,
        "mean_ns_per_call": measurement.mean_ns,
        "wall_ns_per_call": measurement.median_wall_ns,
        "samples": measurement.samples,
        "breakpoints": idle.total,
        "breakpoints_in_running_functions": idle.in_running_functions,
    })
}

fn print(function: &str, measurement: &Measurement, idle: &IdleBreakpoints) {
    outln!("BENCH @{function}");
    outln!("  median      {:>14.1} ns per call (CPU time)", measurement.median_ns);
    outln!("  minimum     {:>14.1} ns", measurement.minimum_ns);
    outln!("  mean        {:>14.1} ns", measurement.mean_ns);
    outln!("  wall median {:>14.1} ns", measurement.median_wall_ns);
    outln!(
        "  iterations  {:>14}    in {} samples, after warming up",
        measurement.iterations,
        measurement.samples
    );
    outln!(
        "  breakpoints {:>14}    not hit, {} of them in functions that run",
        idle.total,
        idle.in_running_functions
    );
}

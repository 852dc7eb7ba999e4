//! `iree-dbg bench`: how long a call of a function takes.

use std::time::Duration;

use serde_json::{Value, json};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::measurement::{IdleBreakpoints, Measurement, measure, set_idle_breakpoints};
use crate::program::ProgramArguments;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    program: ProgramArguments,

    /// How long to measure, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = parse_seconds)]
    time: f64,

    /// Set this many breakpoints that the call does not reach, to see their cost
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    breakpoints: usize,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let mut program = arguments.program.load()?;
    program.remarks().iter().for_each(|remark| eprintln!("note: {remark}"));
    program.initialize(None)?;
    let idle = set_idle_breakpoints(&mut program, arguments.breakpoints)?;
    let budget = Duration::from_secs_f64(arguments.time);
    let measurement = measure(budget, || program.call(None).map(drop))?;
    if arguments.json {
        let report = report(&program.function_name, &measurement, &idle);
        println!("{report}");
    } else {
        print(&program.function_name, &measurement, &idle);
    }
    Ok(ExitStatus::Success)
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number of seconds between 0 and 3600 is wanted".to_owned()),
    }
}

/// The object that `--json` prints. Times are CPU time unless their key says `wall`.
fn report(function: &str, measurement: &Measurement, idle: &IdleBreakpoints) -> Value {
    json!({
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
    println!("BENCH @{function}");
    println!("  median      {:>14.1} ns per call (CPU time)", measurement.median_ns);
    println!("  minimum     {:>14.1} ns", measurement.minimum_ns);
    println!("  mean        {:>14.1} ns", measurement.mean_ns);
    println!("  wall median {:>14.1} ns", measurement.median_wall_ns);
    println!(
        "  iterations  {:>14}    in {} samples, after warming up",
        measurement.iterations, measurement.samples
    );
    if idle.total > 0 {
        println!(
            "  breakpoints {:>14}    not hit, {} of them in functions that run",
            idle.total, idle.in_running_functions
        );
    }
}

//! How often a call is repeated, and what one takes. The counts are Google Benchmark's: they grow
//! until a run takes the wanted time, and the last run is what counts.

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

use super::flags::{BenchmarkFlags, MinimumTime};
use super::row::{Benchmark, Counter, Kind, Row, aggregates};

/// The most iterations of a run.
const MAXIMUM: u64 = 1_000_000_000;

/// A run of so many iterations.
struct Run {
    iterations: u64,
    real: Duration,
    cpu: Duration,
}

/// Runs a benchmark: a row for each repetition, then the rows that summarise them. `discard` is
/// called after calls that do not count, which warmed up or found the number of iterations.
///
/// # Errors
/// The first error of a call.
pub(crate) fn run<E>(
    benchmark: &Benchmark,
    flags: &BenchmarkFlags,
    call: &mut impl FnMut() -> Result<(), E>,
    discard: impl Fn(),
) -> Result<Vec<Row>, E> {
    let mut repeat = |iterations: u64| repeat(iterations, benchmark.batch, call);
    let mut iterations = match flags.duration() {
        MinimumTime::Iterations(count) => count,
        MinimumTime::Seconds(_) => 1,
    };
    if !flags.dry_run {
        warm_up(flags.min_warmup_time, &mut repeat)?;
    }
    discard();
    let mut rows = Vec::new();
    for repetition in 0..flags.repetitions() {
        let mut run = repeat(iterations)?;
        // The first repetition finds the number of iterations for all.
        if let (0, MinimumTime::Seconds(wanted)) = (repetition, flags.duration()) {
            while let Some(more) = needed(iterations, run.real, wanted) {
                iterations = more;
                discard();
                run = repeat(iterations)?;
            }
        }
        rows.push(row(benchmark, flags, repetition, &run));
    }
    rows.extend(aggregates(&rows));
    Ok(rows)
}

fn warm_up<E>(seconds: f64, repeat: &mut impl FnMut(u64) -> Result<Run, E>) -> Result<(), E> {
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < seconds {
        repeat(1)?;
    }
    Ok(())
}

/// How many iterations a run needs to take the wanted time; `None` if the last one did.
fn needed(iterations: u64, took: Duration, wanted: f64) -> Option<u64> {
    let took = took.as_secs_f64();
    if iterations >= MAXIMUM || took >= wanted {
        return None;
    }
    // A run that is too short says little about the next one.
    let factor = if took / wanted > 0.1 { wanted * 1.4 / took.max(1e-9) } else { 10.0 };
    let next = (factor * iterations as f64).round() as u64;
    Some(next.max(iterations + 1).min(MAXIMUM))
}

fn repeat<E>(
    iterations: u64,
    batch: u64,
    call: &mut impl FnMut() -> Result<(), E>,
) -> Result<Run, E> {
    let batch = batch.max(1);
    let (cpu, real) = (ProcessTime::now(), Instant::now());
    let mut done = 0;
    while done < iterations {
        call()?;
        done += batch;
    }
    let (real, cpu) = (real.elapsed(), cpu.elapsed());
    Ok(Run { iterations: done, real, cpu })
}

fn row(benchmark: &Benchmark, flags: &BenchmarkFlags, repetition: u32, run: &Run) -> Row {
    let count = run.iterations as f64;
    let seconds = run.real.as_secs_f64().max(1e-12);
    Row {
        name: benchmark.row_name(),
        family: benchmark.family,
        kind: Kind::Repetition(repetition),
        repetitions: flags.repetitions(),
        iterations: run.iterations,
        real_time: benchmark.unit.count(run.real) / count,
        cpu_time: benchmark.unit.count(run.cpu) / count,
        unit: benchmark.unit,
        counters: vec![Counter { name: "items_per_second", value: count / seconds, is_rate: true }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_grow_until_a_run_is_long_enough() {
        let milliseconds = Duration::from_millis;
        assert_eq!(needed(1, milliseconds(1), 0.5), Some(10));
        assert_eq!(needed(100, milliseconds(250), 0.5), Some(280));
        assert_eq!(needed(100, milliseconds(500), 0.5), None);
        assert_eq!(needed(MAXIMUM, milliseconds(1), 0.5), None);
        assert_eq!(needed(MAXIMUM - 1, milliseconds(1), 0.5), Some(MAXIMUM));
    }

    #[test]
    fn a_batch_counts_as_its_iterations() {
        let mut calls = 0;
        let run = repeat(10, 4, &mut || {
            calls += 1;
            Ok::<(), ()>(())
        });
        assert_eq!((run.map(|run| run.iterations), calls), (Ok(12), 3));
        assert_eq!(repeat(10, 4, &mut || Err("broken")).map(|run| run.iterations), Err("broken"));
    }
}

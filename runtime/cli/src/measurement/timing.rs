//! How long a call takes: a warm-up, then batches of calls until a time budget is used up.
//!
//! Each batch is one sample. It is long enough that reading the clocks does not count, and short
//! enough that there are many samples, so that the median ignores other activity of the machine.
//! Time is CPU time of the whole process, as `iree-benchmark-module` counts it; wall time is kept
//! too.

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

/// The least number of samples, however long a call takes.
const MINIMUM_SAMPLES: usize = 3;
/// The number of samples that fill the budget if calls are short.
const SAMPLES: u32 = 100;
/// The warm-up takes the budget divided by this.
const WARM_UP_SHARE: u32 = 5;

/// One sample: its times per call, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Sample {
    calls: u64,
    cpu_ns: f64,
    wall_ns: f64,
}

/// The cost of a call, in nanoseconds of CPU time unless the field says otherwise.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Measurement {
    /// The number of measured calls.
    pub(crate) iterations: u64,
    pub(crate) samples: usize,
    pub(crate) median_ns: f64,
    pub(crate) minimum_ns: f64,
    pub(crate) mean_ns: f64,
    /// The median of the wall time.
    pub(crate) median_wall_ns: f64,
}

/// Repeats a call for about as long as `budget`.
///
/// # Errors
/// The first error of a call.
pub(crate) fn measure<E>(
    budget: Duration,
    mut call: impl FnMut() -> Result<(), E>,
) -> Result<Measurement, E> {
    let estimate = warm_up(budget / WARM_UP_SHARE, &mut call)?;
    let batch_time = (budget / SAMPLES).as_nanos() as f64;
    let batch = (batch_time / estimate).max(1.0) as u64;
    let mut samples = Vec::new();
    let start = Instant::now();
    while samples.len() < MINIMUM_SAMPLES || start.elapsed() < budget {
        samples.push(sample(batch, &mut call)?);
    }
    Ok(summarize(&samples))
}

/// Repeats a call until `time` has passed. Returns the wall time of a later call in nanoseconds.
fn warm_up<E>(time: Duration, call: &mut impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    let start = Instant::now();
    let mut batch = 1;
    loop {
        let sample = sample(batch, call)?;
        if start.elapsed() >= time {
            return Ok(sample.wall_ns.max(1.0));
        }
        // Batches grow until reading the clock does not count.
        if sample.wall_ns * (batch as f64) < 1e5 {
            batch *= 2;
        }
    }
}

fn sample<E>(calls: u64, call: &mut impl FnMut() -> Result<(), E>) -> Result<Sample, E> {
    let (cpu, wall) = (ProcessTime::now(), Instant::now());
    for _ in 0..calls {
        call()?;
    }
    let (wall, cpu) = (wall.elapsed(), cpu.elapsed());
    let per_call = |time: Duration| time.as_nanos() as f64 / calls as f64;
    Ok(Sample { calls, cpu_ns: per_call(cpu), wall_ns: per_call(wall) })
}

fn summarize(samples: &[Sample]) -> Measurement {
    let cpu: Vec<f64> = samples.iter().map(|sample| sample.cpu_ns).collect();
    let wall: Vec<f64> = samples.iter().map(|sample| sample.wall_ns).collect();
    Measurement {
        iterations: samples.iter().map(|sample| sample.calls).sum(),
        samples: samples.len(),
        median_ns: median(&cpu),
        minimum_ns: cpu.iter().copied().fold(f64::INFINITY, f64::min),
        mean_ns: cpu.iter().sum::<f64>() / cpu.len().max(1) as f64,
        median_wall_ns: median(&wall),
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.get(middle) {
        None => 0.0,
        Some(value) if sorted.len() % 2 == 1 => *value,
        Some(value) => f64::midpoint(sorted[middle - 1], *value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_or_between_the_two_middle_ones() {
        for (values, expected) in
            [(&[][..], 0.0), (&[3.0], 3.0), (&[9.0, 1.0, 2.0], 2.0), (&[4.0, 1.0, 100.0, 2.0], 3.0)]
        {
            assert_eq!(median(values), expected, "{values:?}");
        }
    }

    #[test]
    fn a_summary_counts_calls_and_keeps_the_clocks_apart() {
        let sample = |cpu_ns, wall_ns| Sample { calls: 10, cpu_ns, wall_ns };
        let summary = summarize(&[sample(3.0, 5.0), sample(1.0, 50.0), sample(2.0, 6.0)]);
        assert_eq!((summary.iterations, summary.samples), (30, 3));
        assert_eq!((summary.median_ns, summary.minimum_ns, summary.mean_ns), (2.0, 1.0, 2.0));
        assert_eq!(summary.median_wall_ns, 6.0);
    }

    #[test]
    fn every_call_is_made_and_the_first_error_ends_it() {
        let mut calls = 0_u64;
        let measurement = measure(Duration::ZERO, || {
            calls += 1;
            Ok::<(), ()>(())
        })
        .unwrap();
        assert!(measurement.samples >= MINIMUM_SAMPLES);
        assert!(calls > measurement.iterations, "warming up calls too");

        let mut calls = 0;
        let failed = measure(Duration::from_secs(3600), || {
            calls += 1;
            if calls == 5 { Err("fifth") } else { Ok(()) }
        });
        assert_eq!(failed, Err("fifth"));
    }
}

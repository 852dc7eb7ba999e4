//! A row of a report, and the rows that sum up repetitions.

use std::time::Duration;

/// What is measured.
pub(crate) struct Benchmark {
    /// `BM_` and the name of the function.
    pub(crate) name: String,
    /// Its number among the benchmarks that run.
    pub(crate) family: usize,
    pub(crate) unit: TimeUnit,
    /// How many iterations a call stands for.
    pub(crate) batch: u64,
}

impl Benchmark {
    /// The name in reports.
    pub(crate) fn row_name(&self) -> String {
        format!("{}/process_time/real_time", self.name)
    }
}

/// The unit of times in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum TimeUnit {
    Ns,
    Us,
    Ms,
}

impl TimeUnit {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ns => "ns",
            Self::Us => "us",
            Self::Ms => "ms",
        }
    }

    pub(super) fn count(self, time: Duration) -> f64 {
        let each = match self {
            Self::Ns => 1e9,
            Self::Us => 1e6,
            Self::Ms => 1e3,
        };
        time.as_secs_f64() * each
    }
}

/// What a row is about.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kind {
    /// A repetition, counted from 0.
    Repetition(u32),
    /// All repetitions: the name of the statistic, and whether it is a share and not a time.
    Aggregate { name: &'static str, is_share: bool },
}

/// A value beside the times of a row.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Counter {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    /// Whether it is a number per second.
    pub(crate) is_rate: bool,
}

/// A row of a report.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Row {
    /// Without the name of the statistic.
    pub(crate) name: String,
    pub(crate) family: usize,
    pub(crate) kind: Kind,
    pub(crate) repetitions: u32,
    /// How many calls were measured; of an aggregate, how many repetitions.
    pub(crate) iterations: u64,
    /// The time of a call, in `unit`; of a share, the share.
    pub(crate) real_time: f64,
    pub(crate) cpu_time: f64,
    pub(crate) unit: TimeUnit,
    pub(crate) counters: Vec<Counter>,
}

impl Row {
    /// A row for a dispatch of a benchmark: the time of all its calls, of which each is an
    /// iteration.
    pub(crate) fn of_dispatch(
        name: String,
        benchmark: &Benchmark,
        iterations: u64,
        time: Duration,
        counters: Vec<Counter>,
    ) -> Self {
        let each = benchmark.unit.count(time) / iterations.max(1) as f64;
        Self {
            name,
            family: benchmark.family,
            kind: Kind::Repetition(0),
            repetitions: 1,
            iterations,
            real_time: each,
            cpu_time: each,
            unit: benchmark.unit,
            counters,
        }
    }

    /// The name, with the name of the statistic.
    pub(super) fn full_name(&self) -> String {
        match self.kind {
            Kind::Repetition(_) => self.name.clone(),
            Kind::Aggregate { name, .. } => format!("{}_{name}", self.name),
        }
    }

    pub(crate) fn is_aggregate(&self) -> bool {
        matches!(self.kind, Kind::Aggregate { .. })
    }

    pub(super) fn is_share(&self) -> bool {
        matches!(self.kind, Kind::Aggregate { is_share: true, .. })
    }
}

/// A statistic of values.
type Statistic = fn(&[f64]) -> f64;

const STATISTICS: [(&str, bool, Statistic); 4] = [
    ("mean", false, mean),
    ("median", false, median),
    ("stddev", false, deviation),
    ("cv", true, |values| if values.is_empty() { 0.0 } else { deviation(values) / mean(values) }),
];

/// The rows that sum up the repetitions of a benchmark: none for one repetition.
pub(super) fn aggregates(repetitions: &[Row]) -> Vec<Row> {
    let [first, _, ..] = repetitions else { return Vec::new() };
    let all = STATISTICS.iter().map(|(name, is_share, statistic)| {
        let of = |value: fn(&Row) -> f64| {
            statistic(&repetitions.iter().map(value).collect::<Vec<f64>>())
        };
        let counters = first.counters.iter().enumerate().map(|(index, counter)| {
            let values = repetitions.iter().filter_map(|row| row.counters.get(index));
            let values: Vec<f64> = values.map(|counter| counter.value).collect();
            Counter { value: statistic(&values), ..counter.clone() }
        });
        Row {
            kind: Kind::Aggregate { name, is_share: *is_share },
            iterations: repetitions.len() as u64,
            real_time: of(|row| row.real_time),
            cpu_time: of(|row| row.cpu_time),
            counters: counters.collect(),
            ..first.clone()
        }
    });
    all.collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        count if count % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// The standard deviation of a sample.
fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (squares / (values.len() - 1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(real_time: f64, rate: f64) -> Row {
        Row {
            name: "BM_a".to_owned(),
            family: 0,
            kind: Kind::Repetition(0),
            repetitions: 3,
            iterations: 10,
            real_time,
            cpu_time: 2.0 * real_time,
            unit: TimeUnit::Ms,
            counters: vec![Counter { name: "items_per_second", value: rate, is_rate: true }],
        }
    }

    #[test]
    fn repetitions_are_summed_up() {
        let rows = aggregates(&[row(2.0, 4.0), row(4.0, 4.0), row(9.0, 4.0)]);
        let times: Vec<(String, f64)> =
            rows.iter().map(|row| (row.full_name(), row.real_time)).collect();
        assert_eq!(times[0], ("BM_a_mean".to_owned(), 5.0));
        assert_eq!(times[1], ("BM_a_median".to_owned(), 4.0));
        assert_eq!(times[2], ("BM_a_stddev".to_owned(), 13_f64.sqrt()));
        assert_eq!(times[3], ("BM_a_cv".to_owned(), 13_f64.sqrt() / 5.0));
        assert_eq!(rows[2].counters[0].value, 0.0);
        assert_eq!((rows[0].iterations, rows[0].cpu_time), (3, 10.0));
        assert!(aggregates(&[row(1.0, 1.0)]).is_empty());
    }
}

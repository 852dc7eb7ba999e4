//! `--benchmark_*`: the flags of Google Benchmark.

use std::path::PathBuf;

use regex_lite::Regex;

use crate::program::{NoSwitch, parse_switch};

/// How a report is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Console,
    /// One object
    Json,
    /// Lines of values between commas
    Csv,
}

/// How long a benchmark runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum MinimumTime {
    Seconds(f64),
    Iterations(u64),
}

/// Whether the console report is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// The flags of Google Benchmark.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct BenchmarkFlags {
    /// Print the names of the benchmarks, and run none
    #[arg(long = "benchmark_list_tests", value_name = "BOOL", num_args = 0..=1)]
    #[arg(require_equals = true, default_value = "false", default_missing_value = "true")]
    #[arg(value_parser = parse_switch)]
    pub(crate) list_tests: bool,

    /// Run the benchmarks whose names match a regular expression; those that do not, with `-`
    /// before it
    #[arg(long = "benchmark_filter", value_name = "REGEX", default_value = "")]
    #[arg(allow_hyphen_values = true)]
    pub(crate) filter: String,

    /// How long each benchmark runs at least: `0.5s`, or a number of iterations, `100x`
    #[arg(long = "benchmark_min_time", alias = "time", value_name = "TIME")]
    #[arg(default_value = "0.5s", value_parser = parse_minimum_time)]
    pub(crate) min_time: MinimumTime,

    /// How long each benchmark runs before it is measured, in seconds
    #[arg(long = "benchmark_min_warmup_time", value_name = "SECONDS")]
    #[arg(default_value = "0", value_parser = parse_seconds)]
    pub(crate) min_warmup_time: f64,

    /// Run each benchmark once, with one iteration
    #[arg(long = "benchmark_dry_run", value_name = "BOOL", num_args = 0..=1)]
    #[arg(require_equals = true, default_value = "false", default_missing_value = "true")]
    #[arg(value_parser = parse_switch)]
    pub(crate) dry_run: bool,

    /// Run each benchmark so often, and report the mean, median, standard deviation and
    /// coefficient of variation
    #[arg(long = "benchmark_repetitions", value_name = "COUNT", default_value = "1")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) repetitions: u32,

    /// Report what sums up the repetitions, and not each of them
    #[arg(long = "benchmark_report_aggregates_only", value_name = "BOOL", num_args = 0..=1)]
    #[arg(require_equals = true, default_value = "false", default_missing_value = "true")]
    #[arg(value_parser = parse_switch)]
    pub(crate) report_aggregates_only: bool,

    /// The same, on the console; the file of --benchmark_out has each
    #[arg(long = "benchmark_display_aggregates_only", value_name = "BOOL", num_args = 0..=1)]
    #[arg(require_equals = true, default_value = "false", default_missing_value = "true")]
    #[arg(value_parser = parse_switch)]
    pub(crate) display_aggregates_only: bool,

    /// Run the repetitions of all benchmarks in turn, not one benchmark after the other
    #[arg(long = "benchmark_enable_random_interleaving", value_name = "BOOL", num_args = 0..=1)]
    #[arg(require_equals = true, default_value = "false", default_missing_value = "true")]
    #[arg(value_parser = parse_switch, hide = true)]
    pub(crate) interleaved: bool,

    /// The format of standard output
    #[arg(long = "benchmark_format", value_enum, value_name = "FORMAT")]
    #[arg(default_value_t = Format::Console)]
    pub(crate) format: Format,

    /// A file for the report, beside standard output
    #[arg(long = "benchmark_out", value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// The format of that file
    #[arg(long = "benchmark_out_format", value_enum, value_name = "FORMAT")]
    #[arg(default_value_t = Format::Json)]
    pub(crate) out_format: Format,

    /// Whether the console report is coloured: `auto`, `true`, `false`
    #[arg(long = "benchmark_color", value_name = "WHEN", default_value = "auto")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(value_parser = parse_color)]
    pub(crate) color: Color,

    /// Give each counter a column of its own
    #[arg(long = "benchmark_counters_tabular", value_name = "BOOL", num_args = 0..=1)]
    #[arg(require_equals = true, default_value = "false", default_missing_value = "true")]
    #[arg(value_parser = parse_switch)]
    pub(crate) counters_tabular: bool,

    /// More lines for what the report says about the machine: `key=value,…`
    #[arg(long = "benchmark_context", value_name = "KEY=VALUE,…", value_delimiter = ',')]
    pub(crate) context: Vec<String>,

    /// The unit of times of benchmarks that choose none, which all do here
    #[arg(long = "benchmark_time_unit", value_name = "UNIT", hide = true)]
    #[arg(value_parser = ["ns", "us", "ms", "s"])]
    pub(crate) usual_time_unit: Option<String>,

    /// Taken for compatibility: how much Google Benchmark logs about itself
    #[arg(long = "v", value_name = "LEVEL", hide = true)]
    pub(crate) verbosity: Option<i32>,
}

impl BenchmarkFlags {
    /// How long each benchmark runs.
    pub(crate) fn duration(&self) -> MinimumTime {
        if self.dry_run { MinimumTime::Iterations(1) } else { self.min_time }
    }

    /// How many seconds each benchmark runs; half a second where iterations are counted.
    pub(crate) fn seconds(&self) -> f64 {
        match self.duration() {
            MinimumTime::Seconds(seconds) => seconds,
            MinimumTime::Iterations(_) => 0.5,
        }
    }

    /// How often each benchmark runs.
    pub(crate) fn repetitions(&self) -> u32 {
        if self.dry_run { 1 } else { self.repetitions }
    }

    /// Which benchmarks run, by name.
    ///
    /// # Errors
    /// The filter is no regular expression.
    pub(crate) fn selects(&self) -> Result<impl Fn(&str) -> bool, NoFilter> {
        let (is_negative, text) = match self.filter.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, self.filter.as_str()),
        };
        let text = if matches!(text, "" | "all") { "." } else { text };
        let regex =
            Regex::new(text).map_err(|source| NoFilter { text: text.to_owned(), source })?;
        Ok(move |name: &str| regex.is_match(name) != is_negative)
    }
}

/// `--benchmark_filter` is no regular expression.
#[derive(Debug, thiserror::Error)]
#[error("INVALID_ARGUMENT; --benchmark_filter={text}: {source}")]
pub(crate) struct NoFilter {
    text: String,
    source: regex_lite::Error,
}

/// Why a text is no time.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum NoTime {
    #[error("a number of seconds between 0 and 3600 is wanted")]
    Seconds,
    #[error("a number of iterations between 1 and 1000000000 is wanted")]
    Iterations,
}

fn parse_seconds(text: &str) -> Result<f64, NoTime> {
    let number = text.strip_suffix('s').unwrap_or(text);
    match number.parse::<f64>() {
        Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err(NoTime::Seconds),
    }
}

fn parse_minimum_time(text: &str) -> Result<MinimumTime, NoTime> {
    let Some(count) = text.strip_suffix('x') else {
        return parse_seconds(text).map(MinimumTime::Seconds);
    };
    match count.parse::<u64>() {
        Ok(count) if (1..=1_000_000_000).contains(&count) => Ok(MinimumTime::Iterations(count)),
        _ => Err(NoTime::Iterations),
    }
}

fn parse_color(text: &str) -> Result<Color, NoSwitch> {
    match text {
        "auto" => Ok(Color::Auto),
        "always" | "yes" => Ok(Color::Always),
        other => parse_switch(other).map(|on| if on { Color::Always } else { Color::Never }),
    }
}

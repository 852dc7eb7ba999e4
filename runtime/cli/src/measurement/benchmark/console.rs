//! The report for people.

use std::fmt::Write;

use super::context::MachineContext;
use super::flags::BenchmarkFlags;
use super::number;
use super::row::{Counter, Row};

const NAME: &str = "\x1b[0;32m";
const TIME: &str = "\x1b[0;33m";
const COUNT: &str = "\x1b[0;36m";
/// Of the terminal; what follows is plain again all the same, as from Google Benchmark.
const DEFAULT: &str = "";
const PLAIN: &str = "\x1b[m";

/// The report for people, row by row.
pub(super) struct Console {
    name_width: usize,
    is_colored: bool,
    is_tabular: bool,
    has_header: bool,
}

impl Console {
    /// A report with rows of these names.
    pub(super) fn new<'a>(
        names: impl Iterator<Item = &'a str>,
        flags: &BenchmarkFlags,
        is_colored: bool,
    ) -> Self {
        let width = names.map(str::len).max().unwrap_or(0).max(10);
        let suffix = if flags.repetitions() > 1 { "_median".len() } else { 0 };
        Self {
            name_width: width + suffix,
            is_colored,
            is_tabular: flags.counters_tabular,
            has_header: false,
        }
    }

    /// The lines of a row, the heading before the first.
    pub(super) fn row(&mut self, row: &Row) -> String {
        let mut text = if self.has_header { String::new() } else { self.header(row) };
        self.has_header = true;
        let name = format!("{:1$} ", row.full_name(), self.name_width);
        let times = if row.is_share() {
            let (real, cpu) = (100.0 * row.real_time, 100.0 * row.cpu_time);
            format!("{real:10.2} %    {cpu:10.2} %    ")
        } else {
            let unit = row.unit.name();
            format!("{} {unit:4} {} {unit:4} ", time(row.real_time), time(row.cpu_time))
        };
        text.push_str(&self.colored(NAME, &name));
        text.push_str(&self.colored(TIME, &times));
        text.push_str(&self.colored(COUNT, &format!("{:10}", row.iterations)));
        for counter in &row.counters {
            text.push_str(&self.colored(DEFAULT, &self.counter(row, counter)));
        }
        text + &self.colored(DEFAULT, "\n")
    }

    /// The heading.
    fn header(&self, row: &Row) -> String {
        let mut names = format!(
            "{:1$} {2:>13} {3:>15} {4:>12}",
            "Benchmark", self.name_width, "Time", "CPU", "Iterations"
        );
        if self.is_tabular {
            for counter in &row.counters {
                let _ = write!(names, " {:>10}", counter.name);
            }
        } else if !row.counters.is_empty() {
            names.push_str(" UserCounters...");
        }
        let line = "-".repeat(names.len());
        format!("{line}\n{names}\n{line}\n")
    }

    fn counter(&self, row: &Row, counter: &Counter) -> String {
        let (value, unit) = if row.is_share() {
            (format!("{:.2}", 100.0 * counter.value), "%")
        } else {
            (number::with_prefix(counter.value), if counter.is_rate { "/s" } else { "" })
        };
        if self.is_tabular {
            let width = counter.name.len().max(10) - unit.len();
            return format!(" {value:>width$}{unit}");
        }
        format!(" {}={value}{unit}", counter.name)
    }

    fn colored(&self, color: &str, text: &str) -> String {
        if self.is_colored {
            format!("{color}{}{PLAIN}", abi::shown(text))
        } else {
            text.to_owned()
        }
    }
}

/// Ten characters.
fn time(value: f64) -> String {
    match value {
        value if value < 1.0 => format!("{value:10.3}"),
        value if value < 10.0 => format!("{value:10.2}"),
        value if value < 100.0 => format!("{value:10.1}"),
        value if value > 9_999_999_999.0 => format!("{value:.4e}"),
        value => format!("{value:10.0}"),
    }
}

/// What a report says about the machine; it goes to standard error.
pub(super) fn machine(context: &MachineContext, flags: &BenchmarkFlags) -> String {
    let mut text = format!("{}\nRunning {}\n", context.date, context.executable);
    let plural = if context.processors == 1 { "" } else { "s" };
    let speed =
        context.megahertz.map_or_else(String::new, |mhz| format!("{} MHz ", number::general(mhz)));
    let _ = writeln!(text, "Run on ({} X {speed}CPU {plural})", context.processors);
    if !context.caches.is_empty() {
        text.push_str("CPU Caches:\n");
    }
    for cache in &context.caches {
        let count = context.processors / (cache.sharing.max(1) as usize);
        let (level, kind, size) = (cache.level, &cache.kind, cache.bytes / 1024);
        let _ = writeln!(text, "  L{level} {kind} {size} KiB (x{})", count.max(1));
    }
    if !context.load.is_empty() {
        let load: Vec<String> = context.load.iter().map(|load| format!("{load:.2}")).collect();
        let _ = writeln!(text, "Load Average: {}", load.join(", "));
    }
    for (key, value) in extra(flags) {
        let _ = writeln!(text, "{key}: {value}");
    }
    text
}

/// What `--benchmark_dry_run` and `--benchmark_context` add to what a report says.
pub(super) fn extra(flags: &BenchmarkFlags) -> Vec<(&str, &str)> {
    let dry_run = flags.dry_run.then_some(("dry_run", "true"));
    let given = flags.context.iter().map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    dry_run.into_iter().chain(given).collect()
}

//! `--print_statistics`, `--print_device_statistics`: what a program has used, on standard error
//! when it has ended.

use std::sync::Arc;
use std::time::Duration;

use hal::{Device, Host, MemoryStatistics};

use super::iree_flags::parse_switch;

/// The flags for statistics.
#[derive(clap::Args)]
pub(crate) struct StatisticsArguments {
    /// Print how much device memory the program has used, when it ends
    #[arg(long = "print_statistics", value_name = "BOOL", num_args = 0..=1)]
    #[arg(require_equals = true, default_value = "false", default_missing_value = "true")]
    #[arg(value_parser = parse_switch)]
    print_statistics: bool,

    /// Print how often each dispatch ran and how long it took, when the program ends
    #[arg(long = "print_device_statistics", value_name = "BOOL", num_args = 0..=1)]
    #[arg(require_equals = true, default_value = "false", default_missing_value = "true")]
    #[arg(value_parser = parse_switch)]
    print_device_statistics: bool,
}

/// What is counted while a program runs.
#[must_use]
pub(crate) struct Statistics {
    device: Arc<Device>,
    memory: Option<Arc<MemoryStatistics>>,
    has_times: bool,
}

impl StatisticsArguments {
    /// Begins to count what the flags ask for.
    pub(crate) fn begin(&self, host: &Host) -> Statistics {
        let device = host.device().clone();
        if self.print_device_statistics {
            device.time_dispatches();
        }
        let memory = self.print_statistics.then(|| device.allocator().count());
        Statistics { device, memory, has_times: self.print_device_statistics }
    }
}

impl Statistics {
    /// Prints them. The program should be gone, so that what it has freed counts as freed.
    pub(crate) fn print(&self) {
        if let Some(memory) = &self.memory {
            errln!("Device: {}\n{memory}", self.device.kind());
        }
        if !self.has_times {
            return;
        }
        let mut times = self.device.take_dispatch_times();
        times.sort_by_key(|dispatch| std::cmp::Reverse(dispatch.time));
        let all: Duration = times.iter().map(|dispatch| dispatch.time).sum();
        errln!("\nIREE HAL device statistics:\n  aggregate_rows={}", times.len());
        errln!("  dispatch_function_total={}", duration(all));
        for dispatch in times {
            let average = dispatch.time / u32::try_from(dispatch.calls.max(1)).unwrap_or(u32::MAX);
            errln!(
                "  dispatch {}  count={} total={} avg={} tiles={}",
                dispatch.name,
                dispatch.calls,
                duration(dispatch.time),
                duration(average),
                dispatch.workgroups
            );
        }
    }
}

/// `708 ns`, `5.092 us`.
fn duration(time: Duration) -> String {
    let nanoseconds = time.as_nanos() as f64;
    match nanoseconds {
        short if short < 1e3 => format!("{short} ns"),
        short if short < 1e6 => format!("{:.3} us", short / 1e3),
        short if short < 1e9 => format!("{:.3} ms", short / 1e6),
        long => format!("{:.3} s", long / 1e9),
    }
}

//! The flags for limits on a program. A program that exceeds one fails with `RESOURCE_EXHAUSTED`.
//! See [`ExecutionLimits`] for what counts.

use std::time::Duration;

use vm::{ExecutionLimits, SecondTier, parse_bytes};

/// Limits on a program that the user does not trust.
#[derive(clap::Args)]
pub(crate) struct LimitArguments {
    /// How many calls and backward jumps a call may make, including those of its dispatches
    #[arg(long = "max_steps", value_name = "COUNT")]
    fuel: Option<u64>,

    /// How long a call may run, including its dispatches: 10s, 500ms, 2min
    #[arg(long = "max_time", value_name = "DURATION", value_parser = vm::parse_duration)]
    max_time: Option<Duration>,

    /// How much memory all buffers and lists of the program may take: 4096, 512MiB, 4GiB; by
    /// default half of the memory that is available when it begins
    #[arg(long = "max_memory", value_name = "BYTES", value_parser = parse_bytes)]
    memory: Option<usize>,

    /// How deeply calls may nest
    #[arg(long = "max_call_depth", value_name = "COUNT")]
    stack_depth: Option<usize>,

    /// Which bytecode functions become machine code: `on`, those that run long; `off`, none;
    /// `always`, all. Results, stops and recordings are the same
    #[arg(long = "jit", value_name = "WHEN", value_parser = str::parse::<SecondTier>)]
    second_tier: Option<SecondTier>,
}

impl LimitArguments {
    /// Whether no flag is given.
    pub(crate) fn is_unspecified(&self) -> bool {
        let Self { fuel, max_time, memory, stack_depth, second_tier } = self;
        fuel.is_none()
            && max_time.is_none()
            && memory.is_none()
            && stack_depth.is_none()
            && second_tier.is_none()
    }

    /// The limits; those of [`ExecutionLimits::default`] where a flag is missing.
    pub(crate) fn limits(&self) -> ExecutionLimits {
        let limits = ExecutionLimits::chosen(self.fuel, self.memory, self.stack_depth);
        let second_tier = self.second_tier.unwrap_or_default();
        ExecutionLimits { time: self.max_time, second_tier, ..limits }
    }
}

//! The flags that say how much a program may use. What goes past a limit fails with
//! `RESOURCE_EXHAUSTED`, as any failure does; see [`ExecutionLimits`] for what is counted.

use std::time::Duration;

use vm::{ExecutionLimits, MemoryLimit};

/// Bounds on a program, for those who do not trust it.
#[derive(clap::Args)]
pub(crate) struct LimitArguments {
    /// How many calls and jumps backwards a call may make, those of its dispatches included
    #[arg(long = "max_steps", value_name = "COUNT")]
    fuel: Option<u64>,

    /// For how long a call may run, dispatches included: 10s, 500ms, 2min
    #[arg(long = "max_time", value_name = "DURATION", value_parser = vm::parse_duration)]
    max_time: Option<Duration>,

    /// How much memory all buffers and lists of the program may take: 4096, 512MiB, 4GiB
    #[arg(long = "max_memory", value_name = "BYTES", value_parser = parse_bytes)]
    memory: Option<usize>,

    /// How deep calls may be nested
    #[arg(long = "max_call_depth", value_name = "COUNT")]
    stack_depth: Option<usize>,
}

impl LimitArguments {
    /// The bounds, those of [`ExecutionLimits::default`] where nothing is said.
    pub(crate) fn limits(&self) -> ExecutionLimits {
        let default = ExecutionLimits::default();
        ExecutionLimits {
            fuel: self.fuel,
            time: self.max_time,
            stack_depth: self.stack_depth.unwrap_or(default.stack_depth),
            allocation_bytes: self.memory.unwrap_or(default.allocation_bytes),
            memory: self.memory.map_or(default.memory, MemoryLimit::new),
            ..default
        }
    }
}

/// A number of bytes, with or without a unit.
fn parse_bytes(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let shift = match text[digits.len()..].trim() {
        "" | "B" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        unit => return Err(format!("`{unit}` is no unit: B, KiB, MiB and GiB are")),
    };
    let number: usize = digits.parse().map_err(|_| format!("`{text}` is no number of bytes"))?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("`{text}` is more than there can be"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_with_and_without_units() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("3KiB"), Ok(3 << 10));
        assert_eq!(parse_bytes("2 GiB"), Ok(2 << 30));
        for wrong in ["", "GiB", "1kb", "-1", "1.5GiB", "99999999999GiB"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }
}

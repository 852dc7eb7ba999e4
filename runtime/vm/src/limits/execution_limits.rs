//! The bounds on a program. Modules come from outside; none of them may take the host down.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::OnceLock;
use std::time::Duration;

use super::available_memory::default_memory;
use super::limit_error::LimitError;
use super::memory_limit::{Charge, MemoryLimit};
use crate::errors::Status;

/// Bounds on one context and its invocations. What goes past one fails with `RESOURCE_EXHAUSTED`.
#[derive(Clone, Debug)]
pub struct ExecutionLimits {
    /// Backward branches and calls that one invocation may make, including those of the workgroups
    /// that it dispatches; each workgroup counts as a call. `None`: no limit. Between two of them
    /// only straight-line code runs, so this bounds time.
    pub fuel: Option<u64>,
    /// How long one invocation may run; `None`: no limit. No time passes while it is stopped.
    pub time: Option<Duration>,
    /// Frames on the stack at a time.
    pub stack_depth: usize,
    /// Bytes of registers on the stack at a time.
    pub stack_bytes: usize,
    /// Bytes in one buffer or list that the program allocates.
    pub allocation_bytes: usize,
    /// Bytes in all buffers and lists that the program has.
    pub memory: MemoryLimit,
    /// Which functions are compiled to machine code.
    pub second_tier: SecondTier,
}

/// Which functions are compiled to machine code. What a program computes is the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SecondTier {
    /// None.
    Off,
    /// Those that run for as long as it takes to compile them.
    Hot,
    /// All, before they run; for tests.
    Always,
}

impl Default for SecondTier {
    /// What the environment variable `IREE_DBG_JIT` says: hot functions, if it says nothing.
    fn default() -> Self {
        static CHOSEN: OnceLock<SecondTier> = OnceLock::new();
        let chosen = || std::env::var("IREE_DBG_JIT").ok()?.parse().ok();
        *CHOSEN.get_or_init(|| chosen().unwrap_or(Self::Hot))
    }
}

impl FromStr for SecondTier {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        match text {
            "off" => Ok(Self::Off),
            "on" => Ok(Self::Hot),
            "always" => Ok(Self::Always),
            _ => Err(LimitError::Tier(text.to_owned())),
        }
    }
}

impl SecondTier {
    /// After how many nanoseconds a function of so many instructions is hot; `None`: never.
    pub(crate) fn hot_after(self, instructions: usize) -> Option<u64> {
        // About what Cranelift takes: 2.7 ms for 100 instructions, 42 ms for 1,000.
        let instructions = instructions as u64;
        match self {
            Self::Off => None,
            Self::Hot => Some(25_000 * instructions * (1_500 + instructions) / 1_500),
            Self::Always => Some(0),
        }
    }
}

impl Default for ExecutionLimits {
    fn default() -> Self {
        Self {
            fuel: None,
            time: None,
            stack_depth: 1 << 16,
            stack_bytes: 64 << 20,
            allocation_bytes: default_memory(),
            memory: MemoryLimit::new(default_memory()),
            second_tier: SecondTier::default(),
        }
    }
}

/// Parses a duration: `10s`, `500ms`, `2min`, `1.5 h`; a number without a unit is in seconds.
///
/// # Errors
/// [`LimitError`]: the text is not a duration.
pub fn parse_duration(text: &str) -> Result<Duration, LimitError> {
    let text = text.trim();
    let unit = text.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.');
    let number = &text[..text.len() - unit.len()];
    let seconds = match unit.trim() {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        unit => {
            let expected = "ms, s, min or h";
            return Err(LimitError::Unit { unit: unit.to_owned(), expected });
        }
    };
    let number: f64 = number
        .parse()
        .map_err(|_| LimitError::Number { text: text.to_owned(), kind: "a duration" })?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| LimitError::TooLarge(text.to_owned()))
}

impl ExecutionLimits {
    /// The limits that a user has set; the defaults, which protect the machine, for the rest.
    #[must_use]
    pub fn chosen(steps: Option<u64>, memory: Option<usize>, call_depth: Option<usize>) -> Self {
        let default = Self::default();
        Self {
            fuel: steps,
            stack_depth: call_depth.unwrap_or(default.stack_depth),
            allocation_bytes: memory.unwrap_or(default.allocation_bytes),
            memory: memory.map_or(default.memory, MemoryLimit::new),
            ..default
        }
    }

    /// Pays for a buffer that the host makes for the program, until the result is dropped.
    ///
    /// # Errors
    /// It would be more than the program may use.
    pub fn charge(&self, length: usize) -> Result<Charge, Status> {
        let charge = (length <= self.allocation_bytes).then(|| self.memory.charge(length));
        let too_much = || self.too_much(format_args!("a buffer of {length} bytes"));
        charge.flatten().ok_or_else(too_much)
    }

    /// The error of a program that asks for more memory than it may have.
    #[cold]
    pub(crate) fn too_much(&self, what: impl Display) -> Status {
        let maximum = self.memory.maximum.min(self.allocation_bytes);
        MemoryLimit::new(maximum).too_much(what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::Buffer;
    use crate::objects::List;
    use crate::objects::Type;
    use crate::objects::Value;

    #[test]
    fn durations_with_and_without_units() {
        let cases = [
            ("10s", 10_000),
            ("500ms", 500),
            ("2 min", 120_000),
            ("3", 3_000),
            ("0.5h", 1_800_000),
        ];
        for (text, milliseconds) in cases {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for wrong in ["", "s", "1d", "-1s", "1e3s", "999999999999999999999h", "1.2.3s"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_too_much_says_how_much_there_is() {
        let limits = ExecutionLimits::chosen(None, Some(8 << 10), None);
        let error = Buffer::alloc(9 << 10, 0, &limits).unwrap_err().to_string();
        assert!(error.contains("(limit 8 KiB: --max_memory)"), "{error}");
        let list = List::new(Type::Variant, &limits);
        let error = list.resize(1 << 20).unwrap_err().to_string();
        assert!(error.contains("(limit 8 KiB: --max_memory)"), "{error}");
        assert!(ExecutionLimits::default().allocation_bytes >= 256 << 20);
    }

    #[test]
    fn objects_count_together_and_give_back() {
        let limits = ExecutionLimits { memory: MemoryLimit::new(10_000), ..Default::default() };
        let first = Buffer::alloc(4_000, 0, &limits).unwrap();
        let list = List::new(Type::Variant, &limits);
        list.resize(100).unwrap();
        let part = first.subspan(10, 20).unwrap();
        assert!((7_000..10_000).contains(&limits.memory.used()), "{}", limits.memory.used());
        assert!(Buffer::alloc(4_000, 0, &limits).is_err());
        assert!(list.resize(1_000).is_err());
        assert!(list.push(Value::I32(1)).is_ok());
        drop(first);
        assert!(Buffer::alloc(4_000, 0, &limits).is_err(), "a part keeps the whole");
        drop((part, list));
        assert_eq!(limits.memory.used(), 0);
        assert!(Buffer::alloc(9_000, 0, &limits).is_ok());
    }
}

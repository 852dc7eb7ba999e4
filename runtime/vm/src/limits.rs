//! How much a program may use. Modules come from outside; none of them may take the host down.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::status::Status;

/// Bounds on one context and its invocations. What goes past one fails with `RESOURCE_EXHAUSTED`.
#[derive(Clone, Debug)]
pub struct ExecutionLimits {
    /// Backward branches and calls that one invocation may make, those of the workgroups that it
    /// dispatches included; each workgroup counts as a call. `None`: as many as it wants. Between two of
    /// them only straight-line code runs, so this bounds time.
    pub fuel: Option<u64>,
    /// For how long one invocation may run; `None`: as long as it takes. While it stands still, no time
    /// passes.
    pub time: Option<Duration>,
    /// Frames on the stack at a time.
    pub stack_depth: usize,
    /// Bytes of registers on the stack at a time.
    pub stack_bytes: usize,
    /// Bytes in one buffer or list that the program allocates.
    pub allocation_bytes: usize,
    /// Bytes in all buffers and lists that the program has.
    pub memory: MemoryLimit,
}

impl Default for ExecutionLimits {
    fn default() -> Self {
        Self {
            fuel: None,
            time: None,
            stack_depth: 1 << 16,
            stack_bytes: 64 << 20,
            allocation_bytes: 16 << 30,
            memory: MemoryLimit::new(64 << 30),
        }
    }
}

/// A duration as people write it: `10s`, `500ms`, `2min`, `1.5 h`; a number alone is seconds.
///
/// # Errors
/// It is none; the text says why.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let unit = text.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.');
    let number = &text[..text.len() - unit.len()];
    let seconds = match unit.trim() {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        unit => return Err(format!("`{unit}` is no unit: ms, s, min and h are")),
    };
    let number: f64 = number.parse().map_err(|_| format!("`{text}` is no duration"))?;
    Duration::try_from_secs_f64(number * seconds)
        .map_err(|_| format!("`{text}` is more than there can be"))
}

impl ExecutionLimits {
    /// Pays for a buffer that somebody else makes for the program, until the result is dropped.
    ///
    /// # Errors
    /// It would be more than the program may use.
    pub fn charge(&self, length: usize) -> Result<Charge, Status> {
        let too_large = |what: &str| {
            Status::resource_exhausted(format!("a buffer of {length} bytes exceeds {what}"))
        };
        if length > self.allocation_bytes {
            let limit = format!("the limit of {} bytes an allocation", self.allocation_bytes);
            return Err(too_large(&limit));
        }
        self.memory.charge(length).ok_or_else(|| too_large("the memory that the program may use"))
    }
}

/// How many bytes the objects of a program may take together, and how many they take. Clones are the same
/// account.
#[derive(Clone, Debug)]
pub struct MemoryLimit {
    maximum: usize,
    used: Arc<AtomicUsize>,
}

impl MemoryLimit {
    /// A new account that allows `maximum` bytes.
    #[must_use]
    pub fn new(maximum: usize) -> Self {
        Self { maximum, used: Arc::default() }
    }

    /// Bytes that objects take now.
    #[must_use]
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Bytes for an object, until the charge is dropped; `None` if that is too much.
    pub(crate) fn charge(&self, bytes: usize) -> Option<Charge> {
        if bytes > self.maximum {
            return None;
        }
        let charge = self.charge_anyway(bytes);
        // Whoever asks for more than there is at the same time may be refused too.
        (self.used() <= self.maximum).then_some(charge)
    }

    /// The same for an object whose making cannot fail; it counts when the next grows.
    pub(crate) fn charge_anyway(&self, bytes: usize) -> Charge {
        self.used.fetch_add(bytes, Ordering::Relaxed);
        Charge { account: self.clone(), bytes: AtomicUsize::new(bytes) }
    }
}

/// What one object takes.
#[derive(Debug)]
pub struct Charge {
    account: MemoryLimit,
    bytes: AtomicUsize,
}

impl Charge {
    /// Sees to it that at least these bytes are paid for; whether they are.
    pub(crate) fn grow_to(&self, bytes: usize) -> bool {
        let paid = self.bytes.load(Ordering::Relaxed);
        let Some(more) = bytes.checked_sub(paid).filter(|more| *more > 0) else { return true };
        let MemoryLimit { maximum, used } = &self.account;
        let add = |used: usize| used.checked_add(more).filter(|sum| sum <= maximum);
        let is_paid = used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok();
        if is_paid {
            self.bytes.fetch_add(more, Ordering::Relaxed);
        }
        is_paid
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.account.used.fetch_sub(*self.bytes.get_mut(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Buffer;
    use crate::list::List;
    use crate::types::Type;
    use crate::value::Value;

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

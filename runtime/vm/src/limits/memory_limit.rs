//! The memory that the objects of a program share.

use std::fmt::Display;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::limit_error::LimitError;
use crate::errors::Status;

/// A number of bytes for people, such as `3.9 KiB`.
fn show_bytes(bytes: usize) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let fitting = units.iter().find(|(shift, _)| bytes >= 1 << shift);
    fitting.map_or_else(
        || format!("{bytes} bytes"),
        |(shift, unit)| {
            let whole = bytes >> shift;
            let tenth = ((bytes - (whole << shift)) * 10) >> shift;
            if tenth == 0 { format!("{whole} {unit}") } else { format!("{whole}.{tenth} {unit}") }
        },
    )
}

/// A number of bytes, with or without a unit: `4096`, `512MiB`, `4 GiB`.
///
/// # Errors
/// [`LimitError`]: it is none.
pub fn parse_bytes(text: &str) -> Result<usize, LimitError> {
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let shift = match text[digits.len()..].trim() {
        "" | "B" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        unit => {
            let expected = "B, KiB, MiB or GiB";
            return Err(LimitError::Unit { unit: unit.to_owned(), expected });
        }
    };
    let number: usize = digits
        .parse()
        .map_err(|_| LimitError::Number { text: text.to_owned(), kind: "a number of bytes" })?;
    number.checked_mul(1 << shift).ok_or_else(|| LimitError::TooLarge(text.to_owned()))
}

/// The bytes that the objects of a program may take together, and the bytes that they take. Clones
/// share one account.
#[derive(Clone, Debug)]
pub struct MemoryLimit {
    pub(super) maximum: usize,
    used: Arc<AtomicUsize>,
    source: Option<Arc<dyn MemorySource>>,
}

/// Where the bytes of buffers come from, if not from the heap.
///
/// # Safety
/// The bytes of a range that [`Self::zeroed`] returns are zero at first. They may be read and
/// written on any thread until the keeper is dropped, and belong to no other range meanwhile.
pub unsafe trait MemorySource: std::fmt::Debug + Send + Sync {
    /// A range of `length` zeroed bytes at a multiple of `alignment`, a power of two, and what
    /// keeps it; `None` if there is no memory.
    fn zeroed(&self, length: usize, alignment: usize) -> Option<(NonNull<u8>, Keeper)>;
}

/// Keeps memory, until it is dropped.
pub type Keeper = Box<dyn std::any::Any + Send + Sync>;

impl MemoryLimit {
    /// A new account that allows `maximum` bytes.
    #[must_use]
    pub fn new(maximum: usize) -> Self {
        Self { maximum, used: Arc::default(), source: None }
    }

    /// The same account, for buffers from this source.
    #[must_use]
    pub fn from_source(self, source: Arc<dyn MemorySource>) -> Self {
        Self { source: Some(source), ..self }
    }

    /// Where the bytes of buffers come from; `None`: from the heap.
    #[must_use]
    pub(crate) fn source(&self) -> Option<&dyn MemorySource> {
        self.source.as_deref()
    }

    /// The error of a program that asks for more than it may have.
    #[cold]
    pub(crate) fn too_much(&self, what: impl Display) -> Status {
        let shown = show_bytes(self.maximum);
        Status::resource_exhausted(format!(
            "{what} exceeds the memory that the program may use (limit {shown}: --max_memory)"
        ))
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
        // Concurrent requests may be refused although one of them would fit.
        (self.used() <= self.maximum).then_some(charge)
    }

    /// Charges for an object whose creation cannot fail; the excess counts when the next object
    /// grows.
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
    /// The account that the charge is taken from.
    pub(crate) fn limit(&self) -> &MemoryLimit {
        &self.account
    }

    /// Pays until at least `bytes` are paid for; returns whether they are.
    pub(crate) fn grow_to(&self, bytes: usize) -> bool {
        let paid = self.bytes.load(Ordering::Relaxed);
        let Some(more) = bytes.checked_sub(paid).filter(|more| *more > 0) else { return true };
        let MemoryLimit { maximum, used, .. } = &self.account;
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

    #[test]
    fn bytes_with_and_without_units() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("3KiB"), Ok(3 << 10));
        assert_eq!(parse_bytes("2 GiB"), Ok(2 << 30));
        for wrong in ["", "GiB", "1kb", "-1", "1.5GiB", "99999999999GiB"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
        let shown = [1023, 1024, 4000, 10 << 20, 8_375_186_227].map(show_bytes);
        assert_eq!(shown, ["1023 bytes", "1 KiB", "3.9 KiB", "10 MiB", "7.7 GiB"]);
    }
}

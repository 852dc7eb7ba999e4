//! [`Budget`]: how much memory files from elsewhere may unpack to.
//!
//! A small archive can unpack to any size. So all that is unpacked for one launch is charged to one
//! budget, in proportion to the size of what came. So is what it becomes in memory when it is read:
//! a byte of a text can become a hundred.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What any file may unpack to, however small it is.
const BASE: u64 = 64 << 20;

/// How many bytes may come out of a byte, beyond that.
const RATIO: u64 = 32;

/// What any file may become in memory, however small it is.
const MEMORY_BASE: u64 = 512 << 20;

/// How many bytes of memory may come out of a byte, beyond that. Debug files of models need 400.
const MEMORY_RATIO: u64 = 512;

/// How many bytes may be unpacked. Clones share it.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Mutex<Spent>>);

#[derive(Debug)]
struct Spent {
    unpacked: Account,
    memory: Account,
}

/// What there is for one use, and what of it is left.
#[derive(Debug)]
struct Account {
    how: Use,
    whole: u64,
    left: u64,
    /// What each part was charged with. A part that is unpacked or read again is not charged again.
    charged: HashMap<String, u64>,
}

impl Account {
    fn new(how: Use, whole: u64) -> Self {
        Self { how, whole, left: whole, charged: HashMap::new() }
    }

    fn before(&self, part: &str) -> u64 {
        self.charged.get(part).copied().unwrap_or(0)
    }

    fn charge(&mut self, part: &str, bytes: u64) -> Result<(), OverBudget> {
        let before = self.before(part);
        let left = self.left.checked_sub(bytes.saturating_sub(before));
        self.left = left.ok_or_else(|| self.exceeded(part))?;
        self.charged.insert(part.to_owned(), bytes.max(before));
        Ok(())
    }

    fn exceeded(&self, part: &str) -> OverBudget {
        OverBudget { part: part.to_owned(), whole: self.whole, how: self.how }
    }
}

/// More would be unpacked than the size of the file justifies.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "with {part}, more than {whole} bytes would be {how}, which is out of proportion to the size \
     of the file"
)]
pub struct OverBudget {
    /// What would be unpacked.
    pub part: String,
    /// The whole budget, in bytes.
    pub whole: u64,
    /// What would be done with them.
    pub how: Use,
}

/// What a budget is spent on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// Bytes that come out of a file.
    Unpacked,
    /// What these become in memory.
    InMemory,
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unpacked => "unpacked",
            Self::InMemory => "needed to read it",
        })
    }
}

impl Budget {
    /// The budget for a file of this length.
    #[must_use]
    pub fn for_length(length: u64) -> Self {
        let whole = BASE.saturating_add(length.saturating_mul(RATIO));
        let memory = MEMORY_BASE.saturating_add(length.saturating_mul(MEMORY_RATIO));
        let unpacked = Account::new(Use::Unpacked, whole);
        let memory = Account::new(Use::InMemory, memory);
        Self(Arc::new(Mutex::new(Spent { unpacked, memory })))
    }

    /// All that may be unpacked, in bytes.
    #[must_use]
    pub fn whole(&self) -> u64 {
        self.lock().unpacked.whole
    }

    /// The most bytes that a part may have.
    #[must_use]
    pub fn allowed(&self, part: &str) -> u64 {
        let unpacked = &self.lock().unpacked;
        unpacked.left.saturating_add(unpacked.before(part))
    }

    /// Charges a part. If it was charged before, only what is more by now counts.
    ///
    /// # Errors
    /// There is not that much left.
    pub fn charge(&self, part: &str, bytes: u64) -> Result<(), OverBudget> {
        self.lock().unpacked.charge(part, bytes)
    }

    /// Charges a part for what it becomes in memory when it is read. If it was charged before, only
    /// what is more by now counts.
    ///
    /// # Errors
    /// There is not that much left.
    pub fn charge_memory(&self, part: &str, bytes: u64) -> Result<(), OverBudget> {
        self.lock().memory.charge(part, bytes)
    }

    /// The error of a part that has more bytes than are allowed.
    #[must_use]
    pub fn exceeded(&self, part: &str) -> OverBudget {
        self.lock().unpacked.exceeded(part)
    }

    fn lock(&self) -> MutexGuard<'_, Spent> {
        // Each change is whole, so a panic in another thread does not spoil it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_share_it_and_are_charged_once() {
        let budget = Budget::for_length(1 << 20);
        let whole = BASE + (RATIO << 20);
        assert_eq!(budget.allowed("a"), whole);
        let shared = budget.clone();
        assert_eq!(shared.charge("a", whole - 10), Ok(()));
        assert_eq!((budget.allowed("a"), budget.allowed("b")), (whole, 10));
        assert_eq!(budget.charge("a", whole - 10), Ok(()));
        let over = OverBudget { part: "b".to_owned(), whole, how: Use::Unpacked };
        assert_eq!(budget.charge("b", 11), Err(over));
        assert_eq!(budget.charge("b", 10), Ok(()));
        assert_eq!(budget.allowed("c"), 0);
        let memory = MEMORY_BASE + (MEMORY_RATIO << 20);
        assert_eq!(budget.charge_memory("a", memory - 10), Ok(()));
        assert_eq!(shared.charge_memory("a", memory - 10), Ok(()));
        assert!(shared.charge_memory("b", 11).is_err());
        assert_eq!(shared.charge_memory("b", 10), Ok(()));
    }
}

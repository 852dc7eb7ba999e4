//! [`Budget`]: how much memory files from elsewhere may unpack to.
//!
//! A small archive can unpack to any size. So all that is unpacked for one launch is charged to one
//! budget, in proportion to the size of what came.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What any file may unpack to, however small it is.
const BASE: u64 = 64 << 20;

/// How many bytes may come out of a byte, beyond that.
const RATIO: u64 = 32;

/// How many bytes may be unpacked. Clones share it.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Mutex<Spent>>);

#[derive(Debug)]
struct Spent {
    whole: u64,
    left: u64,
    /// What each part was charged with. A part that is unpacked again is not charged again.
    charged: HashMap<String, u64>,
}

/// More would be unpacked than the size of the file justifies.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "with {part}, more than {whole} bytes would be unpacked, which is out of proportion to the \
     size of the file"
)]
pub struct OverBudget {
    /// What would be unpacked.
    pub part: String,
    /// The whole budget, in bytes.
    pub whole: u64,
}

impl Budget {
    /// The budget for a file of this length.
    #[must_use]
    pub fn for_length(length: u64) -> Self {
        let whole = BASE.saturating_add(length.saturating_mul(RATIO));
        Self(Arc::new(Mutex::new(Spent { whole, left: whole, charged: HashMap::new() })))
    }

    /// All that may be unpacked, in bytes.
    #[must_use]
    pub fn whole(&self) -> u64 {
        self.lock().whole
    }

    /// The most bytes that a part may have.
    #[must_use]
    pub fn allowed(&self, part: &str) -> u64 {
        let spent = self.lock();
        spent.left.saturating_add(spent.charged.get(part).copied().unwrap_or(0))
    }

    /// Charges a part. If it was charged before, only what is more by now counts.
    ///
    /// # Errors
    /// There is not that much left.
    pub fn charge(&self, part: &str, bytes: u64) -> Result<(), OverBudget> {
        let mut spent = self.lock();
        let before = spent.charged.get(part).copied().unwrap_or(0);
        match spent.left.checked_sub(bytes.saturating_sub(before)) {
            Some(left) => {
                spent.left = left;
                spent.charged.insert(part.to_owned(), bytes.max(before));
                Ok(())
            }
            None => Err(OverBudget { part: part.to_owned(), whole: spent.whole }),
        }
    }

    /// The error of a part that has more bytes than are allowed.
    #[must_use]
    pub fn exceeded(&self, part: &str) -> OverBudget {
        OverBudget { part: part.to_owned(), whole: self.lock().whole }
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
        assert_eq!(budget.charge("b", 11), Err(OverBudget { part: "b".to_owned(), whole }));
        assert_eq!(budget.charge("b", 10), Ok(()));
        assert_eq!(budget.allowed("c"), 0);
    }
}

//! [`Budget`]: how many scalar operations and elements an evaluation may take, so that no text
//! takes for ever or all memory.

use crate::refusal::{Refusal, RefusalKind, Result};

/// What is left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    limit: u64,
    left: u64,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, left: limit }
    }

    /// How much is left.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Takes this much.
    pub(crate) fn take(&mut self, amount: u128) -> Result<()> {
        match u64::try_from(amount).ok().and_then(|amount| self.left.checked_sub(amount)) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                let used = u128::from(self.limit - self.left).saturating_add(amount);
                let reason = format!(
                    "{used} scalar operations are needed up to here, and {} are allowed",
                    self.limit
                );
                Err(Refusal::new(RefusalKind::Limit, 0, reason))
            }
        }
    }

    /// Takes the elements of a tensor that is made. An element needs memory, so it costs more than
    /// an operation.
    pub(crate) fn take_tensor(&mut self, shape: &[usize]) -> Result<()> {
        let count = shape.iter().try_fold(1_u128, |count, size| count.checked_mul(*size as u128));
        self.take(count.unwrap_or(u128::MAX).saturating_mul(16))
    }
}

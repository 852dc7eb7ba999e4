//! What all threads obey that work for one invocation.

use super::budget::Budget;
use super::interrupt::Interrupt;

/// What work for an invocation has to obey, on any thread.
#[derive(Clone, Default, Debug)]
pub struct RunControl {
    /// The request to stop. Workers check it and leave it to the invocation to take.
    pub interrupt: Interrupt,
    /// What the work may take.
    pub budget: Budget,
}

impl RunControl {
    /// A control whose interrupt something holds, and that counts nothing.
    #[must_use]
    pub fn watched() -> Self {
        Self { interrupt: Interrupt::watched(), budget: Budget::default() }
    }

    /// Whether nothing can stop the work: nothing else holds the interrupt, and nothing is counted.
    #[must_use]
    pub fn is_free(&self) -> bool {
        !self.interrupt.is_watched() && self.budget.is_unlimited()
    }

    /// Whether the work is to stop where it can resume later.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.is_requested()
    }
}

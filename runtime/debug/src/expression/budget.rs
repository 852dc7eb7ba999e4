//! Budgets of evaluations: an editor that shows a value must not freeze.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::evaluation_error::EvaluationError;

/// Steps between two looks at the clock.
const QUANTUM: u32 = 1 << 14;

/// Ends an evaluation from another thread.
#[derive(Clone, Default, Debug)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Ends evaluations that use this handle, now and from now on.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Limits of an evaluation.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The longest time.
    pub time: Duration,
    /// Most elements of a computed tensor.
    pub elements: usize,
    /// Ends it early.
    pub cancel: Cancel,
}

impl Default for Limits {
    /// Five seconds, as long as people wait for a value; 16 million elements.
    fn default() -> Self {
        Self { time: Duration::from_secs(5), elements: 1 << 24, cancel: Cancel::default() }
    }
}

/// Counts steps of an evaluation.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    deadline: Option<Instant>,
    left: u32,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        let deadline = Instant::now().checked_add(limits.time);
        Self { limits, deadline, left: QUANTUM }
    }

    /// Counts one element; fails if the evaluation has to end.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<(), EvaluationError> {
        self.left -= 1;
        if self.left == 0 { self.look() } else { Ok(()) }
    }

    /// Counts `count` elements; fails if the evaluation has to end.
    pub(crate) fn steps(&mut self, count: usize) -> Result<(), EvaluationError> {
        match u32::try_from(count).ok().and_then(|count| self.left.checked_sub(count)) {
            Some(left @ 1..) => {
                self.left = left;
                Ok(())
            }
            _ => self.look(),
        }
    }

    #[cold]
    fn look(&mut self) -> Result<(), EvaluationError> {
        self.left = QUANTUM;
        if self.limits.cancel.is_cancelled() {
            return Err(EvaluationError::Cancelled);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            return Err(EvaluationError::TooLong { limit: self.limits.time });
        }
        Ok(())
    }

    /// Fails if a computed tensor may not have `count` elements.
    pub(crate) fn check_elements(&self, count: usize) -> Result<(), EvaluationError> {
        if count > self.limits.elements {
            return Err(EvaluationError::TooManyElements { count, most: self.limits.elements });
        }
        Ok(())
    }
}

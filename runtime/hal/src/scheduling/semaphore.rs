//! `!hal.semaphore`: a timeline, whose value only grows, or which fails for ever.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use vm::{Object, Status};

/// A timeline.
#[derive(Debug)]
pub(crate) struct Semaphore {
    value: AtomicU64,
    failure: OnceLock<Status>,
}

impl Semaphore {
    /// A timeline at `value`.
    #[must_use]
    pub(crate) fn new(value: u64) -> Arc<Self> {
        Arc::new(Self { value: AtomicU64::new(value), failure: OnceLock::new() })
    }

    /// The present value.
    ///
    /// # Errors
    /// The error that it failed with.
    pub(crate) fn query(&self) -> Result<u64, Status> {
        self.check()?;
        Ok(self.value.load(Ordering::Acquire))
    }

    /// Moves it forward to `value`.
    ///
    /// # Errors
    /// The error that it failed with before, or it is at that value or beyond already.
    pub(crate) fn signal(&self, value: u64) -> Result<(), Status> {
        self.check()?;
        let current = self.value.fetch_max(value, Ordering::AcqRel);
        if value > current {
            return Ok(());
        }
        Err(Status::invalid_argument(format!(
            "semaphore already signaled past {value}: it stands at {current}, and values only grow"
        )))
    }

    /// Fails the timeline: every wait for it gets the error. The first failure stays.
    pub(crate) fn fail(&self, status: Status) {
        let _ = self.failure.set(status);
    }

    fn check(&self) -> Result<(), Status> {
        self.failure.get().map_or(Ok(()), |failure| Err(failure.clone()))
    }
}

impl Object for Semaphore {
    fn type_name(&self) -> &str {
        "hal.semaphore"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

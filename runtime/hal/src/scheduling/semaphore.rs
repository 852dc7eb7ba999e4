//! `!hal.semaphore`: a timeline, whose value only grows, or which fails for ever.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vm::{Object, Restore, Status};

/// A timeline.
#[derive(Debug)]
pub(crate) struct Semaphore {
    value: AtomicU64,
    has_failed: AtomicBool,
    failure: Mutex<Option<Status>>,
}

impl Semaphore {
    /// A timeline at `value`.
    #[must_use]
    pub(crate) fn new(value: u64) -> Arc<Self> {
        let (has_failed, failure) = (AtomicBool::new(false), Mutex::default());
        Arc::new(Self { value: AtomicU64::new(value), has_failed, failure })
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
        self.failure().get_or_insert(status);
        self.has_failed.store(true, Ordering::Release);
    }

    fn check(&self) -> Result<(), Status> {
        if !self.has_failed.load(Ordering::Acquire) {
            return Ok(());
        }
        self.failure().clone().map_or(Ok(()), Err)
    }

    fn failure(&self) -> MutexGuard<'_, Option<Status>> {
        // It is set whole, so a panic in another thread does not spoil it.
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What brings the timeline back to its present state.
    pub(super) fn kept(self: &Arc<Self>) -> Restore {
        let (value, failure) = (self.value.load(Ordering::Acquire), self.failure().clone());
        let timeline = self.clone();
        Box::new(move || {
            timeline.value.store(value, Ordering::Release);
            timeline.has_failed.store(failure.is_some(), Ordering::Release);
            timeline.failure().clone_from(&failure);
        })
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

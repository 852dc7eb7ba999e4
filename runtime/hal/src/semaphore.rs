//! `!hal.semaphore`: a timeline whose value only grows, or fails for good.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vm::{Object, Status};

/// A timeline.
#[derive(Debug)]
pub struct Semaphore {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    value: u64,
    failure: Option<Status>,
}

impl Semaphore {
    /// A timeline that stands at `value`.
    #[must_use]
    pub fn new(value: u64) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State { value, failure: None }) })
    }

    /// Where it stands.
    ///
    /// # Errors
    /// The error that it failed with.
    pub fn query(&self) -> Result<u64, Status> {
        let state = self.state();
        state.failure.clone().map_or(Ok(state.value), Err)
    }

    /// Moves it forward to `value`.
    ///
    /// # Errors
    /// The error that it failed with before, or it stands there or later already.
    pub fn signal(&self, value: u64) -> Result<(), Status> {
        let mut state = self.state();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        if value <= state.value {
            return Err(Status::failed_precondition(format!(
                "semaphore values must be monotonically increasing; current_value={}, \
                 new_value={value}",
                state.value
            )));
        }
        state.value = value;
        Ok(())
    }

    /// Ends it: who waits for it gets the error. The first failure stays.
    pub fn fail(&self, status: Status) {
        self.state().failure.get_or_insert(status);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Both fields are whole at any time, so another thread's panic does not spoil them.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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

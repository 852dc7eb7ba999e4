//! Queues: submissions wait for fences, run, and signal fences.
//!
//! Everything that a program submits runs in the thread that submits it, in the order of submission,
//! except that a submission whose fence is not reached yet lets those behind it pass. When a fence
//! is signalled from elsewhere, [`Queue::pump`] runs what has become ready.

use std::sync::{Mutex, MutexGuard, PoisonError};

use vm::Status;

use crate::executable::pool::WorkerPool;
use crate::execution::Execution;
use crate::fence::Fence;

/// Work for a queue.
#[derive(Debug)]
pub struct Submission {
    /// What it waits for.
    pub wait: Fence,
    /// What it signals when it is done.
    pub signal: Fence,
    /// What it does; `None`: it only orders others.
    pub work: Option<Execution>,
}

/// A queue of a device.
#[derive(Debug, Default)]
pub struct Queue {
    waiting: Mutex<Vec<Submission>>,
}

impl Queue {
    /// Adds work behind all other. It does not run before [`Self::take_ready`] gives it out.
    pub fn submit(&self, submission: Submission) {
        self.waiting().push(submission);
    }

    /// The first submission whose fence is reached, or has failed.
    #[must_use]
    pub fn take_ready(&self) -> Option<Submission> {
        let mut waiting = self.waiting();
        let is_ready = |submission: &Submission| !matches!(submission.wait.is_reached(), Ok(false));
        let index = waiting.iter().position(is_ready)?;
        Some(waiting.remove(index))
    }

    /// How many submissions wait.
    #[must_use]
    pub fn waiting_count(&self) -> usize {
        self.waiting().len()
    }

    /// Runs everything that is ready, and what becomes ready by it.
    ///
    /// # Errors
    /// A submission failed; so have its fences.
    pub fn pump(&self, pool: &WorkerPool) -> Result<(), Status> {
        while let Some(mut submission) = self.take_ready() {
            let done = submission.run(pool);
            submission.finish(done)?;
        }
        Ok(())
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Submission>> {
        // The list is whole at any time, so another thread's panic does not spoil it.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Submission {
    /// Does the work, if what it waited for has not failed.
    fn run(&mut self, pool: &WorkerPool) -> Result<(), Status> {
        self.wait.is_reached()?;
        let Some(execution) = &mut self.work else { return Ok(()) };
        while execution.next().is_some() {
            execution.run_next(pool)?;
        }
        Ok(())
    }

    /// Tells the fence how the work ended, and passes it on.
    ///
    /// # Errors
    /// The work's, or that of signalling.
    pub fn finish(self, done: Result<(), Status>) -> Result<(), Status> {
        done.and_then(|()| self.signal.signal()).inspect_err(|status| self.signal.fail(status))
    }
}

//! Queues: submissions wait for fences, run, and signal fences.
//!
//! Everything that a program submits runs on the thread that submits it, in the order of
//! submission, except that later submissions may pass one whose fence is not reached yet. After a
//! fence is signalled from elsewhere, [`Queue::run`] runs the submissions that have become ready.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use vm::Status;

use super::fence::Fence;
use crate::commands::Execution;
use crate::executables::WorkerPool;
use crate::history::{History, Pending};

/// Work for a queue.
#[derive(Clone, Debug)]
pub(crate) struct Submission {
    /// The fence that it waits for.
    pub(crate) wait: Fence,
    /// The fence that it signals when it is done.
    pub(crate) signal: Fence,
    /// The commands to run; `None` if it only orders other submissions.
    pub(crate) work: Option<Execution>,
    /// Whether it has waited: it runs while the program is elsewhere than where it submitted it.
    pub(crate) is_late: bool,
}

/// A queue of a device.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: Mutex<Vec<Submission>>,
    /// The length of `waiting`, readable without the lock: it is 0 most of the time.
    waiting_count: AtomicUsize,
}

impl Queue {
    /// Appends a submission, and takes the first one that is ready: usually the same.
    #[must_use]
    pub(crate) fn submit(&self, submission: Submission) -> Option<Submission> {
        if self.waiting_count() == 0 && submission.is_ready() {
            return Some(submission);
        }
        let mut waiting = self.waiting();
        let own = waiting.len();
        waiting.push(submission);
        let (index, ready) = self.take_ready_of(&mut waiting)?;
        Some(Submission { is_late: index != own, ..ready })
    }

    /// The first submission whose fence is reached, or has failed.
    #[must_use]
    pub(crate) fn take_ready(&self) -> Option<Submission> {
        if self.waiting_count() == 0 {
            return None;
        }
        let (_, ready) = self.take_ready_of(&mut self.waiting())?;
        Some(Submission { is_late: true, ..ready })
    }

    /// The first submission that is ready, and its place among those that wait.
    fn take_ready_of(&self, waiting: &mut Vec<Submission>) -> Option<(usize, Submission)> {
        let index = waiting.iter().position(Submission::is_ready);
        let ready = index.map(|index| (index, waiting.remove(index)));
        self.waiting_count.store(waiting.len(), Ordering::Release);
        ready
    }

    /// The number of submissions that wait.
    #[must_use]
    pub(crate) fn waiting_count(&self) -> usize {
        self.waiting_count.load(Ordering::Acquire)
    }

    /// Runs `first`, all submissions that are ready, and those that become ready by it. The
    /// commands of inspected programs go to the history.
    ///
    /// # Errors
    /// The first failure of a submission. Its fence has failed, and with it every submission that
    /// waited for it.
    pub(crate) fn run(
        &self,
        first: Option<Submission>,
        pool: &WorkerPool,
        history: &History,
    ) -> Result<(), Status> {
        let mut result = Ok(());
        let mut next = first.or_else(|| self.take_ready());
        while let Some(mut submission) = next {
            let done = submission.run(pool, history);
            result = result.and(submission.finish(done));
            next = self.take_ready();
        }
        result
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Submission>> {
        // The list is consistent at any time, so a panic in another thread does not spoil it.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Submission {
    /// Whether its fence is reached, or has failed.
    fn is_ready(&self) -> bool {
        !matches!(self.wait.is_reached(), Ok(false))
    }

    /// Does the work, unless its fence has failed.
    fn run(&mut self, pool: &WorkerPool, history: &History) -> Result<(), Status> {
        self.wait.is_reached()?;
        let Some(execution) = &mut self.work else { return Ok(()) };
        let is_inspected = execution.recorded_at().is_some();
        if !is_inspected {
            return execution.run_rest(pool);
        }
        while execution.next().is_some() {
            let pending = Pending::next(execution).map(|it| (history.begin(&it), it));
            let recorded = pending.as_ref().and_then(|(_, it)| history.recorded(it));
            let is_put = recorded.map_or(Ok(false), |it| execution.put_next(&it))?;
            if !is_put {
                execution.run_next(pool)?;
            }
            pending.into_iter().for_each(|(begun, command)| history.add(command, begun));
        }
        Ok(())
    }

    /// Signals the fence, or fails it with the error of the work; returns the result.
    ///
    /// # Errors
    /// The error of the work, or of signalling.
    pub(crate) fn finish(self, done: Result<(), Status>) -> Result<(), Status> {
        done.and_then(|()| self.signal.signal()).inspect_err(|status| self.signal.fail(status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn submission(wait: &Fence, signal: &Fence) -> Submission {
        Submission { wait: wait.clone(), signal: signal.clone(), work: None, is_late: false }
    }

    #[test]
    fn what_waits_for_a_failure_fails_however_long_the_chain() {
        let (queue, pool) = (Queue::default(), WorkerPool::calling_thread());
        let fences: Vec<Fence> = (0..4).map(|_| Fence::new()).collect();
        for pair in fences.windows(2) {
            assert!(queue.submit(submission(&pair[0], &pair[1])).is_none());
        }
        let lost = Status::internal("lost");
        fences[0].fail(&lost);
        assert_eq!(queue.run(None, &pool, &History::default()), Err(lost.clone()));
        assert!(fences.iter().all(|fence| fence.is_reached() == Err(lost.clone())));
        assert_eq!(queue.waiting_count(), 0);
    }

    #[test]
    fn what_is_ready_passes_what_waits() {
        let (queue, pool) = (Queue::default(), WorkerPool::calling_thread());
        let [gate, late, early] = [(); 3].map(|()| Fence::new());
        assert!(queue.submit(submission(&gate, &late)).is_none());
        let ready = queue.submit(submission(&Fence::default(), &early));
        assert!(
            ready.as_ref().is_some_and(|ready| !ready.is_late),
            "it runs where it is submitted"
        );
        let history = History::default();
        queue.run(ready, &pool, &history).unwrap();
        assert_eq!((early.is_reached(), late.is_reached()), (Ok(true), Ok(false)));
        assert_eq!(queue.waiting_count(), 1);
        gate.signal().unwrap();
        let ready = queue.take_ready();
        assert!(ready.as_ref().is_some_and(|ready| ready.is_late));
        queue.run(ready, &pool, &history).unwrap();
        assert_eq!(late.is_reached(), Ok(true));
    }
}

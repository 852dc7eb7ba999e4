//! What bounds a run besides its code: steps and time.
//!
//! One account serves the loop of the program and all workers that run workgroups for it. Each
//! takes steps from the account in blocks, so that counting costs nothing measurable. A run may
//! therefore end a few blocks early, while other threads still hold them.
//!
//! ```text
//! account   [ 1,000,000 steps | 10 s, of which the clock runs while the invocation does ]
//!     ^ take 4096, return what is left
//! meter     [ 4096 ]   the program's loop
//! meter     [ 4096 ]   a worker in a workgroup …
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::execution_limits::ExecutionLimits;
use crate::errors::Status;

/// The steps and the time that a call has left. Clones share one account.
#[derive(Clone, Default, Debug)]
pub struct Budget(Option<Arc<Account>>);

#[derive(Debug)]
struct Account {
    /// Steps that no thread has taken; `u64::MAX` if steps are not counted.
    steps: AtomicU64,
    clock: Option<Clock>,
}

/// How much time is left. It runs only while the invocation that owns the budget does.
#[derive(Debug)]
struct Clock {
    limit: Duration,
    origin: Instant,
    /// Nanoseconds that are left while the clock stands still, or from `origin` to the end while it
    /// runs.
    nanoseconds: AtomicU64,
    is_running: AtomicBool,
}

impl Budget {
    /// A full account, as the limits allow.
    #[must_use]
    pub fn new(limits: &ExecutionLimits) -> Self {
        if limits.fuel.is_none() && limits.time.is_none() {
            return Self::default();
        }
        let steps = AtomicU64::new(limits.fuel.unwrap_or(u64::MAX));
        Self(Some(Arc::new(Account { steps, clock: limits.time.map(Clock::new) })))
    }

    /// Whether nothing is counted.
    #[must_use]
    pub(crate) fn is_unlimited(&self) -> bool {
        self.0.is_none()
    }

    /// Takes up to `wanted` steps; returns how many. If steps are not counted, that is `wanted`.
    #[must_use]
    pub fn take(&self, wanted: u64) -> u64 {
        let Some(account) = self.counted() else { return wanted };
        // The fewer are left, the fewer at a time, so that no thread goes without while others hold
        // many.
        let granted = |left: u64| left.div_ceil(8).min(wanted);
        let taken = account.steps.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            (left > 0).then(|| left - granted(left))
        });
        taken.map_or(0, granted)
    }

    /// Gives back steps that were taken and not made.
    pub fn give_back(&self, steps: u64) {
        if let Some(account) = self.counted().filter(|_| steps > 0) {
            account.steps.fetch_add(steps, Ordering::Relaxed);
        }
    }

    /// Fails when the time is over.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED`.
    pub fn check_time(&self) -> Result<(), Status> {
        let clock = self.0.as_ref().and_then(|account| account.clock.as_ref());
        clock.map_or(Ok(()), Clock::check)
    }

    /// The time that is left; `None` without a limit.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        Some(self.0.as_ref()?.clock.as_ref()?.left())
    }

    /// Lets the clock run until the result is dropped.
    pub(crate) fn start_clock(&self) -> RunningClock {
        let account = self.0.clone().filter(|account| account.clock.is_some());
        if let Some(clock) = account.as_ref().and_then(|account| account.clock.as_ref()) {
            clock.start();
        }
        RunningClock(account)
    }

    /// The account, if steps are counted.
    fn counted(&self) -> Option<&Account> {
        // So large a number is never used up, so taking from it can be left out.
        self.0.as_deref().filter(|account| account.steps.load(Ordering::Relaxed) < u64::MAX)
    }
}

/// Stops the clock when it is dropped.
#[derive(Debug)]
pub(crate) struct RunningClock(Option<Arc<Account>>);

impl Drop for RunningClock {
    fn drop(&mut self) {
        if let Some(clock) = self.0.as_ref().and_then(|account| account.clock.as_ref()) {
            clock.stop();
        }
    }
}

impl Clock {
    fn new(limit: Duration) -> Self {
        let nanoseconds = AtomicU64::new(nanoseconds(limit));
        Self { limit, origin: Instant::now(), nanoseconds, is_running: AtomicBool::new(false) }
    }

    fn now(&self) -> u64 {
        nanoseconds(self.origin.elapsed())
    }

    fn start(&self) {
        if !self.is_running.swap(true, Ordering::Relaxed) {
            let left = self.nanoseconds.load(Ordering::Relaxed);
            self.nanoseconds.store(self.now().saturating_add(left), Ordering::Relaxed);
        }
    }

    fn stop(&self) {
        let left = nanoseconds(self.left());
        if self.is_running.swap(false, Ordering::Relaxed) {
            self.nanoseconds.store(left, Ordering::Relaxed);
        }
    }

    fn left(&self) -> Duration {
        let nanoseconds = self.nanoseconds.load(Ordering::Relaxed);
        let is_running = self.is_running.load(Ordering::Relaxed);
        Duration::from_nanos(nanoseconds.saturating_sub(if is_running { self.now() } else { 0 }))
    }

    fn check(&self) -> Result<(), Status> {
        if !self.left().is_zero() {
            return Ok(());
        }
        Err(Status::resource_exhausted(format!(
            "the time for this invocation is used up: it ran for {:?}, as long as the limit allows",
            self.limit
        )))
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

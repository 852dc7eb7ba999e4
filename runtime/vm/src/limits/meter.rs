//! Fuel and interrupts, which the loop checks on backward branches and calls.
//!
//! The loop counts a local budget down and calls the meter when it is used up, so that a check
//! costs one decrement. The budget follows the clock: a loop around a large fill is checked at
//! every turn, a loop that adds two numbers at every few thousandth.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::budget::{Budget, RunningClock};
use super::interrupt::Interrupt;
use super::run_control::RunControl;
use crate::errors::Status;

/// The most backward branches and calls between two looks at the interrupt.
const LONGEST: u32 = 1 << 12;

/// The same before the clock was first read. Most calls end sooner.
const FIRST: u32 = 1 << 4;

/// About the time between two looks, so that an interrupt is seen within a millisecond.
const PERIOD: Duration = Duration::from_micros(200);

/// Steps that are taken from the account at once.
const BLOCK: u64 = 1 << 14;

/// Why a run may not continue.
#[derive(Debug)]
pub(crate) enum Halt {
    /// It has made as many turns as were asked for: [`Meter::halt_at`].
    Due,
    /// A stop was requested.
    Interrupted,
    /// The budget is used up.
    Failed(Status),
}

/// How much an invocation may still do.
#[derive(Debug)]
pub struct Meter {
    /// Made on first use: most short calls never need it.
    interrupt: OnceLock<Interrupt>,
    /// Whether this meters work for another invocation. That invocation takes the requests to stop
    /// and runs the clock.
    is_worker: bool,
    budget: Budget,
    /// Steps that were taken from the budget and not made.
    at_hand: u64,
    /// Backward branches and calls until the next look.
    quantum: u32,
    looked: Option<Instant>,
    /// The time between the last two looks.
    interval: Duration,
    /// Backward branches and calls that were made, up to those that are handed out.
    turns: u64,
    /// Those that are handed out to the loop.
    granted: u32,
    /// Where the run halts.
    halt_at: Option<u64>,
}

impl Meter {
    pub(crate) fn new(budget: Budget) -> Self {
        Self::with(OnceLock::new(), false, budget)
    }

    fn with(interrupt: OnceLock<Interrupt>, is_worker: bool, budget: Budget) -> Self {
        Self {
            interrupt,
            is_worker,
            budget,
            at_hand: 0,
            quantum: FIRST,
            looked: None,
            interval: Duration::ZERO,
            turns: 0,
            granted: 0,
            halt_at: None,
        }
    }

    /// A meter for work under another invocation's control; it may serve several invocations in
    /// turn.
    #[must_use]
    pub fn of_worker(control: &RunControl) -> Self {
        let RunControl { interrupt, budget } = control.clone();
        Self::with(OnceLock::from(interrupt), true, budget)
    }

    /// The same for an invocation that has made `turns` turns already.
    pub(crate) fn after(turns: u64, budget: Budget) -> Self {
        let mut left = turns;
        while left > 0 {
            match budget.take(left) {
                0 => break,
                taken => left -= taken,
            }
        }
        let mut meter = Self::new(budget);
        meter.turns = turns;
        meter
    }

    /// How many backward branches and calls the loop has made. They count the same, however the
    /// loop runs and how often it is left.
    pub(crate) fn turns(&self) -> u64 {
        self.turns
    }

    /// Halts the loop after this many turns, before the branch or call that would be the next one.
    pub(crate) fn halt_at(&mut self, turns: Option<u64>) {
        self.halt_at = turns;
    }

    /// The handle that asks for a stop.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        self.interrupt.get_or_init(Interrupt::watched)
    }

    /// What the workers of this invocation obey, with all remaining steps.
    pub(crate) fn control(&mut self) -> RunControl {
        self.release();
        let interrupt = self.interrupt.get().cloned().unwrap_or_default();
        RunControl { interrupt, budget: self.budget.clone() }
    }

    /// Starts the clock if this meter owns it.
    pub(crate) fn start_clock(&self) -> Option<RunningClock> {
        (!self.is_worker && !self.budget.is_unlimited()).then(|| self.budget.start_clock())
    }

    /// Notes the running native function for holders of the interrupt.
    #[inline]
    pub(crate) fn at_native(&self, function: Option<(u32, u32)>) {
        if let Some(interrupt) = self.interrupt.get()
            && !self.is_worker
        {
            interrupt.at_native(function);
        }
    }

    /// Whether a stop was asked for.
    #[inline]
    pub(crate) fn is_requested(&self) -> bool {
        self.interrupt.get().is_some_and(Interrupt::is_requested)
    }

    /// Takes a request to stop; returns whether there was one.
    #[inline]
    pub(crate) fn is_interrupted(&self) -> bool {
        let Some(interrupt) = self.interrupt.get() else { return false };
        if self.is_worker { interrupt.is_requested() } else { interrupt.clear() }
    }

    /// Whether neither a budget nor an interrupt can end a run.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.budget.is_unlimited() && self.interrupt.get().is_none()
    }

    /// The budget of turns to start with; at least 1. Turns are paid for when they are used up or
    /// given back.
    pub(crate) fn take(&mut self) -> u32 {
        let left = self.halt_at.map_or(u64::MAX, |turns| turns.saturating_sub(self.turns));
        let quantum = u32::try_from(left.saturating_add(1)).unwrap_or(u32::MAX).min(self.quantum);
        self.granted = self.take_paid(quantum);
        self.granted
    }

    fn take_paid(&mut self, quantum: u32) -> u32 {
        if self.budget.is_unlimited() {
            return quantum;
        }
        let wanted = u64::from(quantum - 1);
        if self.at_hand < wanted {
            self.at_hand += self.budget.take(BLOCK);
        }
        let granted = self.at_hand.min(wanted);
        self.at_hand -= granted;
        // No more than a quantum.
        granted as u32 + 1
    }

    /// Takes back the turns that are left.
    pub(crate) fn give_back(&mut self, turns: u32) {
        self.turns += u64::from(std::mem::take(&mut self.granted).saturating_sub(turns));
        self.refund(turns);
    }

    fn refund(&mut self, turns: u32) {
        if !self.budget.is_unlimited() {
            self.at_hand = self.at_hand.saturating_add(turns.saturating_sub(1).into());
        }
    }

    /// More turns, unless something ends the run. The branch that used the last one up has yet to
    /// be paid for.
    #[cold]
    pub(crate) fn refill(&mut self) -> Result<u32, Halt> {
        // All that were handed out, except the one that is in progress.
        self.turns += u64::from(std::mem::take(&mut self.granted).saturating_sub(1));
        if self.halt_at.is_some_and(|turns| turns <= self.turns) {
            return Err(Halt::Due);
        }
        self.spend().map_err(Halt::Failed)?;
        if self.is_interrupted() {
            self.refund(2);
            return Err(Halt::Interrupted);
        }
        self.budget.check_time().map_err(Halt::Failed)?;
        self.follow_the_clock();
        self.turns += 1;
        Ok(self.take())
    }

    /// How long the turns took that were handed out before the last ones.
    pub(crate) fn interval(&self) -> Duration {
        self.interval
    }

    /// Pays for one step.
    pub(crate) fn spend(&mut self) -> Result<(), Status> {
        if self.budget.is_unlimited() {
            return Ok(());
        }
        if self.at_hand == 0 {
            self.at_hand = self.budget.take(BLOCK);
        }
        self.at_hand = self.at_hand.checked_sub(1).ok_or_else(|| {
            Status::resource_exhausted(
                "the fuel for this invocation is used up: it made as many backward branches and \
                 calls as the limit allows",
            )
        })?;
        Ok(())
    }

    /// Pays for one step of work outside the loop's own turns, such as a workgroup.
    ///
    /// # Errors
    /// No step is left, or the time is over.
    pub fn spend_on_work(&mut self) -> Result<(), Status> {
        self.spend()?;
        self.budget.check_time()
    }

    /// Returns the steps at hand to the account.
    fn release(&mut self) {
        self.budget.give_back(std::mem::take(&mut self.at_hand));
    }

    fn follow_the_clock(&mut self) {
        let now = Instant::now();
        if let Some(looked) = self.looked.replace(now) {
            self.interval = now - looked;
            self.quantum = next_quantum(self.quantum, self.interval);
        }
    }

    /// Pays for one turn outside the loop; the caller checks interrupts itself.
    pub(crate) fn tick(&mut self) -> Result<(), Halt> {
        self.spend_on_work().map_err(Halt::Failed)
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.release();
    }
}

/// Brings the time between two looks near to [`PERIOD`], when the last `quantum` turns took
/// `elapsed`.
fn next_quantum(quantum: u32, elapsed: Duration) -> u32 {
    if elapsed < PERIOD / 4 {
        return (2 * quantum).min(LONGEST);
    }
    if elapsed < PERIOD {
        return quantum;
    }
    let turn = (elapsed / quantum).as_nanos().max(1);
    u32::try_from(PERIOD.as_nanos() / turn).unwrap_or(LONGEST).clamp(2, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::ExecutionLimits;

    #[test]
    fn looks_are_as_far_apart_as_turns_are_short() {
        let micros = Duration::from_micros;
        assert_eq!(next_quantum(16, micros(1)), 32);
        assert_eq!(next_quantum(LONGEST, micros(1)), LONGEST);
        assert_eq!(next_quantum(64, micros(100)), 64);
        assert_eq!(next_quantum(1000, micros(1_000)), 200);
        assert_eq!(next_quantum(16, Duration::from_secs(16)), 2);
        assert_eq!(next_quantum(2, Duration::MAX), 2);
    }

    fn limited(fuel: u64) -> Budget {
        Budget::new(&ExecutionLimits { fuel: Some(fuel), ..ExecutionLimits::default() })
    }

    /// What the loop does at a backward branch.
    fn poll(meter: &mut Meter, budget: &mut u32) -> bool {
        *budget -= 1;
        if *budget == 0 {
            match meter.refill() {
                Ok(more) => *budget = more,
                Err(_) => return false,
            }
        }
        true
    }

    #[test]
    fn fuel_is_exact_however_often_the_loop_is_left() {
        for fuel in [0, 1, 2, 4095, 4096, 4097, 10_000] {
            // Miri takes its time.
            let often = if cfg!(miri) { 1_000 } else { 1 };
            for leave_every in [often, 7 * often, 100_000] {
                let mut meter = Meter::new(limited(fuel));
                let mut budget = meter.take();
                let mut polls = 0;
                while poll(&mut meter, &mut budget) {
                    polls += 1;
                    if polls % leave_every == 0 {
                        meter.give_back(budget);
                        budget = meter.take();
                    }
                }
                assert_eq!(polls, fuel, "leaving every {leave_every}");
            }
        }
    }

    #[test]
    fn workers_share_what_the_invocation_has() {
        let mut own = Meter::new(limited(50_000));
        let mut budget = own.take();
        let mut polls = 0;
        for _ in 0..10_000 {
            polls += u64::from(poll(&mut own, &mut budget));
        }
        own.give_back(budget);
        let control = own.control();
        for share in [10_000, 1_000_000] {
            let mut worker = Meter::of_worker(&control);
            let mut budget = worker.take();
            polls += (0..share).take_while(|_| poll(&mut worker, &mut budget)).count() as u64;
            worker.give_back(budget);
        }
        assert_eq!(polls, 50_000);
        assert!(own.spend().is_err());
        let mut worker = Meter::of_worker(&RunControl { budget: limited(1000), ..control });
        worker.spend().unwrap();
        let budget = worker.budget.clone();
        drop(worker);
        let rest = std::iter::from_fn(|| Some(budget.take(u64::MAX)).filter(|taken| *taken > 0));
        assert_eq!(rest.sum::<u64>(), 999);
    }

    #[test]
    fn turns_are_counted_however_often_the_loop_is_left() {
        for budget in [Budget::default(), limited(1 << 40)] {
            for leave_every in [1, 7, 100_000] {
                let mut meter = Meter::new(budget.clone());
                meter.halt_at(Some(10_000));
                let mut left = meter.take();
                let mut polls = 0;
                while poll(&mut meter, &mut left) {
                    polls += 1;
                    if polls % leave_every == 0 {
                        meter.give_back(left);
                        assert_eq!(meter.turns(), polls);
                        left = meter.take();
                    }
                }
                meter.give_back(0);
                assert_eq!((polls, meter.turns()), (10_000, 10_000), "every {leave_every}");
                // It goes on where it halted.
                meter.halt_at(Some(10_001));
                left = meter.take();
                assert!(poll(&mut meter, &mut left) && !poll(&mut meter, &mut left));
            }
        }
    }

    #[test]
    fn an_interrupt_is_seen_and_consumed() {
        let mut meter = Meter::new(Budget::default());
        let mut budget = meter.take();
        meter.interrupt().clone().request();
        let mut polls = 0;
        while poll(&mut meter, &mut budget) {
            polls += 1;
        }
        assert!(polls <= LONGEST);
        let mut budget = meter.take();
        assert!(poll(&mut meter, &mut budget));
    }
}

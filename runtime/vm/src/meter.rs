//! Fuel and interrupts: what the loop looks at on backward branches and calls.
//!
//! The loop counts a local budget down and comes here when it is used up, so that looking costs one
//! decrement. How much may be done between two looks follows the clock: a loop around a large fill is
//! looked after at every turn, one that adds two numbers at every few thousandth.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::interpreter::Exit;
use crate::status::Status;

/// The most backward branches and calls between two looks at the interrupt.
const LONGEST: u32 = 1 << 12;

/// As many there are before the clock was read. Most calls end within.
const FIRST: u32 = 1 << 4;

/// About the time between two looks, so that an interrupt is seen within a millisecond.
const PERIOD: Duration = Duration::from_micros(200);

/// Asks a running invocation to stop, from another thread.
#[derive(Clone, Default, Debug)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Stops the invocation at one of its next calls or backward branches, with
    /// [`crate::Stop::Interrupted`]. If it is not running, it stops when it is run next.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Takes a request back; whether there was one.
    pub fn clear(&self) -> bool {
        // Most often there was none, and to look is cheaper than to change.
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Relaxed)
    }
}

/// How much an invocation may still do.
#[derive(Debug)]
pub(crate) struct Meter {
    /// Made for the first who asks for it: for most short calls, nobody does.
    interrupt: OnceLock<Interrupt>,
    fuel: Option<u64>,
    /// Backward branches and calls until the next look.
    quantum: u32,
    looked: Option<Instant>,
}

impl Meter {
    pub(crate) fn new(fuel: Option<u64>) -> Self {
        Self { interrupt: OnceLock::new(), fuel, quantum: FIRST, looked: None }
    }

    /// The handle that asks for a stop.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        self.interrupt.get_or_init(Interrupt::default)
    }

    /// Takes a request for a stop; whether there was one.
    #[inline]
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.get().is_some_and(Interrupt::clear)
    }

    /// Whether nothing it counts or is told can end a run.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.fuel.is_none() && self.interrupt.get().is_none()
    }

    /// A budget to start with; at least 1. It is paid for when it is used up or given back.
    pub(crate) fn take(&mut self) -> u32 {
        let fuel = self.fuel.map_or(self.quantum, |fuel| u32::try_from(fuel).unwrap_or(u32::MAX));
        let budget = fuel.saturating_add(1).min(self.quantum);
        self.pay(budget - 1);
        budget
    }

    /// Takes back what is left of a budget.
    pub(crate) fn give_back(&mut self, budget: u32) {
        if let Some(fuel) = &mut self.fuel {
            *fuel = fuel.saturating_add(budget.saturating_sub(1).into());
        }
    }

    /// Another budget, unless something ends the run. The branch that used the last one up has yet to
    /// be paid for.
    #[cold]
    pub(crate) fn refill(&mut self) -> Result<u32, Exit> {
        if self.fuel == Some(0) {
            return Err(Exit::Failed(Status::resource_exhausted(
                "the fuel for this invocation is used up: it made as many backward branches and \
                 calls as the limit allows",
            )));
        }
        if self.is_interrupted() {
            return Err(Exit::Interrupted);
        }
        self.pay(1);
        self.follow_the_clock();
        Ok(self.take())
    }

    fn follow_the_clock(&mut self) {
        let now = Instant::now();
        if let Some(looked) = self.looked.replace(now) {
            self.quantum = next_quantum(self.quantum, now - looked);
        }
    }

    /// Pays for one turn of something else than the loop.
    pub(crate) fn tick(&mut self) -> Result<(), Exit> {
        let mut budget = self.take() - 1;
        if budget == 0 {
            budget = self.refill()?;
        }
        self.give_back(budget);
        Ok(())
    }

    fn pay(&mut self, amount: u32) {
        if let Some(fuel) = &mut self.fuel {
            *fuel = fuel.saturating_sub(amount.into());
        }
    }
}

/// Brings the time between two looks near to [`PERIOD`], when the last `quantum` turns took `elapsed`.
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
                let mut meter = Meter::new(Some(fuel));
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
    fn an_interrupt_is_seen_and_consumed() {
        let mut meter = Meter::new(None);
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

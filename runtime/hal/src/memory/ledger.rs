//! The ledger: what each dispatch has left, as a digest, so that a run that is made again can be
//! checked against the first one.
//!
//! A dispatch of a deterministic program leaves the same bytes each time. One whose workgroups race
//! may not, and neither may machine code on another processor. The ledger notices, and the debugger
//! says so instead of showing what never was.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is noted of a dispatch that ran on memory which no program has made.
const UNKNOWN: u64 = 0;

/// What a command has left, beside what it left when it ran before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Noted {
    /// It has not run before.
    First,
    /// It has left the same, as far as that is known.
    Again,
    /// It has left something else.
    Otherwise,
    /// It is no part of the program's run.
    Trial,
}

/// What dispatches have left, by the numbers of their commands.
#[derive(Default)]
pub struct Ledger(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    /// The number of the first command.
    first: u64,
    /// [`UNKNOWN`] also for commands that are no dispatches.
    left: Vec<u64>,
    /// The first command that has left something else than before.
    differing: Option<u64>,
    /// The first dispatch whose bytecode has left something else than a recording has.
    other_bytecode: Option<u64>,
    is_trial: bool,
}

impl Ledger {
    /// The digests from a command on, up to the last one.
    #[must_use]
    pub fn from(&self, number: u64) -> Vec<u64> {
        let entries = self.lock();
        let skipped = usize::try_from(number.saturating_sub(entries.first)).unwrap_or(usize::MAX);
        entries.left.get(skipped..).unwrap_or_default().to_vec()
    }

    /// The number of the last command of which something is noted; 0 if there is none.
    #[must_use]
    pub fn end(&self) -> u64 {
        let entries = self.lock();
        (entries.first + entries.left.len() as u64).saturating_sub(1)
    }

    /// Expects of the commands from this one on what they have left in an earlier run.
    pub fn expect(&self, first: u64, left: Vec<u64>) {
        *self.lock() = Entries { first, left, ..Entries::default() };
    }

    /// The number of the first command that has left other bytes than before, once.
    #[must_use]
    pub fn take_differing(&self) -> Option<u64> {
        self.lock().differing.take()
    }

    /// The number of the first dispatch whose bytecode has left something else than the recording
    /// of its results has, once.
    #[must_use]
    pub fn take_other_bytecode(&self) -> Option<u64> {
        self.lock().other_bytecode.take()
    }

    /// The bytecode of a dispatch has left something else than the recording has.
    pub(crate) fn is_other_bytecode(&self, number: u64) {
        self.lock().other_bytecode.get_or_insert(number);
    }

    /// Whether what runs now is no part of the program's run.
    pub(crate) fn is_trial(&self) -> bool {
        self.lock().is_trial
    }

    /// What runs now is no part of the program's run: its memory was overwritten for a trial.
    pub(super) fn begin_trial(&self) {
        self.lock().is_trial = true;
    }

    /// Memory is again what it was.
    pub(super) fn end_trial(&self) {
        self.lock().is_trial = false;
    }

    /// Forgets everything.
    pub(super) fn clear(&self) {
        *self.lock() = Entries::default();
    }

    /// Forgets the commands from this one on: they will leave something else.
    pub fn forget_from(&self, number: u64) {
        let mut entries = self.lock();
        let kept = usize::try_from(number.saturating_sub(entries.first)).unwrap_or(usize::MAX);
        entries.left.truncate(kept);
    }

    /// The same, and returns what they have left.
    #[must_use]
    pub fn take_from(&self, number: u64) -> Vec<u64> {
        let later = self.from(number);
        self.forget_from(number);
        later
    }

    /// The next commands, from this one on, will leave again what [`Self::take_from`] has taken.
    pub fn put(&self, number: u64, later: Vec<u64>) {
        let mut entries = self.lock();
        if entries.left.is_empty() {
            entries.first = number;
        }
        if entries.first + entries.left.len() as u64 == number {
            entries.left.extend(later);
        }
    }

    /// A command has run. If it has run before, it is compared.
    pub(crate) fn note(&self, number: u64, left: Option<u64>) -> Noted {
        let mut entries = self.lock();
        let outcome = if entries.is_trial { Noted::Trial } else { Noted::Again };
        let left = left.filter(|_| !entries.is_trial).unwrap_or(UNKNOWN);
        if entries.left.is_empty() {
            entries.first = number;
        }
        let Some(index) = number.checked_sub(entries.first) else { return outcome };
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        match entries.left.get(index).copied() {
            None if index == entries.left.len() => {
                entries.left.push(left);
                if entries.is_trial { outcome } else { Noted::First }
            }
            Some(known) if known != left && known != UNKNOWN && left != UNKNOWN => {
                entries.differing.get_or_insert(number);
                // What follows is made of these bytes.
                entries.left.truncate(index);
                entries.left.push(left);
                Noted::Otherwise
            }
            _ => outcome,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        // Each change is whole, so a panic in another thread does not spoil the entries.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_is_made_again_is_compared() {
        let ledger = Ledger::default();
        for (number, left) in [(5, Some(50)), (6, None), (7, Some(70)), (8, Some(80))] {
            assert_eq!(ledger.note(number, left), Noted::First);
        }
        assert_eq!(ledger.note(6, None), Noted::Again);
        assert_eq!(ledger.note(7, Some(70)), Noted::Again);
        assert_eq!(ledger.take_differing(), None);
        ledger.begin_trial();
        assert_eq!(ledger.note(7, Some(1)), Noted::Trial);
        ledger.end_trial();
        assert_eq!(ledger.take_differing(), None);
        assert_eq!(ledger.note(7, Some(71)), Noted::Otherwise);
        assert_eq!(ledger.note(8, Some(81)), Noted::First);
        assert_eq!(ledger.take_differing(), Some(7));
        assert_eq!(ledger.take_differing(), None);
        assert_eq!(ledger.from(6), [UNKNOWN, 71, 81]);
        let later = ledger.take_from(7);
        assert_eq!(ledger.note(7, Some(5)), Noted::First);
        ledger.forget_from(7);
        ledger.put(7, later);
        assert_eq!(ledger.from(6), [UNKNOWN, 71, 81]);
        ledger.forget_from(7);
        assert_eq!(ledger.note(7, Some(9)), Noted::First);
        assert_eq!((ledger.take_differing(), ledger.from(0)), (None, vec![50, UNKNOWN, 9]));
    }
}

//! Expectations of a program's tests that did not hold.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Notes of the expectations that did not hold. Clones share the notes.
#[derive(Clone, Debug, Default)]
pub struct Expectations(Arc<Mutex<Vec<String>>>);

impl Expectations {
    /// Takes the notes since the last call, in order.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes())
    }

    /// Puts back what was taken, instead of the notes since: they are of a program that has run
    /// again what it had run before.
    pub fn put_back(&self, notes: Vec<String>) {
        *self.notes() = notes;
    }

    pub(crate) fn expect(&self, holds: bool, note: impl FnOnce() -> String) {
        self.note((!holds).then(note));
    }

    pub(crate) fn note(&self, note: Option<String>) {
        self.notes().extend(note);
    }

    fn notes(&self) -> MutexGuard<'_, Vec<String>> {
        // The list is consistent at any time, so a panic in another thread does not spoil it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

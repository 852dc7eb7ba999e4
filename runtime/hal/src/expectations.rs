//! What tests expected and did not get.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Notes of the expectations that did not hold. Clones share the notes.
#[derive(Clone, Debug, Default)]
pub struct Expectations(Arc<Mutex<Vec<String>>>);

impl Expectations {
    /// The notes since the last time, in order; they are forgotten.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes())
    }

    pub(crate) fn expect(&self, holds: bool, note: impl FnOnce() -> String) {
        self.note((!holds).then(note));
    }

    pub(crate) fn note(&self, note: Option<String>) {
        self.notes().extend(note);
    }

    fn notes(&self) -> MutexGuard<'_, Vec<String>> {
        // A list of texts is whole at any time, so another thread's panic does not spoil it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

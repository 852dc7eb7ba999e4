//! Requests that the client does not want any more.
//!
//! The loop serves requests in their order, so a `cancel` would come behind what it is about. So the
//! reading thread notes it at once, and the loop finds the note when it comes to the request.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

/// The numbers of requests to give up; shared by the reading thread and the loop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancelled(Arc<Mutex<BTreeSet<i64>>>);

impl Cancelled {
    /// Notes what a message wants to be given up, if it is a `cancel`.
    pub(crate) fn note(&self, message: &Value) {
        if message["command"] == "cancel"
            && let Some(seq) = message["arguments"]["requestId"].as_i64()
        {
            self.lock().insert(seq);
        }
    }

    /// Whether a request is to be given up. Asked once: the `cancel` itself, which comes later,
    /// forgets what nobody has asked for.
    pub(crate) fn take(&self, seq: i64) -> bool {
        self.lock().remove(&seq)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<i64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

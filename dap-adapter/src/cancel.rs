//! Requests that the client does not want any more.
//!
//! The loop serves requests in their order, so a `cancel` would come behind what it is about. So
//! the reading thread notes it at once, and the loop finds the note when it comes to the request.
//! An evaluation is the one thing that a request may take long for; it is ended from that thread.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use debug::Cancel;
use serde_json::Value;

/// Requests to give up; shared by the reading thread and the loop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancelled(Arc<Mutex<Notes>>);

#[derive(Debug, Default)]
struct Notes {
    /// The numbers of requests that were not served yet.
    requests: BTreeSet<i64>,
    /// The evaluation that is under way: its request, and what ends it.
    evaluation: Option<(i64, Cancel)>,
}

impl Cancelled {
    /// Notes what a message wants to be given up, if it is a `cancel`.
    pub(crate) fn note(&self, message: &Value) {
        let mut notes = self.lock();
        match message["command"].as_str() {
            Some("cancel") => {
                let Some(seq) = message["arguments"]["requestId"].as_i64() else { return };
                notes.requests.insert(seq);
                if let Some((_, cancel)) = notes.evaluation.as_ref().filter(|(of, _)| *of == seq) {
                    cancel.cancel();
                }
            }
            // Whoever wants to leave does not want to wait for a value.
            Some("disconnect" | "terminate" | "restart") => {
                if let Some((_, cancel)) = &notes.evaluation {
                    cancel.cancel();
                }
            }
            _ => {}
        }
    }

    /// Whether a request is to be given up. Asked once: the `cancel` itself, which comes later,
    /// forgets what nobody has asked for.
    pub(crate) fn take(&self, seq: i64) -> bool {
        self.lock().requests.remove(&seq)
    }

    /// An evaluation begins; what will end it early.
    pub(crate) fn begin_evaluation(&self, seq: i64) -> Cancel {
        let cancel = Cancel::default();
        self.lock().evaluation = Some((seq, cancel.clone()));
        cancel
    }

    /// The evaluation is over.
    pub(crate) fn end_evaluation(&self) {
        self.lock().evaluation = None;
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Requests that the client has cancelled.
//!
//! The loop serves requests in order, so it reaches a `cancel` only after the request that it is
//! about. Therefore the reading thread notes a `cancel` at once, and the loop finds the note when
//! it reaches the request. Only an evaluation can take long within one request; the reading thread
//! ends it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use debug::{Cancel, InterruptHandle};
use serde_json::Value;

/// The evaluation in progress: the number of its request, and what ends it.
#[derive(Debug)]
struct Evaluation {
    request: i64,
    cancel: Cancel,
    /// Ends what the program runs for it.
    interrupt: Option<InterruptHandle>,
}

impl Evaluation {
    fn end(&self) {
        self.cancel.cancel();
        if let Some(interrupt) = &self.interrupt {
            interrupt.interrupt();
        }
    }
}

/// Cancelled requests. The reading thread and the loop have clones of one set.
#[derive(Clone, Debug, Default)]
pub(crate) struct CancelledRequests(Arc<Mutex<Notes>>);

#[derive(Debug, Default)]
struct Notes {
    /// The sequence numbers of cancelled requests that were not served yet.
    requests: BTreeSet<i64>,
    evaluation: Option<Evaluation>,
}

impl CancelledRequests {
    /// Notes what a message cancels, if it cancels anything.
    pub(crate) fn note(&self, message: &Value) {
        let mut notes = self.lock();
        match message["command"].as_str() {
            Some("cancel") => {
                let Some(seq) = message["arguments"]["requestId"].as_i64() else { return };
                notes.requests.insert(seq);
                if let Some(evaluation) = notes.evaluation.as_ref().filter(|it| it.request == seq) {
                    evaluation.end();
                }
            }
            // A client that leaves does not wait for a value.
            Some("disconnect" | "terminate" | "restart") => {
                if let Some(evaluation) = &notes.evaluation {
                    evaluation.end();
                }
            }
            _ => {}
        }
    }

    /// Whether a request was cancelled; forgets that it was. When the loop reaches the `cancel`
    /// itself, it calls this too, so that no note about a request that was served already stays.
    pub(crate) fn take(&self, seq: i64) -> bool {
        self.lock().requests.remove(&seq)
    }

    /// An evaluation begins for a request. Returns what ends it early.
    pub(crate) fn begin_evaluation(&self, seq: i64) -> Cancel {
        self.begin(seq, None)
    }

    /// The same for one that runs the program.
    pub(crate) fn begin_running(&self, seq: i64, interrupt: InterruptHandle) -> Cancel {
        self.begin(seq, Some(interrupt))
    }

    fn begin(&self, request: i64, interrupt: Option<InterruptHandle>) -> Cancel {
        let cancel = Cancel::default();
        self.lock().evaluation = Some(Evaluation { request, cancel: cancel.clone(), interrupt });
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

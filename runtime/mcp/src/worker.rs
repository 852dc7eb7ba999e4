//! The thread that the program lives on. A call that runs long is ended from outside, and the
//! server goes on answering meanwhile.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::Value;
use tokio::sync::oneshot;

use crate::problem::Problem;
use crate::program::Desk;
use crate::stopper::Stopper;
use crate::tools::table::{Reply, Row};

/// The outcome of a call.
pub(crate) type Outcome = Result<Reply, Problem>;

struct Job {
    row: &'static Row,
    arguments: Value,
    begun: oneshot::Sender<()>,
    reply: oneshot::Sender<Outcome>,
}

/// A call that waits, or runs.
pub(crate) struct Call {
    /// Answers when its turn has come.
    pub(crate) begun: oneshot::Receiver<()>,
    pub(crate) reply: oneshot::Receiver<Outcome>,
}

/// The tool that runs, and since when.
pub(crate) type Busy = Option<(&'static str, Instant)>;

/// The thread, seen from the server.
pub(crate) struct Worker {
    jobs: Sender<Job>,
    busy: Arc<Mutex<Busy>>,
    pub(crate) stopper: Stopper,
}

impl Worker {
    /// Starts it.
    pub(crate) fn start(mut desk: Desk) -> Self {
        let (jobs, waiting) = channel::<Job>();
        let stopper = desk.stopper.clone();
        let busy = Arc::new(Mutex::new(None));
        let shared = Arc::clone(&busy);
        std::thread::spawn(move || {
            for job in waiting {
                // A client that has cancelled it does not wait any more.
                if job.reply.is_closed() {
                    continue;
                }
                desk.stopper.begin();
                set(&shared, Some((job.row.name, Instant::now())));
                let _ = job.begun.send(());
                let call = AssertUnwindSafe(|| (job.row.call)(&mut desk, job.arguments));
                let outcome = catch_unwind(call).unwrap_or_else(|_| {
                    // What it was changing is not to be trusted.
                    desk.program = None;
                    let text = "the debugger itself has failed, and the program is lost";
                    Err(Problem::with_next(text, &["load {\"module\": …}"]))
                });
                set(&shared, None);
                let _ = job.reply.send(outcome);
            }
        });
        Self { jobs, busy, stopper }
    }

    /// Asks a tool.
    pub(crate) fn ask(&self, row: &'static Row, arguments: Value) -> Call {
        let ((begin, begun), (send, reply)) = (oneshot::channel(), oneshot::channel());
        // The thread outlives every panic of a tool; without it, the channels end.
        let _ = self.jobs.send(Job { row, arguments, begun: begin, reply: send });
        Call { begun, reply }
    }

    /// What runs now.
    pub(crate) fn busy(&self) -> Busy {
        *self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn set(busy: &Mutex<Busy>, value: Busy) {
    *busy.lock().unwrap_or_else(PoisonError::into_inner) = value;
}

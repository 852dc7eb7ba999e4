//! The thread on which the program runs.
//!
//! The session's loop must answer while the program runs, so it gives the whole [`Debuggee`] away
//! and gets it back with the reason of the stop. One thread serves a session, because a new one for
//! every step would cost more than most steps.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use debug::{Resume, StopReason};

use crate::debuggee::Debuggee;
use crate::session::Event;

/// Runs programs for one session. Ends when dropped, once the program stands still.
pub(crate) struct Runner {
    work: Sender<(Box<Debuggee>, Resume)>,
}

/// How running ended.
pub(crate) enum Ran {
    /// The program stands still.
    Stopped(Box<Debuggee>, StopReason),
    /// The debugger panicked; its state is not to be trusted.
    Crashed(String),
}

impl Runner {
    pub(crate) fn new(events: Sender<Event>) -> Self {
        let (work, jobs) = channel::<(Box<Debuggee>, Resume)>();
        thread::spawn(move || {
            for (mut debuggee, resume) in jobs {
                let reason = catch_unwind(AssertUnwindSafe(|| debuggee.debugger.resume(resume)));
                let ran = match reason {
                    Ok(reason) => Ran::Stopped(debuggee, reason),
                    Err(panic) => Ran::Crashed(panic_text(&*panic)),
                };
                if events.send(Event::Ran(ran)).is_err() {
                    break; // The session is over; what ran goes with it.
                }
            }
        });
        Self { work }
    }

    /// Lets the program go on.
    pub(crate) fn run(&self, debuggee: Box<Debuggee>, resume: Resume) {
        // The thread lives as long as `self`: it outlasts every panic of the debugger.
        let _ = self.work.send((debuggee, resume));
    }
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
        .to_owned()
}

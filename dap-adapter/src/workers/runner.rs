//! The thread on which the program runs.
//!
//! The session's loop must answer while the program runs, so it gives away the whole [`Debuggee`]
//! and gets it back with the reason of the stop. One thread serves a whole session, because a new
//! thread for every step would cost more than most steps.

use std::sync::mpsc::{Sender, channel};
use std::thread;

use commands::Run;
use debug::StopReason;

use crate::debuggee::Debuggee;
use crate::panics;

/// Runs a program. Ends when dropped, once the program stands still.
pub(crate) struct Runner {
    work: Sender<(Box<Debuggee>, Run)>,
}

/// How running ended.
pub(crate) enum Ran {
    /// The program stands still.
    Stopped(Box<Debuggee>, StopReason),
    /// It does not run in that way and stands where it stood; why.
    Refused(Box<Debuggee>, String),
    /// The debugger panicked, and the program is lost; what to print.
    Crashed(String),
}

impl Runner {
    /// A runner that reports each stop to a function, until that returns false: nothing listens.
    pub(crate) fn new(report: impl Fn(Ran) -> bool + Send + 'static) -> Self {
        let (work, jobs) = channel::<(Box<Debuggee>, Run)>();
        thread::spawn(move || {
            for (mut debuggee, run) in jobs {
                let ran = match panics::caught(|| run.perform(&mut debuggee.debugger)) {
                    Ok(Ok(reason)) => Ran::Stopped(debuggee, reason),
                    Ok(Err(text)) => Ran::Refused(debuggee, text),
                    Err(text) => Ran::Crashed(text),
                };
                if !report(ran) {
                    break;
                }
            }
        });
        Self { work }
    }

    /// Lets the program run.
    pub(crate) fn run(&self, debuggee: Box<Debuggee>, run: Run) {
        // The thread lives as long as `self`: it survives every panic of the debugger.
        let _ = self.work.send((debuggee, run));
    }
}

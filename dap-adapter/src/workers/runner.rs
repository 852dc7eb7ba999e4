//! The thread on which the program runs.
//!
//! The session's loop must answer while the program runs, so it gives away the whole [`Debuggee`]
//! and gets it back with the reason of the stop. One thread serves a whole session, because a new
//! thread for every step would cost more than most steps.

use std::sync::mpsc::{Sender, channel};
use std::thread;

use commands::Performance;
use debug::StopReason;

use crate::debuggee::Debuggee;
use crate::panics;

/// Runs a program. Ends when dropped, once the program stands still.
pub(crate) struct Runner {
    work: Sender<(Box<Debuggee>, Performance)>,
}

/// How running ended.
pub(crate) enum Ran {
    /// The program stands still.
    Stopped(Box<Debuggee>, StopReason),
    /// It was interrupted, and can go on as it ran.
    Interrupted(Box<Debuggee>, Box<Performance>),
    /// It does not run in that way and stands where it stood; why.
    Refused(Box<Debuggee>, String),
    /// The debugger panicked, and the program is lost; what to print.
    Crashed(String),
}

impl Runner {
    /// A runner that reports each stop to a function, until that returns false: nothing listens.
    pub(crate) fn new(report: impl Fn(Ran) -> bool + Send + 'static) -> Self {
        let (work, jobs) = channel::<(Box<Debuggee>, Performance)>();
        thread::spawn(move || {
            for (mut debuggee, mut run) in jobs {
                let ran = match panics::caught(|| run.go_on(&mut debuggee.debugger)) {
                    Ok(Ok(StopReason::Pause)) => Ran::Interrupted(debuggee, Box::new(run)),
                    Ok(Ok(reason)) => Ran::Stopped(debuggee, reason),
                    Ok(Err(refused)) => Ran::Refused(debuggee, refused.to_string()),
                    Err(panicked) => Ran::Crashed(panicked.to_string()),
                };
                if !report(ran) {
                    break;
                }
            }
        });
        Self { work }
    }

    /// Lets the program run, from the beginning of what is performed or on.
    pub(crate) fn run(&self, debuggee: Box<Debuggee>, run: Performance) {
        // The thread lives as long as `self`: it survives every panic of the debugger.
        let _ = self.work.send((debuggee, run));
    }
}

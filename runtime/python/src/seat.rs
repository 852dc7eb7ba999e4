//! Where a program waits for the next thread that runs it.
//!
//! A program has one debugger, and the thread that has it runs the program. That is the thread of
//! the call itself: nothing is handed over, so a short call costs little. The engine's own thread
//! has the rest: what no call waits for, sessions of editors, and calls that take longer, as the
//! threads of those have to hear signals.
//!
//! ```text
//!   seat ── take ──> a call's thread: runs the call ── put ──> seat
//!     │                    │ after 20 ms
//!     └── next ──> engine's thread: goes on with it, or serves a session ── put ──> seat
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use debug::{Debugger, InterruptHandle};

use crate::messages::Ticket;

/// How long the thread of a call runs the program itself, at least; twice that at most, unless a
/// dispatch takes longer.
const PATIENCE: Duration = Duration::from_millis(20);

/// So many rounds without a call, and the engine's thread no longer looks how long calls take.
const QUIET: u32 = 50;

#[derive(Default)]
struct State {
    /// The debugger, unless a thread has it.
    debugger: Option<Debugger>,
    /// Whether the engine's thread has something to do.
    is_wanted: bool,
    /// The call whose thread has the debugger.
    driver: Option<Ticket>,
    /// How often threads of calls have taken it.
    drives: u64,
    /// Whether the engine's thread looks how long they take.
    is_watched: bool,
    /// Whether there will be no debugger any more.
    is_over: bool,
}

/// See the top of this file.
#[derive(Default)]
pub(crate) struct Seat {
    state: Mutex<State>,
    changed: Condvar,
    /// Whether the thread of a call has had the debugger for long enough.
    hands_over: AtomicBool,
}

impl Seat {
    /// The engine's thread has something to do.
    pub(crate) fn want(&self) {
        self.lock().is_wanted = true;
        self.changed.notify_all();
    }

    /// The call whose thread has the debugger.
    pub(crate) fn driver(&self) -> Option<Ticket> {
        self.lock().driver
    }

    /// Whether the thread of a call gives the program to the engine's thread.
    pub(crate) fn hands_over(&self) -> bool {
        self.hands_over.load(Ordering::Acquire)
    }

    /// Gives the debugger to the thread that takes it next. `is_wanted`: the engine's thread goes
    /// on.
    pub(crate) fn put(&self, debugger: Debugger, is_wanted: bool) {
        let mut state = self.lock();
        state.debugger = Some(debugger);
        state.driver = None;
        state.is_wanted |= is_wanted;
        let has_work = state.is_wanted;
        drop(state);
        if has_work {
            self.changed.notify_all();
        }
    }

    /// The program is closed, or lost.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.is_over = true;
        state.debugger = None;
        self.changed.notify_all();
    }

    /// The debugger, for the thread of a call. If another thread has it, the engine's thread goes
    /// on with the call after that.
    pub(crate) fn take(&self, ticket: Ticket) -> Option<Debugger> {
        let mut state = self.lock();
        let Some(debugger) = state.debugger.take() else {
            state.is_wanted = true;
            return None;
        };
        state.driver = Some(ticket);
        state.drives += 1;
        self.hands_over.store(false, Ordering::Release);
        if !std::mem::replace(&mut state.is_watched, true) {
            self.changed.notify_all();
        }
        Some(debugger)
    }

    /// The debugger, for the engine's thread once that has something to do. None: the program is
    /// over.
    pub(crate) fn next(&self, interrupt: &InterruptHandle) -> Option<Debugger> {
        let mut state = self.lock();
        let (mut seen, mut quiet) = (0, 0);
        loop {
            if state.is_over {
                return None;
            }
            if state.is_wanted
                && let Some(debugger) = state.debugger.take()
            {
                state.is_wanted = false;
                return Some(debugger);
            }
            if !state.is_watched {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let waited = self.changed.wait_timeout(state, PATIENCE);
            let (now, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = now;
            if !timeout.timed_out() {
                continue;
            }
            let is_same = std::mem::replace(&mut seen, state.drives) == state.drives;
            if is_same && state.driver.is_some() {
                self.hands_over.store(true, Ordering::Release);
                interrupt.attend();
            }
            quiet = if is_same && state.driver.is_none() { quiet + 1 } else { 0 };
            state.is_watched = quiet < QUIET;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Calls that end when the caller's process is interrupted.
//!
//! A program that runs does not hear signals: they are handled by the caller's language, on the
//! thread that called. So a thread stops all calls that run a few times a second, and each of them
//! asks the language and goes on.

use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use vm::{Context, Failure, Interrupt, Invocation, Outcome, Value};

use super::core::Core;
use super::error::FfiError;

/// How late a signal may be heard.
const PERIOD: Duration = Duration::from_millis(50);

/// After how many periods without a call the thread ends.
const IDLE: u32 = 40;

/// The calls that run.
struct Calls {
    /// The process of the thread that looks after them: a fork has none.
    watched_by: Option<u32>,
    running: Vec<(u64, Interrupt)>,
    next: u64,
}

static CALLS: Mutex<Calls> = Mutex::new(Calls { watched_by: None, running: Vec::new(), next: 0 });

/// A call that runs, until this is dropped.
struct Watched(Option<u64>);

impl Watched {
    fn new(interrupt: Interrupt) -> Self {
        // A process that was forked while another thread held the lock never gets it.
        let Some(mut calls) = lock_soon() else { return Self(None) };
        let own = process::id();
        if calls.watched_by != Some(own) {
            let started = thread::Builder::new().name("iree-dbg-signals".to_owned()).spawn(watch);
            if started.is_err() {
                return Self(None);
            }
            calls.watched_by = Some(own);
        }
        let number = calls.next;
        calls.next += 1;
        calls.running.push((number, interrupt));
        Self(Some(number))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let (Some(number), Some(mut calls)) = (self.0, lock_soon()) {
            calls.running.retain(|(other, _)| *other != number);
        }
    }
}

/// The calls, unless something holds them for longer than anything here does.
fn lock_soon() -> Option<MutexGuard<'static, Calls>> {
    for _ in 0..1000 {
        match CALLS.try_lock() {
            Ok(calls) => return Some(calls),
            Err(TryLockError::Poisoned(calls)) => return Some(calls.into_inner()),
            Err(TryLockError::WouldBlock) => thread::yield_now(),
        }
    }
    None
}

/// Stops the calls that run, again and again, until there are none for a while.
fn watch() {
    let mut idle = 0;
    loop {
        thread::sleep(PERIOD);
        let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
        calls.running.iter().for_each(|(_, interrupt)| interrupt.request());
        idle = if calls.running.is_empty() { idle + 1 } else { 0 };
        if idle == IDLE {
            calls.watched_by = None;
            return;
        }
    }
}

/// Why a call has not come to its end.
pub(super) enum Unfinished {
    /// The program failed.
    Failed(Box<Failure>),
    /// A signal has raised an exception of the caller's language.
    Signalled(FfiError),
}

/// Runs a program to its end, or until a signal ends the call.
pub(super) fn finish(
    core: &Core,
    context: &mut Context,
    invocation: &mut Invocation,
) -> Result<Vec<Value>, Unfinished> {
    let _watched = Watched::new(invocation.interrupt());
    loop {
        match invocation.run(context) {
            Outcome::Completed(results) => return Ok(results),
            Outcome::Failed(failure) => return Err(Unfinished::Failed(Box::new(failure))),
            Outcome::Yielded => {}
            Outcome::Stopped(_) => core.check_signals().map_err(Unfinished::Signalled)?,
        }
    }
}

/// The context of a program, as soon as no other thread runs it.
///
/// # Errors
/// A signal has ended the wait.
pub(super) fn acquired<'a>(
    core: &Core,
    context: &'a Mutex<Context>,
) -> Result<MutexGuard<'a, Context>, FfiError> {
    let mut waited = Duration::ZERO;
    loop {
        match context.try_lock() {
            Ok(context) => return Ok(context),
            Err(TryLockError::Poisoned(context)) => return Ok(context.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
        // The first calls to wait are short, so the wait begins short, too.
        let pause = (waited / 2).clamp(Duration::from_micros(20), PERIOD);
        thread::sleep(pause);
        waited += pause;
        if pause == PERIOD {
            core.check_signals()?;
        }
    }
}

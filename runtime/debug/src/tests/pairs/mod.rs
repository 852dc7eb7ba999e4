//! Two features at once: data that is watched, hits that are counted, pauses and steps in
//! dispatches, each while the program goes back and forth at random.
//!
//! A fresh session that runs by instruction shows what is at each moment, and when data changes.
//! Sessions are numbered. Some run always; `PAIRS=100..200 cargo test -p debug --lib pairs` draws
//! others, and `PAIRS=117` that one.
//!
//! Needs iree-compile: `pip install iree-base-compiler`.

mod backs;
mod counts;
mod executions;
mod lines;
mod pauses;
mod programs;
mod watches;

use std::ops::Range;

use crate::RunMoment;
use crate::tests::drawn_clock::DrawnClock;

/// The sessions of a test: what the environment gives, or those that run always.
fn sessions(always: Range<u64>) -> Range<u64> {
    let Ok(text) = std::env::var("PAIRS") else { return always };
    let number = |text: &str| text.parse().expect("PAIRS=FROM..TO or PAIRS=NUMBER");
    match text.split_once("..") {
        Some((from, to)) => number(from)..number(to),
        None => number(&text)..number(&text) + 1,
    }
}

/// Runs the sessions, each with its own clock for checkpoints, and says which of them fail.
#[track_caller]
fn check(always: Range<u64>, session: impl Fn(u64) + std::panic::RefUnwindSafe) {
    let mut failed = Vec::new();
    for seed in sessions(always) {
        let clock = DrawnClock::begin(seed);
        let went = std::panic::catch_unwind(|| session(seed));
        drop(clock);
        if went.is_err() {
            eprintln!("-- session {seed} fails");
            failed.push(seed);
        }
    }
    assert!(failed.is_empty(), "sessions that fail: {failed:?}");
}

/// `18 [2, 2, 0, 1] 47`: turns and progress outside of a dispatch, and turns inside.
fn brief(moment: &RunMoment) -> String {
    let inner = moment.inner_turns().map(|turns| format!(" {turns}")).unwrap_or_default();
    format!("{} {:?}{inner}", moment.turns(), moment.progress())
}

//! Requests that wait for the program, and their answers when it does not stop soon after an
//! interrupt.
//!
//! ```text
//! request ──> interrupt ──> the program stops ──> answer          mostly within a millisecond
//!                 └─ PATIENCE ──> what it is busy with, on the console
//!                                 early answer ──> … it stops ──> done, `breakpoint` events
//! ```
//!
//! Breakpoints that were answered early get numbers of their own. The client keeps those numbers,
//! and [`crate::transport::Wire::alias`] puts them into events.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::protocol::{Breakpoint, BreakpointsBody, Request, RequestError, body};
use crate::requests::ProgramHandler;

/// How long the program may take to stop before the client hears about it.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);

/// The first number of breakpoints that are answered early: larger than any that a debugger gives,
/// and within the protocol's range.
const FIRST_EARLY: i64 = 1 << 30;

/// A request that waits for the program.
pub(super) struct Waiter {
    pub(super) request: Request,
    pub(super) handler: ProgramHandler,
    pub(super) since: Instant,
    /// The numbers of its breakpoints, if it was answered early.
    pub(super) early: Option<Vec<i64>>,
}

impl Waiter {
    pub(super) fn new(request: Request, handler: ProgramHandler) -> Self {
        Self { request, handler, since: Instant::now(), early: None }
    }

    /// Whether its client has an answer.
    pub(super) fn is_answered(&self) -> bool {
        self.early.is_some()
    }
}

/// When the program was interrupted, and whether the client knows that it has not stopped yet.
#[derive(Default)]
pub(super) struct Interruption {
    pub(super) since: Option<Instant>,
    pub(super) is_announced: bool,
}

impl Interruption {
    /// The program is interrupted now, if it was not before.
    pub(super) fn begin(&mut self) {
        self.since.get_or_insert_with(Instant::now);
    }
}

/// The numbers of breakpoints that are answered early.
#[derive(Default)]
pub(super) struct EarlyNumbers(i64);

impl EarlyNumbers {
    fn take(&mut self, count: usize) -> Vec<i64> {
        let first = FIRST_EARLY + self.0;
        self.0 += count as i64;
        (first..).take(count).collect()
    }
}

/// An answer without the program, and the numbers of the breakpoints in it. `what` says what the
/// program is busy with.
pub(super) fn early_answer(
    request: &Request,
    what: &str,
    numbers: &mut EarlyNumbers,
) -> (Result<Value, RequestError>, Vec<i64>) {
    let arguments: Value = request.arguments().unwrap_or_default();
    let count = |field: &str| arguments[field].as_array().map_or(0, Vec::len);
    match request.command.as_str() {
        "setExceptionBreakpoints" => {
            let verified = json!({ "verified": true });
            let count = count("filters") + count("filterOptions");
            (Ok(json!({ "breakpoints": vec![verified; count] })), Vec::new())
        }
        "setBreakpoints"
        | "setFunctionBreakpoints"
        | "setInstructionBreakpoints"
        | "setDataBreakpoints" => {
            let ids = numbers.take(count("breakpoints"));
            let breakpoints = ids.iter().map(|id| Breakpoint {
                id: Some(*id),
                message: Some(format!("set when the program stops: it is {what}")),
                reason: Some("pending"),
                ..Breakpoint::default()
            });
            let body = body(BreakpointsBody { breakpoints: breakpoints.collect() });
            (body, ids)
        }
        command => {
            let text = format!("`{command}` needs the program, which is still {what}");
            (Err(RequestError::not_stopped(text)), Vec::new())
        }
    }
}

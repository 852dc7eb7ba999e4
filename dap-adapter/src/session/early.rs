//! What cannot wait for the program: answers, and words about where it is, when it does not come
//! back at once after it was interrupted.
//!
//! ```text
//! request ──> interrupt ──> the program comes back ──> answer                    most often, within a millisecond
//!                 └─ PATIENCE ──> where the time goes, on the console
//!                                 early answer ──> … it comes back ──> done, `breakpoint` events
//! ```
//!
//! Breakpoints that are answered early have numbers of their own, by which the client goes on to
//! hear of them ([`crate::wire::Wire::call`]).

use std::time::{Duration, Instant};

use debug::BreakpointId;
use serde_json::{Value, json};

use super::{Session, State, Then};
use crate::debuggee::Debuggee;
use crate::error::RequestError;
use crate::events::{BreakpointEvent, Category, Event};
use crate::protocol::{Breakpoint, BreakpointsBody, Request};
use crate::requests::ProgramHandler;

/// How long the program may take to come back before something is said.
const PATIENCE: Duration = Duration::from_millis(500);

/// The first number of breakpoints that are answered early: more than a debugger ever gives, and no
/// more than the protocol has.
const FIRST_EARLY: i64 = 1 << 30;

/// A request that waits for the program.
pub(crate) struct Waiter {
    pub(crate) request: Request,
    handler: ProgramHandler,
    since: Instant,
    /// The numbers of its breakpoints, if it was answered.
    early: Option<Vec<i64>>,
}

/// When the program was asked to come back.
#[derive(Default)]
pub(super) struct Asked {
    since: Option<Instant>,
    is_told: bool,
}

/// Numbers for breakpoints that are answered early.
#[derive(Default)]
pub(super) struct EarlyNumbers(i64);

impl Waiter {
    pub(super) fn new(request: Request, handler: ProgramHandler) -> Self {
        Self { request, handler, since: Instant::now(), early: None }
    }

    /// Whether its client has an answer.
    pub(crate) fn is_answered(&self) -> bool {
        self.early.is_some()
    }
}

impl Asked {
    /// It is asked now, if it was not before.
    pub(super) fn ask(&mut self) {
        self.since.get_or_insert_with(Instant::now);
    }
}

impl EarlyNumbers {
    fn take(&mut self, count: usize) -> Vec<i64> {
        let first = FIRST_EARLY + self.0;
        self.0 += count as i64;
        (first..).take(count).collect()
    }
}

impl Session {
    /// When to call [`Self::answer_early`].
    pub(super) fn early_deadline(&self) -> Option<Instant> {
        let State::Running(running) = &self.state else { return None };
        let told = running.asked.since.filter(|_| !running.asked.is_told);
        let unanswered = running.waiting.iter().filter(|waiter| !waiter.is_answered());
        let first = unanswered.map(|waiter| waiter.since).chain(told).min()?;
        Some(first + PATIENCE)
    }

    /// Says where the program is that does not come back, and answers those who wait for it.
    pub(super) fn answer_early(&mut self, now: Instant) {
        let State::Running(running) = &mut self.state else { return };
        let is_late = |since: Instant| now >= since + PATIENCE;
        let busy = running.interrupt.busy();
        let what = busy.unwrap_or_else(|| "busy; stops as soon as it can".to_owned());
        if running.asked.since.is_some_and(is_late) && !running.asked.is_told {
            running.asked.is_told = true;
            self.wire.print(Category::Console, [format!("The program is still {what}")]);
        }
        if let Then::Leave(leaving) = &mut running.then
            && let Some(request) = leaving.take_if(|_| running.asked.is_told)
        {
            self.wire.respond(&request, Ok(Value::Null));
        }
        for waiter in &mut running.waiting {
            if waiter.is_answered() || !is_late(waiter.since) {
                continue;
            }
            let (answer, numbers) = early(&waiter.request, &what, &mut self.early_numbers);
            self.wire.respond(&waiter.request, answer);
            waiter.early = Some(numbers);
        }
    }

    /// Does what a request asked for, and answers it, or says what became of an earlier answer.
    pub(super) fn serve_waiter(&mut self, debuggee: &mut Debuggee, waiter: &Waiter) {
        let Waiter { request, handler, early, .. } = waiter;
        let handler = *handler;
        let outcome = super::serving::guarded(|it| handler(debuggee, it, request), &self.client);
        let Some(numbers) = early else { return self.wire.respond(request, outcome) };
        match outcome {
            Ok(body) => self.set_late(debuggee, &body, numbers),
            Err(error) => {
                let text = format!("`{}` has failed: {}", request.command, error.text);
                self.wire.print(Category::Console, [text]);
            }
        }
    }

    /// Tells of breakpoints that were answered early and are set now.
    fn set_late(&mut self, debuggee: &Debuggee, body: &Value, numbers: &[i64]) {
        let set = body["breakpoints"].as_array().into_iter().flatten();
        for (breakpoint, early) in set.zip(numbers) {
            let number = breakpoint["id"].as_i64();
            let known = number.and_then(|number| {
                self.wire.call(number, *early);
                debuggee.breakpoints.reported.get(&BreakpointId(u32::try_from(number).ok()?))
            });
            let message = breakpoint["message"].as_str().map(str::to_owned);
            let id = Some(*early);
            let failed =
                || Breakpoint { id, message, reason: Some("failed"), ..Breakpoint::default() };
            let breakpoint = known.cloned().unwrap_or_else(failed);
            self.wire.event(Event::Breakpoint(BreakpointEvent { reason: "changed", breakpoint }));
        }
    }
}

/// An answer without the program, and the numbers of the breakpoints in it.
fn early(
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
                message: Some(format!("set when the program comes back: it is {what}")),
                reason: Some("pending"),
                ..Breakpoint::default()
            });
            let body = super::body(BreakpointsBody { breakpoints: breakpoints.collect() });
            (body, ids)
        }
        command => {
            let text = format!("`{command}` needs the program, which is still {what}");
            (Err(RequestError::not_stopped(text)), Vec::new())
        }
    }
}

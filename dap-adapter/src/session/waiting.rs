//! Requests that wait for the program: they are answered when it has stopped, early if it does not
//! stop soon, or never.

use std::time::Instant;

use debug::BreakpointId;
use serde_json::Value;

use super::early_answers::{PATIENCE, Waiter, early_answer};
use super::state::{Session, State, Then};
use crate::debuggee::Debuggee;
use crate::protocol::events::{BreakpointEvent, Category};
use crate::protocol::{Breakpoint, Event, RequestError};
use crate::requests;

impl Session {
    /// When to call [`Self::answer_early`].
    pub(super) fn early_deadline(&self) -> Option<Instant> {
        let State::Running(running) = &self.state else { return None };
        let interruption = &running.interruption;
        let unannounced = interruption.since.filter(|_| !interruption.is_announced);
        let unanswered = running.waiting.iter().filter(|waiter| !waiter.is_answered());
        let first = unanswered.map(|waiter| waiter.since).chain(unannounced).min()?;
        Some(first + PATIENCE)
    }

    /// Says what keeps the program busy, and answers the requests that have waited for
    /// [`PATIENCE`].
    pub(super) fn answer_early(&mut self, now: Instant) {
        let State::Running(running) = &mut self.state else { return };
        let is_late = |since: Instant| now >= since + PATIENCE;
        let what = match running.goes_back {
            true => Some("on its way to another moment".to_owned()),
            false => running.interrupt.busy(),
        };
        let what = what.unwrap_or_else(|| "busy; stops as soon as it can".to_owned());
        let interruption = &mut running.interruption;
        if interruption.since.is_some_and(is_late) && !interruption.is_announced {
            interruption.is_announced = true;
            self.wire.print(Category::Console, [format!("The program is still {what}")]);
        }
        if let Then::Leave(leaving) = &mut running.then
            && let Some(request) = leaving.take_if(|_| interruption.is_announced)
        {
            self.wire.respond(&request, Ok(Value::Null));
        }
        for waiter in &mut running.waiting {
            if waiter.is_answered() || !is_late(waiter.since) {
                continue;
            }
            let (answer, numbers) = early_answer(&waiter.request, &what, &mut self.early_numbers);
            self.wire.respond(&waiter.request, answer);
            waiter.early = Some(numbers);
        }
    }

    /// Serves the requests that have waited, and sends the events that follow from them.
    pub(super) fn serve_waiting(&mut self, debuggee: &mut Debuggee, waiting: &[Waiter]) {
        for waiter in waiting {
            self.serve_waiter(debuggee, waiter);
        }
        self.send_pending_events(debuggee);
        for breakpoint in debuggee.changed_breakpoints(&self.client) {
            let event = BreakpointEvent { reason: "changed", breakpoint };
            self.wire.event(Event::Breakpoint(event));
        }
    }

    /// Serves a request that has waited. If it was answered early, says what became of that.
    fn serve_waiter(&mut self, debuggee: &mut Debuggee, waiter: &Waiter) {
        let Waiter { request, handler, early, .. } = waiter;
        let outcome = requests::serve(*handler, debuggee, &self.client, request);
        let Some(numbers) = early else { return self.wire.respond(request, outcome) };
        match outcome {
            Ok(body) => self.announce_late(debuggee, &body, numbers),
            Err(error) => {
                let text = format!("`{}` has failed: {}", request.command, error.text);
                self.wire.print(Category::Console, [text]);
            }
        }
    }

    /// Sends events about breakpoints that were answered early and are set now.
    fn announce_late(&mut self, debuggee: &Debuggee, body: &Value, numbers: &[i64]) {
        let set = body["breakpoints"].as_array().into_iter().flatten();
        for (breakpoint, early) in set.zip(numbers) {
            let number = breakpoint["id"].as_i64();
            let reported = number.and_then(|number| {
                self.wire.alias(number, *early);
                debuggee.breakpoints.reported.get(&BreakpointId(u32::try_from(number).ok()?))
            });
            let message = breakpoint["message"].as_str().map(str::to_owned);
            let id = Some(*early);
            let failed =
                || Breakpoint { id, message, reason: Some("failed"), ..Breakpoint::default() };
            let breakpoint = reported.cloned().unwrap_or_else(failed);
            self.wire.event(Event::Breakpoint(BreakpointEvent { reason: "changed", breakpoint }));
        }
    }

    /// Sends the events about changes that requests have made.
    pub(super) fn send_pending_events(&mut self, debuggee: &mut Debuggee) {
        for event in std::mem::take(&mut debuggee.pending_events) {
            self.wire.event(event);
        }
    }

    /// Fails the waiting requests that have no answer yet.
    pub(super) fn refuse_waiting(&mut self, waiting: &[Waiter], error: &RequestError) {
        for waiter in waiting.iter().filter(|waiter| !waiter.is_answered()) {
            self.wire.respond(&waiter.request, Err(error.clone()));
        }
    }
}

//! The first moment at which a condition is true, or a number goes wrong.

use vm::Moment;

use super::limit::Limit;
use super::seek::Lost;
use super::tape::Recording;
use crate::control::refused::Refused;
use crate::control::runner::Runner;
use crate::control::stop::{Granularity, Resume, StepKind, StopReason};
use crate::control::traps::settings::Traps;
use crate::expression::Expression;

/// What is known of a condition on the way.
#[derive(Default)]
struct Asked {
    /// At how many stops it had a value,
    stops: usize,
    /// and why it had none at another.
    reason: Option<String>,
}

impl Asked {
    /// Why a condition leads nowhere.
    fn never(self, text: &str) -> Lost {
        Lost::Because(match (self.stops, self.reason) {
            (0, Some(reason)) => format!("{text} had no value at any stop: {reason}"),
            (1, _) => format!("{text} was not true at the one stop where it had a value"),
            (stops, _) => {
                format!("{text} was true at none of the {stops} stops where it had a value")
            }
        })
    }
}

impl Runner {
    /// Goes to the first stop since the recording began, by lines, at which a condition is true in
    /// the innermost frame. Where its names mean nothing, it is not true.
    ///
    /// # Errors
    /// It is no condition, nothing is recorded, or it was never true; the program stands where it
    /// stood.
    pub(crate) fn go_to_first(&mut self, text: &str) -> Result<StopReason, Refused> {
        let condition = Expression::parse(text)?;
        condition.check_truth()?;
        let text = text.trim();
        self.travel(|runner, recording| {
            let limit = Limit::at(runner.moment(), runner.machine.depth());
            runner.rewind(recording, 0)?;
            runner.leave_entry()?;
            let mut asked = Asked::default();
            let found = runner.by_lines(recording, limit.moment(), |runner, end, is_last| {
                let limit = Limit::at(end.cloned(), limit.depth);
                let holds = |runner: &mut Self| runner.holds_here(&condition, &mut asked);
                let found =
                    runner.unarmed(|runner| runner.step_until(recording, &limit, is_last, holds));
                found.map(|found| found.then_some(()))
            })?;
            if found.is_some() {
                return Ok(StopReason::Found(format!("{text} is true here for the first time")));
            }
            Err(asked.never(text))
        })
    }

    /// Goes back to the last stop before the present, by lines, at which a condition was true in
    /// the innermost frame.
    ///
    /// # Errors
    /// As for [`Self::go_to_first`].
    pub(crate) fn go_to_last(&mut self, text: &str) -> Result<StopReason, Refused> {
        let condition = Expression::parse(text)?;
        condition.check_truth()?;
        let text = text.trim();
        self.travel(|runner, recording| {
            let present = runner.moment();
            let limit = Limit::at(present.clone(), runner.machine.depth());
            runner.rewind(recording, 0)?;
            runner.leave_entry()?;
            let (mut asked, mut last) = (Asked::default(), None);
            let mut look = |runner: &mut Self| {
                let here =
                    runner.moment().filter(|here| present.as_ref().is_none_or(|it| here < it));
                if let Some(here) = here
                    && runner.holds_here(&condition, &mut asked)
                {
                    let machine = &runner.machine;
                    last = Some((here, machine.hidden_calls, machine.stands_after));
                }
                false
            };
            runner.by_lines(recording, limit.moment(), |runner, end, is_last| {
                let limit = Limit::at(end.cloned(), limit.depth);
                runner
                    .unarmed(|runner| runner.step_until(recording, &limit, is_last, &mut look))?;
                Ok(None::<()>)
            })?;
            let Some((moment, hidden_calls, stands_after)) = last else {
                return Err(asked.never(text));
            };
            runner.arrive(recording, &moment)?;
            runner.machine.hidden_calls = hidden_calls;
            runner.machine.stands_after = stands_after;
            Ok(StopReason::Found(format!("{text} was true here for the last time")))
        })
    }

    /// Goes to the first moment since the recording began at which one of these traps stops the
    /// program, whatever else may stop it. A program that is over is searched to its end, any
    /// other one up to the present.
    ///
    /// # Errors
    /// Nothing is recorded, or no trap has stopped it; the program stands where it stood.
    pub(crate) fn go_to_first_trap(&mut self, traps: Traps) -> Result<StopReason, Refused> {
        self.travel(|runner, recording| {
            let present = runner.moment();
            let is_over = present.is_none() || present == runner.end_stop;
            let limit = Limit::at(present.filter(|_| !is_over), runner.machine.depth());
            runner.rewind(recording, 0)?;
            runner.leave_entry()?;
            let found = runner.by_lines(recording, limit.moment(), |runner, end, is_last| {
                let part = Limit::at(end.cloned(), limit.depth);
                let found = runner.unarmed(|runner| {
                    runner.watcher.traps = traps;
                    runner.arm_breakpoints();
                    runner.run_to_trap(&part)
                });
                match found {
                    Err(Lost::Because(_)) if !is_last => Ok(None),
                    found => found.map(Some),
                }
            })?;
            found.ok_or_else(|| Lost::because(nothing_of(traps, is_over)))
        })
    }

    fn run_to_trap(&mut self, limit: &Limit) -> Result<StopReason, Lost> {
        loop {
            // The present may be within its turn.
            self.set_goal(limit.moment().map(|present| present.turns().saturating_add(1)));
            let reason = self.after(|runner| runner.go_on(Resume::Continue, 0, None));
            let at_goal = std::mem::take(&mut self.at_goal);
            self.set_goal(None);
            match reason {
                StopReason::Trap(_) if !self.is_beyond(limit) => return Ok(reason),
                StopReason::Pause if !at_goal => return Err(Lost::Paused),
                // The program breaks by itself.
                StopReason::BreakInstruction if !self.is_beyond(limit) => {}
                _ => {
                    let is_whole = limit.moment().is_none();
                    return Err(Lost::because(nothing_of(self.watcher.traps, is_whole)));
                }
            }
        }
    }

    /// Steps by lines until a stop is the one that is looked for. False: none was, up to the
    /// present, which itself counts or not.
    fn step_until(
        &mut self,
        recording: &Recording,
        limit: &Limit,
        is_end_met: bool,
        mut is_it: impl FnMut(&mut Self) -> bool,
    ) -> Result<bool, Lost> {
        loop {
            let is_at_end = |end: &Moment| self.moment().is_none_or(|here| here >= *end);
            if !is_end_met && limit.moment().is_some_and(is_at_end) {
                return Ok(false);
            }
            if is_it(self) {
                return Ok(true);
            }
            let Some(here) = self.moment().filter(|here| !limit.is_reached(here)) else {
                return Ok(false);
            };
            // What lies inside a dispatch is left out, unless the program stands in it.
            let is_command = here.is_in_native() && !limit.is_inside(&here);
            let kind = if is_command { StepKind::Over } else { StepKind::Into };
            let (hidden, just_ran) = (self.machine.hidden_calls, self.machine.stands_after);
            let step = Resume::Step(kind, Granularity::Line);
            let reason = self.after(|runner| runner.go_on(step, hidden, just_ran));
            match reason {
                StopReason::Pause => return Err(Lost::Paused),
                reason if reason.is_final() => return Ok(false),
                _ => {}
            }
            if self.is_beyond(limit) {
                // The present is in the middle of a line.
                if let Some(present) = limit.moment() {
                    self.arrive(recording, present)?;
                }
            }
        }
    }

    fn is_beyond(&self, limit: &Limit) -> bool {
        let now = self.moment();
        limit.moment().is_some_and(|limit| now.is_none_or(|now: Moment| now > *limit))
    }

    fn holds_here(&self, condition: &Expression, asked: &mut Asked) -> bool {
        let frame = self.machine.innermost_frame();
        match condition.holds(&mut self.machine.scope_at(self.machine.level, frame)) {
            Ok(holds) => {
                asked.stops += 1;
                holds
            }
            Err(error) => {
                asked.reason = Some(error.to_string());
                false
            }
        }
    }
}

/// Why there is no first moment for these traps in the whole run, or up to the present.
fn nothing_of(traps: Traps, is_whole: bool) -> &'static str {
    if !is_whole {
        return "nothing of the kind has happened up to here";
    }
    if traps.difference {
        return "each dispatch has left what its text means, so the compiler is not at fault: look \
                at the source, at the inputs and at what is expected";
    }
    if traps.looks_at_floats() {
        return "no operation has made it of ordinary numbers: it comes from an input or from a \
                constant, and `why nan` or `why inf` says from which";
    }
    "nothing of the kind has happened"
}

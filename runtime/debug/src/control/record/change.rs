//! Changes by hand in a recorded program: values that a user sets, jumps, restarted frames.
//!
//! A value that is set between commands begins a line of time (`lines`), and nothing is lost. What
//! else is changed cannot be made again: a jump leads to moments that have been, and what was set
//! in a dispatch is of its middle. So what was recorded before such a change is forgotten, and no
//! user should lose that unawares: at each stop, the first change is refused and says so, and the
//! next one is made. A program that has no past yet loses nothing, and a recording may be told to
//! give way.

use hal::PastLost;
use vm::Moment;

use super::fork::BeforeChange;
use crate::control::by_hand::HandChange;
use crate::control::refused::Refused;
use crate::control::runner::Runner;

impl Runner {
    /// Whether a value can be set now, and what to know of the time before that if it begins a
    /// line.
    ///
    /// # Errors
    /// As for [`Self::may_change`].
    pub(crate) fn may_set(&mut self) -> Result<Option<BeforeChange>, Refused> {
        self.new_line = None;
        self.may_leave_recorded("setting a value")?;
        let is_fork = self.may_begin_line() && (self.has_past() || self.has_other_futures());
        if is_fork {
            return Ok(Some(self.before_change()));
        }
        self.may_change("setting a value").map(|()| None)
    }

    /// A value was set: a line begins, or the past ends.
    pub(crate) fn has_set(&mut self, before: Option<BeforeChange>, change: HandChange) {
        match before {
            Some(before) => self.begin_line(before, change),
            None => self.forget_past(),
        }
    }

    /// Whether a change by hand that ends the past can be made now; `change` says what it is, as in
    /// "a jump".
    ///
    /// # Errors
    /// It would end a past, and the user was not told at this stop.
    pub(crate) fn may_change(&mut self, change: &'static str) -> Result<(), Refused> {
        self.may_leave_recorded(change)?;
        let gives_way = self.recording.as_ref().is_some_and(|it| it.tape().gives_way());
        let lines = self.has_lines();
        let is_nothing_lost = !self.has_past() && !lines;
        if is_nothing_lost
            || gives_way && !lines
            || std::mem::replace(&mut self.is_told_of_change, true)
        {
            return Ok(());
        }
        Err(Refused::ForgetsPast { change, lines })
    }

    /// Whether the program can do something else than in the recorded run: not where that is all
    /// that is known of its dispatches.
    fn may_leave_recorded(&self, change: &'static str) -> Result<(), Refused> {
        match self.machine.program.has_recorded_results() {
            true => Err(Refused::ResultsRecorded { change }),
            false => Ok(()),
        }
    }

    /// The user knows that a change at this stop ends the past.
    pub(crate) fn accept_change(&mut self) {
        self.is_told_of_change = true;
    }

    /// What was before cannot be gone back to: the user has made a change, or another call begins
    /// or ends, which has its own caller outside. The recording begins here.
    pub(crate) fn forget_past(&mut self) {
        self.machine.by_hand.has_left_its_run = true;
        let host = self.machine.program.host();
        host.outside().cut();
        host.device().allocator().journal().cut(PastLost::Changed);
        if let Some(recording) = &self.recording {
            recording.begin_again();
            self.machine.context.makes().forget_later();
            self.machine.program.host().device().allocator().makes().forget_later();
            let next = self.commands_run() + 1;
            self.ledger().forget_from(next);
            recording.tape().table().forget_after(next - 1);
            if let Some(invocation) = self.machine.running() {
                invocation.set_recorder(Some(recording.recorder()));
            }
            if let Some(invocation) = self.machine.invocation() {
                recording.recorder().at_rest(&self.machine.context, invocation);
            }
        }
    }

    /// Whether the program can go back to a place before this one.
    fn has_past(&self) -> bool {
        let Some(recording) = &self.recording else { return false };
        let first = recording.tape().kept().first().map(|first| first.moment().clone());
        let Some(first) = first else { return false };
        self.moment().is_none_or(|now| first < now && !self.begins_with(&first, &now))
    }

    /// Whether the user has seen nothing of what ran between two moments: it was ahead of the entry
    /// of the function.
    fn begins_with(&self, first: &Moment, now: &Moment) -> bool {
        let (Some(mut at), Some(here)) = (first.position(), now.position()) else { return false };
        if first.turns() != now.turns() || at.function != here.function {
            return false;
        }
        while at.offset < here.offset && self.is_ahead_of_entry(at) {
            let Some(next) = self.machine.program.next(at) else { return false };
            at = next;
        }
        at == here
    }
}

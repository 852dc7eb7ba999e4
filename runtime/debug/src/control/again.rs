//! A dispatch runs again, in place: `rerun`, and `again` at its frame.
//!
//! ```text
//!   before ──> it runs ──> after: values are set by hand ──> rerun
//!     ^                                                        │
//!     │   memory is put back; what was set by hand, is set     │
//!     └── again ── it runs, from here ──> after: compared ─────┘
//! ```
//!
//! So it computes from the inputs that it had, also where it works in place, and from what the user
//! has changed since it began. Only memory is put back: what host code did before it stays. Where
//! it is not known what the dispatch has overwritten (`kept_dispatch`), it does not run again.
//!
//! Its command keeps its number and its moment, so a recorded program goes back as before, unless
//! the user has changed something: that ends the past anyway (`record/change.rs`).

use hal::{CommandRecord, Work};
use vm::FrameIndex;

use super::by_hand::HandWrite;
use super::kept_dispatch::outcome::DispatchRerun;
use super::kept_dispatch::{KeptDispatch, Left};
use super::refused::Refused;
use super::runner::Runner;
use super::stop::StopReason;

impl Runner {
    /// Runs the dispatch again at which the program stands, to its end.
    ///
    /// # Errors
    /// The program stands at no dispatch that has run, or what that has overwritten is not known.
    pub(crate) fn rerun(&mut self) -> Result<StopReason, Refused> {
        self.may_rerun()?;
        if self.begun_dispatch().is_some() {
            self.begin_again()?;
        }
        if let Some(kept) = &mut self.kept_dispatch {
            kept.runs_again = true;
        }
        self.interrupt.begin();
        self.end_stop = None;
        let depth = self.machine.depth();
        Ok(self.after(|runner| runner.run_out(depth, depth + 1)))
    }

    /// Whether the dispatch can run again at which the program stands.
    ///
    /// # Errors
    /// As for [`Self::rerun`].
    pub(crate) fn may_rerun(&mut self) -> Result<(), Refused> {
        self.stands_at_dispatch()?;
        let activity = self.machine.queue_activity(FrameIndex(0)).ok_or(Refused::NoDispatch)?;
        let (has_run, number) = (activity.is_after_step(), activity.number());
        let begun = self.begun_dispatch();
        let kept = self.kept_dispatch.as_ref().filter(|it| Some(it.number) == number);
        let has_left = kept.is_some_and(|it| it.left.is_some());
        match &begun {
            None if !has_left => Err(Refused::NotRunYet),
            Some(_) if !has_run && !has_left => Err(Refused::NotEnded),
            None => Ok(()),
            Some(record) => self.keep_to_put_back(record).map(drop),
        }
    }

    /// Whether a frame belongs to a command of a device, or is called by one.
    pub(crate) fn is_of_command(&self, frame: FrameIndex) -> bool {
        self.machine.queue_activity(frame).is_some_and(|it| it.step().is_some())
    }

    /// Whether the dispatch at which the program stands can run again on what was set by hand: that
    /// ends the past, with all lines of time.
    ///
    /// # Errors
    /// It does, and the user was not told at this stop.
    pub(crate) fn may_run_changed(&mut self) -> Result<(), Refused> {
        let is_changed = self.kept_dispatch.as_ref().is_some_and(KeptDispatch::is_changed);
        match is_changed && self.has_lines() {
            true => self.may_change("running a dispatch again on other values"),
            false => Ok(()),
        }
    }

    /// Puts the program back to before the dispatch that it stands in or after.
    ///
    /// # Errors
    /// It stands at another command, or what the dispatch has overwritten is not known.
    pub(crate) fn restart_dispatch(&mut self) -> Result<StopReason, Refused> {
        self.stands_at_dispatch()?;
        let activity = self.machine.queue_activity(FrameIndex(0)).ok_or(Refused::NoDispatch)?;
        if activity.has_begun() {
            self.begin_again()?;
        }
        Ok(StopReason::Step)
    }

    /// The user is about to write into memory: what is kept for a dispatch that may run again would
    /// be forgotten by that.
    pub(crate) fn before_writing(&mut self, write: Option<&HandWrite>) {
        if let Some(record) = self.begun_dispatch() {
            self.keep_dispatch(&record);
        }
        write.iter().for_each(|write| self.keep_overwritten(write));
    }

    /// The user has written into memory.
    pub(crate) fn wrote_by_hand(&mut self, write: HandWrite) {
        self.machine.wrote_by_hand(write.addresses());
        let number = self.machine.command_number(FrameIndex(0));
        let kept = self.kept_dispatch.as_mut().filter(|it| Some(it.number) == number);
        if let Some(kept) = kept {
            kept.note(write);
        }
    }

    /// A dispatch has ended at whose boundary the program stands: if it ran again, what it has left
    /// is compared.
    pub(super) fn compare_rerun(&mut self) {
        let number = self.machine.command_number(FrameIndex(0));
        let kept = self.kept_dispatch.as_mut();
        let Some(kept) = kept.filter(|it| it.runs_again && Some(it.number) == number) else {
            return;
        };
        kept.runs_again = false;
        let left = kept.left.take();
        self.rerun = left.and_then(|left| DispatchRerun::of(&self.machine, kept.number, &left));
    }

    /// The program goes on from here: a dispatch that has run, and does not run again, is past.
    pub(super) fn leave_dispatch(&mut self) {
        let has_run = self.machine.has_just_run(FrameIndex(0));
        self.kept_dispatch.take_if(|it| has_run && !it.runs_again);
    }

    /// Checks that the command at which the program stands is a dispatch, which can run.
    fn stands_at_dispatch(&mut self) -> Result<(), Refused> {
        let step = self.machine.command(FrameIndex(0)).filter(|step| !step.name.is_empty());
        step.ok_or(Refused::NoDispatch)?;
        self.machine.running().map(drop).ok_or(Refused::NothingRuns)
    }

    /// Puts the program and its memory back to before the dispatch that has begun, but for what the
    /// user has written since.
    fn begin_again(&mut self) -> Result<(), Refused> {
        let record = self.begun_dispatch().ok_or(Refused::NoDispatch)?;
        let step = self.machine.command(FrameIndex(0)).ok_or(Refused::NoDispatch)?;
        let name = step.name.clone();
        let kept = self.keep_to_put_back(&record)?;
        let failed = |text: String| Refused::Failed(text);
        kept.put_back().map_err(|error| failed(error.to_string()))?;
        let is_changed = kept.is_changed();
        kept.runs_again = kept.left.is_some();
        let kept = self.kept_dispatch.take();
        self.machine.take_back(name).map_err(|error| failed(error.to_string()))?;
        // Last, as the journal of a recorded program puts back what was set by hand, too.
        if let Some(kept) = &kept {
            kept.set_again().map_err(|error| failed(error.to_string()))?;
        }
        self.machine.changes_are_before();
        if is_changed {
            self.forget_past();
        }
        self.forget_stop();
        (self.machine.hidden_calls, self.machine.stands_after) = (0, None);
        self.has_told_write = false;
        self.kept_dispatch = kept;
        Ok(())
    }

    /// The dispatch that is in progress or has just run.
    fn begun_dispatch(&self) -> Option<CommandRecord> {
        let activity = self.machine.queue_activity(FrameIndex(0))?;
        let record = activity.has_begun().then(|| activity.record()).flatten()?;
        matches!(record.work, Work::Dispatch(_)).then_some(record)
    }

    /// The same, if what it has overwritten can be put back.
    fn keep_to_put_back(&mut self, record: &CommandRecord) -> Result<&mut KeptDispatch, Refused> {
        let step = self.machine.command(FrameIndex(0)).ok_or(Refused::NoDispatch)?;
        let dispatch = step.name.clone();
        let kept = self.keep_dispatch(record);
        match kept.why_lost() {
            Some(why) => Err(Refused::NotPutBack { dispatch, why }),
            None => Ok(kept),
        }
    }

    /// What there is to keep of a dispatch that has begun.
    fn keep_dispatch(&mut self, record: &CommandRecord) -> &mut KeptDispatch {
        let known = self.kept_dispatch.take().filter(|it| it.number == record.number);
        let mut kept = known.unwrap_or_else(|| KeptDispatch::new(&self.machine, record));
        if kept.left.is_none() && self.machine.has_just_run(FrameIndex(0)) {
            kept.left = Some(Left::now(&self.machine, record));
        }
        self.kept_dispatch.insert(kept)
    }
}

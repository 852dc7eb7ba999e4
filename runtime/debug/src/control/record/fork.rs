//! Beginning a line of time, making its change again, and going from line to line.
//!
//! Whatever runs forward from a checkpoint before a fork stops at the fork, and makes the change
//! there ([`Runner::make_changes`]). So a way back need not know of lines: where it leads to a
//! moment after a fork, that is in the line that begins there. A walk that looks for stops ends at
//! a fork, as that is one.

use std::ops::Range;
use std::sync::Arc;

use hal::Device;
use vm::Moment;

use super::line_diff::given_up;
use super::line_moment::LineMoment;
use super::lines::{Fork, LeftAt, LineOfTime, parting};
use super::seek::Lost;
use super::tape::Recording;
use crate::control::by_hand::{Changed, HandChange, HandWrite};
use crate::control::refused::Refused;
use crate::control::runner::Runner;
use crate::control::stop::StopReason;
use crate::inspect::watch_target::WatchTarget;
use crate::machine::{ByHand, Phase};

/// The bytes of something, if it is there.
type LookedAt = Option<Vec<u8>>;

/// What was before a change by hand with which a line begins.
pub(crate) struct BeforeChange {
    by_hand: ByHand,
    /// The place in the device's journal.
    journal: u64,
}

impl Runner {
    /// Whether a change by hand begins a line. If not, it ends the past, or there is none.
    pub(super) fn may_begin_line(&self) -> bool {
        let Some(recording) = &self.recording else { return false };
        let host = self.machine.program.host();
        let is_outside = host.outside().waits_for().is_some() || host.outside().lost().is_some();
        let is_between = matches!(self.machine.phase, Phase::Running(_)) && !self.is_in_command();
        let Some(here) = self.moment().filter(|_| is_between && !is_outside) else { return false };
        let tape = recording.tape();
        let is_recorded = tape.kept().first().is_some_and(|first| *first.moment() <= here);
        let is_whole = here.inner_turns().is_none();
        is_recorded && is_whole
    }

    /// Whether there are several lines of time.
    pub(crate) fn has_lines(&self) -> bool {
        self.recording.as_ref().is_some_and(|it| it.tape().lines.are_several())
    }

    /// Whether the present line is known to go on from here, or is not the only one.
    pub(super) fn has_other_futures(&self) -> bool {
        let (Some(recording), Some(here)) = (&self.recording, self.moment()) else { return false };
        let tape = recording.tape();
        tape.lines.are_several() || tape.lines.goes_on_from(&here)
    }

    pub(super) fn before_change(&self) -> BeforeChange {
        let journal = self.device().allocator().journal().mark();
        BeforeChange { by_hand: self.machine.by_hand.clone(), journal }
    }

    /// The user has made a change: a line begins with it, or has one more change at its beginning.
    pub(super) fn begin_line(&mut self, before: BeforeChange, change: HandChange) {
        let Some((recording, moment)) = self.recording.clone().zip(self.moment()) else { return };
        let host = self.machine.program.host();
        let allocator = host.device().allocator();
        let shown = (self.machine.hidden_calls, self.machine.stands_after);
        let fork = Fork {
            line: 0,
            parent: 0,
            moment,
            commands: self.commands_run(),
            outside: host.outside().mark(),
            makes: (self.machine.context.makes().mark(), allocator.mark()),
            changes: vec![change],
            by_hand: before.by_hand,
            shown,
        };
        let hand = before.journal..allocator.journal().mark();
        let mut tape = recording.tape();
        let was = tape.lines.here();
        tape.begin_line(fork, hand, self.machine.context.makes());
        let (here, parent) = (tape.lines.here(), tape.lines.path().last().map(|it| it.parent));
        drop(tape);
        self.machine.by_hand.has_left_its_run = true;
        self.new_line = parent.filter(|_| here != was).map(|parent| {
            format!(
                "line {here} begins here with this change; line {parent} stays as it was: \
                 `line {parent}` leads back to it, `lines` lists them"
            )
        });
    }

    /// What there is to say of the line that the last change has begun, once.
    pub(crate) fn take_new_line(&mut self) -> Option<String> {
        self.new_line.take()
    }

    fn device(&self) -> &Arc<Device> {
        self.machine.program.host().device()
    }

    /// Bytes at some addresses of a device's memory are about to be written by hand: the way back
    /// puts back what they were.
    pub(crate) fn keep_overwritten(&self, write: &HandWrite) {
        if self.recording.is_some() {
            self.device().allocator().before_write_by_hand(&write.addresses());
        }
    }

    /// Goes on to each fork of the path that is on the way, and makes its change.
    pub(super) fn meet_forks(&mut self, is_on_the_way: impl Fn(&Fork) -> bool) -> Result<(), Lost> {
        let Some(recording) = self.recording.clone() else { return Ok(()) };
        loop {
            let next = recording.tape().next_fork();
            let Some(fork) = next.filter(|fork| is_on_the_way(fork)) else { return Ok(()) };
            self.run_straight_to(&fork.moment)?;
            self.make_changes(&recording, &fork)?;
        }
    }

    /// Makes the changes again with which a line begins. The program stands where that was.
    pub(super) fn make_changes(
        &mut self,
        recording: &Recording,
        fork: &Arc<Fork>,
    ) -> Result<(), Lost> {
        if self.moment().as_ref() != Some(&fork.moment) {
            return Err(Lost::because(format!(
                "line {} begins at {}, and the program does not come there again",
                fork.line, fork.moment
            )));
        }
        let from = self.device().allocator().journal().mark();
        for change in &fork.changes {
            let failed = |why: String| Lost::Because(format!("{}: {why}", change.text));
            match &change.what {
                Changed::Memory(write) => {
                    self.keep_overwritten(write);
                    write.again().map_err(|error| failed(error.to_string()))?;
                    self.machine.wrote_by_hand(write.addresses());
                }
                Changed::Value(place, new) => {
                    let set = self.machine.set(place.clone(), new);
                    set.map_err(|error| failed(error.to_string()))?;
                }
            }
        }
        self.machine.by_hand.has_left_its_run = true;
        self.machine.values_changed(false);
        (self.machine.hidden_calls, self.machine.stands_after) = fork.shown;
        let to = self.device().allocator().journal().mark();
        recording.tape().passes(fork, from..to);
        Ok(())
    }

    /// The lines of time of the recorded run; `None`: nothing is recorded.
    pub(crate) fn lines_of_time(&self) -> Option<Vec<LineOfTime>> {
        Some(self.recording.as_ref()?.tape().lines())
    }

    /// The number of the line in which the program is.
    pub(crate) fn line_of_time(&self) -> usize {
        self.recording.as_ref().map_or(1, |recording| recording.tape().lines.here())
    }

    /// A moment of the present line, or of one that it comes of.
    pub(crate) fn of_line(&self, moment: Moment) -> LineMoment {
        let recording = self.recording.as_ref();
        let line = recording.map_or(1, |recording| recording.tape().lines.line_of(&moment));
        LineMoment { line, moment }
    }

    /// Goes to a moment of a line, or to where the user has left that.
    ///
    /// # Errors
    /// There is no such line, or the recording does not lead there any more; the program stands
    /// where it stood.
    pub(crate) fn go_to_line(
        &mut self,
        number: usize,
        moment: Option<&Moment>,
    ) -> Result<StopReason, Refused> {
        let recording = self.recording.clone().ok_or(Refused::NotRecorded)?;
        let here = self.line_of_time();
        if recording.tape().lines.path_to(number).is_none() {
            let count = recording.tape().lines().len();
            return Err(Refused::NoLine { number, count });
        }
        match (moment, number == here) {
            (Some(moment), true) => return self.go_to(moment),
            (None, true) => return Err(Refused::InThatLine { number }),
            (_, false) => {}
        }
        let path = recording.tape().lines.path_to(number);
        let begin = path.and_then(|path| Some(path.last()?.moment.clone()));
        let left = match moment {
            Some(moment) => Some(LeftAt::Moment(moment.clone())),
            None => recording.tape().lines.left(number),
        };
        let to = left.or(begin.map(LeftAt::Moment));
        self.travel(|runner, recording| {
            let meeting = runner.enter_line(recording, number)?;
            runner.breakpoints.table.count_from(&meeting);
            let reason = match to {
                Some(LeftAt::Moment(moment)) => {
                    runner.go_to_moment_of_line(recording, &moment)?;
                    StopReason::Step
                }
                Some(LeftAt::End) => runner.unarmed(Self::run_to_end)?.unwrap_or(StopReason::Step),
                None => StopReason::Step,
            };
            Ok(reason)
        })
    }

    fn go_to_moment_of_line(&mut self, recording: &Recording, moment: &Moment) -> Result<(), Lost> {
        self.come_to(recording, moment)?;
        match self.moment() {
            Some(here) if here == *moment => Ok(()),
            Some(here) => Err(Lost::because(format!(
                "the line has no moment {moment}; the next one is {here}"
            ))),
            None => Err(Lost::because(format!("the line has no moment {moment}"))),
        }
    }

    /// Makes another line the present one. The program stands at the last moment that both have in
    /// common, before what is changed there. Returns that.
    pub(super) fn enter_line(
        &mut self,
        recording: &Recording,
        number: usize,
    ) -> Result<Moment, Lost> {
        let gone = || Lost::Because(given_up(number));
        let tape = recording.tape();
        let path = tape.lines.path_to(number).ok_or_else(gone)?;
        let common = tape.lines.common(&path);
        let parting = parting(tape.lines.path(), &path).ok_or_else(gone)?;
        let meeting = parting.moment.clone();
        let place = tape.place_before(&meeting, common).ok_or_else(gone)?;
        drop(tape);
        self.rewind(recording, place)?;
        self.run_straight_to(&meeting)?;
        recording.tape().change_path(&path, common, self.machine.context.makes());
        self.line_has_changed();
        Ok(meeting)
    }

    /// What was found about values is of another line.
    pub(super) fn line_has_changed(&mut self) {
        self.is_in_other_line = true;
        self.kept_dispatch = None;
        self.dispatches.values_changed();
        self.dispatches.forget_caught();
        self.watcher.forget_pause();
    }

    /// Whether the program has come to another line since this was asked last.
    pub(crate) fn take_other_line(&mut self) -> bool {
        std::mem::take(&mut self.is_in_other_line)
    }

    /// The entries of the journal for the changes by hand on the way to the present.
    pub(super) fn forks_in_journal(&self) -> Vec<(Range<u64>, Arc<Fork>)> {
        let Some(recording) = &self.recording else { return Vec::new() };
        let tape = recording.tape();
        let forks = tape.kept().iter().filter_map(|kept| Some((kept.hand.clone(), kept.fork()?)));
        forks.map(|(hand, fork)| (hand, Arc::clone(fork))).collect()
    }

    /// Whether a line begins at a place of the tape.
    pub(super) fn is_fork(&self, recording: &Recording, index: usize) -> bool {
        recording.tape().kept().get(index).is_some_and(|kept| kept.fork().is_some())
    }

    /// The bytes of something before and after the change by hand at a place of the tape, if there
    /// is a fork. The program stands after it.
    pub(super) fn around_fork(
        &mut self,
        recording: &Recording,
        index: usize,
        target: &WatchTarget,
    ) -> Result<Option<(LookedAt, LookedAt)>, Lost> {
        if !self.is_fork(recording, index) {
            return Ok(None);
        }
        let forks = self.put_back(recording, index)?;
        let mut before = None;
        for (number, fork) in forks.iter().enumerate() {
            self.run_straight_to(&fork.moment)?;
            // At one before it, the register's call may not have begun.
            if number + 1 == forks.len() {
                before = self.bytes_of(target);
            }
            self.make_changes(recording, fork)?;
        }
        Ok(Some((before, self.bytes_of(target))))
    }

    /// A walk back has looked at what is after a fork, if that is one; it goes on in the line
    /// before.
    pub(super) fn leave_fork(&mut self, recording: &Recording, index: usize) {
        let mut tape = recording.tape();
        let fork = tape.kept().get(index).and_then(|kept| kept.fork().cloned());
        if let Some(fork) = fork {
            tape.leave_line(fork.line, self.machine.context.makes());
        }
    }

    fn bytes_of(&self, target: &WatchTarget) -> LookedAt {
        target.look(&self.machine.context, self.machine.invocation()?).0
    }

    /// Looks at the recorded run from its beginning to the present line by line: in each, up to
    /// where the next one leaves it. Ends with the first answer.
    pub(super) fn by_lines<T>(
        &mut self,
        recording: &Recording,
        present: Option<&Moment>,
        mut look: impl FnMut(&mut Self, Option<&Moment>, bool) -> Result<Option<T>, Lost>,
    ) -> Result<Option<T>, Lost> {
        let (path, passed) = recording.tape().leave_all(self.machine.context.makes());
        for (index, fork) in path.iter().enumerate().skip(passed) {
            if let Some(found) = look(self, Some(&fork.moment), false)? {
                return Ok(Some(found));
            }
            self.arrive(recording, &fork.moment)?;
            let part = path.get(..=index).unwrap_or_default();
            recording.tape().change_path(part, index, self.machine.context.makes());
            self.run_to_moment(&fork.moment)?;
            self.has_come(recording);
        }
        look(self, present, true)
    }
}

//! Steps and runs backwards.
//!
//! A step back ends at the last place before the present moment at which a step forward would have
//! stopped, and a run back at the last stop of a run forward. So the program is put back to a point
//! shortly before the present moment, walks forward by the steps of a user, and remembers where it
//! stopped last. If it did not stop on the way, the walk begins earlier:
//!
//! ```text
//!          C3          start 2      start 1     now
//!  ────────┴────────────┴────────────┴───────────┴
//!                                    1: no stop
//!                       2: stop A, stop B        the step back ends at B
//! ```
//!
//! What lies inside a dispatch is left out, unless the program stands in that dispatch. A step back
//! into what lies there goes on from its end ([`super::from_end`]).
//!
//! Where commands have checkpoints (`tape`), a step back from one to the one before runs nothing:
//! if no breakpoint can stop the program in between, what it stands before is where a step forward
//! would have ended, or not ([`super::commands`]).

use std::sync::Arc;

use vm::{Invocation, Moment, Position, Watch};

use super::limit::{Limit, Start};
use super::lines::LeftAt;
use super::seek::Lost;
use super::tape::{RecordState, Recording};
use super::walk::{Found, Walk};
use crate::control::refused::Refused;
use crate::control::runner::Runner;
use crate::control::stop::{Back, Granularity, Resume, StepKind, StopReason};
use crate::machine::Phase;
use crate::target::launch::RecordOptions;
use crate::target::run_table::TableKeeper;

/// Where the program stands before it goes to another moment.
pub(super) struct Stand {
    pub(super) line: usize,
    pub(super) moment: Option<Moment>,
    is_over: bool,
    hidden_calls: usize,
    stands_after: Option<Position>,
    has_told_write: bool,
    /// The instruction that was reported.
    passing: Option<Position>,
}

impl Runner {
    /// Begins to record, from where the program stands or as soon as it can.
    ///
    /// # Errors
    /// It is recorded already.
    pub(crate) fn record(&mut self, options: RecordOptions) -> Result<(), Refused> {
        let Self { machine, recording, .. } = self;
        if recording.is_some() {
            return Err(Refused::RecordedAlready);
        }
        // There, bytecode writes device memory directly.
        let shares_storage = machine.shares_storage();
        let host = machine.program.host();
        let modules = machine.program.modules.iter();
        let rows = TableKeeper::new(modules.map(|it| Arc::clone(&it.interfaces)));
        let begun = Recording::begin(host, rows, shares_storage, options);
        let recording = recording.insert(begun);
        machine.context.makes().set_on(true);
        if let Phase::Running(invocation) = &mut machine.phase {
            invocation.set_recorder(Some(recording.recorder()));
            // In native code this does nothing; the recording begins after it.
            recording.recorder().at_rest(&machine.context, invocation);
        }
        Ok(())
    }

    /// Stops recording, and forgets what was recorded.
    pub(crate) fn stop_recording(&mut self) {
        if let Some(recording) = self.recording.take() {
            recording.end();
            self.machine.context.makes().set_on(false);
        }
        if let Some(invocation) = self.machine.running() {
            invocation.set_recorder(None);
        }
    }

    /// How much is recorded, if anything is.
    pub(crate) fn record_state(&self) -> Option<RecordState> {
        Some(self.recording.as_ref()?.tape().state())
    }

    /// The same as `go_back`, by what is a step of the program.
    pub(in crate::control) fn go_back_in_program(
        &mut self,
        how: Back,
    ) -> Result<StopReason, Refused> {
        let how = self.with_lines(how);
        let limit = self.limit_of(how)?;
        self.travel(|runner, recording| runner.go_back_to(recording, how, &limit))
    }

    /// The present, for a way back from it.
    ///
    /// # Errors
    /// Only another thread knows how far the program has come.
    pub(super) fn limit_of(&mut self, how: Back) -> Result<Limit, Refused> {
        let is_over = matches!(self.machine.phase, Phase::Completed);
        let moment = self.moment();
        if moment.is_none() && !is_over && self.recording.is_some() {
            return Err(Refused::OnOtherThread);
        }
        let is_told = self.has_told_write;
        let end = self.ended_after.filter(|_| is_over);
        let depth = self.machine.depth();
        let is_end = moment.is_some() && self.end_stop.take() == moment;
        let is_included = is_end && how == Back::Continue;
        let is_step = matches!(how, Back::Step(..));
        let hidden_calls = Some(self.machine.hidden_calls).filter(|_| is_step);
        let seen = self.seen_frames(how.granularity());
        Ok(Limit { moment, end, depth, hidden_calls, seen, is_told, is_included })
    }

    /// At an instruction without a line, a user steps by instruction, back as forward.
    fn with_lines(&self, how: Back) -> Back {
        let Back::Step(kind, granularity) = how else { return how };
        let is_between = self.machine.stands_after.is_none()
            && self.plan_between_lines(Resume::Step(kind, granularity)).is_some();
        if is_between { Back::Step(kind, Granularity::Instruction) } else { how }
    }

    /// Whether the program can be put back, as far as functions outside go.
    fn check_outside(&mut self) -> Result<(), Refused> {
        let outside = self.machine.program.host().outside().clone();
        if let Some(function) = outside.waits_for() {
            return Err(Refused::WaitsOutside { function: function.to_string() });
        }
        if let Some(reason) = outside.lost() {
            self.forget_past();
            return Err(Refused::LostOutside { why: reason });
        }
        Ok(())
    }

    /// Goes to another moment. If that does not succeed, the program stands where it stood.
    pub(super) fn travel(
        &mut self,
        go: impl FnOnce(&mut Self, &Recording) -> Result<StopReason, Lost>,
    ) -> Result<StopReason, Refused> {
        let recording = self.recording.clone().ok_or(Refused::NotRecorded)?;
        self.check_outside()?;
        if recording.tape().kept().is_empty() {
            return Err(Refused::RecordingNotBegun);
        }
        self.interrupt.begin();
        let device = self.machine.program.host().device().clone();
        // Workgroups that race take their turns now.
        device.set_one_threaded(true);
        let stand = self.stand();
        recording.tape().lines.reach(stand.moment.as_ref(), stand.is_over);
        let log = std::mem::take(&mut self.breakpoints.log);
        let expectations = self.machine.program.host().expectations().clone();
        let unmet = expectations.take();
        recording.tape().count(None);
        let counts = self.breakpoints.table.suspend_counts();
        self.arm_breakpoints();
        let went = go(self, &recording);
        let went = went.map_err(|lost| match self.machine.program.host().outside().differs() {
            Some(reason) => Lost::Because(reason),
            None => lost,
        });
        self.set_goal(None);
        self.breakpoints.table.resume_counts(counts);
        let went = went.and_then(|reason| {
            self.settle_in_line(&recording, &stand);
            self.recount(&recording, &stand)?;
            self.has_come(&recording);
            Ok(reason)
        });
        let went = went.or_else(|lost| self.return_to(&recording, &stand, lost));
        if matches!(went, Ok(StopReason::Trap(_))) {
            // It was told.
            self.watcher.pass(&self.machine);
        }
        recording.tape().count(Some(self.breakpoints.table.counters()));
        device.set_one_threaded(false);
        self.breakpoints.log = log;
        expectations.put_back(unmet);
        self.breakpoints.table.meet_watched();
        self.arm_breakpoints();
        self.set_temporary_stops(None);
        self.interrupt.take();
        went
    }

    /// Looks at other moments, and comes back to this one.
    pub(super) fn look_back<T>(
        &mut self,
        look: impl FnOnce(&mut Self, &Recording) -> Result<T, Lost>,
    ) -> Result<T, Refused> {
        let has_failed = matches!(self.machine.phase, Phase::Failed(_));
        let shown = (self.machine.hidden_calls, self.machine.stands_after);
        let (has_told_write, passing) = (self.has_told_write, self.watcher.passing());
        let (mut seen, line) = (None, self.line_of_time());
        self.travel(|runner, recording| {
            let here = runner.moment().ok_or_else(|| Lost::because("the program is over"))?;
            let found = look(runner, recording)?;
            if runner.line_of_time() != line {
                runner.enter_line(recording, line)?;
            }
            runner.arrive(recording, &here)?;
            if has_failed {
                runner.unarmed(|runner| runner.hop(Watch::Nothing, Invocation::run))?;
            }
            seen = Some(found);
            Ok(StopReason::Step)
        })?;
        (self.machine.hidden_calls, self.machine.stands_after) = shown;
        self.has_told_write = has_told_write;
        self.watcher.replace_pass(passing);
        seen.ok_or(Refused::Paused)
    }

    /// Goes to a moment of the recorded run, back or forward.
    ///
    /// # Errors
    /// Nothing is recorded, or the program does not come there; it stands where it stood.
    pub(crate) fn go_to(&mut self, target: &Moment) -> Result<StopReason, Refused> {
        self.travel(|runner, recording| {
            runner.come_to(recording, target)?;
            // Another program, or another run of this one, may have such a moment.
            match runner.moment() {
                Some(here) if target.is_from_text() && here != *target => Err(Lost::because(
                    format!("the program has no moment {target}; the next one is {here}"),
                )),
                _ => Ok(StopReason::Step),
            }
        })
    }

    /// Goes to before a command, by its number among all that ran.
    ///
    /// # Errors
    /// As for [`Self::go_to`].
    pub(crate) fn go_to_command(&mut self, number: u64) -> Result<StopReason, Refused> {
        self.travel(|runner, recording| {
            runner.run_to_command(recording, number)?;
            Ok(StopReason::Step)
        })
    }

    pub(super) fn go_back_to(
        &mut self,
        recording: &Recording,
        how: Back,
        limit: &Limit,
    ) -> Result<StopReason, Lost> {
        let found = match how {
            Back::ToBegin => None,
            _ => match self.find_from_end(recording, how, limit)? {
                None => self.find(recording, how, limit)?,
                found => found,
            },
        };
        let found = match found {
            Some(command) => Some(self.end_of_command(recording, how, limit, command)?),
            None => None,
        };
        let Some(found) = found else {
            self.rewind(recording, 0)?;
            self.enter()?;
            return Ok(StopReason::Begin);
        };
        self.arrive(recording, &found.moment)?;
        self.machine.hidden_calls = found.hidden_calls;
        self.machine.stands_after = found.stands_after;
        self.has_told_write = matches!(found.reason, StopReason::Data(_));
        Ok(found.reason)
    }

    /// Goes to a moment, forward from here where that is shorter, or to the next one that there is.
    pub(super) fn come_to(&mut self, recording: &Recording, target: &Moment) -> Result<(), Lost> {
        let first = recording.tape().kept().first().map(|first| first.moment().clone());
        if let Some(first) = first.filter(|first| target < first) {
            return Err(Lost::because(format!(
                "{target} was before the recording, which begins at {first}"
            )));
        }
        match self.moment() {
            Some(here) if here <= *target => self.run_to_moment(target),
            _ => self.arrive(recording, target),
        }
    }

    /// Puts the program to a moment in the past.
    pub(super) fn arrive(&mut self, recording: &Recording, moment: &Moment) -> Result<(), Lost> {
        let index = recording.tape().kept().iter().rposition(|kept| kept.moment() <= moment);
        self.rewind(recording, index.unwrap_or(0))?;
        self.run_to_moment(moment)
    }

    /// Where the program stands, as its user sees it.
    pub(super) fn stand(&self) -> Stand {
        Stand {
            line: self.line_of_time(),
            moment: self.moment(),
            is_over: matches!(self.machine.phase, Phase::Completed),
            hidden_calls: self.machine.hidden_calls,
            stands_after: self.machine.stands_after,
            has_told_write: self.has_told_write,
            passing: self.watcher.passing(),
        }
    }

    /// After a pause or a failure, the program stands where it stood. If it was over, it is over
    /// again.
    fn return_to(
        &mut self,
        recording: &Recording,
        stand: &Stand,
        lost: Lost,
    ) -> Result<StopReason, Refused> {
        self.set_goal(None);
        self.interrupt.begin();
        let interrupt = self.interrupt.clone();
        let end = interrupt.held(|| self.stand_again(recording, stand));
        match lost {
            Lost::Because(why) => Err(Refused::NotReached { why }),
            Lost::Paused => Ok(end.ok().flatten().unwrap_or(StopReason::Pause)),
        }
    }

    /// The program stays where it stands: that is the line in which it is.
    fn settle_in_line(&mut self, recording: &Recording, stand: &Stand) {
        let left = match &stand.moment {
            Some(moment) => Some(LeftAt::Moment(moment.clone())),
            None => stand.is_over.then_some(LeftAt::End),
        };
        let mut tape = recording.tape();
        tape.settle(self.machine.context.makes());
        if tape.lines.here() == stand.line {
            return;
        }
        if let Some(left) = left {
            tape.lines.leave_other(stand.line, left);
        }
        drop(tape);
        self.line_has_changed();
    }

    /// Puts the program to where it stood. The end of the program, if that is where.
    pub(super) fn stand_again(
        &mut self,
        recording: &Recording,
        stand: &Stand,
    ) -> Result<Option<StopReason>, Lost> {
        if self.line_of_time() != stand.line {
            self.enter_line(recording, stand.line)?;
        }
        match &stand.moment {
            Some(moment) => self.arrive(recording, moment)?,
            None if stand.is_over && self.machine.running().is_some() => {
                return self.unarmed(Self::run_to_end);
            }
            None => {}
        }
        self.machine.hidden_calls = stand.hidden_calls;
        self.machine.stands_after = stand.stands_after;
        self.has_told_write = stand.has_told_write;
        self.watcher.replace_pass(stand.passing);
        Ok(None)
    }

    /// Whether anything is set that stops a run, besides the program's own breaks.
    pub(super) fn may_stop(&self) -> bool {
        let traps = self.watcher.traps;
        self.breakpoints.table.iter().any(|it| it.is_enabled)
            || traps.watches_instructions()
            || traps.watches_dispatches()
            || self.machine.program.is_guarded()
    }

    /// The last stop before the present.
    pub(super) fn find(
        &mut self,
        recording: &Recording,
        how: Back,
        limit: &Limit,
    ) -> Result<Option<Found>, Lost> {
        let is_before = |moment: &Moment| limit.moment.as_ref().is_none_or(|it| moment < it);
        let moments = recording.tape().moments();
        let mut limit = limit.clone();
        let (mut unsure, mut is_unsure) = (None, false);
        // The checkpoint after the one from which the walk begins.
        let mut later: Option<Moment> = None;
        if let Some(moment) = limit.moment.as_ref().filter(|_| !limit.is_included) {
            recording.tape().leave_at(moment, self.machine.context.makes());
        }
        let is_quiet = how == Back::Continue && !self.may_stop();
        let mut commands = self.commands_on_the_way(how);
        for (index, moment) in moments.into_iter().enumerate().rev() {
            let fork = recording.tape().kept().get(index).and_then(|it| it.fork().cloned());
            let is_met = fork.is_some() || commands.are_met(&moment, &limit);
            if !is_before(&moment) || !is_met {
                continue;
            }
            let starts = match () {
                () if commands.pass(&moment, &limit) => Vec::new(),
                () if is_quiet => vec![Start::Checkpoint],
                () => limit.starts(&moment),
            };
            for start in starts {
                self.rewind(recording, index)?;
                let is_first = index == 0 && matches!(start, Start::Checkpoint);
                if is_first {
                    self.enter()?;
                }
                if !self.begin(&start, &limit)? {
                    continue;
                }
                let is_checkpoint = matches!(start, Start::Checkpoint);
                let has_to_ask = is_checkpoint && fork.is_none();
                let first = if has_to_ask { self.stop_at(recording, index) } else { None };
                self.watcher.take_unsettled();
                let is_end = || fork.is_some() || self.is_end_of_step(how, &limit);
                let is_first = is_first || is_checkpoint && is_end();
                let walk = Walk { is_in_step: is_first, ..Walk::default() };
                let walk = self.walk(recording, how, &limit, walk)?;
                let Walk { found, stops, has_met_commands, has_passed, .. } = walk;
                let found = found.or(first);
                let is_on_the_way = has_met_commands
                    || stops > 1
                    // The user stood there.
                    || is_first;
                if found.is_some() && (is_on_the_way || how == Back::Continue) {
                    return Ok(found);
                }
                // What was passed may have been the last stop.
                is_unsure = match is_on_the_way {
                    true => has_passed && found.is_none(),
                    false => has_passed || found.is_some() || is_unsure,
                };
                unsure = if is_on_the_way { None } else { found.or(unsure) };
            }
            if let Some(fork) = fork {
                // The user stood there.
                return Ok(Some(Found::fork(&fork)));
            }
            if !is_unsure && commands.decide(&moment) {
                self.rewind(recording, index)?;
                if self.is_end_of_step(how, &limit) {
                    return Ok(Some(Found::step(moment)));
                }
            }
            if !is_unsure {
                // After the checkpoint, nothing stops.
                if limit.moment.is_none() && !matches!(how, Back::Step(StepKind::Out, _)) {
                    // From the end, one goes back into the outermost function, and out of that to
                    // the beginning.
                    (limit.depth, limit.seen) = (1, usize::MAX);
                }
                let later = later.replace(moment.clone());
                let end = if self.watcher.take_unsettled() { later } else { Some(moment) };
                if end.is_some() {
                    (limit.moment, limit.is_told, limit.is_included) = (end, false, true);
                }
            }
        }
        Ok(unsure)
    }

    /// Goes to where a walk begins. False: that is not before the present.
    pub(super) fn begin(&mut self, start: &Start, limit: &Limit) -> Result<bool, Lost> {
        match start {
            Start::Checkpoint => {}
            Start::Turn(turns) => self.unarmed(|runner| runner.run_to_turn(*turns))?,
            Start::Native(moment) => self.run_to_moment(moment)?,
            Start::Inner { part, turns } => {
                self.run_to_moment(part)?;
                self.run_to_inner_turn(*turns)?;
            }
        }
        let hidden = self.machine.hidden_calls;
        Ok(self.moment().is_some_and(|moment| !limit.is_reached_before(&moment, hidden)))
    }
}

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
//! What lies inside a dispatch is left out, unless the program stands in that dispatch.

use vm::{FrameIndex, Moment, Position};

use super::limit::{Limit, Start};
use super::seek::Lost;
use super::tape::{RecordState, Recording};
use crate::control::refused::Refused;
use crate::control::runner::Runner;
use crate::control::steps::plan::{Origin, StepPlan};
use crate::control::stop::{Granularity, Resume, StepKind, StopReason};
use crate::machine::Phase;
use crate::target::launch::RecordOptions;

/// A way to go back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Back {
    /// Until something would have stopped the program.
    Continue,
    /// One step. Into: the last stop before; over: the last one in this function or around it; out:
    /// to the call of this function.
    Step(StepKind, Granularity),
    /// To the beginning of the recording.
    ToBegin,
}

/// No position has more inlined calls than this.
const MOST_INLINED: usize = 1000;

/// A walk to the present. It begins in the middle of a line, where no user's step has led, and goes
/// on to the first stop that steps from anywhere before make: at another line, or at a command.
#[derive(Default)]
struct Walk {
    /// The last stop that counts.
    found: Option<Found>,
    stops: usize,
    has_met_commands: bool,
    /// Whether it has come to a stop of a user's steps, or has begun at one.
    is_in_step: bool,
    /// Whether it has passed a place before that at which a user's steps may stop.
    has_passed: bool,
}

/// A stop on the way.
struct Found {
    moment: Moment,
    hidden_calls: usize,
    /// The instruction that has just run, if its line is shown.
    stands_after: Option<Position>,
    reason: StopReason,
}

/// Where the program stands before it goes to another moment.
struct Stand {
    moment: Option<Moment>,
    is_over: bool,
    hidden_calls: usize,
    stands_after: Option<Position>,
    has_told_write: bool,
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
        let recording = recording.insert(Recording::begin(host, shares_storage, options));
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

    /// Goes back until a stop, or to the beginning of the recording.
    ///
    /// # Errors
    /// Nothing is recorded, or the program cannot be put back; the message says why. It stands
    /// where it stood, or at a checkpoint before that.
    pub(crate) fn go_back(&mut self, how: Back) -> Result<StopReason, Refused> {
        let how = self.with_lines(how);
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
        let seen = self.seen_frames(granularity(how));
        let limit = Limit { moment, end, depth, hidden_calls, seen, is_told, is_included };
        self.travel(|runner, recording| runner.go_back_to(recording, how, &limit))
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
            self.recount(&recording, stand.moment.as_ref())?;
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

    /// Goes to a moment of the recorded run, back or forward.
    ///
    /// # Errors
    /// Nothing is recorded, or the program does not come there; it stands where it stood.
    pub(crate) fn go_to(&mut self, target: &Moment) -> Result<StopReason, Refused> {
        self.travel(|runner, recording| {
            match runner.moment() {
                Some(here) if here <= *target => runner.run_to_moment(target)?,
                _ => runner.arrive(recording, target)?,
            }
            Ok(StopReason::Step)
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

    fn go_back_to(
        &mut self,
        recording: &Recording,
        how: Back,
        limit: &Limit,
    ) -> Result<StopReason, Lost> {
        let found = match how {
            Back::ToBegin => None,
            _ => self.find(recording, how, limit)?,
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

    /// Puts the program to a moment in the past.
    pub(super) fn arrive(&mut self, recording: &Recording, moment: &Moment) -> Result<(), Lost> {
        let index = recording.tape().kept().iter().rposition(|kept| kept.moment() <= moment);
        self.rewind(recording, index.unwrap_or(0))?;
        self.run_to_moment(moment)
    }

    /// Where the program stands, as its user sees it.
    fn stand(&self) -> Stand {
        Stand {
            moment: self.moment(),
            is_over: matches!(self.machine.phase, Phase::Completed),
            hidden_calls: self.machine.hidden_calls,
            stands_after: self.machine.stands_after,
            has_told_write: self.has_told_write,
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

    /// Puts the program to where it stood. The end of the program, if that is where.
    fn stand_again(
        &mut self,
        recording: &Recording,
        stand: &Stand,
    ) -> Result<Option<StopReason>, Lost> {
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
        Ok(None)
    }

    /// Whether anything is set that stops a run, besides the program's own breaks.
    fn may_stop(&self) -> bool {
        let traps = self.watcher.traps;
        self.breakpoints.table.iter().any(|it| it.is_enabled)
            || traps.watches_instructions()
            || traps.watches_dispatches()
            || self.machine.program.is_guarded()
    }

    /// The last stop before the present.
    fn find(
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
        let is_quiet = how == Back::Continue && !self.may_stop();
        for (index, moment) in moments.into_iter().enumerate().rev() {
            if !is_before(&moment) {
                continue;
            }
            let starts = if is_quiet { vec![Start::Checkpoint] } else { limit.starts(&moment) };
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
                let first = if is_checkpoint { self.stop_at(recording, index) } else { None };
                self.watcher.take_unsettled();
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
                is_unsure = !is_on_the_way && (has_passed || found.is_some() || is_unsure);
                unsure = if is_on_the_way { None } else { found.or(unsure) };
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

    /// The stop at a breakpoint on the first instruction after a checkpoint, if a run from there
    /// does not ask breakpoints about it.
    fn stop_at(&mut self, recording: &Recording, index: usize) -> Option<Found> {
        let checkpoint = recording.tape().kept().get(index)?.checkpoint.clone();
        let position = self.machine.position().filter(|_| checkpoint.is_asked())?;
        let hit = self.hit(self.breakpoints.armed.at(position));
        let reason = (!hit.is_empty()).then_some(StopReason::Breakpoint(hit))?;
        let reason = self.for_users(reason)?;
        let moment = checkpoint.moment().clone();
        Some(Found { moment, hidden_calls: 0, stands_after: None, reason })
    }

    /// Walks to the present.
    fn walk(
        &mut self,
        recording: &Recording,
        how: Back,
        limit: &Limit,
        mut walk: Walk,
    ) -> Result<Walk, Lost> {
        let (mut enters, mut stands) = (false, 0);
        loop {
            let Some(here) = self.moment() else { return Ok(walk) };
            let (depth, seen) = (self.machine.depth(), self.seen_frames(granularity(how)));
            let has_to_enter = std::mem::take(&mut enters);
            let resume = self.pace(how, limit, &here, has_to_enter);
            let origin = self.machine.position();
            self.set_goal(limit.moment.as_ref().map(Moment::turns));
            let (hidden, just_ran) = (self.machine.hidden_calls, self.machine.stands_after);
            let call = self.machine.position_in(FrameIndex(1));
            let between = self.plan_between_lines(resume).filter(|_| just_ran.is_none());
            // What such a plan comes to in the same function may be the line of the step that has
            // led there.
            let is_between = between.is_some();
            let rest = match hidden {
                0 if !walk.is_in_step && just_ran.is_none() => self.plan_to_another_line(resume),
                _ => None,
            };
            let reason = self.after(|runner| match between.or(rest) {
                Some(plan) => runner.follow(plan, false),
                None if runner.passes_command(how, limit, &here, resume) => {
                    let (kind, granularity) = (StepKind::Into, granularity(how));
                    runner.over_native(kind, granularity, depth)
                }
                None => runner.go_on(resume, hidden, just_ran),
            });
            let at_goal = std::mem::take(&mut self.at_goal);
            self.set_goal(None);
            if matches!(reason, StopReason::Pause) && !at_goal {
                return Err(Lost::Paused);
            }
            let now = self.moment();
            let is_before = |now| !limit.is_reached_before(now, self.machine.hidden_calls);
            let is_past = at_goal || !now.as_ref().is_some_and(is_before);
            if let Some(moment) = now.as_ref().filter(|now| limit.is_before_told(now, &reason)) {
                walk.found = Some(self.found(moment.clone(), reason));
                return Ok(walk);
            }
            if is_past {
                // The present is inside of what was stepped over.
                let can_enter = !matches!(resume, Resume::Continue)
                    && resume != Resume::Step(StepKind::Into, granularity(how))
                    && (limit.depth, limit.seen) > (depth, seen)
                    && limit.moment.is_some();
                if !can_enter {
                    return Ok(walk);
                }
                self.arrive(recording, &here)?;
                (self.machine.hidden_calls, self.machine.stands_after) = (hidden, just_ran);
                enters = true;
                continue;
            }
            let Some(moment) = now.filter(|_| !reason.is_final()) else {
                return Ok(walk);
            };
            // The first step after a checkpoint may stop before anything has run, and steps out of
            // inlined calls run nothing.
            stands = if moment <= here { stands + 1 } else { 0 };
            if stands > MOST_INLINED {
                return Err(Lost::because("a step does not lead on"));
            }
            if has_to_enter && self.is_passed_over(how, origin) {
                continue;
            }
            if is_between && !walk.is_in_step && self.machine.depth() == depth {
                walk.has_passed = true;
                continue;
            }
            walk.is_in_step = true;
            walk.stops += 1;
            walk.has_met_commands |= moment.is_in_native();
            let begins_line = call.is_none_or(|call| self.is_on_another_line(how, call));
            let is_after_inlined = self.is_after_inlined(how, origin, (depth, seen));
            if let Some(reason) = self.for_users(reason)
                && !is_after_inlined
                && self.counts(how, limit, resume, &reason, (&moment, begins_line))
            {
                walk.found = Some(self.found(moment, reason));
            }
        }
    }

    /// Whether the program stands, in what it has entered, where a step over does not stop: in the
    /// other part of a function that the compiler has split, or before a command that is none of
    /// the source.
    fn is_passed_over(&self, how: Back, origin: Option<Position>) -> bool {
        let machine = &self.machine;
        if !machine.level.is_source() || granularity(how) == Granularity::Instruction {
            return false;
        }
        let Some(here) = machine.position() else {
            let lines = machine.lines();
            return machine.invocation().is_some_and(|it| !lines.is_at_operation(it));
        };
        origin.is_some_and(|origin| {
            origin.function != here.function
                && machine.program.is_same_source(origin.function, here.function)
        })
    }

    /// The plan of a step by line from an instruction that has no line. A user who stands there
    /// steps by instruction; a walk has only begun there, and looks for lines.
    fn plan_between_lines(&self, resume: Resume) -> Option<StepPlan> {
        let Resume::Step(kind @ (StepKind::Into | StepKind::Over), granularity) = resume else {
            return None;
        };
        let (position, lines) = (self.machine.position()?, self.machine.lines());
        let is_between = lines.has_lines(position.function)
            && match granularity {
                Granularity::Line => lines.line_of(position).is_none(),
                Granularity::Statement => lines.statement_of(position).is_none(),
                Granularity::Instruction => false,
            };
        let depth = self.machine.depth();
        is_between.then(|| StepPlan::between_lines(kind, granularity, position, depth))
    }

    /// The plan of the rest of a step by line, from somewhere on the line.
    fn plan_to_another_line(&self, resume: Resume) -> Option<StepPlan> {
        let Resume::Step(kind @ (StepKind::Into | StepKind::Over), granularity) = resume else {
            return None;
        };
        let position = self.machine.position()?;
        let by_line = granularity != Granularity::Instruction;
        let (lines, depth) = (self.machine.lines(), self.machine.depth());
        by_line.then(|| {
            let origin = Origin::Bytecode(position);
            StepPlan::new(lines, kind, granularity, origin, depth, 0).begun_before()
        })
    }

    /// A stop, without the breakpoints of the program's caller, whose functions run at them.
    fn for_users(&self, reason: StopReason) -> Option<StopReason> {
        let StopReason::Breakpoint(mut hit) = reason else { return Some(reason) };
        hit.retain(|id| !self.breakpoints.table.is_own(*id));
        (!hit.is_empty()).then_some(StopReason::Breakpoint(hit))
    }

    fn found(&self, moment: Moment, reason: StopReason) -> Found {
        let (hidden_calls, stands_after) = (self.machine.hidden_calls, self.machine.stands_after);
        Found { moment, hidden_calls, stands_after, reason }
    }

    /// The next step of a walk.
    fn pace(&self, how: Back, limit: &Limit, here: &Moment, enters: bool) -> Resume {
        let (kind, granularity) = match how {
            Back::Continue | Back::ToBegin => return Resume::Continue,
            Back::Step(kind, granularity) => (kind, granularity),
        };
        let into = Resume::Step(StepKind::Into, granularity);
        let over = Resume::Step(StepKind::Over, granularity);
        if enters {
            return into;
        }
        if here.is_in_native() && !limit.is_inside(here) {
            return over;
        }
        let compiles = self.twin_to_compile(StepKind::Into, granularity).is_some();
        match kind {
            StepKind::Into if compiles => over,
            StepKind::Into => into,
            _ if self.machine.depth() > limit.depth && limit.moment.is_some() => {
                Resume::Step(StepKind::Out, granularity)
            }
            _ => over,
        }
    }

    /// Whether a walk by steps into passes the command before which it stands, which is the one
    /// thing that it does not enter. It stops as such steps do, before each command.
    fn passes_command(&self, how: Back, limit: &Limit, here: &Moment, resume: Resume) -> bool {
        let is_into = matches!(how, Back::Step(StepKind::Into, _));
        let is_over = matches!(resume, Resume::Step(StepKind::Over, _));
        is_into && is_over && here.is_in_native() && !limit.is_inside(here)
    }

    /// Whether the program stands on another line than that of a call.
    fn is_on_another_line(&self, how: Back, call: Position) -> bool {
        let lines = self.machine.lines();
        let of = |position| match granularity(how) {
            Granularity::Line => lines.line_of(position),
            Granularity::Statement => lines.statement_of(position),
            Granularity::Instruction => None,
        };
        let by_instruction = granularity(how) == Granularity::Instruction;
        by_instruction || self.machine.position().is_some_and(|here| of(here) != of(call))
    }

    /// Whether a stop on the way is one to which the program goes back.
    fn counts(
        &self,
        how: Back,
        limit: &Limit,
        resume: Resume,
        reason: &StopReason,
        (moment, begins_line): (&Moment, bool),
    ) -> bool {
        let depth = self.machine.depth();
        match (how, reason) {
            (Back::Continue, reason) => !matches!(reason, StopReason::Step | StopReason::Entry),
            (Back::Step(kind, _), StopReason::Step | StopReason::Entry) => {
                // Where a call has returned to is most often in the middle of a line.
                let is_whole = !matches!(resume, Resume::Step(StepKind::Out, _)) || begins_line;
                let place = (depth, self.seen_frames(granularity(how)));
                let is_around = match kind {
                    StepKind::Into => true,
                    StepKind::Over => place <= (limit.depth, limit.seen) || limit.is_beside(moment),
                    StepKind::Out => place < (limit.depth, limit.seen),
                };
                is_whole && is_around
            }
            (Back::Step(..) | Back::ToBegin, _) => true,
        }
    }
}

pub(super) fn granularity(how: Back) -> Granularity {
    match how {
        Back::Step(_, granularity) => granularity,
        Back::Continue | Back::ToBegin => Granularity::Line,
    }
}

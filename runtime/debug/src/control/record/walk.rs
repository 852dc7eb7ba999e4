//! Walks to the present by the steps of a user, which remember the last stop to which the program
//! goes back.

use vm::{FrameIndex, Moment, Position};

use super::limit::Limit;
use super::lines::Fork;
use super::seek::Lost;
use super::tape::Recording;
use crate::control::runner::Runner;
use crate::control::steps::plan::{Origin, StepPlan};
use crate::control::stop::{Back, Granularity, Resume, StepKind, StopReason};

/// No position has more inlined calls than this.
const MOST_INLINED: usize = 1000;

/// A walk to the present. It begins in the middle of a line, where no user's step has led, and goes
/// on to the first stop that steps from anywhere before make: at another line, or at a command.
#[derive(Default)]
pub(super) struct Walk {
    /// The last stop that counts.
    pub(super) found: Option<Found>,
    pub(super) stops: usize,
    pub(super) has_met_commands: bool,
    /// Whether it has come to a stop of a user's steps, or has begun at one.
    pub(super) is_in_step: bool,
    /// Whether it has passed a place before that at which a user's steps may stop.
    pub(super) has_passed: bool,
}

/// A stop on the way.
pub(super) struct Found {
    pub(super) moment: Moment,
    pub(super) hidden_calls: usize,
    /// The instruction that has just run, if its line is shown.
    pub(super) stands_after: Option<Position>,
    pub(super) reason: StopReason,
}

impl Found {
    /// The beginning of a line.
    pub(super) fn fork(fork: &Fork) -> Self {
        let (hidden_calls, stands_after) = fork.shown;
        let reason = StopReason::Found(format!(
            "line {} begins here, with what was set by hand; before that is line {}",
            fork.line, fork.parent
        ));
        Self { moment: fork.moment.clone(), hidden_calls, stands_after, reason }
    }

    /// The end of a step before a command.
    pub(super) fn step(moment: Moment) -> Self {
        Self { moment, hidden_calls: 0, stands_after: None, reason: StopReason::Step }
    }
}

impl Runner {
    /// The stop at a breakpoint on the first instruction after a checkpoint, if a run from there
    /// does not ask breakpoints about it.
    pub(super) fn stop_at(&mut self, recording: &Recording, index: usize) -> Option<Found> {
        let checkpoint = recording.tape().kept().get(index)?.checkpoint.clone();
        let position = self.machine.position().filter(|_| checkpoint.is_asked())?;
        let hit = self.hit(self.breakpoints.armed.at(position));
        let reason = (!hit.is_empty()).then_some(StopReason::Breakpoint(hit))?;
        let reason = self.for_users(reason)?;
        let moment = checkpoint.moment().clone();
        Some(Found { moment, hidden_calls: 0, stands_after: None, reason })
    }

    /// Walks to the present.
    pub(super) fn walk(
        &mut self,
        recording: &Recording,
        how: Back,
        limit: &Limit,
        mut walk: Walk,
    ) -> Result<Walk, Lost> {
        let (mut enters, mut stands) = (false, 0);
        loop {
            let Some(here) = self.moment() else { return Ok(walk) };
            let (depth, seen) = (self.machine.depth(), self.seen_frames(how.granularity()));
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
            let command = self.command_to_pass(how, limit, &here, resume);
            let reason = self.after(|runner| match (command, between.or(rest)) {
                (Some((kind, depth)), _) => runner.over_native(kind, how.granularity(), depth),
                (None, Some(plan)) => runner.follow(plan, false),
                (None, None) => runner.go_on(resume, hidden, just_ran),
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
                    && resume != Resume::Step(StepKind::Into, how.granularity())
                    && (limit.depth, limit.seen) > (depth, seen)
                    && limit.moment.as_ref().is_some_and(|limit| here < *limit);
                if !can_enter {
                    return Ok(walk);
                }
                self.arrive(recording, &here)?;
                self.has_come(recording);
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
            let is_step = matches!(reason, StopReason::Step);
            if is_between && is_step && !walk.is_in_step && self.machine.depth() == depth {
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
                // Commands are no inlined calls: before one, there is one stop.
                let is_last = moment.is_in_native() && limit.moment() == Some(&moment);
                walk.found = Some(self.found(moment, reason));
                if is_last {
                    return Ok(walk);
                }
            }
        }
    }

    /// Whether the program stands, in what it has entered, where a step over does not stop: in the
    /// other part of a function that the compiler has split, or before a command that is none of
    /// the source.
    fn is_passed_over(&self, how: Back, origin: Option<Position>) -> bool {
        let machine = &self.machine;
        if !machine.level.is_source() || how.granularity() == Granularity::Instruction {
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
    pub(super) fn plan_between_lines(&self, resume: Resume) -> Option<StepPlan> {
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

    /// The command that a walk by steps passes as a whole, by its kind of step and the depth of its
    /// frame. That is the one in which a breakpoint has stopped it; on a walk by steps into, which
    /// stops before each command, it is also the one before which the program stands.
    fn command_to_pass(
        &self,
        how: Back,
        limit: &Limit,
        here: &Moment,
        resume: Resume,
    ) -> Option<(StepKind, usize)> {
        let Back::Step(kind, _) = how else { return None };
        let is_over = matches!(resume, Resume::Step(StepKind::Over, _));
        if !is_over || !here.is_in_native() || limit.is_inside(here) {
            return None;
        }
        let depth = self.machine.depth();
        let passes = if kind == StepKind::Into { kind } else { StepKind::Over };
        match self.machine.command_depth().filter(|command| *command < depth) {
            Some(command) => Some((passes, command)),
            None => (kind == StepKind::Into).then_some((passes, depth)),
        }
    }

    /// Whether the program stands on another line than that of a call.
    fn is_on_another_line(&self, how: Back, call: Position) -> bool {
        let lines = self.machine.lines();
        let of = |position| match how.granularity() {
            Granularity::Line => lines.line_of(position),
            Granularity::Statement => lines.statement_of(position),
            Granularity::Instruction => None,
        };
        let by_instruction = how.granularity() == Granularity::Instruction;
        by_instruction || self.machine.position().is_some_and(|here| of(here) != of(call))
    }

    /// Whether a stop on the way is one to which the program goes back.
    pub(super) fn counts(
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
                let place = (depth, self.seen_frames(how.granularity()));
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

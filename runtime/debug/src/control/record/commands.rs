//! Which checkpoints before commands a way back looks at, and what it can tell there without
//! running anything.
//!
//! ```text
//!   [c5] ── command 5 ── [c6] ── command 6 ── [c7] ── command 7 ── now
//!                                   steps: put 7 back, is `c7` the end of a step? put 6 back, …
//!                                   runs:  walk from c7, from c5, from c1, …
//! ```

use vm::Moment;

use super::limit::Limit;
use super::seek::Progress;
use crate::control::breakpoints::spec::BreakpointSpec;
use crate::control::runner::Runner;
use crate::control::stop::{Back, Granularity, Resume, StepKind, StopReason};

/// What a way back does with checkpoints before commands.
pub(super) struct CommandsOnTheWay {
    how: Back,
    /// Whether steps from the program around commands end before these.
    ends_steps: bool,
    /// Whether something may stop the program in a command, other than the end of a step.
    may_stop: bool,
    /// How many more of them a run back leaves out, and then.
    leaves_out: (usize, usize),
}

impl CommandsOnTheWay {
    /// Whether the way back looks at a checkpoint.
    pub(super) fn are_met(&mut self, moment: &Moment, limit: &Limit) -> bool {
        if !moment.is_in_native() {
            return true;
        }
        match self.how {
            Back::Step(StepKind::Out, _) | Back::ToBegin => false,
            Back::Step(..) => {
                self.ends_steps || limit.moment().is_some_and(|it| it.is_in_same_call(moment))
            }
            // A walk from further back runs more commands, one by one.
            Back::Continue if self.leaves_out.0 > 0 => {
                self.leaves_out.0 -= 1;
                false
            }
            Back::Continue => {
                self.leaves_out = (2 * self.leaves_out.1, 2 * self.leaves_out.1);
                self.may_stop
            }
        }
    }

    /// Whether nothing can stop the program between a checkpoint and the present, because there is
    /// but one command.
    pub(super) fn pass(&self, moment: &Moment, limit: &Limit) -> bool {
        self.decide(moment) && limit.is_after_command(moment)
    }

    /// Whether it can be told of the place itself if a step would have ended there.
    pub(super) fn decide(&self, moment: &Moment) -> bool {
        // What leads to the first command is not a command.
        let follows = moment.progress().get(Progress::STEP).is_some_and(|step| *step > 1);
        follows && !self.may_stop && matches!(self.how, Back::Step(..))
    }
}

impl Runner {
    pub(super) fn commands_on_the_way(&self, how: Back) -> CommandsOnTheWay {
        let by_line = |granularity| granularity != Granularity::Instruction;
        let ends_steps = match how {
            Back::Step(StepKind::Into, _) => true,
            Back::Step(StepKind::Over, granularity) => {
                by_line(granularity) && self.machine.level.is_source()
            }
            Back::Step(StepKind::Out, _) | Back::Continue | Back::ToBegin => false,
        };
        let may_stop = match how {
            Back::Continue => self.may_stop(),
            _ => self.may_stop_in_commands(),
        };
        CommandsOnTheWay { how, ends_steps, may_stop, leaves_out: (0, 1) }
    }

    /// Whether something is set that may stop the program in a command, or at one.
    fn may_stop_in_commands(&self) -> bool {
        let (traps, context) = (self.watcher.traps, &self.machine.context);
        let breakpoints = &self.breakpoints;
        traps.watches_instructions()
            || traps.watches_dispatches()
            || self.machine.program.is_guarded()
            || breakpoints.armed.is_any_in(|module| context.is_attached(module))
            || breakpoints
                .table
                .iter()
                .filter(|it| it.is_enabled)
                .any(|it| it.is_of_dispatches() || matches!(it.spec, BreakpointSpec::Data { .. }))
    }

    /// Whether the program stands before a command at which a step forward, from the command before
    /// it or from further away, would have ended.
    pub(super) fn is_end_of_step(&self, how: Back, limit: &Limit) -> bool {
        let Back::Step(kind, granularity) = how else { return false };
        let Some(moment) = self.moment().filter(Moment::is_in_native) else { return false };
        let Some(invocation) = self.machine.invocation() else { return false };
        let by_line = granularity != Granularity::Instruction && self.machine.level.is_source();
        let is_stop = match kind {
            StepKind::Into => true,
            StepKind::Over => !by_line || self.machine.lines().is_at_operation(invocation),
            StepKind::Out => false,
        };
        let resume = Resume::Step(StepKind::Over, granularity);
        is_stop && self.counts(how, limit, resume, &StopReason::Step, (&moment, true))
    }
}

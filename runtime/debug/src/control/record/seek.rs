//! Putting the program back to a checkpoint, and running it to a moment.
//!
//! Nothing of this is seen: breakpoints, traps and messages are off meanwhile.

use std::sync::Arc;

use hal::ResolvedDispatch;
use vm::{BoundaryKind, FrameIndex, Invocation, Moment, Position, Watch};

use super::checkpoints::Kept;
use super::lines::Fork;
use super::tape::Recording;
use crate::control::breakpoints::table::BreakpointTable;
use crate::control::runner::Runner;
use crate::control::stop::{Back, Granularity, StepKind, StopReason};
use crate::machine::Phase;

/// Why the program does not come to a moment.
#[derive(Debug)]
pub(super) enum Lost {
    /// The user has asked for a pause.
    Paused,
    /// It cannot be done; the text says why.
    Because(String),
}

impl Lost {
    pub(super) fn because(reason: impl Into<String>) -> Self {
        Self::Because(reason.into())
    }
}

/// What [`Moment::progress`] counts for the queue of a device.
pub(super) struct Progress;

impl Progress {
    /// The command.
    pub(super) const STEP: usize = 0;
    /// What of it is done: nothing, its bytecode twin, itself.
    pub(super) const STAGE: usize = 1;
    /// The workgroup.
    pub(super) const WORKGROUP: usize = 2;
    /// The stage of a dispatch that runs as bytecode instead of machine code.
    pub(super) const AS_TWIN: u64 = 1;
    /// The stage of a dispatch that runs as itself.
    pub(super) const AS_ITSELF: u64 = 2;
    /// The last stage, after the command.
    pub(super) const DONE: u64 = 3;
}

impl Runner {
    /// The present moment, if the program has begun and is not over.
    pub(crate) fn moment(&self) -> Option<Moment> {
        self.machine.invocation()?.moment(&self.machine.context)
    }

    /// Puts the program back to a checkpoint, or to a fork, after its change by hand.
    pub(super) fn rewind(&mut self, recording: &Recording, index: usize) -> Result<(), Lost> {
        for fork in self.put_back(recording, index)? {
            self.run_straight_to(&fork.moment)?;
            self.make_changes(recording, &fork)?;
        }
        Ok(())
    }

    /// Puts the program back to a checkpoint. Returns the forks that are on the way from there.
    pub(super) fn put_back(
        &mut self,
        recording: &Recording,
        index: usize,
    ) -> Result<Vec<Arc<Fork>>, Lost> {
        let gone = || Lost::because("that is no longer recorded");
        let kept = recording.tape().kept().get(index).cloned().ok_or_else(gone)?;
        let host = self.machine.program.host();
        let (device, outside) = (host.device().clone(), host.outside().clone());
        if !outside.go_back_to(kept.outside) || !device.allocator().journal().undo_to(kept.journal)
        {
            return Err(gone());
        }
        if !device.history().go_back_to(&kept.history) {
            return Err(gone());
        }
        self.machine.context.makes().go_back_to(kept.makes.0);
        device.allocator().go_back_to(kept.makes.1);
        let restored = kept.checkpoint.restore(&mut self.machine.context);
        let mut invocation =
            restored.ok_or_else(|| Lost::because("the program's state cannot be put back"))?;
        invocation.set_recorder(Some(recording.recorder()));
        let mut tape = recording.tape();
        tape.forget_after(index);
        let next = kept.forks.first().cloned().or_else(|| tape.next_fork());
        drop(tape);
        if let Some(next) = next {
            self.machine.by_hand = next.by_hand.clone();
        }
        // It takes checkpoints on the way, as it did the first time.
        invocation.ask_recorder(&self.machine.context);
        self.interrupt.attach(invocation.interrupt());
        let total = device.history().total();
        let machine = &mut self.machine;
        machine.phase = Phase::Running(invocation);
        machine.forget_commands_after(total);
        (machine.hidden_calls, machine.stands_after) = (0, None);
        self.has_told_write = false;
        self.forget_stop();
        // What was reported at another moment does not run unreported at this one.
        self.watcher.replace_pass(None);
        Ok(kept.forks)
    }

    /// The program stands where a run would have asked breakpoints: what goes on from here does not
    /// ask them about this instruction once more. Only at the beginning nothing has been asked.
    pub(super) fn has_come(&mut self, recording: &Recording) {
        let begin = recording.tape().kept().first().map(|it| it.moment().clone());
        let has_begun = self.moment().zip(begin).is_some_and(|(here, begin)| here > begin);
        if let Phase::Running(invocation) = &mut self.machine.phase
            && has_begun
        {
            invocation.set_asked();
        }
    }

    /// Leaves the block marker and the constants of a function, where its user has not seen it
    /// begin: its first checkpoint is before them.
    pub(super) fn leave_entry(&mut self) -> Result<(), Lost> {
        self.unarmed(|runner| {
            while runner.machine.position().is_some_and(|at| runner.is_ahead_of_entry(at)) {
                runner.hop(Watch::Nothing, Invocation::step)?;
            }
            Ok(())
        })
    }

    /// The same, and stands before all inlined calls with which the function begins, as its user
    /// has entered it.
    pub(super) fn enter(&mut self) -> Result<(), Lost> {
        let is_entry = self.machine.position().is_some_and(|at| self.is_ahead_of_entry(at));
        self.leave_entry()?;
        if is_entry && self.machine.level.is_source() {
            self.machine.hidden_calls = self.seen_frames(Granularity::Line) - 1;
        }
        Ok(())
    }

    /// How many frames a user who steps so sees of the machine's innermost one: its own, and those
    /// of inlined calls.
    pub(super) fn seen_frames(&self, by: Granularity) -> usize {
        let position = self.machine.position().filter(|_| by != Granularity::Instruction);
        let path = position.map_or(1, |at| self.machine.path_of(at).len());
        path.saturating_sub(self.machine.hidden_calls).max(1)
    }

    /// Whether the program stands on the line of an inlined call from which a step, other than one
    /// into calls, has come.
    pub(super) fn is_after_inlined(
        &self,
        how: Back,
        origin: Option<Position>,
        (depth, seen): (usize, usize),
    ) -> bool {
        let now = self.seen_frames(how.granularity());
        let (Some(origin), Some(here)) = (origin, self.machine.position()) else { return false };
        if matches!(how, Back::Step(StepKind::Into, _)) || depth != self.machine.depth() {
            return false;
        }
        let at = |position| self.machine.path_of(position).get(now - 1).map(|it| it.line);
        now < seen && at(origin) == at(here)
    }

    /// Whether an instruction is a block marker, or a constant ahead of a function's entry.
    pub(super) fn is_ahead_of_entry(&self, at: Position) -> bool {
        self.machine.program.is_marker(at) || self.machine.lines().is_ahead_of_entry(at)
    }

    /// Runs forward to a moment of the present line that is not before the present one.
    pub(super) fn run_to_moment(&mut self, target: &Moment) -> Result<(), Lost> {
        self.meet_forks(|fork| fork.moment <= *target)?;
        self.run_straight_to(target)
    }

    /// The same up to the next fork at most, whose change is not made.
    pub(super) fn run_straight_to(&mut self, target: &Moment) -> Result<(), Lost> {
        self.unarmed(|runner| {
            runner.run_to_turn(target.turns().saturating_sub(1))?;
            loop {
                let here =
                    runner.moment().ok_or_else(|| Lost::because("it does not come there"))?;
                if here >= *target {
                    return Ok(());
                }
                if runner.machine.running().is_none() {
                    return Err(Lost::because("the program does not come there again"));
                }
                if !here.is_in_native() {
                    runner.hop(Watch::Nothing, Invocation::step)?;
                } else if target.is_in_same_call(&here) && target.is_in_native() {
                    runner.hop_in_native(&here, target)?;
                } else {
                    runner.hop(Watch::Nothing, Invocation::run_native)?;
                }
            }
        })
    }

    /// The dispatch before which the program stands, in which it is, or which has just run.
    pub(super) fn standing_dispatch(&self) -> Option<ResolvedDispatch> {
        self.machine.queue_activity(FrameIndex(0))?.dispatch().ok().flatten()
    }

    /// Runs to before a command, by its number among all that ran.
    pub(super) fn run_to_command(
        &mut self,
        recording: &Recording,
        number: u64,
    ) -> Result<(), Lost> {
        let first = recording.tape().kept().first().map_or(0, Kept::commands);
        if number <= first {
            let why = match recording.tape().state().has_lost_begin {
                true => "was given up for lack of memory; what is left of the recording begins",
                false => "ran before the recording, which begins",
            };
            let next = first + 1;
            return Err(Lost::because(format!("command {number} {why} with command {next}")));
        }
        let begun = self.commands_run() + u64::from(self.is_in_command());
        if begun >= number || self.machine.running().is_none() {
            let kept = recording.tape().kept().iter().rposition(|it| it.commands() < number);
            self.rewind(recording, kept.unwrap_or(0))?;
        }
        self.meet_forks(|fork| fork.commands < number)?;
        self.unarmed(|runner| {
            loop {
                if runner.command_ahead() == Some(number) {
                    return Ok(());
                }
                if runner.machine.running().is_none() {
                    let ran = runner.commands_run();
                    return Err(Lost::because(format!("the program runs {ran} commands in all")));
                }
                runner.hop(Watch::Steps, Invocation::run)?;
            }
        })
    }

    /// Whether a command has begun that is not done.
    pub(crate) fn is_in_command(&self) -> bool {
        let activity = self.machine.queue_activity(FrameIndex(0));
        activity.is_some_and(|activity| activity.has_begun() && !activity.is_after_step())
    }

    /// The number of the command before which the program stands.
    fn command_ahead(&self) -> Option<u64> {
        let boundary = self.machine.invocation()?.boundary()?;
        let activity = self.machine.queue_activity(FrameIndex(0))?;
        let is_before = boundary.kind == BoundaryKind::BeforeStep;
        activity.number().filter(|_| is_before)
    }

    /// Goes on in a native function towards a moment in it: command by command, workgroup by
    /// workgroup, then by turns and instructions.
    pub(super) fn hop_in_native(&mut self, here: &Moment, target: &Moment) -> Result<(), Lost> {
        let (own, wanted) = (here.progress(), target.progress());
        let at = |progress: &[u64], index| progress.get(index).copied();
        if at(own, Progress::STEP) < at(wanted, Progress::STEP) {
            return self.hop(Watch::Steps, Invocation::run);
        }
        let is_before_twin = at(own, Progress::STAGE) == Some(0)
            && at(wanted, Progress::STAGE) == Some(Progress::AS_TWIN);
        if is_before_twin {
            // As the user's step has entered it.
            let _ = self.enter_twin(StepKind::Into, Granularity::Line);
        }
        if own.get(..=Progress::WORKGROUP) != wanted.get(..=Progress::WORKGROUP) {
            let is_at_part = wanted.len() > Progress::WORKGROUP;
            let watch = if is_at_part { Watch::Parts } else { Watch::Steps };
            return self.hop(watch, Invocation::run);
        }
        let far = target.inner_turns().zip(here.inner_turns());
        match far.filter(|(target, here)| *target > here + 1) {
            Some((turns, _)) => {
                self.hop(Watch::Parts, |it, context| it.run_to_inner_turn(context, turns - 1))
            }
            None => self.hop(Watch::Parts, Invocation::step),
        }
    }

    /// Runs to a turn, unless the program is there.
    pub(super) fn run_to_turn(&mut self, turns: u64) -> Result<(), Lost> {
        self.set_goal(Some(turns));
        let arrived = loop {
            match self.moment() {
                Some(here) if here.turns() >= turns => break Ok(()),
                _ => {}
            }
            if let Err(lost) = self.hop(Watch::Nothing, Invocation::run) {
                break Err(lost);
            }
            if self.machine.running().is_none() || std::mem::take(&mut self.at_goal) {
                break Ok(());
            }
        };
        self.set_goal(None);
        arrived
    }

    /// Runs to the begin of a workgroup's turn.
    pub(super) fn run_to_inner_turn(&mut self, turns: u64) -> Result<(), Lost> {
        self.unarmed(|runner| {
            runner.hop(Watch::Parts, |it, context| it.run_to_inner_turn(context, turns))
        })
    }

    pub(super) fn set_goal(&mut self, turns: Option<u64>) {
        self.at_goal = false;
        if let Some(invocation) = self.machine.running() {
            invocation.set_goal(turns);
        }
    }

    /// Runs a stretch that stops for nothing but what it was asked for.
    pub(super) fn hop(
        &mut self,
        watch: Watch,
        run: impl FnOnce(&mut Invocation, &mut vm::Context) -> vm::Outcome,
    ) -> Result<(), Lost> {
        self.has_told_write = false;
        self.machine.context.set_watch(watch);
        match self.advance(run) {
            Some(StopReason::Pause) if !self.at_goal => Err(Lost::Paused),
            _ => Ok(()),
        }
    }

    /// Does something while no breakpoint and no trap is set.
    pub(super) fn unarmed<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let nothing = BreakpointTable::default();
        let table = std::mem::replace(&mut self.breakpoints.table, nothing);
        let traps = std::mem::take(&mut self.watcher.traps);
        self.arm_breakpoints();
        let done = act(self);
        self.breakpoints.table = table;
        self.watcher.traps = traps;
        self.arm_breakpoints();
        done
    }
}

//! Hit counts belong to moments: after the program has gone to another moment, each breakpoint has
//! counted the hits up to there, from where it was set.
//!
//! ```text
//!   tape      [C0: 0]       [C1: 7]        [C2: 15]
//!                              └── hits ──> here: 9
//! ```
//!
//! A checkpoint that is taken while breakpoints count remembers what they have counted. From the
//! last one of these before the present, the program runs again, and nothing stops it.

use vm::{Invocation, Moment, Watch};

use super::back::Stand;
use super::seek::{Lost, Progress};
use super::tape::Recording;
use crate::control::breakpoints::spec::BreakpointId;
use crate::control::breakpoints::table::Breakpoint;
use crate::control::runner::Runner;
use crate::control::stop::{Granularity, StepKind, StopReason};

/// From where a breakpoint counts.
struct Base {
    id: BreakpointId,
    moment: Moment,
    hits: u64,
    /// What breakpoints have not been asked about yet: a checkpoint is taken before that.
    unasked: Option<Unasked>,
}

/// What comes next at a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unasked {
    Command,
    /// The instruction to which a native function has returned.
    Instruction,
}

impl Base {
    /// It has counted everything up to a moment, and at it.
    fn at(id: BreakpointId, moment: &Moment, hits: u64) -> Self {
        Self { id, moment: moment.clone(), hits, unasked: None }
    }
}

impl Runner {
    /// Makes each breakpoint have the count of the present moment. The program has stood at
    /// `before`, in this line of time or another.
    ///
    /// # Errors
    /// It was paused, and is on its way to the present moment. The counts are those from before.
    pub(super) fn recount(&mut self, recording: &Recording, before: &Stand) -> Result<(), Lost> {
        let is_in_line = recording.tape().lines.here() == before.line;
        let before = before.moment.as_ref();
        let Some(here) = self.moment() else { return Ok(()) };
        if is_in_line && before == Some(&here) {
            return Ok(());
        }
        let counted = self.breakpoints.table.counted();
        let bases = self.bases(recording, &here);
        let goes_back = is_in_line && before.is_none_or(|before| *before > here);
        for base in &bases {
            self.begin_at(base);
        }
        let hits = |it: &Base| self.breakpoints.table.get(it.id).map_or(0, Breakpoint::hits);
        if bases.is_empty() || (goes_back && bases.iter().all(|it| hits(it) == it.hits)) {
            return Ok(());
        }
        let seen = (self.machine.hidden_calls, self.machine.stands_after);
        let has_told_write = self.has_told_write;
        if let Err(lost) = self.count_from(recording, &bases, &here) {
            recording.tape().count(None);
            self.breakpoints.table.set_counted(counted);
            if matches!(lost, Lost::Paused) {
                return Err(lost);
            }
            // The place is right, and the counts are late.
            let interrupt = self.interrupt.clone();
            let _ = interrupt.held(|| self.arrive(recording, &here));
        }
        (self.machine.hidden_calls, self.machine.stands_after) = seen;
        self.has_told_write = has_told_write;
        Ok(())
    }

    /// What is known of each breakpoint at a moment or before it; that of the first is first.
    fn bases(&self, recording: &Recording, here: &Moment) -> Vec<Base> {
        let tape = recording.tape();
        let Some(begin) = tape.kept().first().map(|it| it.moment().clone()) else {
            return Vec::new();
        };
        let known: Vec<_> = tape.kept().iter().filter(|it| it.moment() <= here).collect();
        let mut bases = Vec::new();
        for breakpoint in self.breakpoints.table.iter().filter(|it| it.is_enabled) {
            let id = breakpoint.id;
            let counted = known.iter().rev().find_map(|kept| {
                let hits = kept.hits().iter().find(|it| it.0 == id)?.1;
                let checkpoint = &kept.checkpoint;
                let unasked = match checkpoint.is_before_step() {
                    true => Some(Unasked::Command),
                    false => (!checkpoint.is_asked()).then_some(Unasked::Instruction),
                };
                Some(Base { unasked, ..Base::at(id, kept.moment(), hits) })
            });
            let since = match &breakpoint.since {
                // It counts from where the program goes back to before it was set.
                Some((since, _)) if since > here => Base::at(id, here, 0),
                Some((since, hits)) => Base::at(id, since, *hits),
                None => Base::at(id, &begin, 0),
            };
            let last = counted.filter(|it| it.moment > since.moment);
            bases.push(last.unwrap_or(since));
        }
        bases.sort_by(|a, b| a.moment.cmp(&b.moment));
        bases
    }

    /// A breakpoint that was set later than its base counts from there.
    fn begin_at(&mut self, base: &Base) {
        if let Some(breakpoint) = self.breakpoints.table.get_mut(base.id)
            && breakpoint.since.as_ref().is_some_and(|(since, _)| *since > base.moment)
        {
            breakpoint.since = Some((base.moment.clone(), base.hits));
        }
    }

    /// Runs again to the present moment, and counts.
    fn count_from(
        &mut self,
        recording: &Recording,
        bases: &[Base],
        here: &Moment,
    ) -> Result<(), Lost> {
        let Some(first) = bases.first() else { return Ok(()) };
        self.arrive(recording, &first.moment)?;
        let traps = std::mem::take(&mut self.watcher.traps);
        let stops = self.breakpoints.table.suspend_stops();
        self.arm_breakpoints();
        let Self { machine, watcher, breakpoints, .. } = self;
        watcher.begin(machine, &breakpoints.table);
        let counted = bases.iter().try_for_each(|base| {
            self.count_up_to(&base.moment)?;
            self.breakpoints.table.set_hits(base.id, base.hits);
            match base.unasked {
                Some(Unasked::Command) => self.count_before_command(base.id),
                Some(Unasked::Instruction) => self.count_before_instruction(Some(base.id)),
                None => {}
            }
            self.has_come(recording);
            Ok(())
        });
        let all = bases.last().is_some_and(|last| last.moment == first.moment);
        recording.tape().count(all.then(|| self.breakpoints.table.counters()));
        let counted = counted
            .and_then(|()| self.count_up_to(here))
            .map(|()| self.count_before_instruction(None));
        self.breakpoints.table.resume_stops(stops);
        self.watcher.traps = traps;
        self.set_temporary_stops(None);
        self.arm_breakpoints();
        counted
    }

    /// Asks a breakpoint about the command before which the program stands.
    fn count_before_command(&mut self, id: BreakpointId) {
        let boundary = self.machine.invocation().and_then(Invocation::boundary);
        let here = boundary.map(|it| self.breakpoints.table.at_boundary(it)).unwrap_or_default();
        self.hit(here.into_iter().filter(|it| *it == id).collect());
    }

    /// Asks a breakpoint, or all, about the instruction before which the program stands, if a run
    /// has not: a native function has returned to it.
    fn count_before_instruction(&mut self, only: Option<BreakpointId>) {
        let is_asked = self.machine.invocation().is_none_or(Invocation::is_asked);
        if let Some(position) = self.machine.position().filter(|_| !is_asked) {
            let mut here = self.breakpoints.armed.at(position);
            here.retain(|it| only.is_none_or(|only| only == *it));
            self.hit(here);
        }
    }

    /// Runs to a moment while breakpoints count and stop nothing.
    fn count_up_to(&mut self, target: &Moment) -> Result<(), Lost> {
        let recording = self.recording.clone();
        for recording in recording.iter().cycle() {
            let next = recording.tape().next_fork();
            let Some(fork) = next.filter(|fork| fork.moment <= *target) else { break };
            self.count_straight_to(&fork.moment)?;
            self.make_changes(recording, &fork)?;
        }
        self.count_straight_to(target)
    }

    /// The same up to the next fork at most.
    fn count_straight_to(&mut self, target: &Moment) -> Result<(), Lost> {
        let lost = || Lost::because("the program does not come there again");
        let before = target.turns().saturating_sub(1);
        if self.moment().is_some_and(|here| here.turns() < before) {
            self.set_goal(Some(before));
            loop {
                let reason = self.run_on();
                let is_there = std::mem::take(&mut self.at_goal);
                if matches!(reason, Some(StopReason::Pause)) && !is_there {
                    self.set_goal(None);
                    return Err(Lost::Paused);
                }
                if is_there || self.machine.running().is_none() {
                    break;
                }
            }
            self.set_goal(None);
        }
        loop {
            let here = self.moment().ok_or_else(lost)?;
            if here >= *target {
                return Ok(());
            }
            if self.machine.running().is_none() {
                return Err(lost());
            }
            let at = |moment: &Moment| moment.progress().get(Progress::STEP).copied();
            if !here.is_in_native() {
                let reason = self.step(StepKind::Into, Granularity::Instruction, 0);
                if matches!(reason, StopReason::Pause) {
                    return Err(Lost::Paused);
                }
            } else if !(target.is_in_same_call(&here) && target.is_in_native()) {
                self.hop(Watch::Steps, Invocation::run_native)?;
            } else if at(&here) < at(target) {
                self.machine.context.set_watch(Watch::Steps);
                if matches!(self.run_on(), Some(StopReason::Pause)) {
                    return Err(Lost::Paused);
                }
            } else {
                self.hop_in_native(&here, target)?;
            }
        }
    }
}

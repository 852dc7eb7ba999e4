//! Resuming a stopped program, and what is worked out when it stops again.

use vm::{Invocation, Position};

use super::breakpoints::meant_frame::LineAndColumn;
use super::breakpoints::spec::{BreakpointId, BreakpointSpec};
use super::runner::{Runner, Unfinished};
use super::stop::{Granularity, Resume, StepKind, StopReason};
use crate::target::level::Level;

impl Runner {
    /// Runs until something stops the program. A program that has failed or completed does not run
    /// again.
    pub(crate) fn resume(&mut self, how: Resume) -> StopReason {
        match self.python_step_of(how) {
            Some(step) => self.step_python(step, how),
            None => self.resume_program(how),
        }
    }

    /// The same, by what is a step of the program.
    pub(super) fn resume_program(&mut self, how: Resume) -> StopReason {
        self.interrupt.begin();
        self.end_stop = None;
        let (hidden_calls, just_ran) = (self.machine.hidden_calls, self.machine.stands_after);
        if let Some(reason) = self.also_here.take() {
            self.machine.stands_after = None;
            return reason;
        }
        self.leave_search(how == Resume::AsBefore);
        let paused_at = self.paused_at.take().filter(|_| how == Resume::AsBefore);
        if how != Resume::AsBefore {
            self.watcher.forget_pause();
        }
        if let Some(hit) = paused_at.and_then(|(at, before)| self.set_since(at, &before)) {
            return self.after(|_| StopReason::Breakpoint(hit));
        }
        let reason = self.after(|runner| runner.go_on(how, hidden_calls, just_ran));
        if self.recording.is_some() {
            self.breakpoints.table.meet_watched();
        }
        reason
    }

    /// Breakpoints that were set, since the program was paused, on the instruction where it stands:
    /// the program has not run it yet, so they are hit. If none were asked about it, all will be.
    fn set_since(&mut self, at: Position, before: &[BreakpointId]) -> Option<Vec<BreakpointId>> {
        let is_asked = self.machine.invocation().is_some_and(Invocation::is_asked);
        if self.machine.position() != Some(at) || !is_asked {
            return None;
        }
        let mut new = self.breakpoints.armed.at(at);
        new.retain(|id| !before.contains(id));
        Some(self.hit(new)).filter(|hit| !hit.is_empty())
    }

    /// Runs the program, with what has to be done before and after that.
    pub(super) fn after(&mut self, run: impl FnOnce(&mut Self) -> StopReason) -> StopReason {
        (self.machine.hidden_calls, self.machine.hidden_python) = (0, None);
        (self.machine.stands_after, self.also_here) = (None, None);
        self.leave_dispatch();
        self.breakpoints.failed_conditions.clear();
        let Self { machine, watcher, dispatches, breakpoints, .. } = self;
        watcher.begin(machine, &breakpoints.table);
        dispatches.look_again(machine, watcher.traps, &mut breakpoints.log);
        let began = self.moment();
        let reason = self.search_now().unwrap_or_else(|| run(self));
        self.report_twin();
        // A pause for the caller alone does not count: what it stands before is yet to be hit.
        // Nor has it gone anywhere if it was to pause before it ran: what it stood at was hit.
        let stays =
            matches!(reason, StopReason::Pause) && began.is_some() && self.moment() == began;
        let is_seen = self.interrupt.is_pending() || self.interrupt.was_requested();
        let had_frame = self.machine.depth() > 0;
        let reason = if is_seen { self.with_a_frame(reason) } else { reason };
        let is_paused = matches!(reason, StopReason::Pause);
        if is_seen || !is_paused {
            self.show_search(is_paused);
        }
        self.has_told_write = matches!(reason, StopReason::Data(_));
        self.watcher.is_paused = is_paused;
        // Where the program begins, nothing has been hit; who runs to there does not ask.
        let is_hit = is_seen && (had_frame || self.unfinished.is_some()) || stays && had_frame;
        self.paused_at = self.machine.position().filter(|_| is_paused).map(|at| {
            let hit_before = if is_hit { self.breakpoints.armed.at(at) } else { Vec::new() };
            (at, hit_before)
        });
        self.stand_before_calls(&reason);
        self.meet_modules();
        self.set_temporary_stops(None);
        self.interrupt.take();
        reason
    }

    /// Finds the inlined calls that the program stands before, rather than inside, at its entry or
    /// at a breakpoint: on the line of a call, or where a function begins with one.
    fn stand_before_calls(&mut self, reason: &StopReason) {
        self.stand_before_python(reason);
        let Some(position) = self.machine.position() else { return };
        let path = self.machine.program.path_at(Level::Source, position);
        let innermost = path.len().saturating_sub(1);
        let program = &self.machine.program;
        let frame = |id: &BreakpointId| match self.breakpoints.table.get(*id) {
            Some(it) => it.spec.frame_meant(program, (it.line, it.column), position, &path),
            None => innermost,
        };
        self.machine.hidden_calls = match reason {
            StopReason::Entry => innermost,
            StopReason::Breakpoint(hit) if innermost > 0 => {
                innermost - hit.iter().map(frame).max().unwrap_or(innermost)
            }
            _ => self.machine.hidden_calls,
        };
    }

    /// The same for calls of Python.
    fn stand_before_python(&mut self, reason: &StopReason) {
        let shown = match reason {
            StopReason::Entry => Some(1),
            StopReason::Breakpoint(hit) => {
                let met = hit.iter().filter_map(|id| self.breakpoints.table.get(*id));
                let met =
                    met.map(|it| it.spec.python_calls_meant(&self.machine, Level::Python, it.line));
                met.collect::<Option<Vec<usize>>>().and_then(|it| it.into_iter().min())
            }
            _ => None,
        };
        if let Some(shown) = shown {
            self.machine.show_python_calls(shown);
        }
    }

    /// Stands before the inlined calls that are deeper than the place that was run to.
    pub(super) fn stand_at(&mut self, spec: &BreakpointSpec, at: LineAndColumn) {
        let Some(position) = self.machine.position() else { return };
        let path = self.machine.program.path_at(Level::Source, position);
        let meant = spec.frame_meant(&self.machine.program, at, position, &path);
        self.machine.hidden_calls = path.len().saturating_sub(1).saturating_sub(meant);
        if let Some(shown) = spec.python_calls_meant(&self.machine, Level::Python, at.0) {
            self.machine.show_python_calls(shown);
        }
    }

    pub(super) fn go_on(
        &mut self,
        how: Resume,
        hidden_calls: usize,
        just_ran: Option<Position>,
    ) -> StopReason {
        let unfinished = self.unfinished.take();
        match (how, unfinished) {
            (Resume::ToEntry, _) | (Resume::AsBefore, Some(Unfinished::ToEntry)) => {
                self.run_to_entry()
            }
            (Resume::Continue, _) | (Resume::AsBefore, None) => self.run_free(),
            (Resume::StepInto(call), _) => self.step_into(call),
            (Resume::Step(StepKind::Out, _), _) => self.step_out(hidden_calls),
            (Resume::Step(kind, granularity), _) => match just_ran {
                Some(just_ran) if granularity != Granularity::Instruction => {
                    self.step_after(kind, granularity, just_ran)
                }
                _ => self.step(kind, granularity, hidden_calls),
            },
            (Resume::AsBefore, Some(Unfinished::Enter { kind, granularity })) => {
                self.step(kind, granularity, 0)
            }
            (Resume::AsBefore, Some(Unfinished::Out { depth, origin })) => {
                self.run_out(depth, origin)
            }
            (Resume::AsBefore, Some(Unfinished::OverNative { kind, granularity, depth })) => {
                self.over_native(kind, granularity, depth)
            }
            (Resume::AsBefore, Some(Unfinished::ToLine { rest, has_left })) => {
                self.unfinished = Some(*rest);
                let reason = self.go_on(how, hidden_calls, just_ran);
                self.on_to_line(reason, has_left)
            }
            (Resume::AsBefore, Some(Unfinished::IntoCall { call, depth })) => {
                self.step_into_from(call, depth)
            }
            (Resume::AsBefore, Some(Unfinished::Step { plan, in_initialisers })) => {
                self.follow(plan, in_initialisers)
            }
        }
    }

    /// A pause before anything ran has no frame to show. The program then advances to its first
    /// instruction.
    fn with_a_frame(&mut self, reason: StopReason) -> StopReason {
        if !matches!(reason, StopReason::Pause)
            || self.machine.invocation().is_none()
            || self.machine.depth() > 0
        {
            return reason;
        }
        match self.run_to_first_instruction() {
            StopReason::Entry => StopReason::Pause,
            other => other,
        }
    }
}

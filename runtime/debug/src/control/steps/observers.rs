//! Observers: what the instrumented loop asks before each instruction and at each boundary of
//! native code.

use vm::{Context, Invocation, Observer, Position, Reaction};

use super::plan::{StepPlan, Verdict};
use crate::control::breakpoints::table::BreakpointTable;
use crate::control::watcher::Watcher;
use crate::target::lines::Lines;

/// Runs with the watcher alone.
pub(crate) struct WatchObserver<'a> {
    pub(crate) watcher: &'a mut Watcher,
    pub(crate) breakpoints: &'a BreakpointTable,
    /// At which boundaries to stop.
    pub(crate) stops_at: vm::Watch,
    /// How closely dispatches are watched.
    pub(crate) watch: vm::Watch,
}

impl Observer for WatchObserver<'_> {
    fn watch(&self) -> vm::Watch {
        self.watch
    }

    fn before_instruction(
        &mut self,
        context: &Context,
        invocation: &Invocation,
        position: Position,
    ) -> Reaction {
        if self.watcher.before(context, invocation, position) {
            return Reaction::Stop;
        }
        Reaction::Continue
    }

    fn at_boundary(&mut self, context: &Context, invocation: &Invocation) -> Reaction {
        let Some(boundary) = invocation.boundary() else { return Reaction::Continue };
        let is_found = self.watcher.at_boundary(context, invocation);
        let is_asked = self.breakpoints.is_at_boundary(boundary);
        if is_found || is_asked || self.stops_at.includes(boundary.kind) {
            return Reaction::Stop;
        }
        Reaction::Continue
    }
}

/// Runs by a plan, with the watcher, and keeps the plan's last verdict.
pub(crate) struct StepObserver<'a> {
    pub(crate) plan: &'a StepPlan,
    pub(crate) lines: Lines<'a>,
    pub(crate) breakpoints: &'a BreakpointTable,
    pub(crate) verdict: Verdict,
    pub(crate) watcher: &'a mut Watcher,
}

impl Observer for StepObserver<'_> {
    fn before_instruction(
        &mut self,
        context: &Context,
        invocation: &Invocation,
        position: Position,
    ) -> Reaction {
        let is_found =
            self.watcher.is_needed() && self.watcher.before(context, invocation, position);
        self.verdict = self.plan.verdict(self.lines, position, invocation.depth());
        if is_found { Reaction::Stop } else { self.verdict.reaction() }
    }

    fn before_activity(&mut self, _context: &Context, invocation: &Invocation) -> Reaction {
        self.verdict = self.plan.verdict_before_activity(self.lines, invocation.depth());
        self.verdict.reaction()
    }

    fn at_boundary(&mut self, context: &Context, invocation: &Invocation) -> Reaction {
        let Some(boundary) = invocation.boundary() else { return Reaction::Continue };
        let is_found = self.watcher.is_needed() && self.watcher.at_boundary(context, invocation);
        self.verdict = self.plan.verdict_at_boundary(self.lines, invocation);
        // The runner decides, once, whether a breakpoint counts.
        let is_trapped = self.watcher.traps.watches_dispatches() || self.lines.program.is_guarded();
        if is_found || is_trapped || self.breakpoints.is_at_boundary(boundary) {
            return Reaction::Stop;
        }
        self.verdict.reaction()
    }
}

//! Armed instructions, which stop the interpreter: for breakpoints, or for a step that runs to a
//! place.
//!
//! To arm an instruction is to patch the executable form of its function at its address. Only this
//! file does that.

use std::collections::{BTreeMap, BTreeSet};

use vm::{Context, ModuleIndex, Position};

use super::guard::GuardPlan;
use super::spec::BreakpointId;
use super::table::BreakpointTable;
use crate::machine::Machine;
use crate::target::program::Program;

/// The armed instructions of a machine.
#[derive(Default, Debug)]
pub(crate) struct ArmedInstructions {
    /// Places of breakpoints, each with the breakpoints that are there.
    for_breakpoints: BTreeMap<Position, Vec<BreakpointId>>,
    /// Places that a step runs to.
    temporary: BTreeSet<Position>,
    /// Places where a guard decides, each with its plan.
    guarded: BTreeMap<Position, GuardPlan>,
    /// How often all breakpoints were armed.
    #[cfg(test)]
    pub(crate) rounds: usize,
}

impl ArmedInstructions {
    /// The breakpoints at an instruction.
    pub(crate) fn at(&self, position: Position) -> Vec<BreakpointId> {
        self.for_breakpoints.get(&position).cloned().unwrap_or_default()
    }

    /// Whether an instruction of some module is armed.
    pub(crate) fn is_any_in(&self, is_wanted: impl Fn(ModuleIndex) -> bool) -> bool {
        let mut armed = self.for_breakpoints.keys().chain(&self.temporary);
        armed.any(|at| is_wanted(at.function.module))
    }

    /// Arms the places of all breakpoints, and no others except temporary ones.
    pub(crate) fn arm(&mut self, table: &BreakpointTable, machine: &mut Machine) {
        #[cfg(test)]
        {
            self.rounds += 1;
        }
        let wanted = table.by_place();
        let Self { for_breakpoints, temporary, guarded, .. } = self;
        guarded.retain(|position, _| wanted.contains_key(position));
        let place = |position: &Position| (position.function, position.offset);
        let is_gone = |it: &&Position| !wanted.contains_key(it) && !temporary.contains(it);
        let gone = for_breakpoints.keys().filter(is_gone);
        let new = wanted.keys().filter(|it| !for_breakpoints.contains_key(it));
        // Addresses come from decoded instructions, so all of them can be armed.
        machine.context.change_breakpoints(gone.map(place), new.map(place));
        self.for_breakpoints = wanted;
        self.set_guards(table, machine);
    }

    /// Arms some places for a step, in addition to those of breakpoints; earlier temporary places
    /// are disarmed.
    pub(crate) fn set_temporary(
        &mut self,
        table: &BreakpointTable,
        machine: &mut Machine,
        places: impl IntoIterator<Item = Position>,
    ) {
        let wanted: BTreeSet<Position> = places.into_iter().collect();
        if wanted == self.temporary {
            return;
        }
        let old = std::mem::replace(&mut self.temporary, wanted);
        for position in old.difference(&self.temporary) {
            if !self.for_breakpoints.contains_key(position) {
                machine.context.clear_breakpoint(position.function, position.offset);
            }
        }
        for position in self.temporary.difference(&old) {
            let _ = machine.context.set_breakpoint(position.function, position.offset);
        }
        let meets_breakpoint = old.iter().any(|it| self.for_breakpoints.contains_key(it));
        if !self.guarded.is_empty() || meets_breakpoint {
            self.set_guards(table, machine);
        }
    }

    /// Gives each place the guard that it should have. Places that a step runs to have none, and
    /// neither have places with several breakpoints.
    fn set_guards(&mut self, table: &BreakpointTable, machine: &mut Machine) {
        let Machine { program, context, .. } = machine;
        let wanted = self.guards_wanted(table, program);
        for position in self.guarded.keys().filter(|it| !wanted.contains_key(it)) {
            context.set_guard(position.function, position.offset, None);
        }
        for (position, plan) in &wanted {
            self.set_guard(context, program, *position, plan);
        }
        self.guarded = wanted;
    }

    fn guards_wanted(
        &self,
        table: &BreakpointTable,
        program: &Program,
    ) -> BTreeMap<Position, GuardPlan> {
        let mut wanted = BTreeMap::new();
        for (position, here) in &self.for_breakpoints {
            let [id] = here.as_slice() else { continue };
            let breakpoint = table.get(*id).filter(|_| !self.temporary.contains(position));
            let plan = breakpoint.and_then(|it| GuardPlan::of(it, program, *position));
            wanted.extend(plan.map(|plan| (*position, plan)));
        }
        wanted
    }

    fn set_guard(&self, context: &mut Context, program: &Program, at: Position, plan: &GuardPlan) {
        if self.guarded.get(&at).is_none_or(|known| !known.is_same(plan)) {
            context.set_guard(at.function, at.offset, plan.guard(program, at));
        }
    }
}

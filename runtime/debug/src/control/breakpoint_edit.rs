//! Changes of breakpoints.

use super::breakpoints::hits::HitCondition;
use super::breakpoints::spec::{BreakpointId, BreakpointSpec};
use super::breakpoints::table::{Breakpoint, BreakpointOptions, BreakpointTable, OptionError};
use super::runner::Runner;

/// Changes breakpoints. Arming looks at all of them, so it waits until this is dropped.
pub struct BreakpointEdit<'a>(&'a mut Runner);

impl Drop for BreakpointEdit<'_> {
    fn drop(&mut self) {
        self.0.arm_breakpoints();
    }
}

impl std::ops::Deref for BreakpointEdit<'_> {
    type Target = BreakpointTable;

    fn deref(&self) -> &BreakpointTable {
        &self.0.breakpoints.table
    }
}

impl<'a> BreakpointEdit<'a> {
    pub(crate) fn new(runner: &'a mut Runner) -> Self {
        Self(runner)
    }

    /// Adds a breakpoint. It exists even if nothing matches it; its message then says why.
    pub fn add(&mut self, spec: BreakpointSpec) -> BreakpointId {
        let resolution = spec.resolve(&self.0.machine.program);
        let here = self.0.moment();
        let id = self.0.breakpoints.table.add(spec, resolution);
        self.change(id, |it| it.since = here.map(|here| (here, 0)));
        id
    }

    /// Removes a breakpoint. Returns whether it existed.
    pub fn remove(&mut self, id: BreakpointId) -> bool {
        self.0.breakpoints.table.remove(id)
    }

    /// Sets what a breakpoint does besides stopping.
    ///
    /// # Errors
    /// The condition or message is no expression, or uses a name that means nothing where the
    /// breakpoint is. Nothing is changed then.
    pub fn set_options(
        &mut self,
        id: BreakpointId,
        options: &BreakpointOptions,
    ) -> Result<(), OptionError> {
        self.0.breakpoints.set_options(&self.0.machine, id, options)
    }

    /// Makes only some hits of a breakpoint stop. Returns whether the breakpoint exists.
    pub fn set_hit_condition(&mut self, id: BreakpointId, condition: HitCondition) -> bool {
        self.change(id, |it| it.hit_condition = condition)
    }

    /// Makes a breakpoint work or not. Returns whether it exists.
    pub fn enable(&mut self, id: BreakpointId, is_enabled: bool) -> bool {
        self.change(id, |it| it.is_enabled = is_enabled)
    }

    /// Lets the next hits of a breakpoint pass. Returns whether it exists.
    pub fn ignore_hits(&mut self, id: BreakpointId, count: u64) -> bool {
        self.change(id, |it| it.ignored = it.hits().saturating_add(count))
    }

    /// Marks a breakpoint as one of the program's caller: clients do not see it, and leave it when
    /// they go.
    pub fn own(&mut self, id: BreakpointId) -> bool {
        self.change(id, |it| it.is_own = true)
    }

    /// Takes the breakpoints away, for another run of the program to adopt. Those of the program's
    /// caller stay.
    pub fn take_others(&mut self) -> BreakpointTable {
        self.0.breakpoints.table.take_others()
    }

    /// Takes over the breakpoints of an earlier run: they keep their identifiers, have not been
    /// hit, and are resolved again in this program.
    pub fn adopt(&mut self, mut table: BreakpointTable) {
        table.begin_again(|spec| spec.resolve(&self.0.machine.program));
        self.0.breakpoints.table = table;
    }

    fn change(&mut self, id: BreakpointId, change: impl FnOnce(&mut Breakpoint)) -> bool {
        self.0.breakpoints.table.get_mut(id).map(change).is_some()
    }
}

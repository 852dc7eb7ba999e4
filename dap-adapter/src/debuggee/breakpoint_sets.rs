//! The breakpoints that each `set…Breakpoints` request owns.

use std::collections::{BTreeSet, HashMap};

use debug::BreakpointId;

use crate::protocol::Breakpoint;
use crate::references::SourceKey;

/// The client's breakpoints. A request replaces exactly those that its [`Owner`] has.
#[derive(Default)]
pub(crate) struct BreakpointSets {
    pub(crate) owned: HashMap<Owner, Vec<BreakpointId>>,
    /// Each breakpoint as the client has last seen it.
    pub(crate) reported: HashMap<BreakpointId, Breakpoint>,
    /// The breakpoints that commands have made.
    pub(crate) of_commands: BTreeSet<BreakpointId>,
}

impl BreakpointSets {
    /// Records what the client sees of a breakpoint, to notice when that changes.
    pub(crate) fn report(&mut self, breakpoint: &Breakpoint) {
        if let Some(id) = breakpoint.id.and_then(|id| u32::try_from(id).ok()) {
            self.reported.insert(BreakpointId(id), breakpoint.clone());
        }
    }

    /// The breakpoints that the client knows and no request owns: those that commands have made.
    pub(crate) fn unowned(&self) -> Vec<BreakpointId> {
        let is_owned = |id: &BreakpointId| self.owned.values().any(|ids| ids.contains(id));
        let mut ids: Vec<BreakpointId> = self.of_commands.iter().copied().collect();
        ids.retain(|id| !is_owned(id));
        ids
    }

    /// Takes out the breakpoints that are not there any more.
    pub(crate) fn take_missing(
        &mut self,
        is_there: impl Fn(BreakpointId) -> bool,
    ) -> Vec<Breakpoint> {
        let gone: Vec<BreakpointId> =
            self.reported.keys().copied().filter(|id| !is_there(*id)).collect();
        for ids in self.owned.values_mut() {
            ids.retain(|id| !gone.contains(id));
        }
        self.of_commands.retain(|id| !gone.contains(id));
        gone.iter().filter_map(|id| self.reported.remove(id)).collect()
    }
}

/// The set that a `set…Breakpoints` request replaces.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Owner {
    Source(SourceKey),
    Functions,
    Instructions,
    Data,
}

//! The breakpoints that each `set…Breakpoints` request owns.

use std::collections::HashMap;

use debug::BreakpointId;

use crate::protocol::Breakpoint;
use crate::references::SourceKey;

/// The client's breakpoints. A request replaces exactly those that its [`Owner`] has.
#[derive(Default)]
pub(crate) struct BreakpointSets {
    pub(crate) owned: HashMap<Owner, Vec<BreakpointId>>,
    /// Each breakpoint as the client has last seen it.
    pub(crate) reported: HashMap<BreakpointId, Breakpoint>,
}

impl BreakpointSets {
    /// Records what the client sees of a breakpoint, to notice when that changes.
    pub(crate) fn report(&mut self, breakpoint: &Breakpoint) {
        if let Some(id) = breakpoint.id.and_then(|id| u32::try_from(id).ok()) {
            self.reported.insert(BreakpointId(id), breakpoint.clone());
        }
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

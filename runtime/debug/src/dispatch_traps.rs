//! NaN and infinities that a dispatch leaves behind: what it is bound to is counted before and after.

use vm::{BoundaryKind, FrameIndex};

use crate::debugger::Debugger;
use crate::expression::reduce::Summary;

/// Elements of a binding that are looked at.
const MOST: usize = 1 << 24;

impl Debugger {
    /// Looks at the dispatch at whose boundary the program stands; what it did that was asked about.
    pub(crate) fn trap_dispatch(&mut self, kind: BoundaryKind, name: &str) -> Option<String> {
        let traps = self.traps();
        if !traps.watches_dispatches() || name.is_empty() || kind == BoundaryKind::BeforePart {
            return None;
        }
        let counts = self.bad_floats();
        if kind == BoundaryKind::BeforeStep {
            self.before_dispatch = counts;
            return None;
        }
        let before = std::mem::take(&mut self.before_dispatch);
        for (index, (nans, infinities)) in counts.into_iter().enumerate() {
            let (old_nans, old_infinities) = before.get(index).copied().unwrap_or_default();
            if traps.dispatch_nan && nans > old_nans {
                let more = nans - old_nans;
                return Some(format!("dispatch @{name} has left {more} NaN in binding[{index}]"));
            }
            if traps.dispatch_infinity && infinities > old_infinities {
                let more = infinities - old_infinities;
                return Some(format!(
                    "dispatch @{name} has left {more} infinities in binding[{index}]"
                ));
            }
        }
        None
    }

    /// Counts anew if the program stands before a dispatch: somebody may have changed what it reads.
    pub(crate) fn recount_before_dispatch(&mut self) {
        let boundary = self.invocation().and_then(vm::Invocation::boundary);
        let is_before = boundary.is_some_and(|it| it.kind == BoundaryKind::BeforeStep);
        if is_before && self.traps().watches_dispatches() {
            self.before_dispatch = self.bad_floats();
        }
    }

    /// NaN and infinities in each binding of the dispatch.
    fn bad_floats(&self) -> Vec<(usize, usize)> {
        let Some(dispatch) = self.dispatch(FrameIndex(0)) else { return Vec::new() };
        let views = self.known_views();
        let bindings = dispatch.buffers.iter().enumerate();
        let counts = bindings.map(|(index, buffer)| {
            let Some(tensor) = self.binding_tensor(&dispatch, index, buffer, &views) else {
                return (0, 0);
            };
            let mut summary = Summary::default();
            tensor.each(|number| {
                summary.add(number);
                summary.count < MOST
            });
            (summary.nans, summary.infinities)
        });
        counts.collect()
    }
}

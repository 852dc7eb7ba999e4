//! NaN and infinities that a dispatch leaves behind: in what it may write they are counted before and after.

use vm::{BoundaryKind, FrameIndex};

use crate::debugger::Debugger;
use crate::expression::statistics::{Summary, Wanted};

/// Elements of a binding that are looked at.
const MOST: usize = 1 << 24;

/// The name of a tensor, and how many NaN and infinities it has.
pub(crate) type BadFloats = (String, usize, usize);

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
        for (index, (place, nans, infinities)) in counts.into_iter().enumerate() {
            let (_, old_nans, old_infinities) = before.get(index).cloned().unwrap_or_default();
            if traps.dispatch_nan && nans > old_nans {
                let more = nans - old_nans;
                return Some(format!("dispatch @{name} has left {more} NaN in {place}"));
            }
            if traps.dispatch_infinity && infinities > old_infinities {
                let more = infinities - old_infinities;
                return Some(format!("dispatch @{name} has left {more} infinities in {place}"));
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

    /// What the dispatch may write, each with how many NaN and infinities are in it.
    fn bad_floats(&self) -> Vec<BadFloats> {
        let Some(dispatch) = self.dispatch(FrameIndex(0)) else { return Vec::new() };
        let counts = self.written_tensors(&dispatch).into_iter().map(|(name, tensor)| {
            let wanted = Wanted::NANS.and(Wanted::INFINITIES);
            // What cannot be read has none that could be seen.
            let summary = Summary::of(&tensor, MOST, wanted).unwrap_or_default();
            (name, summary.nans, summary.infinities)
        });
        counts.collect()
    }
}

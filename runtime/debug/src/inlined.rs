//! Frames as the user sees them, where calls were inlined: the machine has one, the user several.

use vm::FrameIndex;

use crate::debugger::Debugger;

/// A frame as the user sees it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FrameId {
    /// The frame of the machine.
    pub index: FrameIndex,
    /// How many inlined calls lead to it from there; not said where the innermost is meant, or none
    /// is told from the others.
    pub calls: Option<usize>,
}

impl From<FrameIndex> for FrameId {
    fn from(index: FrameIndex) -> Self {
        Self { index, calls: None }
    }
}

impl Debugger {
    /// The innermost frame that is shown: before inlined calls that the program has not gone into
    /// yet.
    #[must_use]
    pub fn innermost_frame(&self) -> FrameId {
        let shown = self.position().map(|at| self.shown_at(FrameIndex(0), at));
        let path = shown.map_or_else(Vec::new, |at| self.program.path_of(at));
        let calls = path.len().checked_sub(1 + self.hidden_calls);
        FrameId { index: FrameIndex(0), calls: calls.filter(|_| path.len() > 1) }
    }
}

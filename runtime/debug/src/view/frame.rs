//! Frames of the call stack, as the user sees them.
//!
//! Where calls were inlined, the machine has one frame and the user sees several.

use std::path::PathBuf;

use vm::{FrameIndex, Position};

/// A place in a source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceLine {
    /// As the compiler was given it.
    pub file: String,
    /// Where it is on this machine, if it was found.
    pub path: Option<PathBuf>,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

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

/// A frame of the call stack. A call that was inlined is a frame of its own, inside of the one that
/// executes its code.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The frame of the machine that it is or belongs to.
    pub index: FrameIndex,
    /// How many inlined calls lead to it, where any are told apart.
    pub calls: Option<usize>,
    /// `function` or, for another module than the program's main one, `module.function`.
    pub name: String,
    /// The module's name.
    pub module: String,
    /// The instruction that runs next, in outer frames the call. None in native code.
    pub position: Option<Position>,
    /// Where that came from.
    pub source: Option<SourceLine>,
    /// Whether it is a call that the compiler has inlined.
    pub is_inlined: bool,
    /// Whether it is a part of what a native function does: a command, a workgroup.
    pub is_part: bool,
}

impl Frame {
    /// What names it to whoever asks about its values.
    #[must_use]
    pub fn id(&self) -> FrameId {
        FrameId { index: self.index, calls: self.calls }
    }
}

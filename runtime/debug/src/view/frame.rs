//! Frames of the call stack, as the user sees them.
//!
//! Where calls were inlined, the machine has one frame and the user sees several.

use std::path::PathBuf;
use std::sync::Arc;

use vm::{FrameIndex, Position};

/// A place in a source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceLine {
    /// The name that the compiler was given.
    pub file: String,
    /// Where the file is on this machine, if it was found.
    pub path: Option<PathBuf>,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1.
    pub column: u32,
}

impl SourceLine {
    /// The name of the file, without its folders.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.file.rsplit(['/', '\\']).next().unwrap_or(&self.file)
    }
}

/// Identifies a frame as the user sees it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FrameId {
    /// The frame of the machine.
    pub index: FrameIndex,
    /// How many inlined calls lead to it from there. None: the innermost one, or there are no
    /// inlined calls.
    pub calls: Option<usize>,
    /// Which of the frames of Python there, from the outermost, at the level of Python. None: the
    /// innermost one.
    pub python: Option<usize>,
}

impl From<FrameIndex> for FrameId {
    fn from(index: FrameIndex) -> Self {
        Self { index, calls: None, python: None }
    }
}

/// Which of several layers a frame of Python is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FrameLayer {
    /// `blocks.2` by the framework's name, or `layer[2]`.
    pub name: Arc<str>,
    /// The frame's name without it.
    pub untitled: String,
}

/// A frame of the call stack. An inlined call is a frame of its own, inside the frame that executes
/// its code.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The frame of the machine that executes it.
    pub index: FrameIndex,
    /// How many inlined calls lead to it; none if there are no inlined calls.
    pub calls: Option<usize>,
    /// Which of the frames of Python there it is, from the outermost; none if it is of the program.
    pub python: Option<usize>,
    /// `function`, or `module.function` in any module except the program's main one.
    pub name: String,
    /// At the level of Python, which of several layers it is; the name has it, too.
    pub layer: Option<FrameLayer>,
    /// The module's name.
    pub module: String,
    /// The instruction that runs next; in outer frames, the call. None in native code.
    pub position: Option<Position>,
    /// Where that instruction came from.
    pub source: Option<SourceLine>,
    /// Whether it is an inlined call.
    pub is_inlined: bool,
    /// Whether it is a part of what a native function does: a command, or a workgroup.
    pub is_part: bool,
}

impl Frame {
    /// The identifier with which to ask for the frame's values.
    #[must_use]
    pub fn id(&self) -> FrameId {
        FrameId { index: self.index, calls: self.calls, python: self.python }
    }
}

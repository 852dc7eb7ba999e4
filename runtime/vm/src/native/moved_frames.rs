//! Frames that move from one invocation to another.

use vmfb::FunctionOrdinal;

use crate::errors::Status;
use crate::objects::Ref;

/// Frames of bytecode of one module, outermost first, on no stack.
#[derive(Debug)]
pub struct MovedFrames {
    pub(crate) frames: Vec<MovedFrame>,
    /// Whether a native function has failed that the innermost one called.
    pub(crate) is_native_to_blame: bool,
    /// The failure of the frames, if they have failed.
    pub(crate) failure: Option<Status>,
}

#[derive(Debug)]
pub(crate) struct MovedFrame {
    pub(crate) function: FunctionOrdinal,
    pub(crate) index: u32,
    /// The offset of that instruction, to notice a different instruction in the new context.
    pub(crate) offset: u32,
    pub(crate) words: Vec<u64>,
    pub(crate) refs: Vec<Ref>,
}

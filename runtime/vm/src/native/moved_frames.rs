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
    /// How they have failed, if they have.
    pub(crate) failure: Option<Status>,
}

#[derive(Debug)]
pub(crate) struct MovedFrame {
    pub(crate) function: FunctionOrdinal,
    pub(crate) index: u32,
    /// The offset of that instruction, to find out if it is another in the new context.
    pub(crate) offset: u32,
    pub(crate) words: Vec<u64>,
    pub(crate) refs: Vec<Ref>,
}

//! Why a breakpoint cannot be set.

use vmfb::BytecodeOffset;

/// Why a breakpoint cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BreakpointError {
    /// The function is native, or there is no such function.
    #[error("there is no bytecode function with this id")]
    NoSuchFunction,
    /// No instruction starts there.
    #[error("no instruction starts at {offset}; the closest before it is at {before}")]
    NotAnInstruction {
        /// What was asked for.
        offset: BytecodeOffset,
        /// The last instruction before that offset.
        before: BytecodeOffset,
    },
}

//! A call of machine code as data: what to call, and how the call ended.

use crate::fault::Cause;

/// What to call.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The address of a C function.
    pub address: usize,
    /// The function's arguments, as addresses.
    pub arguments: [usize; 3],
}

/// How a call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Outcome {
    /// The function returned this value.
    Returned(u64),
    /// The machine code stopped before it returned: see [`crate::Stack::into_stopped`]. Never on
    /// systems where [`crate::IS_SUPPORTED`] is false.
    Stopped(Cause),
}

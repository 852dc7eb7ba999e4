//! How much a program may use. Modules come from outside; none of them may take the host down.

/// Bounds on one context and its invocations. What goes past one fails with `RESOURCE_EXHAUSTED`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExecutionLimits {
    /// Backward branches and calls that one invocation may make; `None`: as many as it wants.
    /// Between two of them only straight-line code runs, so this bounds time.
    pub fuel: Option<u64>,
    /// Frames on the stack at a time.
    pub stack_depth: usize,
    /// Bytes of registers on the stack at a time.
    pub stack_bytes: usize,
    /// Bytes in one buffer or list that the program allocates.
    pub allocation_bytes: usize,
}

impl Default for ExecutionLimits {
    fn default() -> Self {
        Self { fuel: None, stack_depth: 1 << 16, stack_bytes: 64 << 20, allocation_bytes: 16 << 30 }
    }
}

//! Guards: closures that decide inside the interpreter's loop whether a breakpoint stops.
//!
//! A conditional breakpoint in a hot loop is nearly always passed. Stopping to find that out costs
//! a hundred times as much as the condition. So the handler in the breakpoint's place asks the
//! guard, and runs the instruction itself if the guard lets it pass. A guard is asked once per
//! visit, so it may count, even if the instruction runs again after a look at fuel and interrupts,
//! or after its callee is translated.

use std::sync::Arc;

use super::registers::Registers;

/// Decides whether to stop at a breakpoint.
pub type Guard = Arc<dyn Fn(&GuardFrame) -> bool + Send + Sync>;

/// The registers of the frame at a breakpoint, while its guard looks at them. A register that the
/// function does not have reads as any value.
#[derive(Debug)]
pub struct GuardFrame {
    registers: Registers,
}

impl GuardFrame {
    pub(crate) fn new(registers: Registers) -> Self {
        Self { registers }
    }

    /// A 32-bit register; a float is given as its bits.
    #[inline]
    #[must_use]
    pub fn i32(&self, ordinal: u16) -> i32 {
        self.registers.word(ordinal).cast_signed()
    }

    /// The register pair that starts at an even ordinal; a float is given as its bits.
    #[inline]
    #[must_use]
    pub fn i64(&self, ordinal: u16) -> i64 {
        self.registers.pair(ordinal / 2).cast_signed()
    }
}

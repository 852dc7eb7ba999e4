//! Guards: closures that decide inside of the interpreter's loop whether a breakpoint stops.
//!
//! A conditional breakpoint in a hot loop is nearly always passed. Stopping to find that out costs
//! a hundred times what the condition does; a guard is asked by the handler in the breakpoint's
//! place, which runs the instruction itself if the guard says no. A guard is asked once a visit, so
//! it may count: also where an instruction is run again because fuel and interrupts had to be
//! looked at or a callee to be translated.

use std::sync::Arc;

use super::registers::Registers;

/// Whether to stop at a breakpoint.
pub type Guard = Arc<dyn Fn(&GuardFrame) -> bool + Send + Sync>;

/// The registers of the frame that came to a breakpoint, for as long as a guard looks at them. A
/// register that the function does not have reads as anything.
#[derive(Debug)]
pub struct GuardFrame {
    registers: Registers,
}

impl GuardFrame {
    pub(crate) fn new(registers: Registers) -> Self {
        Self { registers }
    }

    /// A 32-bit register; floats are its bits.
    #[inline]
    #[must_use]
    pub fn i32(&self, ordinal: u16) -> i32 {
        self.registers.word(ordinal).cast_signed()
    }

    /// The register pair that starts at an even ordinal; floats are its bits.
    #[inline]
    #[must_use]
    pub fn i64(&self, ordinal: u16) -> i64 {
        self.registers.pair(ordinal / 2).cast_signed()
    }
}

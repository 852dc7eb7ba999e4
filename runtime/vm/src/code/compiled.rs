//! A function as machine code, beside its executable form. `second_tier` makes and runs it.

use std::fmt;

use memmap2::Mmap;

use super::instructions::{CheckedCode, Instructions};
use super::results_at_hand::{Known, known_after, known_at};
use super::shape::Handle;

/// Machine code of a function: pages that begin with it, and that nothing writes.
pub(crate) struct MachineCode {
    pub(crate) pages: Mmap,
    /// The indices of the instructions at which it can be entered, ascending.
    pub(crate) entries: Box<[u32]>,
    /// The ref registers whose buffers it accesses.
    pub(crate) buffers: Box<[u16]>,
}

impl fmt::Debug for MachineCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MachineCode({} bytes)", self.pages.len())
    }
}

/// What runs free once a function is compiled.
#[derive(Debug)]
pub(crate) struct Compiled<H> {
    /// The same instructions, of which some enter the machine code.
    pub(crate) checked: CheckedCode<H>,
    /// For each instruction, what the interpreter has at hand when it goes on there.
    pub(crate) known: Box<[Known]>,
    pub(crate) machine_code: MachineCode,
}

impl<H: Handle> Compiled<H> {
    /// The form of instructions, of which `free` is the form that ran until now.
    pub(crate) fn new(
        instructions: &Instructions<H>,
        free: &CheckedCode<H>,
        machine_code: MachineCode,
    ) -> Self {
        let flow = instructions.flow();
        let mut checked = free.clone();
        for entry in &machine_code.entries {
            checked.enter_at(*entry);
        }
        let mut known = known_at::<H>(flow, 0);
        let known = (0..instructions.len())
            .map(|index| {
                known = known_after::<H>(known, flow, index);
                known
            })
            .collect();
        Self { checked, known, machine_code }
    }
}

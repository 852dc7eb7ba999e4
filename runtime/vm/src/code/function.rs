//! Functions as they run: their executable form, and the breakpoints in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use vmfb::{BytecodeOffset, FunctionOrdinal};

use super::call_plan::CallPlan;
use super::compiled::Compiled;
use super::instructions::{CheckedCode, Instructions};
use super::shape::Handle;
use crate::position::{FunctionId, ModuleIndex};
use crate::stack::Guard;

/// The executable form of a function.
#[derive(Debug)]
pub(crate) struct FunctionCode<H> {
    /// What [`Self::free`] and [`Self::observed`] are made of.
    pub(crate) instructions: Instructions<H>,
    /// The code that runs when no observer looks.
    pub(crate) free: CheckedCode<H>,
    /// What runs when an observer looks, made when the first one does.
    pub(crate) observed: OnceLock<CheckedCode<H>>,
    /// For each instruction, the offset of its bytecode, or [`SYNTHETIC`].
    pub(crate) offsets: Box<[u32]>,
    /// Offset and index of every bytecode instruction, ascending.
    pub(crate) starts: Box<[(u32, u32)]>,
    pub(crate) calls: Box<[CallPlan]>,
    /// Register lists of `return`, `switch`, `discard.refs`, as `Instr` encodes registers.
    pub(crate) lists: Box<[Box<[u16]>]>,
    pub(crate) texts: Box<[Box<str>]>,
    /// Whether it goes back anywhere.
    pub(crate) has_loops: bool,
    pub(crate) heat: Heat,
    /// What runs instead of `free` when the function was hot; `None` in it if it cannot be had.
    pub(crate) compiled: OnceLock<Option<Compiled<H>>>,
}

/// How long a function has run, about: each time the budget of turns is used up, the time that it
/// took counts for the function that is running.
#[derive(Debug, Default)]
pub(crate) struct Heat(AtomicU64);

impl Heat {
    /// Counts time; returns how much there is, in nanoseconds.
    pub(crate) fn add(&self, time: Duration) -> u64 {
        let nanoseconds = time.as_nanos() as u64;
        self.0.fetch_add(nanoseconds, Ordering::Relaxed).saturating_add(nanoseconds)
    }
}

/// The offset of instructions that are not in the bytecode.
pub(crate) const SYNTHETIC: u32 = u32::MAX;

impl<H> FunctionCode<H> {
    /// Where the instruction at `index` came from. Instructions that are not in the bytecode belong
    /// to the one before them.
    pub(crate) fn offset_at(&self, index: u32) -> BytecodeOffset {
        let known = self.offsets.get(..=index as usize).unwrap_or(&self.offsets);
        let offset = known.iter().rev().find(|offset| **offset != SYNTHETIC);
        BytecodeOffset(offset.copied().unwrap_or(0))
    }

    /// The code that runs when no observer looks and no breakpoint is set.
    #[inline(always)]
    pub(crate) fn unarmed(&self) -> &CheckedCode<H> {
        match self.compiled.get() {
            Some(Some(compiled)) => &compiled.checked,
            _ => &self.free,
        }
    }

    /// The instruction that starts at `offset`.
    pub(crate) fn index_of(&self, offset: BytecodeOffset) -> Option<u32> {
        let found = self.starts.binary_search_by_key(&offset.0, |(offset, _)| *offset).ok()?;
        Some(self.starts[found].1)
    }
}

/// The plan of the call that the instruction at `index` is.
#[inline]
pub(crate) fn plan_of_call<H>(code: &FunctionCode<H>, index: u32) -> Option<&CallPlan> {
    let call = code.instructions.get(index as usize).filter(|instr| instr.code.is_call())?;
    code.calls.get(call.low())
}

/// A bytecode function of a context.
#[derive(Debug)]
pub(crate) struct FunctionSlot<H> {
    pub(crate) module: ModuleIndex,
    pub(crate) ordinal: FunctionOrdinal,
    /// Frame size: 64-bit words of registers.
    pub(crate) word_count: u32,
    /// Frame size: ref registers.
    pub(crate) ref_count: u32,
    pub(crate) code: OnceLock<Box<FunctionCode<H>>>,
    pub(crate) armed: Option<Armed<H>>,
}

/// A function's instructions with breakpoints in them.
#[derive(Debug)]
pub(crate) struct Armed<H> {
    pub(crate) instructions: Instructions<H>,
    /// The code that runs when no observer looks, made from `instructions`.
    pub(crate) free: CheckedCode<H>,
    pub(crate) indices: BTreeSet<u32>,
    /// Those of them that may be passed.
    pub(crate) guards: BTreeMap<u32, Guarded<H>>,
}

impl<H: Handle> Armed<H> {
    pub(crate) fn new(code: &FunctionCode<H>) -> Self {
        Self {
            instructions: code.instructions.clone(),
            free: code.free.clone(),
            indices: BTreeSet::new(),
            guards: BTreeMap::new(),
        }
    }

    /// Updates the running code after a change of the instruction at `index`.
    pub(crate) fn update(&mut self, original: &FunctionCode<H>, index: u32) {
        let changed = self.free.update(&self.instructions, index);
        for guarded in self.guards.range(changed).map(|(guarded, _)| guarded) {
            self.free.guard(&original.instructions, *guarded);
        }
    }
}

impl<H> FunctionSlot<H> {
    pub(crate) fn id(&self) -> FunctionId {
        FunctionId { module: self.module, function: self.ordinal }
    }

    /// Whether a breakpoint is set on the instruction at `index`.
    pub(crate) fn is_armed(&self, index: u32) -> bool {
        self.armed.as_ref().is_some_and(|armed| armed.indices.contains(&index))
    }
}

/// A guard, and the handler that runs the guarded instruction.
pub(crate) struct Guarded<H> {
    pub(crate) guard: Guard,
    pub(crate) handler: H,
}

impl<H> fmt::Debug for Guarded<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guarded")
    }
}

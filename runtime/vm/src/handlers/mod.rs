//! What instructions do. [`table`] has a row for each; the rows are made of the families here.
//!
//! | file | holds |
//! | --- | --- |
//! | `operand` | how operands of the four number types are read and written |
//! | `family` | macros: instructions that differ in type and function only |
//! | `control` | jumps, calls, returns |
//! | `memory` | loads and stores of buffers, globals, lists |
//! | `slow` | what takes longer than deciding how to do it: safe code, out of line |
//! | `table` | every instruction, in one of the families |

#[macro_use]
mod family;
#[macro_use]
mod memory;
mod control;
mod operand;
mod slow;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use operand::{Bank, Field};
pub(crate) use table::entry;

use crate::code::Code;
use crate::cursor::Cursor;
use crate::machine::{Dispatch, Free, Handler, Machine, Signal, State};
use crate::registers::{Refs, Registers};

/// What an instruction reads and writes, as far as others want to know.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Shape {
    /// What it reads in `a`, `b`, `c`, if it can take that from the accumulator.
    pub(crate) reads: [Option<Bank>; 3],
    /// What it leaves in the accumulator, and in which register it writes that.
    pub(crate) writes: Option<(Field, Bank)>,
    /// Whether `a` is a ref that its handler reads without a check.
    pub(crate) reads_ref: bool,
}

/// The handlers of an instruction: all operands from registers, or some from the accumulator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variants {
    pub(crate) plain: Handler,
    pub(crate) a: Option<Handler>,
    pub(crate) b: Option<Handler>,
    pub(crate) c: Option<Handler>,
    /// `a` and `b` are the same register.
    pub(crate) both: Option<Handler>,
}

/// All there is to an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) shape: Shape,
    pub(crate) variants: Variants,
    /// Handlers that do the conditional jump behind it too, which looks at its result,
    pub(crate) forward: Option<Variants>,
    /// and the same for one that looks at fuel and interrupts.
    pub(crate) backward: Option<Variants>,
}

/// What an instruction reads and writes.
pub(crate) fn shape(code: Code) -> Shape {
    entry::<Free>(code).shape
}

/// What a handler does.
trait Operation {
    /// Runs the instruction at the state's cursor, then the next one.
    fn run<D: Dispatch>(state: State, machine: &mut Machine<'_>) -> Signal;
}

/// An operation as a handler.
#[allow(clippy::too_many_arguments, reason = "they are the state, in registers of the host")]
fn handler<D: Dispatch, O: Operation>(
    cursor: Cursor,
    registers: Registers,
    refs: Refs,
    machine: &mut Machine<'_>,
    word: u64,
    budget: u32,
    single: f32,
    double: f64,
) -> Signal {
    O::run::<D>(State { cursor, registers, refs, word, budget, single, double }, machine)
}

impl Variants {
    const fn only<D: Dispatch, O: Operation>() -> Self {
        Self { plain: handler::<D, O>, a: None, b: None, c: None, both: None }
    }

    const fn first<D: Dispatch, O: Operation, A: Operation>() -> Self {
        Self { a: Some(handler::<D, A>), ..Self::only::<D, O>() }
    }
}

impl Entry {
    const fn new(variants: Variants) -> Self {
        let shape = Shape { reads: [None; 3], writes: None, reads_ref: false };
        Self { shape, variants, forward: None, backward: None }
    }
}

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

pub(crate) use operand::{Bank, Field, Operand, Origin};
pub(crate) use table::entry;

use crate::code::Code;
use crate::cursor::Cursor;
use crate::machine::{Dispatch, Free, Handler, Machine, Signal, State};
use crate::registers::Registers;

/// What an instruction reads and writes, as far as others want to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// What it reads in `a`, `b`, `c`, if it can take that from elsewhere than registers.
    pub(crate) reads: [Option<Bank>; 3],
    /// What it writes in which register, and leaves as the last result of its type.
    pub(crate) writes: Option<(Field, Bank)>,
    /// Whether it does not leave it: comparisons, whose results hardly anybody but the jump behind
    /// them looks at, and in the place of which loops had better keep what they count with.
    pub(crate) is_test: bool,
    /// Whether it may write other registers.
    pub(crate) writes_more: bool,
    /// Whether `a` is a ref that its handler reads without a check.
    pub(crate) reads_ref: bool,
}

/// A handler for operands of these origins. None where nobody asks for it: observers take all
/// operands from registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variant {
    pub(crate) origins: [Origin; 3],
    pub(crate) handler: Option<Handler>,
}

/// The handlers of an instruction. The first takes all operands from registers.
pub(crate) type Variants = &'static [Variant];

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

/// The handler of an instruction behind a guard.
pub(crate) fn guard<D: Dispatch>() -> Handler {
    handler::<D, control::Guarded>
}

/// What a handler does.
trait Operation {
    /// Runs the instruction at the state's cursor, then the next one.
    fn run<D: Dispatch>(state: State, machine: &mut Machine<'_>) -> Signal;
}

/// Makes a function of the shape of a handler from an operation.
macro_rules! handler {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        #[allow(clippy::too_many_arguments, reason = "they are the state, in registers of the host")]
        fn $name<D: Dispatch, O: Operation>(
            cursor: Cursor,
            registers: Registers,
            machine: &mut Machine<'_>,
            word: u64,
            previous_word: u64,
            budget: u32,
            single: f32,
            previous_single: f32,
            double: f64,
            previous_double: f64,
        ) -> Signal {
            let words = [word, previous_word];
            let singles = [single, previous_single];
            let doubles = [double, previous_double];
            O::run::<D>(State { cursor, registers, budget, words, singles, doubles }, machine)
        }
    };
}

handler! {
    /// An operation as a handler.
    handler
}

handler! {
    /// An operation that is rare, and that others jump to: in their place it would cost them time,
    /// as it needs room on the host's stack.
    #[cold]
    #[inline(never)]
    cold_handler
}

impl Variant {
    /// The handler for operands in registers.
    const fn plain<D: Dispatch, O: Operation>() -> Self {
        Self { origins: [Origin::Register; 3], handler: Some(handler::<D, O>) }
    }

    /// One for operands from elsewhere.
    const fn of<D: Dispatch, O: Operation>(origins: [Origin; 3]) -> Self {
        let handler: Option<Handler> = if D::OBSERVES { None } else { Some(handler::<D, O>) };
        Self { origins, handler }
    }
}

impl Entry {
    const fn new(variants: Variants) -> Self {
        let shape = Shape {
            reads: [None; 3],
            writes: None,
            is_test: false,
            writes_more: false,
            reads_ref: false,
        };
        Self { shape, variants, forward: None, backward: None }
    }
}

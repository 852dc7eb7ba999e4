//! Operations, and the handlers that are made of them.

use crate::code::{self, Origin, Shape};
use crate::machine::{Cursor, Dispatch, Handler, Machine, Signal, State};
use crate::stack::Registers;

/// The handlers of an instruction.
pub(super) type Entry = code::Entry<Handler>;

/// One of the handlers of an instruction.
pub(super) type Variant = code::Variant<Handler>;

/// The handlers of an instruction for each origin of its operands.
pub(super) type Variants = code::Variants<Handler>;

/// What a handler does.
pub(super) trait Operation {
    /// Runs the instruction at the state's cursor, then the next one.
    fn run<D: Dispatch>(state: State, machine: &mut Machine<'_>) -> Signal;
}

/// Makes a function of the shape of a handler from an operation.
macro_rules! handler {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        #[allow(clippy::too_many_arguments, reason = "they are the state, in host registers")]
        pub(super) fn $name<D: Dispatch, O: Operation>(
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
    /// A rare operation that others jump to. Inlined there, it would cost them time, as it needs
    /// room on the host's stack.
    #[cold]
    #[inline(never)]
    cold_handler
}

impl Variant {
    /// The handler for operands in registers.
    pub(super) const fn plain<D: Dispatch, O: Operation>() -> Self {
        Self { origins: [Origin::Register; 3], handler: Some(Handler(handler::<D, O>)) }
    }

    /// One for operands from elsewhere.
    pub(super) const fn of<D: Dispatch, O: Operation>(origins: [Origin; 3]) -> Self {
        let handler: Option<Handler> =
            if D::OBSERVES { None } else { Some(Handler(handler::<D, O>)) };
        Self { origins, handler }
    }
}

impl Entry {
    pub(super) const fn new(variants: Variants) -> Self {
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

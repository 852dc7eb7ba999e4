//! What code must know of the handlers that run it: what each instruction reads and writes, and its
//! handlers. [`Handle`] is the way to them, as `handlers` is above this room.

use super::instr::{Code, Instr};

/// The type of a value, as far as registers and results at hand distinguish types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bank {
    Word,
    Pair,
    Single,
    Double,
}

/// An operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Field {
    A,
    B,
    C,
    /// The lowest lane of `imm`.
    D,
}

impl Field {
    /// The register in that field.
    pub(crate) fn of(self, instr: &Instr) -> u16 {
        match self {
            Self::A => instr.a,
            Self::B => instr.b,
            Self::C => instr.c,
            Self::D => instr.lane(0),
        }
    }
}

/// Where a handler takes an operand from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// The register that the instruction names.
    Register,
    /// The last result of the type.
    Last,
    /// The one before that.
    Previous,
}

/// What an instruction reads and writes, as far as code must know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// The banks of `a`, `b` and `c`, for operands that a handler can take from a result at hand.
    pub(crate) reads: [Option<Bank>; 3],
    /// The register that it writes, and whose value becomes the last result of its type.
    pub(crate) writes: Option<(Field, Bank)>,
    /// Whether it is a comparison, whose result does not become a result at hand: hardly anything
    /// but the jump after it reads that, and loops had better keep their variables at hand.
    pub(crate) is_test: bool,
    /// Whether it may write other registers.
    pub(crate) writes_more: bool,
    /// Whether `a` is a ref that its handler reads without a check.
    pub(crate) reads_ref: bool,
}

/// A handler for operands of these origins. `None` for observers, who take all operands from
/// registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variant<H> {
    pub(crate) origins: [Origin; 3],
    pub(crate) handler: Option<H>,
}

/// The handlers of an instruction. The first takes all operands from registers.
pub(crate) type Variants<H> = &'static [Variant<H>];

/// The shape and the handlers of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<H: 'static> {
    pub(crate) shape: Shape,
    pub(crate) variants: Variants<H>,
    /// Handlers that also do the conditional jump after the instruction, which tests its result,
    pub(crate) forward: Option<Variants<H>>,
    /// and handlers for a jump that also checks fuel and interrupts.
    pub(crate) backward: Option<Variants<H>>,
}

/// A handler, with the way to all others of its kind. Code is generic in it: it is checked for the
/// very handlers that will run it.
pub(crate) trait Handle: Copy + 'static {
    /// The handlers of an instruction, for running free.
    fn free(code: Code) -> Entry<Self>;

    /// The handlers of an instruction, for observers.
    fn observed(code: Code) -> Entry<Self>;

    /// The handler that asks a guard before it runs an instruction.
    fn guard() -> Self;

    /// The handler that enters machine code.
    fn entering() -> Self;

    /// A handler that leaves the machine, for use where none exists.
    fn leaving() -> Self;

    /// What an instruction reads and writes.
    fn shape(code: Code) -> Shape {
        Self::free(code).shape
    }
}

//! What code must know of the handlers that run it: what each instruction reads and writes, and
//! which handlers there are for it. [`Handle`] is the door to them: `handlers` is above this room.

use super::instr::{Code, Instr};

/// What a value is, as far as registers and the accumulator tell types apart.
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
    /// The register there.
    pub(crate) fn of(self, instr: &Instr) -> u16 {
        match self {
            Self::A => instr.a,
            Self::B => instr.b,
            Self::C => instr.c,
            Self::D => instr.lane(0),
        }
    }
}

/// Where an operand comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// The register that the instruction names.
    Register,
    /// The last result of the type.
    Last,
    /// The one before that.
    Previous,
}

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
pub(crate) struct Variant<H> {
    pub(crate) origins: [Origin; 3],
    pub(crate) handler: Option<H>,
}

/// The handlers of an instruction. The first takes all operands from registers.
pub(crate) type Variants<H> = &'static [Variant<H>];

/// All there is to an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<H: 'static> {
    pub(crate) shape: Shape,
    pub(crate) variants: Variants<H>,
    /// Handlers that do the conditional jump behind it too, which looks at its result,
    pub(crate) forward: Option<Variants<H>>,
    /// and the same for one that looks at fuel and interrupts.
    pub(crate) backward: Option<Variants<H>>,
}

/// A handler, with the way to all of its kind. Code is checked for the handlers that will run it,
/// which is why it is generic in them.
pub(crate) trait Handle: Copy + 'static {
    /// The handlers of an instruction, for running free.
    fn free(code: Code) -> Entry<Self>;

    /// The handlers of an instruction, for observers.
    fn observed(code: Code) -> Entry<Self>;

    /// The handler that asks a guard before it runs an instruction.
    fn guard() -> Self;

    /// A handler that leaves the machine: in the place of one that is not there.
    fn leaving() -> Self;

    /// What an instruction reads and writes.
    fn shape(code: Code) -> Shape {
        Self::free(code).shape
    }
}

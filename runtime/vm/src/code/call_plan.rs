//! Calls, prepared: which registers go where.

use abi::cconv::ValueType;
use vmfb::Register;

use crate::modules::Target;

/// How a value sits in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Slot {
    /// A 32-bit register, by ordinal.
    Word(u16),
    /// A register pair, by pair number.
    Pair(u16),
    /// A ref register, with the move bit.
    Ref(u16),
}

/// A value that goes into a native function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NativeArgument {
    I32(u16),
    I64(u16),
    F32(u16),
    F64(u16),
    Ref(u16),
    /// How many tuples of a span follow.
    Count(u16),
}

/// A call, prepared.
#[derive(Debug)]
pub(crate) struct CallPlan {
    pub(crate) target: Target,
    /// For bytecode: 32-bit registers to copy, caller's to callee's.
    pub(crate) words: Box<[(u16, u16)]>,
    /// For bytecode: register pairs to copy.
    pub(crate) pairs: Box<[(u16, u16)]>,
    /// For bytecode: refs to copy or move.
    pub(crate) refs: Box<[(u16, u16)]>,
    /// For native functions: the arguments.
    pub(crate) arguments: Box<[NativeArgument]>,
    /// Where the results go, in the caller's registers.
    pub(crate) results: Box<[Slot]>,
    /// The instruction at which the caller resumes.
    pub(crate) next: u32,
}

/// Where the arguments of a function with this signature arrive. Spans have no registers.
pub(crate) fn argument_slots(types: &[ValueType]) -> impl Iterator<Item = Slot> {
    let mut word = 0;
    let mut reference = 0;
    types.iter().filter_map(move |value_type| match value_type {
        ValueType::I32 | ValueType::F32 => {
            word += 1;
            Some(Slot::Word(word - 1))
        }
        ValueType::I64 | ValueType::F64 => {
            word = (word + 1) & !1;
            word += 2;
            Some(Slot::Pair(word / 2 - 1))
        }
        ValueType::Ref => {
            reference += 1;
            Some(Slot::Ref(reference - 1))
        }
        ValueType::Span(_) => None,
    })
}

/// Where a register of a list is, by its type.
pub(crate) fn slot(register: Register, value_type: &ValueType) -> Slot {
    match value_type {
        ValueType::I32 | ValueType::F32 | ValueType::Span(_) => Slot::Word(register.ordinal()),
        ValueType::I64 | ValueType::F64 => Slot::Pair(register.ordinal() / 2),
        ValueType::Ref => Slot::Ref(register.0),
    }
}

/// A register of a list of which nothing is known but the bank.
pub(crate) fn slot_by_bank(register: Register) -> Slot {
    if register.is_ref() { Slot::Ref(register.0) } else { Slot::Word(register.ordinal()) }
}

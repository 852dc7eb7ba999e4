//! The registers that instructions read and write.

use abi::cconv::{Signature, ValueType};
use debuginfo::RegisterSlot;
use vmfb::Register;
use vmfb::decode::Instruction;
use vmfb::isa::Bank;

/// The registers that an instruction reads.
pub(crate) fn registers_read(instruction: &Instruction<'_>) -> Vec<RegisterSlot> {
    let uses = instruction.register_uses().filter(|it| !it.is_write);
    uses.map(|it| slot(it.bank, it.register)).collect()
}

/// Whether an instruction writes a register.
pub(crate) fn writes_register(instruction: &Instruction<'_>, register: RegisterSlot) -> bool {
    let mut written = instruction.register_uses().filter(|it| it.is_write);
    written.any(|it| overlap(slot(it.bank, it.register), register))
}

/// Whether a call of a function puts an argument into a register.
pub(crate) fn takes_argument(signature: &Signature, register: RegisterSlot) -> bool {
    let (mut next, mut next_ref) = (0_u16, 0_u16);
    signature.arguments.iter().any(|argument| {
        let slot = match argument {
            ValueType::Ref => RegisterSlot::Ref(next_ref),
            ValueType::I64 | ValueType::F64 => RegisterSlot::I64(next.next_multiple_of(2)),
            _ => RegisterSlot::I32(next),
        };
        if slot.is_ref() {
            next_ref = next_ref.saturating_add(1);
        } else {
            next = slot.ordinal().saturating_add(1 + u16::from(slot.is_pair()));
        }
        overlap(slot, register)
    })
}

/// A register as an instruction uses it.
pub(crate) fn slot(bank: Bank, register: Register) -> RegisterSlot {
    let ordinal = register.ordinal();
    if register.is_ref() {
        return RegisterSlot::Ref(ordinal);
    }
    match bank {
        Bank::I64 => RegisterSlot::I64(ordinal),
        Bank::F32 => RegisterSlot::F32(ordinal),
        Bank::F64 => RegisterSlot::F64(ordinal),
        _ => RegisterSlot::I32(ordinal),
    }
}

/// Whether two registers share bits.
pub(crate) fn overlap(one: RegisterSlot, other: RegisterSlot) -> bool {
    let cells = |slot: RegisterSlot| {
        let first = u32::from(slot.ordinal());
        first..first + 1 + u32::from(slot.is_pair())
    };
    let (left, right) = (cells(one), cells(other));
    one.is_ref() == other.is_ref() && left.start < right.end && right.start < left.end
}

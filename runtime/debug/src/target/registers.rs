//! The registers that instructions read and write.

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

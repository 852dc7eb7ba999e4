//! Registers: their names, and the values in them.
//!
//! A register has no type of its own; a [`RegisterSlot`] says how to look at it, as the debug
//! companion declares it or the instructions imply it.

use debuginfo::RegisterSlot;
use vm::{FrameIndex, Invocation, Value};

/// Reads a register of a frame.
#[must_use]
pub(crate) fn value(
    invocation: &Invocation,
    frame: FrameIndex,
    slot: RegisterSlot,
) -> Option<Value> {
    let word = |ordinal| invocation.register_i32(frame, ordinal);
    let pair = |ordinal| invocation.register_i64(frame, ordinal);
    Some(match slot {
        RegisterSlot::I32(ordinal) => Value::I32(word(ordinal)?),
        RegisterSlot::F32(ordinal) => Value::F32(f32::from_bits(word(ordinal)?.cast_unsigned())),
        RegisterSlot::I64(ordinal) => Value::I64(pair(ordinal)?),
        RegisterSlot::F64(ordinal) => Value::F64(f64::from_bits(pair(ordinal)?.cast_unsigned())),
        RegisterSlot::Ref(ordinal) => Value::Ref(invocation.register_ref(frame, ordinal)?.clone()),
    })
}

/// The name of a register as the disassembly writes it: `i0`, `i2:3`, `r0`.
#[must_use]
pub(crate) fn name(slot: RegisterSlot) -> String {
    let ordinal = slot.ordinal();
    match slot {
        RegisterSlot::I32(_) | RegisterSlot::F32(_) => format!("i{ordinal}"),
        RegisterSlot::I64(_) | RegisterSlot::F64(_) => {
            format!("i{ordinal}:{}", u32::from(ordinal) + 1)
        }
        RegisterSlot::Ref(_) => format!("r{ordinal}"),
    }
}

/// A register by its name.
pub(crate) fn parse(name: &str) -> Option<RegisterSlot> {
    if let Some(digits) = name.strip_prefix('r').or_else(|| name.strip_prefix('R')) {
        return digits.parse().ok().map(RegisterSlot::Ref);
    }
    let digits = name.strip_prefix('i')?;
    match digits.split_once(':') {
        None => digits.parse().ok().map(RegisterSlot::I32),
        Some((low, high)) => {
            let low: u16 = low.parse().ok()?;
            let is_pair = low.is_multiple_of(2) && high.parse() == Ok(u32::from(low) + 1);
            is_pair.then_some(RegisterSlot::I64(low))
        }
    }
}

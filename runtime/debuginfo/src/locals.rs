//! Named values at an instruction.

use std::sync::Arc;

use vmfb::isa::Bank;

use crate::frames;
use crate::info::{DebugInfo, FunctionInfo};
use crate::location::SourcePosition;
use crate::register::RegisterSlot;

/// A value that can be read where the program stands.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalValue {
    /// Its SSA name in the VM program, unique in the function: `%0`, `%bb1_arg0`.
    pub name: String,
    /// Its name in the text of the VM program, where that is another one: `%1` for `%bb1_arg0`.
    pub listing_name: Option<String>,
    /// What the user called it, where the source says so: `%acc`.
    pub source_name: Option<String>,
    /// Its MLIR type.
    pub mlir_type: Arc<str>,
    /// Where it is.
    pub register: RegisterSlot,
    /// Which argument of the function it is, if it is one.
    pub argument: Option<u32>,
    /// Where it was written.
    pub position: Option<SourcePosition>,
    /// The same from its function inwards: the places of the calls that were inlined around it, at last its
    /// own. Empty where that is not known.
    pub path: Vec<SourcePosition>,
}

/// Without a companion, the source still names some values: the operation at an instruction's position
/// has a name on its left, and the instruction's result is in the register that it writes, until the
/// register is written again. Only the block that the program stands in is looked at, since what
/// happened before depends on the way taken.
pub(crate) fn from_positions(
    info: &DebugInfo,
    function: &FunctionInfo,
    index: usize,
) -> Vec<LocalValue> {
    let instructions = &function.code.instructions;
    let block = (0..=index).rev().find(|at| instructions[*at].begins_block).unwrap_or(0);
    let mut locals: Vec<LocalValue> = Vec::new();
    for (at, instruction) in instructions.iter().enumerate().take(index).skip(block) {
        for ordinal in &instruction.emptied {
            forget(&mut locals, RegisterSlot::Ref(*ordinal));
        }
        for write in &instruction.writes {
            forget(&mut locals, slot(write.bank, write.register));
        }
        if let [write] = instruction.writes.as_slice() {
            locals.extend(named(info, function, at, slot(write.bank, write.register)));
        }
    }
    locals
}

fn named(
    info: &DebugInfo,
    function: &FunctionInfo,
    at: usize,
    register: RegisterSlot,
) -> Option<LocalValue> {
    let location = function.rows.get(at)?.location?;
    let is_shared = function.rows.iter().zip(&function.code.instructions).enumerate().any(
        |(other, (row, code))| {
            other != at && row.location == Some(location) && !code.writes.is_empty()
        },
    );
    let position = *frames::call_chain(info.locations(), location).first()?;
    if is_shared || frames::is_generated(info.locations(), location) {
        return None;
    }
    let names = info.source(position.file)?.result_names(position.line, position.column);
    let [name] = names.as_slice() else { return None };
    Some(LocalValue {
        name: name.clone(),
        listing_name: None,
        source_name: Some(name.clone()),
        mlir_type: register.type_name().into(),
        register,
        argument: None,
        position: Some(position),
        path: info.path_of(function, location),
    })
}

/// Drops what a write to a register destroys.
fn forget(locals: &mut Vec<LocalValue>, written: RegisterSlot) {
    let span = |slot: RegisterSlot| {
        let first = u32::from(slot.ordinal());
        first..first + if slot.is_pair() { 2 } else { 1 }
    };
    let written_span = span(written);
    locals.retain(|local| {
        let own = span(local.register);
        local.register.is_ref() != written.is_ref()
            || own.end <= written_span.start
            || written_span.end <= own.start
    });
}

fn slot(bank: Bank, register: vmfb::Register) -> RegisterSlot {
    let ordinal = register.ordinal();
    match bank {
        _ if register.is_ref() => RegisterSlot::Ref(ordinal),
        Bank::F32 => RegisterSlot::F32(ordinal),
        Bank::I64 => RegisterSlot::I64(ordinal),
        Bank::F64 => RegisterSlot::F64(ordinal),
        _ => RegisterSlot::I32(ordinal),
    }
}

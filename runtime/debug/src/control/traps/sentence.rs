//! Sentences about instructions, for traps.

use debuginfo::{RegisterSlot, ScopedValue, ValueLocation};
use vm::{FrameIndex, Position};
use vmfb::Instruction;

use crate::machine::Machine;
use crate::target::level::Level;
use crate::target::registers::{overlap, registers_read};
use crate::target::written_operation::{Written, is_commutative};
use crate::view::register;
use crate::view::text::value_text;

/// An instruction with `what` happens to it: as the operation of the source, with its operands and
/// its place.
pub(crate) fn trap_sentence(machine: &Machine, at: Position, what: &str) -> String {
    // Commands that share a dispatch have operations of their own.
    let written = match machine.own_path(machine.level, FrameIndex(0), at) {
        Some((module, path)) => {
            let place = path.last();
            place.and_then(|place| machine.lines().written_operation_at(at, module, *place))
        }
        None => machine.lines().written_operation(at),
    };
    let head = match &written {
        Some(written) => written.text.clone(),
        None => instruction_text(machine, at),
    };
    let operands = operand_values(machine, at, written.as_ref());
    let operands =
        if operands.is_empty() { String::new() } else { format!(": {}", operands.join(", ")) };
    let source = machine.own_source_line(at);
    let line = written.as_ref().map(|written| written.line);
    // The frame has the whole path.
    let place = source.map(|it| format!("{}:{}", it.file_name(), line.unwrap_or(it.line)));
    let around = elements_around(machine);
    let place: Vec<String> = place.into_iter().chain(around).collect();
    let place = if place.is_empty() { String::new() } else { format!(" ({})", place.join(", ")) };
    format!("{head} {what}{operands}{place}")
}

/// The size of the output of the dispatch around the instruction.
fn elements_around(machine: &Machine) -> Option<String> {
    let dispatch = machine.dispatch(FrameIndex(0))?;
    let written = machine.written_tensors(&dispatch);
    let [(_, tensor)] = written.as_slice() else { return None };
    Some(format!("in a dispatch that writes {} elements", tensor.count()))
}

/// `vm.div.f32 into i3 at 00000091`.
fn instruction_text(machine: &Machine, at: Position) -> String {
    let text = || {
        let address = machine.program.linear(at)?;
        machine.disassemble(address, 0, 1).pop().map(|instruction| instruction.text)
    };
    text().unwrap_or_else(|| format!("the instruction at {}", at.offset))
}

/// The values that an instruction reads: `%s = -0.5`. They have the names of the operation's
/// operands where these are certain, and otherwise the names of registers.
fn operand_values(machine: &Machine, at: Position, written: Option<&Written>) -> Vec<String> {
    let (Some(invocation), Some(module)) =
        (machine.invocation(), machine.program.module(at.function.module))
    else {
        return Vec::new();
    };
    let code = module.module.function_bytecode(at.function.function);
    let Ok(instruction) = vmfb::decode(code, at.offset) else { return Vec::new() };
    let slots = registers_read(&instruction);
    let given = machine.given(FrameIndex(0));
    let is_shared = machine.own_path(machine.level, FrameIndex(0), at).is_some();
    // The registers of shared code are known by the names of its first command only.
    let scope =
        (!is_shared).then(|| machine.program.scope(Level::Source, at, None, given)).flatten();
    let scope = scope.as_deref().unwrap_or_default();
    let names = operand_names(&instruction, &slots, scope, written);
    let values = slots.iter().zip(names).filter_map(|(slot, name)| {
        let value = register::value(invocation, FrameIndex(0), *slot)?;
        let name = name.unwrap_or_else(|| register::name(*slot));
        Some(format!("{name} = {}", value_text(&value)))
    });
    let mut shown: Vec<String> = values.collect();
    shown.dedup();
    shown
}

/// The names of the values that an instruction reads. The compiler may swap the operands of a
/// commutative operation; for the others, their order tells.
fn operand_names(
    instruction: &Instruction<'_>,
    slots: &[RegisterSlot],
    scope: &[ScopedValue],
    written: Option<&Written>,
) -> Vec<Option<String>> {
    let Some(written) = written.filter(|it| it.operands.len() == slots.len()) else {
        return vec![None; slots.len()];
    };
    let is_ordered = slots.len() == 1 || !is_commutative(instruction.op);
    if is_ordered {
        return written.operands.iter().cloned().map(Some).collect();
    }
    let named = |slot: &RegisterSlot| {
        let is_it = |value: &&ScopedValue| {
            matches!(&value.location, ValueLocation::Register(held) if overlap(*held, *slot))
                && written.operands.contains(&value.name)
        };
        scope.iter().find(is_it).map(|value| value.name.clone())
    };
    let mut names: Vec<Option<String>> = slots.iter().map(named).collect();
    let used: Vec<String> = names.iter().flatten().cloned().collect();
    let unused: Vec<&String> = written.operands.iter().filter(|it| !used.contains(it)).collect();
    let mut unnamed = names.iter_mut().filter(|name| name.is_none());
    if let ([only], Some(name), None) = (unused.as_slice(), unnamed.next(), unnamed.next()) {
        *name = Some((*only).clone());
    }
    names
}

//! Aligns a companion function with a function of a module: the one with the same ordinal, if its
//! operations equal the instructions one by one.
//!
//! The compiler omits three operations from the bytecode where they would do nothing:
//! `vm.assign.ref` and `vm.cast.ref.any` (which is encoded as the former) between equal registers,
//! and `vm.discard.refs` of registers whose refs were moved out before.

use vmfb::decode::RegisterUse;
use vmfb::{FunctionOrdinal, Module, Op};

use super::mismatch::Mismatch;
use crate::bytecode::{Code, CodeInstruction, RegisterSlot};
use crate::companion::{Companion, CompanionFunction, Operation, Value};
use crate::locations::LocationId;

/// A companion function that fits, with the operation of each instruction.
#[derive(Debug)]
pub(crate) struct Aligned {
    pub(crate) function: CompanionFunction,
    /// By instruction, the index of its operation.
    pub(crate) operations: Vec<u32>,
}

impl Aligned {
    /// The location of each instruction.
    pub(crate) fn locations(&self) -> Vec<Option<LocationId>> {
        let operation = |index: &u32| self.function.operations.get(*index as usize);
        self.operations.iter().map(|index| operation(index).map(|it| it.location)).collect()
    }

    /// The values that can be read before an instruction. References that the operation discards
    /// and the instruction does not were moved out before, so they are not among them.
    pub(crate) fn live_before(&self, index: usize, code: &Code) -> Vec<&Value> {
        let Some(operation) = self.operations.get(index).map(|operation| *operation as usize)
        else {
            return Vec::new();
        };
        let mut values: Vec<&Value> = self.function.live_before(operation).collect();
        let instruction = code.instructions.get(index).filter(|it| it.op == Op::DiscardRefs);
        if let (Some(instruction), Some(operation)) =
            (instruction, self.function.operations.get(operation))
        {
            let discarded: Vec<RegisterSlot> =
                operand_registers(&self.function, operation).collect();
            values.retain(|value| match value.register {
                Some(RegisterSlot::Ref(ordinal))
                    if discarded.contains(&RegisterSlot::Ref(ordinal)) =>
                {
                    instruction.emptied.contains(&ordinal)
                }
                _ => true,
            });
        }
        values
    }
}

/// Checks that a companion has the function of this ordinal exactly as the module has it.
pub(crate) fn companion_function(
    module: &Module,
    companion: &Companion,
    ordinal: FunctionOrdinal,
    code: &Code,
) -> Result<Aligned, Mismatch> {
    let function = companion.functions.get(ordinal.index()).ok_or(Mismatch::Missing)?;
    check_export(module, companion, ordinal, function)?;
    let mut instructions = code.instructions.iter().peekable();
    let mut operations = Vec::with_capacity(code.instructions.len());
    for (operation, index) in function.operations.iter().zip(0..) {
        let instruction = instructions.next_if(|next| !is_left_out(function, operation, next));
        if let Some(instruction) = instruction {
            check_instruction(function, operation, instruction)?;
            operations.push(index);
        } else if instructions.peek().is_none() {
            break;
        }
    }
    if instructions.peek().is_some() || is_cut_short(function, &operations) {
        return Err(Mismatch::Count {
            operations: function.operations.len(),
            instructions: code.instructions.len(),
        });
    }
    Ok(Aligned { function: function.clone(), operations })
}

/// Whether operations remain after the last instruction. Every function ends in an instruction.
fn is_cut_short(function: &CompanionFunction, operations: &[u32]) -> bool {
    operations.last().map_or(0, |last| *last as usize + 1) != function.operations.len()
}

/// Whether the compiler omitted an operation, given the instruction that would be its own.
fn is_left_out(
    function: &CompanionFunction,
    operation: &Operation,
    next: &CodeInstruction,
) -> bool {
    match &*operation.mnemonic {
        "vm.assign.ref" | "vm.cast.ref.any" => {
            let source = operand_registers(function, operation).next();
            let target = function.results(operation).first().and_then(|value| value.register);
            source.is_some() && source == target
        }
        "vm.discard.refs" => {
            let is_operand = |ordinal: &u16| {
                operand_registers(function, operation)
                    .any(|slot| slot == RegisterSlot::Ref(*ordinal))
            };
            next.op != Op::DiscardRefs || !next.emptied.iter().all(is_operand)
        }
        _ => false,
    }
}

fn operand_registers(
    function: &CompanionFunction,
    operation: &Operation,
) -> impl Iterator<Item = RegisterSlot> {
    function
        .operands(operation)
        .filter_map(|id| function.values.get(id.0 as usize).and_then(|value| value.register))
}

fn check_instruction(
    function: &CompanionFunction,
    operation: &Operation,
    instruction: &CodeInstruction,
) -> Result<(), Mismatch> {
    if encoded_mnemonic(operation) != instruction.op.mnemonic() {
        return Err(Mismatch::Mnemonic {
            offset: instruction.offset,
            operation: operation.mnemonic.to_string(),
            instruction: format!("vm.{}", instruction.op.mnemonic()),
        });
    }
    let results = function.results(operation);
    if instruction.writes.len() != results.len() {
        return Ok(());
    }
    for (value, write) in results.iter().zip(&instruction.writes) {
        if value.register.is_some_and(|slot| !is_same_register(slot, write)) {
            return Err(Mismatch::Register {
                offset: instruction.offset,
                companion: value.register.map(|slot| slot.to_string()).unwrap_or_default(),
                module: register_text(write),
            });
        }
    }
    Ok(())
}

/// The mnemonic of the instruction that an operation becomes.
fn encoded_mnemonic(operation: &Operation) -> &str {
    match operation.mnemonic.strip_prefix("vm.").unwrap_or(&operation.mnemonic) {
        "cast.ref.any" => "assign.ref",
        mnemonic => mnemonic,
    }
}

/// Checks that all exported names of an ordinal mean the same function on both sides.
fn check_export(
    module: &Module,
    companion: &Companion,
    ordinal: FunctionOrdinal,
    function: &CompanionFunction,
) -> Result<(), Mismatch> {
    for exported in module.export_names(ordinal) {
        let meant = companion.exports.iter().find(|export| export.name == exported);
        if meant.is_none_or(|export| export.function != function.name) {
            return Err(Mismatch::Name {
                companion: function.name.clone(),
                module: exported.to_owned(),
            });
        }
    }
    Ok(())
}

fn is_same_register(slot: RegisterSlot, write: &RegisterUse) -> bool {
    slot.is_ref() == write.register.is_ref() && slot.ordinal() == write.register.ordinal()
}

fn register_text(usage: &RegisterUse) -> String {
    let bank = if usage.register.is_ref() { 'r' } else { 'i' };
    format!("%{bank}{}", usage.register.ordinal())
}

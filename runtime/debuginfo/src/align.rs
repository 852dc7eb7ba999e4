//! Which companion function and which database map belong to which function of a module.
//!
//! Nothing in the files says so, so it is checked: a companion function is the one with the same
//! ordinal if the operations equal the instructions one by one; a database map is one whose offsets
//! are all offsets of instructions. A mismatch costs that function its map and is reported; a wrong
//! map would be worse than none.
//!
//! Three operations are special, as the compiler leaves them out of the bytecode where they would
//! do nothing: `vm.assign.ref` and `vm.cast.ref.any` (which is encoded as the former) between equal
//! registers, and `vm.discard.refs` of registers that were moved out of before.

use std::fmt;

use vmfb::debug_database::FunctionSourceMap;
use vmfb::decode::RegisterUse;
use vmfb::{BytecodeOffset, DebugDatabase, FunctionOrdinal, Module, Op};

use crate::code::{Code, CodeInstruction};
use crate::companion::{Companion, CompanionFunction, Operation, Value};
use crate::location::LocationId;
use crate::register::RegisterSlot;

/// Why a function of a module does not fit a companion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The companion has no function of this ordinal.
    Missing,
    /// The function is exported under another name.
    Name {
        /// In the companion.
        companion: String,
        /// In the module.
        module: String,
    },
    /// There are more or fewer operations than instructions.
    Count {
        /// In the companion.
        operations: usize,
        /// In the module.
        instructions: usize,
    },
    /// An operation is another instruction.
    Mnemonic {
        /// Where.
        offset: BytecodeOffset,
        /// In the companion.
        operation: String,
        /// In the module.
        instruction: String,
    },
    /// An operation writes another register.
    Register {
        /// Where.
        offset: BytecodeOffset,
        /// In the companion.
        companion: String,
        /// In the module.
        module: String,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "the companion lacks this function"),
            Self::Name { companion, module } => {
                write!(f, "the companion has @{companion} where the module exports @{module}")
            }
            Self::Count { operations, instructions } => {
                write!(
                    f,
                    "the companion has {operations} operations, the module {instructions} instructions"
                )
            }
            Self::Mnemonic { offset, operation, instruction } => {
                write!(f, "at {offset} the companion has {operation}, the module {instruction}")
            }
            Self::Register { offset, companion, module } => {
                write!(f, "at {offset} the companion writes {companion}, the module {module}")
            }
        }
    }
}

/// A companion function that fits, with the operation that each instruction is.
#[derive(Debug)]
pub(crate) struct Aligned {
    pub(crate) function: CompanionFunction,
    /// By instruction.
    pub(crate) operations: Vec<u32>,
}

impl Aligned {
    /// The location of each instruction.
    pub(crate) fn locations(&self) -> Vec<Option<LocationId>> {
        let operation = |index: &u32| self.function.operations.get(*index as usize);
        self.operations.iter().map(|index| operation(index).map(|it| it.location)).collect()
    }

    /// The values that can be read before an instruction. Of references that it discards, those
    /// that it does not encode are gone already: they were moved.
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

/// Checks that a companion has the function of this ordinal just as the module has it.
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

/// Whether operations remain behind the last instruction. Every function ends in an instruction.
fn is_cut_short(function: &CompanionFunction, operations: &[u32]) -> bool {
    operations.last().map_or(0, |last| *last as usize + 1) != function.operations.len()
}

/// Whether an operation has no instruction, given the one that it would be.
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

/// Exports say which names stand for an ordinal on both sides.
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

/// Finds the function that each map of a database describes. Since compiler 3.11 the only map is at
/// index 0 whatever its function is, so an index counts only where there is a map for each
/// function.
pub(crate) fn database_maps<'d>(
    module: &Module,
    database: &'d DebugDatabase,
    codes: &[Code],
    names: &[Option<String>],
) -> Vec<Option<&'d FunctionSourceMap>> {
    let mut found = vec![None; codes.len()];
    let is_whole = database.functions.len() == codes.len();
    for (index, map) in database.functions.iter().enumerate().take(codes.len()) {
        if map.locations.is_empty() {
            continue;
        }
        let by_index = is_whole.then_some(index);
        let by_name = || names.iter().position(|name| name.as_deref() == Some(&map.local_name));
        let by_export =
            || module.export_named(&map.local_name).map(|(_, export)| export.function.index());
        let fits = |ordinal: &usize| codes.get(*ordinal).is_some_and(|code| fits(map, code));
        let ordinal = by_index
            .filter(fits)
            .or_else(|| by_name().filter(fits))
            .or_else(|| by_export().filter(fits))
            .or_else(|| only(codes.iter().enumerate().filter(|(_, code)| is_exact(map, code))));
        if let Some(ordinal) = ordinal {
            found[ordinal] = Some(map);
        }
    }
    found
}

/// Whether all offsets of a map are those of instructions.
fn fits(map: &FunctionSourceMap, code: &Code) -> bool {
    map.locations.iter().all(|(offset, _)| code.index_of(*offset).is_some())
}

/// Whether a map has each instruction.
fn is_exact(map: &FunctionSourceMap, code: &Code) -> bool {
    map.locations.len() == code.instructions.len() && fits(map, code)
}

fn only<T>(mut candidates: impl Iterator<Item = (usize, T)>) -> Option<usize> {
    let (first, _) = candidates.next()?;
    candidates.next().is_none().then_some(first)
}

//! Which companion function and which database map belong to which function of a module.
//!
//! Nothing in the files says so, so it is checked: a companion function is the one with the same
//! ordinal if the operations equal the instructions one by one; a database map is one whose offsets are
//! all offsets of instructions. A mismatch costs that function its map and is reported; a wrong map
//! would be worse than none.

use std::fmt;

use vmfb::debug_database::FunctionSourceMap;
use vmfb::decode::RegisterUse;
use vmfb::{BytecodeOffset, DebugDatabase, FunctionOrdinal, Module, Op};

use crate::companion::{Companion, CompanionFunction};
use crate::register::RegisterSlot;

/// The instructions of a function as far as debug information needs them, block markers left out.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) instructions: Vec<CodeInstruction>,
    /// Why decoding ended early.
    pub(crate) damage: Option<String>,
}

#[derive(Debug)]
pub(crate) struct CodeInstruction {
    pub(crate) op: Op,
    pub(crate) offset: BytecodeOffset,
    pub(crate) end: BytecodeOffset,
    /// Whether a block marker comes right before.
    pub(crate) begins_block: bool,
    /// Block markers where control may go.
    pub(crate) successors: Vec<BytecodeOffset>,
    /// The registers it writes.
    pub(crate) writes: Vec<RegisterUse>,
}

impl Code {
    pub(crate) fn decode(bytecode: &[u8]) -> Self {
        let mut code = Self::default();
        let mut begins_block = true;
        for instruction in vmfb::instructions(bytecode) {
            let instruction = match instruction {
                Ok(instruction) => instruction,
                Err(error) => {
                    code.damage = Some(error.to_string());
                    break;
                }
            };
            if instruction.op == Op::Block {
                begins_block = true;
                continue;
            }
            code.instructions.push(CodeInstruction {
                op: instruction.op,
                offset: instruction.offset,
                end: instruction.end,
                begins_block,
                successors: instruction
                    .successors()
                    .into_iter()
                    .map(|(target, _)| target)
                    .collect(),
                writes: instruction.register_uses().filter(|usage| usage.is_write).collect(),
            });
            begins_block = false;
        }
        code
    }

    /// The instruction at an offset or around it; of a block marker, the one behind it.
    pub(crate) fn index_at(&self, offset: BytecodeOffset) -> Option<usize> {
        let index = self.instructions.partition_point(|instruction| instruction.end <= offset);
        (index < self.instructions.len()).then_some(index)
    }

    fn index_of(&self, offset: BytecodeOffset) -> Option<usize> {
        self.instructions.binary_search_by_key(&offset, |instruction| instruction.offset).ok()
    }
}

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

/// Checks that a companion has the function of this ordinal just as the module has it.
pub(crate) fn companion_function<'c>(
    module: &Module,
    companion: &'c Companion,
    ordinal: FunctionOrdinal,
    code: &Code,
) -> Result<&'c CompanionFunction, Mismatch> {
    let function = companion.functions.get(ordinal.index()).ok_or(Mismatch::Missing)?;
    check_export(module, companion, ordinal, function)?;
    if function.operations.len() != code.instructions.len() {
        return Err(Mismatch::Count {
            operations: function.operations.len(),
            instructions: code.instructions.len(),
        });
    }
    for (operation, instruction) in function.operations.iter().zip(&code.instructions) {
        let mnemonic = operation.mnemonic.strip_prefix("vm.").unwrap_or(&operation.mnemonic);
        if mnemonic != instruction.op.mnemonic() {
            return Err(Mismatch::Mnemonic {
                offset: instruction.offset,
                operation: operation.mnemonic.to_string(),
                instruction: format!("vm.{}", instruction.op.mnemonic()),
            });
        }
        let results = function.results(operation);
        if instruction.writes.len() != results.len() {
            continue;
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
    }
    Ok(function)
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
/// index 0 whatever its function is, so an index counts only where there is a map for each function.
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

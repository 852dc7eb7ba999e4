//! The type of the value in each register, inferred from the instructions alone.
//!
//! Registers are 32-bit cells without a type. An instruction defines the types of the cells that it
//! writes, the calling convention those of arguments and results, and branches copy cells with
//! their types. A forward pass over the function's blocks propagates the types; a cell that gets
//! different types on two paths loses its type. This needs no debug information, so it works for
//! every module.

use std::collections::BTreeMap;

use abi::cconv::{Signature, ValueType};
use vmfb::decode::{Instruction, Operand, RegisterUse, RemapList};
use vmfb::isa::Bank;
use vmfb::{BytecodeOffset, Callee, FunctionOrdinal, Module, Register};

use super::forward::{self, Facts, instructions_from};
use super::register::RegisterSlot;

/// The type of one 32-bit cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cell {
    /// Not written yet.
    Unwritten,
    /// A whole 32-bit value.
    Word(Bank),
    /// The first half of a pair.
    Low(Bank),
    /// The second half of a pair.
    High(Bank),
    /// Paths disagree.
    Mixed,
}

/// The cells of a frame, and which ref registers were written.
#[derive(Clone, PartialEq, Eq, Debug)]
struct State {
    cells: Vec<Cell>,
    refs: Vec<bool>,
}

/// The types of a function's registers before each of its instructions.
#[derive(Debug, Default)]
pub struct RegisterTypes {
    /// The state at each block marker; the states in between are replayed from it.
    blocks: BTreeMap<BytecodeOffset, State>,
}

impl RegisterTypes {
    /// Infers the types of a function. Bytecode that does not decode counts as the function's end.
    #[must_use]
    pub fn infer(module: &Module, ordinal: FunctionOrdinal) -> Self {
        let Some(function) = module.function(ordinal) else { return Self::default() };
        let mut entry = State {
            cells: vec![Cell::Unwritten; usize::from(function.i32_register_count)],
            refs: vec![false; usize::from(function.ref_register_count)],
        };
        let signature = signature_of(function.signature.calling_convention.as_deref());
        entry.write_arguments(&signature.arguments);
        let code = module.function_bytecode(ordinal);
        let blocks = forward::blocks(code, entry, |state, it| state.step(module, it));
        Self { blocks }
    }

    /// The typed registers that hold a value before the instruction at `offset`, i32 bank first,
    /// each pair once. Cells of mixed type are given as 32-bit integers, which they are in any
    /// case.
    #[must_use]
    pub fn before(
        &self,
        module: &Module,
        ordinal: FunctionOrdinal,
        offset: BytecodeOffset,
    ) -> Vec<RegisterSlot> {
        let Some((block, state)) = self.blocks.range(..=offset).next_back() else {
            return Vec::new();
        };
        let mut state = state.clone();
        for instruction in instructions_from(module.function_bytecode(ordinal), *block) {
            if instruction.offset >= offset {
                break;
            }
            state.step(module, &instruction);
        }
        state.slots()
    }
}

fn signature_of(calling_convention: Option<&str>) -> Signature {
    calling_convention.and_then(|text| Signature::parse(text).ok()).unwrap_or_default()
}

fn bank_of(value: &ValueType) -> Bank {
    match value {
        ValueType::I64 => Bank::I64,
        ValueType::F32 => Bank::F32,
        ValueType::F64 => Bank::F64,
        ValueType::Ref => Bank::Ref,
        _ => Bank::I32,
    }
}

/// Assigns registers to arguments: they fill both banks from 0, and a pair starts at an even
/// ordinal.
fn slots_of(arguments: &[ValueType]) -> Vec<RegisterSlot> {
    let (mut next_cell, mut next_ref) = (0_u16, 0_u16);
    let mut slots = Vec::new();
    for argument in arguments {
        let bank = bank_of(argument);
        if matches!(bank, Bank::I64 | Bank::F64) {
            next_cell = next_cell.next_multiple_of(2);
        }
        slots.push(match bank {
            Bank::Ref => RegisterSlot::Ref(next_ref),
            Bank::I64 => RegisterSlot::I64(next_cell),
            Bank::F64 => RegisterSlot::F64(next_cell),
            Bank::F32 => RegisterSlot::F32(next_cell),
            _ => RegisterSlot::I32(next_cell),
        });
        match bank {
            Bank::Ref => next_ref += 1,
            Bank::I64 | Bank::F64 => next_cell += 2,
            _ => next_cell += 1,
        }
    }
    slots
}

/// The registers of a function's arguments, by its calling convention.
pub(crate) fn argument_slots(calling_convention: Option<&str>) -> Vec<RegisterSlot> {
    slots_of(&signature_of(calling_convention).arguments)
}

/// The types of a call's results, by the callee's calling convention.
pub(crate) fn result_banks(module: &Module, instruction: &Instruction<'_>) -> Option<Vec<Bank>> {
    Some(call_results(module, instruction)?.iter().map(bank_of).collect())
}

impl State {
    fn write_arguments(&mut self, arguments: &[ValueType]) {
        for slot in slots_of(arguments) {
            let (register, bank) = match slot {
                RegisterSlot::Ref(ordinal) => (ordinal | Register::REF_BIT, Bank::Ref),
                RegisterSlot::I64(ordinal) => (ordinal, Bank::I64),
                RegisterSlot::F64(ordinal) => (ordinal, Bank::F64),
                RegisterSlot::F32(ordinal) => (ordinal, Bank::F32),
                RegisterSlot::I32(ordinal) => (ordinal, Bank::I32),
            };
            self.write(Register(register), bank);
        }
    }

    /// Writes cells from `start` on. Both halves of a pair are written at once: after paths have
    /// merged, an old half may belong to another value than its neighbour.
    fn set_cells(&mut self, first: usize, cells: &[Cell]) {
        (first..first + cells.len()).for_each(|index| self.release(index));
        for (slot, cell) in self.cells.iter_mut().skip(first).zip(cells) {
            *slot = *cell;
        }
    }

    /// Marks the other half of a pair as unusable before one half is overwritten.
    fn release(&mut self, index: usize) {
        let orphan = match self.cells.get(index) {
            Some(Cell::Low(_)) => Some(index + 1),
            Some(Cell::High(_)) => index.checked_sub(1),
            _ => None,
        };
        if let Some(half) = orphan.and_then(|index| self.cells.get_mut(index))
            && matches!(half, Cell::Low(_) | Cell::High(_))
        {
            *half = Cell::Mixed;
        }
    }

    fn write(&mut self, register: Register, bank: Bank) {
        let index = usize::from(register.ordinal());
        if register.is_ref() {
            if let Some(written) = self.refs.get_mut(index) {
                *written = true;
            }
            return;
        }
        match bank {
            Bank::I64 | Bank::F64 => {
                self.set_cells(index, &[Cell::Low(bank), Cell::High(bank)]);
            }
            Bank::Any | Bank::Ref | Bank::RefMove => {
                self.set_cells(index, &[Cell::Word(Bank::I32)]);
            }
            Bank::I32 | Bank::F32 => self.set_cells(index, &[Cell::Word(bank)]),
        }
    }

    fn step(&mut self, module: &Module, instruction: &Instruction<'_>) {
        for usage in writes(module, instruction) {
            self.write(usage.register, usage.bank);
        }
    }

    fn slots(&self) -> Vec<RegisterSlot> {
        let mut slots = Vec::new();
        let mut index = 0;
        while index < self.cells.len() {
            let ordinal = u16::try_from(index).unwrap_or(u16::MAX);
            let is_pair = matches!(
                (self.cells[index], self.cells.get(index + 1)),
                (Cell::Low(low), Some(Cell::High(high))) if low == *high
            );
            index += if is_pair { 2 } else { 1 };
            slots.push(match self.cells[index - if is_pair { 2 } else { 1 }] {
                Cell::Unwritten => continue,
                Cell::Low(Bank::F64) if is_pair => RegisterSlot::F64(ordinal),
                Cell::Low(_) if is_pair => RegisterSlot::I64(ordinal),
                Cell::Word(Bank::F32) => RegisterSlot::F32(ordinal),
                _ => RegisterSlot::I32(ordinal),
            });
        }
        for (ordinal, _) in self.refs.iter().enumerate().filter(|(_, written)| **written) {
            slots.push(RegisterSlot::Ref(u16::try_from(ordinal).unwrap_or(u16::MAX)));
        }
        slots
    }
}

impl Facts for State {
    /// The copies of a branch. Each takes the type that its source had before all of them: a list
    /// may write a register that a later copy in it reads, and that copy reads the old value.
    fn remap(&mut self, copies: RemapList<'_>) {
        let before = self.clone();
        for (source, target) in copies.iter() {
            let (from, to) = (usize::from(source.ordinal()), usize::from(target.ordinal()));
            if source.is_ref() {
                if let (Some(written), true) =
                    (before.refs.get(from).copied(), to < self.refs.len())
                {
                    self.refs[to] = written;
                }
            } else if let Some(cell) = before.cells.get(from).copied() {
                match cell {
                    Cell::Low(bank) => self.write(target, bank),
                    // The copy of the first half has copied this one too.
                    Cell::High(bank) if self.cells.get(to) == Some(&Cell::High(bank)) => {}
                    other => self.set_cells(to, &[other]),
                }
            }
        }
    }

    /// Merges another path's state into this one; whether anything changed.
    fn merge(&mut self, other: &State) -> bool {
        let mut changed = false;
        for (mine, theirs) in self.cells.iter_mut().zip(&other.cells) {
            // A cell written on one path only keeps that path's type: no other path reads it.
            let joined = match (*mine, *theirs) {
                (Cell::Unwritten, other) | (other, Cell::Unwritten) => other,
                (same, other) if same == other => same,
                _ => Cell::Mixed,
            };
            changed |= joined != *mine;
            *mine = joined;
        }
        for (mine, theirs) in self.refs.iter_mut().zip(&other.refs) {
            changed |= *theirs && !*mine;
            *mine |= *theirs;
        }
        changed
    }
}

/// The registers that an instruction writes, each with the bank of its value; for a call, from the
/// callee's calling convention. Registers of the ref bank have the ref bit set.
pub(crate) fn writes(module: &Module, instruction: &Instruction<'_>) -> Vec<RegisterUse> {
    let results = call_results(module, instruction);
    let writes = instruction.register_uses().filter(|usage| usage.is_write);
    let typed = writes.enumerate().map(|(result, usage)| {
        let bank = match (usage.bank, &results) {
            (Bank::Any, Some(types)) => types.get(result).map_or(Bank::I32, bank_of),
            (bank, _) => bank,
        };
        // Operand fields for refs may lack the ref bit.
        let register = match bank {
            Bank::Ref | Bank::RefMove => Register(usage.register.0 | Register::REF_BIT),
            _ => usage.register,
        };
        RegisterUse { register, bank, ..usage }
    });
    typed.collect()
}

/// The types of a call's results, by the callee's calling convention.
fn call_results(module: &Module, instruction: &Instruction<'_>) -> Option<Vec<ValueType>> {
    let callee = instruction.operands.iter().find_map(|operand| match operand {
        Operand::Function(callee) => Some(*callee),
        _ => None,
    })?;
    let signature = match callee {
        Callee::Internal(ordinal) => &module.function(ordinal)?.signature,
        Callee::Import(ordinal) => &module.import(ordinal)?.signature,
    };
    Some(signature_of(signature.calling_convention.as_deref()).results)
}

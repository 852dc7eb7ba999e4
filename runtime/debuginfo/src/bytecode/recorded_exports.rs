//! Which export each instruction that records a dispatch names.
//!
//! Since IREE 3.13 the name is a text of the module: it is looked up in the executable
//! (`hal.executable.lookup.function`), and the number that this gives is passed on to
//! `hal.command_buffer.dispatch`. A forward pass finds which text reaches which recording. Programs
//! of older compilers have numbers only, which only an executable that is loaded can explain.

use std::collections::BTreeMap;

use vmfb::decode::{Instruction, Operand, RemapList};
use vmfb::isa::Bank;
use vmfb::{BytecodeOffset, FunctionOrdinal, Module, Op, Register, RodataOrdinal};

use super::forward::{self, Facts, instructions_from};
use super::instructions::{Role, imported};
use super::register_types;

/// The import that gives the number of an export.
const LOOKUP: &str = "hal.executable.lookup.function";

/// The texts that registers have, or of which a pair has the number of the export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Names {
    /// By the register; of a pair, by its first half.
    known: BTreeMap<u16, RodataOrdinal>,
}

/// The name of the export for each instruction of a function that records a dispatch, as far as the
/// function itself has it.
#[must_use]
pub fn recorded_exports(
    module: &Module,
    ordinal: FunctionOrdinal,
) -> BTreeMap<BytecodeOffset, String> {
    if module.imports().iter().all(|it| it.full_name != LOOKUP) {
        return BTreeMap::new();
    }
    let code = module.function_bytecode(ordinal);
    let step = |names: &mut Names, it: &Instruction<'_>| names.step(module, it);
    let mut found = BTreeMap::new();
    for (block, mut names) in forward::blocks(code, Names::default(), step) {
        for instruction in instructions_from(code, block) {
            if instruction.op == Op::Block && instruction.offset != block {
                break;
            }
            let is_dispatch = Role::of(module, &instruction) == Role::Dispatch;
            let export = argument(&instruction, 2).filter(|_| is_dispatch);
            let text = export.and_then(|it| names.known.get(&it.ordinal()));
            let name = text.and_then(|it| module.rodata_bytes(*it));
            let name = name.and_then(|it| String::from_utf8(it.into_owned()).ok());
            found.extend(name.map(|name| (instruction.offset, name)));
            names.step(module, &instruction);
        }
    }
    found
}

impl Names {
    fn step(&mut self, module: &Module, instruction: &Instruction<'_>) {
        let is_lookup = imported(module, instruction) == Some(LOOKUP);
        let text = match instruction.op {
            Op::ConstRefRodata => instruction.operands.iter().find_map(|it| match it {
                Operand::Rodata(ordinal) => Some(*ordinal),
                _ => None,
            }),
            _ if is_lookup => {
                let name = argument(instruction, 1).map(|it| it.ordinal() | Register::REF_BIT);
                name.and_then(|it| self.known.get(&it).copied())
            }
            _ => None,
        };
        for usage in register_types::writes(module, instruction) {
            self.forget(usage.register);
            if matches!(usage.bank, Bank::I64 | Bank::F64) {
                self.forget(Register(usage.register.0 + 1));
            }
            self.known.extend(text.map(|text| (key(usage.register), text)));
        }
    }

    /// A register gets another value.
    fn forget(&mut self, register: Register) {
        self.known.remove(&key(register));
        if let (false, Some(first)) = (register.is_ref(), register.ordinal().checked_sub(1)) {
            self.known.remove(&first);
        }
    }
}

impl Facts for Names {
    fn remap(&mut self, copies: RemapList<'_>) {
        let before = self.clone();
        copies.iter().for_each(|(_, target)| self.forget(target));
        for (source, target) in copies.iter() {
            let text = before.known.get(&key(source));
            // Of a pair, both halves are copied.
            let mut halves = copies.iter().map(|(source, target)| (source.0, target.0));
            let is_whole = source.is_ref() || halves.any(|it| it == (source.0 + 1, target.0 + 1));
            if let (Some(text), true) = (text, is_whole) {
                self.known.insert(key(target), *text);
            }
        }
    }

    fn merge(&mut self, other: &Self) -> bool {
        let before = self.known.len();
        self.known.retain(|register, text| other.known.get(register) == Some(text));
        self.known.len() != before
    }
}

/// A register without the bit that moves its ref.
fn key(register: Register) -> u16 {
    let bank = if register.is_ref() { Register::REF_BIT } else { 0 };
    register.ordinal() | bank
}

/// An argument of a call.
fn argument(instruction: &Instruction<'_>, index: usize) -> Option<Register> {
    instruction.register_uses().filter(|it| !it.is_write).nth(index).map(|it| it.register)
}

//! Judging the bytecode of one function.

use std::borrow::Cow;
use std::collections::BTreeSet;

use abi::cconv::{Signature, ValueType};

use super::defect::{Defect, MOST_DEFECTS};
use super::signatures::{Signatures, signature_of};
use crate::decode::{Instruction, Operand, RegisterList, RemapList};
use crate::isa::{Bank, FieldKind, Op, OpcodeSet};
use crate::module::{Features, Function, Module, argument_registers};
use crate::ordinals::{BytecodeOffset, Callee, FunctionOrdinal, Register};
use crate::versions;

pub(super) struct FunctionVerifier<'m> {
    pub(super) module: &'m Module,
    pub(super) signatures: &'m Signatures,
    pub(super) ordinal: FunctionOrdinal,
    pub(super) function: &'m Function,
    pub(super) at: Option<BytecodeOffset>,
    pub(super) defects: &'m mut Vec<Defect>,
}

impl FunctionVerifier<'_> {
    fn defect(&mut self, reason: impl Into<String>) {
        if self.defects.len() >= MOST_DEFECTS {
            return;
        }
        let (function, offset) = (Some(self.ordinal), self.at);
        self.defects.push(Defect { function, offset, reason: reason.into() });
    }

    pub(super) fn verify(mut self) {
        let unknown = self.function.requirements.unknown();
        if unknown != 0 {
            self.defect(format!("it requires unknown features (bits {unknown:#x})"));
        }
        let signature = match signature_of(&self.function.signature) {
            Ok(signature) => signature,
            Err(error) => return self.defect(error.to_string()),
        };
        if let Some(signature) = &signature {
            self.verify_arguments(signature);
        }
        let code = self.module.function_bytecode(self.ordinal);
        let mut markers = BTreeSet::new();
        let mut targets = Vec::new();
        let mut in_block = false;
        for instruction in crate::decode::instructions(code) {
            let instruction = match instruction {
                Ok(instruction) => instruction,
                Err(error) => {
                    self.at = None;
                    return self.defect(error.to_string());
                }
            };
            self.at = Some(instruction.offset);
            if instruction.op == Op::Block {
                if in_block {
                    self.defect("the block before this marker does not end in a terminator");
                }
                markers.insert(instruction.offset);
                in_block = true;
                continue;
            }
            if !in_block {
                self.defect(format!("vm.{} is in no block", instruction.op.mnemonic()));
            }
            in_block &= !instruction.op.is_terminator();
            self.verify_instruction(&instruction, signature.as_ref());
            let successors = instruction.successors();
            targets.extend(successors.into_iter().map(|(target, _)| (instruction.offset, target)));
        }
        self.at = None;
        if in_block {
            self.defect("its last block does not end in a terminator");
        }
        if markers.len() != usize::from(self.function.block_count) {
            let counted = markers.len();
            self.defect(format!("it says {} blocks and has {counted}", self.function.block_count));
        }
        for (from, target) in targets {
            if !markers.contains(&target) {
                self.at = Some(from);
                self.defect(format!("it branches to {target}, where no block begins"));
            }
        }
    }

    /// Arguments go to the first registers of each bank. A frame has room for them even if the
    /// function declares fewer registers ([`Function::frame_size`]), up to the most that a frame
    /// can have.
    fn verify_arguments(&mut self, signature: &Signature) {
        if signature.is_variadic() {
            return self.defect("only imports can be variadic");
        }
        let (i32_count, ref_count) = argument_registers(signature);
        if i32_count > usize::from(Register::MAX_I32) || ref_count > usize::from(Register::MAX_REF)
        {
            self.defect(format!(
                "its arguments need {i32_count} i32 and {ref_count} ref registers; the most are {} \
                 and {}",
                Register::MAX_I32,
                Register::MAX_REF
            ));
        }
    }

    fn verify_instruction(&mut self, instruction: &Instruction<'_>, own: Option<&Signature>) {
        let info = instruction.op.info();
        let (needed, name) = match info.set {
            OpcodeSet::Core => (Features::default(), ""),
            OpcodeSet::ExtF32 => (Features::EXT_F32, "EXT_F32"),
            OpcodeSet::ExtF64 => (Features::EXT_F64, "EXT_F64"),
        };
        if !self.function.requirements.contains(needed) {
            self.defect(format!(
                "vm.{} needs {name}, which the function does not require",
                info.mnemonic
            ));
        }
        if self.module.bytecode_version().major < info.since {
            let version = self.module.bytecode_version();
            self.defect(format!(
                "vm.{} came with bytecode version {}; this is {version}",
                info.mnemonic, info.since
            ));
        }
        for (field, operand) in instruction.fields() {
            self.verify_operand(instruction.op, field.kind, operand, field.name);
        }
        match instruction.op {
            Op::Call | Op::CallYieldable => self.verify_call(instruction, None),
            Op::CallVariadic | Op::CallVariadicYieldable => {
                let segments = instruction.operands.get(1);
                if let Some(Operand::Registers(segments)) = segments {
                    self.verify_call(instruction, Some(*segments));
                }
            }
            Op::Return => {
                if let (Some(own), Some(Operand::Registers(values))) =
                    (own, instruction.operands.first())
                {
                    self.verify_list("it returns", &own.results, *values);
                }
            }
            Op::ImportResolved => {
                if let Some(Operand::Function(Callee::Internal(_))) = instruction.operands.first() {
                    self.defect("vm.import.resolved names a function of the module itself");
                }
            }
            _ => {}
        }
    }

    fn verify_operand(&mut self, op: Op, kind: FieldKind, operand: &Operand<'_>, name: &str) {
        match (kind, operand) {
            (FieldKind::Read(bank) | FieldKind::Write(bank), Operand::Register(register)) => {
                self.verify_register(*register, bank);
            }
            (FieldKind::Reads(bank) | FieldKind::Writes(bank), Operand::Registers(list)) => {
                // Segment sizes are numbers in the form of a register list.
                let registers = list.iter().filter(|_| name != "segment_sizes");
                // The reference releases whatever ref register has the number.
                let bank = if op == Op::DiscardRefs { Bank::RefMove } else { bank };
                registers.for_each(|register| self.verify_register(register, bank));
            }
            (FieldKind::Global, Operand::Global(at)) => self.verify_global(op, *at),
            (FieldKind::Type, Operand::Type(ordinal)) => {
                self.verify_ordinal("type", ordinal.0, self.module.types().len());
            }
            (FieldKind::Rodata, Operand::Rodata(ordinal)) => {
                self.verify_ordinal("rodata segment", ordinal.0, self.module.rodata().len());
            }
            (FieldKind::Function, Operand::Function(Callee::Internal(ordinal))) => {
                self.verify_ordinal("function", ordinal.0, self.module.functions().len());
            }
            (FieldKind::Function, Operand::Function(Callee::Import(ordinal))) => {
                self.verify_ordinal("import", ordinal.0, self.module.imports().len());
            }
            (_, Operand::Remap(remap)) => self.verify_remap(*remap),
            (_, Operand::Cases(cases)) => {
                cases.iter().for_each(|(_, remap)| self.verify_remap(*remap));
            }
            _ => {}
        }
    }

    fn verify_ordinal(&mut self, what: &str, ordinal: u32, count: usize) {
        if ordinal as usize >= count {
            self.defect(format!("it names {what} {ordinal}; the module has {count}"));
        }
    }

    fn verify_global(&mut self, op: Op, at: u32) {
        let state = self.module.state();
        let (end, limit, what) = match op {
            Op::GlobalLoadRef | Op::GlobalStoreRef => {
                (u64::from(at) + 1, state.global_refs, "ref globals")
            }
            Op::GlobalLoadI64 | Op::GlobalStoreI64 | Op::GlobalLoadF64 | Op::GlobalStoreF64 => {
                (u64::from(at) + 8, state.global_bytes, "bytes of globals")
            }
            _ => (u64::from(at) + 4, state.global_bytes, "bytes of globals"),
        };
        if end > u64::from(limit) {
            self.defect(format!("it names global {at}; the module has {limit} {what}"));
        }
    }

    fn verify_remap(&mut self, remap: RemapList<'_>) {
        for (source, target) in remap.iter() {
            self.verify_register(source, Bank::Any);
            self.verify_register(target, Bank::Any);
            if source.is_ref() != target.is_ref() {
                self.defect("a branch copies a register into the other bank");
            }
        }
    }

    fn verify_register(&mut self, register: Register, bank: Bank) {
        let wants_ref = match bank {
            Bank::Ref | Bank::RefMove => true,
            Bank::Any => register.is_ref(),
            _ => false,
        };
        if wants_ref != register.is_ref() {
            let wanted = if wants_ref { "a ref" } else { "an i32" };
            return self.defect(format!("register {:#06x} is not {wanted} register", register.0));
        }
        // Before version 16, the compiler marked every last use, also where nothing moves.
        let is_marked = bank == Bank::Ref && register.is_move();
        if is_marked && self.module.bytecode_version().major >= versions::FIRST_WITH_MOVES {
            self.defect(format!("ref register {} has a move bit here", register.ordinal()));
        }
        let is_pair = matches!(bank, Bank::I64 | Bank::F64);
        if is_pair && !register.ordinal().is_multiple_of(2) {
            self.defect(format!("register pair {} begins at an odd register", register.ordinal()));
        }
        let (count, name) = if wants_ref {
            (self.function.ref_register_count, "ref")
        } else {
            (self.function.i32_register_count, "i32")
        };
        // Frames hold whole pairs. The assembler counts a pair that occurs only in lists as its
        // lower half, and the reference runs such functions, so the upper half of the last pair
        // exists.
        let available = u32::from(count) + u32::from(is_pair && !count.is_multiple_of(2));
        if u32::from(register.ordinal()) + u32::from(is_pair) >= available {
            self.defect(format!(
                "it uses {name} register {}; the function has {count}",
                u32::from(register.ordinal()) + u32::from(is_pair)
            ));
        }
    }

    fn verify_call(&mut self, instruction: &Instruction<'_>, segments: Option<RegisterList<'_>>) {
        let Some(Operand::Function(callee)) = instruction.operands.first() else { return };
        if segments.is_some() && matches!(callee, Callee::Internal(_)) {
            return self.defect("only imports can be called with a variable number of arguments");
        }
        // An ordinal out of range was reported with its operand, a bad signature with its function.
        let Some(signature) = self.signatures.of_callee(*callee) else { return };
        let mut lists = instruction.operands.iter().filter_map(|operand| match operand {
            Operand::Registers(list) => Some(*list),
            _ => None,
        });
        if segments.is_some() {
            lists.next();
        }
        let (Some(arguments), Some(results)) = (lists.next(), lists.next()) else { return };
        let signature = match (signature, *callee) {
            (Some(signature), _) => signature,
            (None, Callee::Internal(callee)) => {
                return self.verify_call_by_registers(callee, arguments);
            }
            // The provider's frame is unknown, so such a function takes and returns nothing.
            (None, Callee::Import(_)) => {
                self.verify_list("it passes", &[], arguments);
                return self.verify_list("it takes back", &[], results);
            }
        };
        match expand(&signature.arguments, segments, arguments.len()) {
            // A function that ignores an argument may leave it out of its calling convention; the
            // compiler's calls still pass it. Surplus arguments are dropped.
            Ok(types) if types.len() < arguments.len() && segments.is_none() => {
                self.verify_values(&types, arguments);
            }
            Ok(types) => self.verify_list("it passes", &types, arguments),
            Err(error) => self.defect(error.to_string()),
        }
        self.verify_list("it takes back", &signature.results, results);
    }

    /// A call of a function without a calling convention: its arguments arrive one a register.
    fn verify_call_by_registers(&mut self, ordinal: FunctionOrdinal, arguments: RegisterList<'_>) {
        let Some(callee) = self.module.function(ordinal) else { return };
        let refs = arguments.iter().filter(|register| register.is_ref()).count();
        let words = arguments.len() - refs;
        let (has_i32, has_ref) = callee.frame_size();
        if words > usize::from(has_i32) || refs > usize::from(has_ref) {
            self.defect(format!(
                "it passes {words} i32 and {refs} ref registers; function {} has {has_i32} and \
                 {has_ref}",
                ordinal.0
            ));
        }
    }

    /// A list of registers against the types that a signature asks for.
    fn verify_list(&mut self, what: &str, types: &[ValueType], list: RegisterList<'_>) {
        if types.len() != list.len() {
            return self.defect(format!(
                "{what} {} values where the signature has {}",
                list.len(),
                types.len()
            ));
        }
        self.verify_values(types, list);
    }

    fn verify_values(&mut self, types: &[ValueType], list: RegisterList<'_>) {
        for (value_type, register) in types.iter().zip(list.iter()) {
            let bank = match value_type {
                ValueType::I64 | ValueType::F64 => Bank::I64,
                ValueType::Ref => Bank::RefMove,
                _ => Bank::I32,
            };
            self.verify_register(register, bank);
        }
    }
}

/// Why a call of a variadic function does not say what it passes.
#[derive(Debug, thiserror::Error)]
enum SegmentError {
    #[error("the callee is variadic; the call gives no segment sizes")]
    Missing,
    #[error("the call gives {given} segment sizes; the callee has {arguments} arguments")]
    Count { given: usize, arguments: usize },
    #[error("its segment sizes ask for more than the {available} values it passes")]
    TooLarge { available: usize },
}

/// The types of the single arguments of a call, spans written out. `available` bounds the work.
fn expand<'s>(
    arguments: &'s [ValueType],
    segments: Option<RegisterList<'_>>,
    available: usize,
) -> Result<Cow<'s, [ValueType]>, SegmentError> {
    let Some(segments) = segments else {
        if arguments.iter().any(|argument| matches!(argument, ValueType::Span(_))) {
            return Err(SegmentError::Missing);
        }
        return Ok(Cow::Borrowed(arguments));
    };
    if segments.len() != arguments.len() {
        return Err(SegmentError::Count { given: segments.len(), arguments: arguments.len() });
    }
    let mut types = Vec::new();
    for (argument, size) in arguments.iter().zip(segments.iter_u16()) {
        match argument {
            ValueType::Span(tuple) => {
                for _ in 0..size {
                    types.extend(tuple.iter().cloned());
                    if types.len() > available {
                        return Err(SegmentError::TooLarge { available });
                    }
                }
            }
            scalar => types.push(scalar.clone()),
        }
    }
    Ok(Cow::Owned(types))
}

//! The bytecode verifier: what stands between a file and the interpreter.
//!
//! What a [`VerifiedModule`] promises, and the interpreter relies on: every instruction decodes;
//! registers, globals, rodata, types and functions that instructions name exist; register pairs are
//! aligned; branches lead to block markers; calls pass what their callee's signature asks for;
//! control never runs off the end of a function.
//!
//! The rules are those of IREE's `vm/bytecode/verifier.c`, with its gaps closed: ordinals of called
//! functions are compared with the table, and global offsets without wrapping. All defects are
//! reported, not only the first.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use abi::cconv::{Signature, ValueType};

use crate::decode::{Instruction, Operand, RegisterList, RemapList};
use crate::isa::{Bank, FieldKind, Op, OpcodeSet};
use crate::module::{Features, Function, FunctionSignature, Module};
use crate::ordinals::{BytecodeOffset, Callee, FunctionOrdinal, Register};

/// A module whose bytecode was judged sound. Only [`verify`] makes one.
#[derive(Clone, Debug)]
pub struct VerifiedModule(Arc<Module>);

impl VerifiedModule {
    /// The module.
    #[must_use]
    pub fn module(&self) -> &Arc<Module> {
        &self.0
    }
}

/// A rule that a module breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Defect {
    /// The function, if it is about one.
    pub function: Option<FunctionOrdinal>,
    /// The instruction, if it is about one.
    pub offset: Option<BytecodeOffset>,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = self.function {
            write!(f, "function {}", function.0)?;
            if let Some(offset) = self.offset {
                write!(f, " at {offset}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.reason)
    }
}

/// More defects than these are not told.
const MOST_DEFECTS: usize = 1000;

/// Judges a module's bytecode.
///
/// # Errors
/// The defects found: all of them, unless there are very many.
pub fn verify(module: Module) -> Result<VerifiedModule, Vec<Defect>> {
    let mut defects = Vec::new();
    verify_signatures(&module, &mut defects);
    let signatures = Signatures::of(&module);
    for (ordinal, function) in module.functions_with_ordinals() {
        FunctionVerifier {
            module: &module,
            signatures: &signatures,
            ordinal,
            function,
            at: None,
            defects: &mut defects,
        }
        .verify();
        if defects.len() >= MOST_DEFECTS {
            break;
        }
    }
    drop(signatures);
    if defects.is_empty() { Ok(VerifiedModule(Arc::new(module))) } else { Err(defects) }
}

/// What the tables must say for calls to make sense.
fn verify_signatures(module: &Module, defects: &mut Vec<Defect>) {
    let mut defect = |function, reason| defects.push(Defect { function, offset: None, reason });
    let unknown = module.requirements().unknown();
    if unknown != 0 {
        defect(None, format!("the module requires unknown features (bits {unknown:#x})"));
    }
    for import in module.imports() {
        if let Err(reason) = signature_of(&import.signature) {
            defect(None, format!("import {}: {reason}", import.full_name));
        }
    }
    for export in module.exports() {
        let function = module.function(export.function);
        if function.is_none_or(|it| it.signature.calling_convention.is_none()) {
            defect(
                Some(export.function),
                format!("it is exported as {:?} and has no calling convention", export.name),
            );
        }
    }
}

/// The signature of a function or import; `None` if it does not say.
fn signature_of(signature: &FunctionSignature) -> Result<Option<Signature>, String> {
    match signature.calling_convention.as_deref() {
        None | Some("") => Ok(None),
        Some(text) => Signature::parse(text)
            .map(Some)
            .map_err(|error| format!("calling convention {text:?}: {error}")),
    }
}

/// The signatures of what can be called, each parsed once. Bad ones are not there.
struct Signatures {
    functions: Vec<Option<Option<Signature>>>,
    imports: Vec<Option<Option<Signature>>>,
}

impl Signatures {
    fn of(module: &Module) -> Self {
        let parse = |signature: &FunctionSignature| signature_of(signature).ok();
        Self {
            functions: module.functions().iter().map(|it| parse(&it.signature)).collect(),
            imports: module.imports().iter().map(|it| parse(&it.signature)).collect(),
        }
    }

    /// That of a callee, if it is there and is sound.
    fn of_callee(&self, callee: Callee) -> Option<Option<&Signature>> {
        let found = match callee {
            Callee::Internal(ordinal) => self.functions.get(ordinal.index()),
            Callee::Import(ordinal) => self.imports.get(ordinal.index()),
        };
        found?.as_ref().map(Option::as_ref)
    }
}

/// The 32-bit and ref registers that arguments take.
pub(crate) fn argument_registers(signature: &Signature) -> (usize, usize) {
    let (mut i32_count, mut ref_count) = (0_usize, 0_usize);
    for argument in &signature.arguments {
        match argument {
            ValueType::Ref => ref_count += 1,
            ValueType::I64 | ValueType::F64 => i32_count = i32_count.next_multiple_of(2) + 2,
            _ => i32_count += 1,
        }
    }
    (i32_count, ref_count)
}

struct FunctionVerifier<'m> {
    module: &'m Module,
    signatures: &'m Signatures,
    ordinal: FunctionOrdinal,
    function: &'m Function,
    at: Option<BytecodeOffset>,
    defects: &'m mut Vec<Defect>,
}

impl FunctionVerifier<'_> {
    fn defect(&mut self, reason: impl Into<String>) {
        if self.defects.len() >= MOST_DEFECTS {
            return;
        }
        let (function, offset) = (Some(self.ordinal), self.at);
        self.defects.push(Defect { function, offset, reason: reason.into() });
    }

    fn verify(mut self) {
        let unknown = self.function.requirements.unknown();
        if unknown != 0 {
            self.defect(format!("it requires unknown features (bits {unknown:#x})"));
        }
        let signature = match signature_of(&self.function.signature) {
            Ok(signature) => signature,
            Err(reason) => return self.defect(reason),
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

    /// Arguments are put into the first registers of each bank. A frame has room for them even
    /// where the function declares fewer registers ([`Function::frame_size`]), but no more than a
    /// frame can have.
    fn verify_arguments(&mut self, signature: &Signature) {
        if signature.is_variadic() {
            return self.defect("only imports can be variadic");
        }
        let (i32_count, ref_count) = argument_registers(signature);
        if i32_count > usize::from(Register::MAX_I32) || ref_count > usize::from(Register::MAX_REF)
        {
            self.defect(format!(
                "its arguments need {i32_count} i32 and {ref_count} ref registers; the most are {} and {}",
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
        // Before version 16 the compiler marked every last use; where nothing moves, nobody looks.
        let is_marked = bank == Bank::Ref && register.is_move();
        if is_marked && self.module.bytecode_version().major >= 16 {
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
        // Frames hold whole pairs. The assembler counts a pair that only lists mention as its lower
        // half, and the reference runs such functions, so the upper half of the last pair is there.
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
            // Nobody knows the frame of whoever provides it: such a function takes and gives
            // nothing.
            (None, Callee::Import(_)) => {
                self.verify_list("it passes", &[], arguments);
                return self.verify_list("it takes back", &[], results);
            }
        };
        match expand(&signature.arguments, segments, arguments.len()) {
            // A function that ignores an argument may not mention it in its calling convention; the
            // compiler's calls still pass it. What is too much is dropped.
            Ok(types) if types.len() < arguments.len() && segments.is_none() => {
                self.verify_values(&types, arguments);
            }
            Ok(types) => self.verify_list("it passes", &types, arguments),
            Err(reason) => self.defect(reason),
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

/// The types of the single arguments of a call, spans written out. `available` bounds the work.
fn expand<'s>(
    arguments: &'s [ValueType],
    segments: Option<RegisterList<'_>>,
    available: usize,
) -> Result<Cow<'s, [ValueType]>, String> {
    let Some(segments) = segments else {
        if arguments.iter().any(|argument| matches!(argument, ValueType::Span(_))) {
            return Err("the callee is variadic; the call gives no segment sizes".to_owned());
        }
        return Ok(Cow::Borrowed(arguments));
    };
    if segments.len() != arguments.len() {
        return Err(format!(
            "the call gives {} segment sizes; the callee has {} arguments",
            segments.len(),
            arguments.len()
        ));
    }
    let mut types = Vec::new();
    for (argument, size) in arguments.iter().zip(segments.iter_u16()) {
        match argument {
            ValueType::Span(tuple) => {
                for _ in 0..size {
                    types.extend(tuple.iter().cloned());
                    if types.len() > available {
                        return Err(format!(
                            "its segment sizes ask for more than the {available} values it passes"
                        ));
                    }
                }
            }
            scalar => types.push(scalar.clone()),
        }
    }
    Ok(Cow::Owned(types))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The embedded example of the command line: functions `improve` (0) and `main` (1).
    const EXAMPLE: &[u8] = include_bytes!("../../cli/example/newton.vmfb");

    fn defects_with(function: usize, offset: usize, patch: &[u8]) -> Vec<String> {
        let module = Module::from_bytes(EXAMPLE.to_vec()).unwrap();
        let start = module.functions()[function].bytecode.start;
        let base = module.bytecode_data().as_ptr() as usize
            - module.file_bytes().owned().as_ptr() as usize;
        let mut bytes = EXAMPLE.to_vec();
        let at = base + start + offset;
        bytes[at..at + patch.len()].copy_from_slice(patch);
        let defects = verify(Module::from_bytes(bytes).unwrap()).err().unwrap_or_default();
        defects.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_the_compiler_writes_verifies() {
        assert_eq!(defects_with(0, 0, &[]), [""; 0]);
    }

    #[test]
    fn each_rule_has_a_module_that_breaks_it() {
        let cases: &[(usize, usize, &[u8], &str)] = &[
            (
                0,
                0x1D,
                &[100, 0],
                "function 0 at 0000001B: it uses i32 register 100; the function has 8",
            ),
            (0, 0x1D, &[0, 0x80], "function 0 at 0000001B: register 0x8000 is not an i32 register"),
            (0, 0x34, &[5, 0], "function 0 at 00000033: register pair 5 begins at an odd register"),
            (
                0,
                0x15,
                &[0xFC, 0xFF, 0xFF, 0xFF],
                "function 0 at 00000014: it names global 4294967292; the module has 8 bytes of globals",
            ),
            (0, 0x41, &[0xDF], "function 0: at 00000041: unknown opcode DF"),
            (
                0,
                0x00,
                &[0x5E],
                "function 0: at 00000000: the instruction is cut short by the end of the function",
            ),
            (
                1,
                0x24,
                &[0x2F],
                "function 1 at 00000023: it branches to 0000002F, where no block begins",
            ),
            (1, 0x2E, &[0xDE], "function 1: at 0000002E: unknown opcode DE"),
            (1, 0x48, &[2], "function 1 at 00000047: it names function 2; the module has 2"),
            (
                1,
                0x48,
                &[0, 0, 0, 0x80],
                "function 1 at 00000047: it names import 0; the module has 0",
            ),
            (1, 0x16, &[99], "function 1 at 00000015: it names type 99; the module has 4"),
            (1, 0x1F, &[0, 0xC0], "function 1 at 0000001E: ref register 0 has a move bit here"),
            (
                1,
                0x82,
                &[0],
                "function 1 at 00000080: it returns 0 values where the signature has 1",
            ),
        ];
        for (function, offset, patch, expected) in cases {
            let defects = defects_with(*function, *offset, patch);
            assert!(
                defects.iter().any(|defect| defect.starts_with(expected)),
                "{expected}\nnot among {defects:#?}"
            );
        }
    }

    #[test]
    fn a_call_may_pass_more_than_its_callee_mentions() {
        let before = b"\x05\0\0\x000ff_f\0";
        let at = EXAMPLE.windows(before.len()).position(|it| it == before).unwrap();
        let mut bytes = EXAMPLE.to_vec();
        bytes[at..at + before.len()].copy_from_slice(b"\x04\0\0\x000f_f\0\0");
        let module = Module::from_bytes(bytes).unwrap();
        let signature = &module.functions()[0].signature;
        assert_eq!(signature.calling_convention.as_deref(), Some("0f_f"));
        assert!(verify(module).is_ok());
    }
}

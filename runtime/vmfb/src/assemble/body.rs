//! A function's bytecode from its lines.
//!
//! Instructions are encoded twice. Their sizes do not depend on branch targets, so the first pass
//! finds where each block begins, and the second uses it.

use std::collections::HashMap;

use abi::cconv::{Signature, ValueType};

use crate::encode::{self, EncodeError, Value, Values};
use crate::isa::{Bank, FieldKind, Op};
use crate::ordinals::{BytecodeOffset, Callee, Register};
use crate::parse::{FunctionLines, Global, InstructionLine, Item, Label, OperandText, Span};

use super::requirements::Needs;
use super::symbols::{GlobalError, Symbols};
use crate::diagnostic::{Diagnostic, Severity};

/// The most blocks that a function's descriptor can count.
const MAXIMUM_BLOCKS: usize = 0x7FFF;

/// A function's bytecode and the contents of its descriptor.
pub(super) struct Body {
    pub(super) code: Vec<u8>,
    pub(super) block_count: u16,
    pub(super) registers: RegisterCounts,
    pub(super) needs: Needs,
    /// Where each instruction is in the text.
    pub(super) places: Vec<(BytecodeOffset, Span)>,
}

/// The number of registers of each bank in use: one more than the highest.
#[derive(Default, Debug)]
pub(super) struct RegisterCounts {
    i32_count: usize,
    ref_count: usize,
}

impl RegisterCounts {
    pub(super) fn i32_count(&self) -> u16 {
        u16::try_from(self.i32_count).unwrap_or(u16::MAX)
    }

    pub(super) fn ref_count(&self) -> u16 {
        u16::try_from(self.ref_count).unwrap_or(u16::MAX)
    }

    fn add(&mut self, register: Register, bank: Bank) {
        let ordinal = usize::from(register.ordinal());
        if register.is_ref() {
            self.ref_count = self.ref_count.max(ordinal + 1);
        } else {
            let size = if matches!(bank, Bank::I64 | Bank::F64) { 2 } else { 1 };
            self.i32_count = self.i32_count.max(ordinal + size);
        }
    }

    /// Arguments are put into the first registers of each bank, pairs aligned.
    fn add_arguments(&mut self, signature: &Signature) {
        for argument in &signature.arguments {
            match argument {
                ValueType::Ref => self.ref_count += 1,
                ValueType::I64 | ValueType::F64 => {
                    self.i32_count = self.i32_count.next_multiple_of(2) + 2;
                }
                _ => self.i32_count += 1,
            }
        }
    }

    /// Copies on the way into a block; their width shows where the registers are used.
    fn add_remap(&mut self, remap: &[(Register, Register)]) {
        for (source, target) in remap {
            self.add(*source, Bank::Any);
            self.add(*target, Bank::Any);
        }
    }

    /// A list whose entries are typed by a signature.
    fn add_list(&mut self, list: &[Register], types: &[ValueType]) {
        for (index, register) in list.iter().enumerate() {
            self.add(*register, types.get(index).map_or(Bank::Any, bank_of));
        }
    }
}

fn bank_of(value_type: &ValueType) -> Bank {
    match value_type {
        ValueType::I64 | ValueType::F64 => Bank::I64,
        _ => Bank::Any,
    }
}

/// Makes a function's bytecode. Lines that are wrong are reported and left out.
pub(super) fn assemble<'s>(
    lines: &FunctionLines<'s>,
    symbols: &mut Symbols<'_, 's>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Body {
    let mut registers = RegisterCounts::default();
    registers.add_arguments(&lines.signature);
    let mut assembler = BodyAssembler {
        lines,
        symbols,
        diagnostics,
        blocks: Vec::new(),
        labels: HashMap::new(),
        instructions: Vec::new(),
        registers,
        needs: Needs::of_signature(&lines.signature),
    };
    assembler.find_blocks();
    assembler.resolve();
    assembler.encode()
}

struct BodyAssembler<'a, 'l, 's> {
    lines: &'a FunctionLines<'s>,
    symbols: &'a mut Symbols<'l, 's>,
    diagnostics: &'a mut Vec<Diagnostic>,
    /// Where blocks are in the text.
    blocks: Vec<Span>,
    /// Blocks by label.
    labels: HashMap<&'s str, u32>,
    /// Values in which a target is the index of a block.
    instructions: Vec<(Op, Values, Span)>,
    registers: RegisterCounts,
    needs: Needs,
}

impl<'s> BodyAssembler<'_, '_, 's> {
    fn error(&mut self, span: &Span, message: impl Into<String>) {
        let (span, message) = (span.clone(), message.into());
        self.diagnostics.push(Diagnostic { severity: Severity::Error, span, message });
    }

    /// Numbers the blocks. The first begins with the function, labelled or not.
    fn find_blocks(&mut self) {
        let lines = self.lines;
        if !matches!(lines.items.first(), Some(Item::Block(_))) {
            self.blocks.push(lines.name.span.clone());
        }
        for item in &lines.items {
            let Item::Block(label) = item else { continue };
            let index = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
            self.blocks.push(label.span.clone());
            if self.labels.insert(label.text, index).is_some() {
                self.error(&label.span, format!("block ^{} is defined twice", label.text));
            }
        }
        if self.blocks.len() > MAXIMUM_BLOCKS {
            let count = self.blocks.len();
            let message =
                format!("{count} blocks are too many; a function has up to {MAXIMUM_BLOCKS}");
            self.error(&lines.name.span, message);
        }
    }

    fn resolve(&mut self) {
        let lines = self.lines;
        let mut is_whole = !lines.is_damaged;
        if !matches!(lines.items.first(), Some(Item::Block(_))) {
            self.instructions.push((Op::Block, Values::new(), lines.name.span.clone()));
        }
        for item in &lines.items {
            match item {
                Item::Block(label) => {
                    self.instructions.push((Op::Block, Values::new(), label.span.clone()));
                }
                Item::Instruction(line) => {
                    let line = self.symbols.callees.chosen(line);
                    if let Some(values) = self.values(line) {
                        self.count_registers(line.op, &values);
                        self.instructions.push((line.op, values, line.span.clone()));
                    } else {
                        is_whole = false;
                    }
                }
            }
        }
        let last = self.instructions.last();
        if is_whole && !last.is_some_and(|(op, ..)| op.is_terminator()) {
            let span = lines.end..lines.end + 1;
            self.error(&span, "expected vm.return, a branch or vm.fail at the end of the function");
        }
    }

    fn values(&mut self, line: &InstructionLine<'s>) -> Option<Values> {
        let mut values = Values::new();
        let mut is_whole = true;
        for (index, operand) in line.operands.iter().enumerate() {
            match self.value(line, index, operand) {
                Some(value) => values.push(value),
                None => is_whole = false,
            }
        }
        is_whole.then_some(values)
    }

    /// The value of an operand; `None` if an error was reported.
    fn value(
        &mut self,
        line: &InstructionLine<'s>,
        index: usize,
        operand: &OperandText<'s>,
    ) -> Option<Value> {
        match operand {
            OperandText::Value(value) => Some(value.clone()),
            OperandText::Type(name) => {
                Some(Value::Type(self.symbols.type_ordinal(name, self.diagnostics)))
            }
            OperandText::OmittedType => {
                let ordinal = self.symbols.only_ref_type();
                if ordinal.is_none() {
                    let message = format!(
                        "expected the type after vm.{}, like ` : !vm.buffer`",
                        line.op.mnemonic()
                    );
                    self.error(&line.span, message);
                }
                ordinal.map(Value::Type)
            }
            OperandText::Global(global) => self.global(line, index, global).map(Value::Global),
            OperandText::Target(label) => self.target(label).map(Value::Target),
            OperandText::Cases(cases) => {
                let cases =
                    cases.iter().map(|(label, remap)| Some((self.target(label)?, remap.clone())));
                cases.collect::<Option<_>>().map(Value::Cases)
            }
            OperandText::Function(name) => {
                let (arguments, results) = lists(line);
                let resolved = self.symbols.callees.resolve(name.text, arguments, results);
                let Some(resolved) = resolved else {
                    self.error(
                        &name.span,
                        format!("there is no function or import @{}", name.text),
                    );
                    return None;
                };
                if let Some(message) = resolved.warning {
                    let span = name.span.clone();
                    self.diagnostics.push(Diagnostic {
                        severity: Severity::Warning,
                        span,
                        message,
                    });
                }
                if resolved.is_internal_name
                    && let Callee::Internal(function) = resolved.callee
                {
                    self.symbols.note_internal_name(function, name);
                }
                Some(Value::Function(resolved.callee))
            }
        }
    }

    fn target(&mut self, label: &Label<'s>) -> Option<BytecodeOffset> {
        let block = self.labels.get(label.text).copied();
        if block.is_none() {
            self.error(&label.span, format!("there is no block ^{} in this function", label.text));
        }
        block.map(BytecodeOffset)
    }

    fn global(
        &mut self,
        line: &InstructionLine<'s>,
        index: usize,
        global: &Global<'s>,
    ) -> Option<u32> {
        let size = global_size(line.op, index);
        let message = match (self.symbols.globals.place(global, size), global) {
            (Ok(place), _) => return Some(place),
            (Err(GlobalError::Unknown), Global::Named(name)) => {
                format!("there is no global @{}", name.text)
            }
            (Err(GlobalError::Size(0)), _) => "the global is a ref".to_owned(),
            (Err(GlobalError::Size(has)), _) if size == 0 => {
                format!("the global holds {has} bytes, not a ref")
            }
            (Err(GlobalError::Size(has)), _) => {
                format!("the global holds {has} bytes; vm.{} needs {size}", line.op.mnemonic())
            }
            _ => "the global is too far out; globals take up to 2 GiB".to_owned(),
        };
        let span = match global {
            Global::Named(name) => name.span.clone(),
            Global::At(_) => line.span.clone(),
        };
        self.error(&span, message);
        None
    }

    fn count_registers(&mut self, op: Op, values: &Values) {
        let mut signature = None;
        let mut segments: Option<&[Register]> = None;
        for (field, value) in op.info().fields.iter().zip(values) {
            match (field.kind, value) {
                (FieldKind::Read(bank) | FieldKind::Write(bank), Value::Register(register)) => {
                    self.registers.add(*register, bank);
                }
                (FieldKind::Reads(_), Value::Registers(list)) if field.name == "segment_sizes" => {
                    segments = Some(list);
                }
                (FieldKind::Reads(bank) | FieldKind::Writes(bank), Value::Registers(list))
                    if bank != Bank::Any =>
                {
                    list.iter().for_each(|register| self.registers.add(*register, bank));
                }
                (FieldKind::Reads(_), Value::Registers(list)) => {
                    let types = match signature {
                        Some(signature) => argument_types(signature, segments, list.len()),
                        None if op == Op::Return => self.lines.signature.results.clone(),
                        None => Vec::new(),
                    };
                    self.registers.add_list(list, &types);
                }
                (FieldKind::Writes(_), Value::Registers(list)) => {
                    let types = signature.map_or(&[][..], |it: &Signature| &it.results);
                    self.registers.add_list(list, types);
                }
                (_, Value::Remap(remap)) => self.registers.add_remap(remap),
                (_, Value::Cases(cases)) => {
                    cases.iter().for_each(|(_, remap)| self.registers.add_remap(remap));
                }
                (_, Value::Function(callee)) => {
                    signature = self.symbols.callees.signature(*callee);
                    if let Callee::Internal(ordinal) = callee {
                        self.needs.add_callee(ordinal.index());
                    }
                }
                _ => {}
            }
        }
        let writes_ref = op.info().fields.iter().zip(values).any(|(field, value)| {
            matches!((field.kind, value), (FieldKind::Writes(_), Value::Registers(list))
                if list.iter().any(|register| register.is_ref()))
        });
        self.needs.add(op, writes_ref);
    }

    fn encode(mut self) -> Body {
        let mut code = Vec::new();
        let mut block_offsets = Vec::new();
        let mut places = Vec::new();
        for (op, values, span) in std::mem::take(&mut self.instructions) {
            let offset = offset_of(&code);
            if op == Op::Block {
                block_offsets.push(offset);
            }
            if let Err(error) = encode::encode(&mut code, op, &values) {
                self.encode_error(&span, &error);
            }
            self.instructions.push((op, values, span.clone()));
            places.push((offset, span));
        }
        code.clear();
        for (op, values, _) in &mut self.instructions {
            for value in values.iter_mut() {
                relocate(value, &block_offsets);
            }
            // The first pass has reported instructions that cannot be encoded.
            let _reported = encode::encode(&mut code, *op, values);
        }
        if i32::try_from(code.len()).is_err() {
            let span = self.lines.name.span.clone();
            self.error(&span, "the function's bytecode exceeds 2 GiB");
        }
        Body {
            code,
            block_count: u16::try_from(self.blocks.len()).unwrap_or(u16::MAX),
            registers: self.registers,
            needs: self.needs,
            places,
        }
    }

    fn encode_error(&mut self, span: &Span, error: &EncodeError) {
        self.error(span, error.to_string());
    }
}

fn offset_of(code: &[u8]) -> BytecodeOffset {
    BytecodeOffset(u32::try_from(code.len()).unwrap_or(u32::MAX))
}

/// Makes a block's index its offset.
fn relocate(value: &mut Value, blocks: &[BytecodeOffset]) {
    let place = |target: &mut BytecodeOffset| {
        if let Some(offset) = blocks.get(target.index()) {
            *target = *offset;
        }
    };
    match value {
        Value::Target(target) => place(target),
        Value::Cases(cases) => cases.iter_mut().for_each(|(target, _)| place(target)),
        _ => {}
    }
}

/// The registers that a call passes and takes back.
fn lists<'i>(line: &'i InstructionLine<'_>) -> (&'i [Register], &'i [Register]) {
    let (mut arguments, mut results): (&[Register], &[Register]) = (&[], &[]);
    for (field, operand) in line.op.info().fields.iter().zip(&line.operands) {
        let OperandText::Value(Value::Registers(list)) = operand else { continue };
        match field.kind {
            FieldKind::Reads(_) => arguments = list,
            FieldKind::Writes(_) => results = list,
            _ => {}
        }
    }
    (arguments, results)
}

/// How many bytes of a global an instruction accesses: as many as its register holds, 0 for a ref.
fn global_size(op: Op, index: usize) -> u32 {
    let mut following = op.info().fields.iter().skip(index + 1);
    let bank = following.find_map(|field| match field.kind {
        FieldKind::Read(bank) | FieldKind::Write(bank) => Some(bank),
        _ => None,
    });
    match bank {
        Some(Bank::I64 | Bank::F64) => 8,
        Some(Bank::I32 | Bank::F32) => 4,
        _ => 0,
    }
}

/// The types of the single arguments of a call, with spans expanded as far as there are arguments.
fn argument_types(
    signature: &Signature,
    segments: Option<&[Register]>,
    available: usize,
) -> Vec<ValueType> {
    let mut types = Vec::new();
    for (index, argument) in signature.arguments.iter().enumerate() {
        match argument {
            ValueType::Span(tuple) => {
                let size = segments.and_then(|sizes| sizes.get(index)).map_or(0, |size| size.0);
                for _ in 0..size {
                    if types.len() >= available {
                        return types;
                    }
                    types.extend(tuple.iter().cloned());
                }
            }
            scalar => types.push(scalar.clone()),
        }
    }
    types
}

//! From verified bytecode to the executable form.
//!
//! Instructions that only move data map one to one. Branches become jumps:
//!
//! ```text
//! br ^bb(a->b)            copy a b; jump ^bb           the copy stands for the branch
//! br ^bb(…), backwards    poll; copy …; jump ^bb          also of yield, break, br_table
//! cond_br c, ^bb, ^bb2()  condjump c, stub, ^bb2       with the copies of an edge in a stub
//! …                                                    after the last instruction:
//!                         stub: copy …; jump ^bb
//! ```
//!
//! Targets are the instructions after block markers, as in IREE's interpreter. The machine's own
//! instructions carry no offset, so nothing ever stops at them. The code relies on what the
//! verifier promises; where that does not hold, the function ends early and fails there. Nothing
//! panics.

use std::collections::HashMap;
use std::sync::OnceLock;

use vmfb::decode::{Immediate, Operand, RemapList, instructions};
use vmfb::isa::{Bank, FieldKind};
use vmfb::{BytecodeOffset, Callee, Instruction, Op, Register};

use super::call_plan::CallPlan;
use super::call_planner::{CallPlanner, Linkage};
use super::function::{FunctionCode, Heat, SYNTHETIC};
use super::instr::{Code, Instr, straight_line};
use super::instructions::{CheckedCode, Instructions};
use super::loop_heads::{Edge, Way, edges};
use super::results_at_hand::Known;
use super::shape::Handle;
use crate::modules::{LinkedKind, Target};
use crate::position::FunctionId;

/// Translates a function. A function that does not exist becomes code that fails at once.
pub(crate) fn translate<H: Handle>(linkage: &Linkage<'_, H>, id: FunctionId) -> FunctionCode<H> {
    let module = linkage.modules.get(id.module.index()).map(|module| &module.kind);
    let Some(LinkedKind::Bytecode { module, imports, .. }) = module else {
        return Translation::new(imports_of_nobody(), 0).finish();
    };
    let ref_count = module.function(id.function).map_or(0, |it| it.ref_register_count.into());
    let mut translation = Translation::new(imports, ref_count);
    let planner = CallPlanner::new(linkage, id);
    let mut calls = Vec::new();
    for instruction in instructions(module.function_bytecode(id.function)) {
        let Ok(instruction) = instruction else { break };
        translation.instruction(&instruction, &planner, &mut calls);
    }
    translation.calls = calls;
    translation.finish()
}

fn imports_of_nobody() -> &'static [Target] {
    &[]
}

/// Where a jump target has to be filled in once all indices are known.
enum Patch {
    Low(usize),
    High(usize),
    Table { table: usize, entry: usize },
    CallNext(usize),
}

struct Translation<'a> {
    imports: &'a [Target],
    ref_count: u32,
    instructions: Vec<Instr>,
    offsets: Vec<u32>,
    starts: Vec<(u32, u32)>,
    calls: Vec<CallPlan>,
    lists: Vec<Box<[u16]>>,
    tables: Vec<Box<[u32]>>,
    texts: Vec<Box<str>>,
    patches: Vec<(Patch, BytecodeOffset)>,
    /// Edges with copies: what to patch with the address of the stub, its target, its copies.
    stubs: Vec<(Patch, BytecodeOffset, Vec<Instr>)>,
}

const EMPTY: Instr = Instr { code: Code::EndOfFunction, a: 0, b: 0, c: 0, imm: 0 };

impl<'a> Translation<'a> {
    fn new(imports: &'a [Target], ref_count: u32) -> Self {
        Self {
            imports,
            ref_count,
            instructions: Vec::new(),
            offsets: Vec::new(),
            starts: Vec::new(),
            calls: Vec::new(),
            lists: Vec::new(),
            tables: Vec::new(),
            texts: Vec::new(),
            patches: Vec::new(),
            stubs: Vec::new(),
        }
    }

    /// Appends an instruction of the machine's own; returns its index.
    fn emit(&mut self, instr: Instr) -> usize {
        self.instructions.push(instr);
        self.offsets.push(SYNTHETIC);
        self.instructions.len() - 1
    }

    fn instruction<H>(
        &mut self,
        instruction: &Instruction<'_>,
        planner: &CallPlanner<'_, H>,
        calls: &mut Vec<CallPlan>,
    ) {
        let first = self.instructions.len();
        match straight_line(instruction.op) {
            Some(code) => self.straight(code, instruction),
            None => self.control(instruction, planner, calls),
        }
        self.offsets[first] = instruction.offset.0;
        self.starts.push((instruction.offset.0, first as u32));
    }

    /// Packs the operands in order: registers into `a`, `b`, `c` and the lanes, the rest into
    /// `imm`.
    fn straight(&mut self, code: Code, instruction: &Instruction<'_>) {
        let mut instr = Instr { code, ..EMPTY };
        let mut registers = 0;
        for (field, operand) in instruction.fields() {
            match operand {
                Operand::Register(register) => {
                    let value = encode(*register, field.kind);
                    match registers {
                        0 => instr.a = value,
                        1 => instr.b = value,
                        2 => instr.c = value,
                        _ => instr.imm |= u64::from(value) << (16 * (registers - 3)),
                    }
                    registers += 1;
                }
                Operand::Registers(list) => {
                    let list = list.iter().map(|register| encode(register, field.kind)).collect();
                    instr.imm |= self.list(list);
                }
                Operand::Immediate(value) => {
                    instr.imm = match *value {
                        Immediate::I32(value) => u64::from(value.cast_unsigned()),
                        Immediate::I64(value) => value.cast_unsigned(),
                        Immediate::F32(bits) => bits.into(),
                        Immediate::F64(bits) => bits,
                    };
                }
                Operand::Global(global) => instr.imm |= u64::from(*global),
                Operand::Rodata(rodata) => instr.imm |= u64::from(rodata.0),
                Operand::Type(ordinal) => instr.imm |= u64::from(ordinal.0) << 32,
                // The text of `trace` and `print` is for observers, which have the bytecode.
                _ => {}
            }
        }
        self.emit(instr);
    }

    fn list(&mut self, list: Box<[u16]>) -> u64 {
        self.lists.push(list);
        self.lists.len() as u64 - 1
    }

    fn control<H>(
        &mut self,
        instruction: &Instruction<'_>,
        planner: &CallPlanner<'_, H>,
        calls: &mut Vec<CallPlan>,
    ) {
        let register = |index: usize| match instruction.operands.get(index) {
            Some(Operand::Register(register)) => register.ordinal(),
            _ => 0,
        };
        let successors = instruction.successors();
        let is_backward = successors.iter().any(|(target, _)| *target <= instruction.offset);
        match instruction.op {
            Op::Branch => {
                let jump = if is_backward && successors[0].1.is_empty() {
                    Code::JumpBack
                } else {
                    self.poll_if(is_backward);
                    Code::Jump
                };
                self.jump(Instr { code: jump, ..EMPTY }, &successors);
            }
            // The instruction after these counts as a branch: loops of them end too.
            Op::Yield => {
                self.poll_if(is_backward);
                self.jump(Instr { code: Code::Yield, ..EMPTY }, &successors);
            }
            Op::Break => {
                self.poll_if(is_backward);
                self.jump(Instr { code: Code::Stop, ..EMPTY }, &successors);
            }
            Op::CondBreak => {
                self.poll_if(is_backward);
                // The condition is read before the copies, which may overwrite it.
                let stop = Instr { code: Code::CondStop, a: register(0), ..EMPTY };
                let index = self.emit(stop);
                self.edge(Patch::Low(index), &successors, 0);
            }
            Op::CondBranch => {
                let code = if is_backward { Code::CondJumpBack } else { Code::CondJump };
                let index = self.emit(Instr { code, a: register(0), ..EMPTY });
                self.edge(Patch::Low(index), &successors, 0);
                self.edge(Patch::High(index), &successors, 1);
            }
            Op::BranchTable => {
                self.poll_if(is_backward);
                let table = self.tables.len();
                let imm = table as u64;
                self.emit(Instr { code: Code::JumpTable, a: register(0), imm, ..EMPTY });
                self.tables.push(vec![0; successors.len()].into());
                // The default comes first in the bytecode and last in the table.
                for index in 0..successors.len() {
                    let entry = (index + successors.len() - 1) % successors.len();
                    self.edge(Patch::Table { table, entry }, &successors, index);
                }
            }
            Op::Call | Op::CallVariadic | Op::CallYieldable | Op::CallVariadicYieldable => {
                let plan = calls.len();
                let mut call = planner.plan(instruction);
                let code = match call.target {
                    Target::Bytecode(_) => Code::Call,
                    Target::Native(..) | Target::Missing(_) => Code::CallOut,
                };
                let index = self.emit(Instr { code, imm: plan as u64, ..EMPTY });
                call.next = index as u32 + 1;
                calls.push(call);
                if !successors.is_empty() {
                    self.edge(Patch::CallNext(plan), &successors, 0);
                }
            }
            Op::Return => {
                let list = instruction.operands.iter().find_map(|operand| match operand {
                    Operand::Registers(list) => Some(list.iter().map(|register| register.0)),
                    _ => None,
                });
                let imm = self.list(list.into_iter().flatten().collect());
                self.emit(Instr { code: Code::Return, imm, ..EMPTY });
            }
            Op::Fail => {
                let text = instruction.operands.iter().find_map(Operand::as_text);
                let imm = self.texts.len() as u64;
                self.texts.push(text.unwrap_or_default().into());
                self.emit(Instr { code: Code::Fail, a: register(0), imm, ..EMPTY });
            }
            Op::ImportResolved => {
                let target = instruction.operands.iter().find_map(|operand| match operand {
                    Operand::Function(Callee::Import(import)) => self.imports.get(import.index()),
                    _ => None,
                });
                let is_there = !matches!(target, None | Some(Target::Missing(_)));
                let imm = u64::from(is_there);
                self.emit(Instr { code: Code::ConstI32, a: register(1), imm, ..EMPTY });
            }
            // All other instructions are straight-line code.
            _ => {
                self.emit(EMPTY);
            }
        }
    }

    /// Looks at fuel and interrupts before a way back.
    fn poll_if(&mut self, is_backward: bool) {
        if is_backward {
            self.emit(Instr { code: Code::Poll, ..EMPTY });
        }
    }

    /// Copies, then a jump to the only successor.
    fn jump(&mut self, jump: Instr, successors: &[(BytecodeOffset, RemapList<'_>)]) {
        let Some((target, remap)) = successors.first() else {
            self.emit(EMPTY);
            return;
        };
        for copy in copies(*remap) {
            self.emit(copy);
        }
        let index = self.emit(jump);
        self.patches.push((Patch::Low(index), *target));
    }

    /// One of several ways out of an instruction: through a stub if there are values to copy.
    fn edge(&mut self, patch: Patch, successors: &[(BytecodeOffset, RemapList<'_>)], index: usize) {
        let Some((target, remap)) = successors.get(index) else { return };
        if remap.is_empty() {
            self.patches.push((patch, *target));
        } else {
            self.stubs.push((patch, *target, copies(*remap).collect()));
        }
    }

    fn finish<H: Handle>(mut self) -> FunctionCode<H> {
        self.emit(EMPTY);
        for (patch, target, copies) in std::mem::take(&mut self.stubs) {
            let stub = self.instructions.len() as u32;
            for copy in copies {
                self.emit(copy);
            }
            let jump = self.emit(Instr { code: Code::Jump, ..EMPTY });
            self.patches.push((Patch::Low(jump), target));
            self.apply(&patch, stub);
        }
        let indices: HashMap<u32, u32> = self.starts.iter().copied().collect();
        for (patch, target) in std::mem::take(&mut self.patches) {
            // After the block marker.
            let index = indices.get(&target.0).map_or(0, |index| index + 1);
            self.apply(&patch, index);
        }
        let mut instructions = self.checked::<H>();
        if let Some(checked) = &instructions {
            let edges = edges::<H>(checked.flow(), &self.tables, &self.calls);
            if !edges.is_empty() {
                for (edge, known) in edges {
                    self.lead_through_loads(edge, known);
                }
                instructions = self.checked();
            }
        }
        // What was verified has no way out of the function.
        let instructions = instructions.unwrap_or_else(failing);
        FunctionCode {
            free: CheckedCode::free(&instructions),
            observed: OnceLock::new(),
            instructions,
            offsets: self.offsets.into(),
            starts: self.starts.into(),
            calls: self.calls.into(),
            lists: self.lists.into(),
            texts: self.texts.into(),
            has_loops: self.instructions.iter().any(|instr| {
                matches!(instr.code, Code::JumpBack | Code::CondJumpBack | Code::Poll)
            }),
            heat: Heat::default(),
            compiled: OnceLock::new(),
        }
    }

    fn checked<H: Handle>(&self) -> Option<Instructions<H>> {
        let instructions = self.instructions.clone().into();
        Instructions::new(instructions, &self.tables, &self.calls, self.ref_count)
    }

    /// Makes a jump lead through instructions that make results known at its target.
    fn lead_through_loads(&mut self, edge: Edge, known: Known) {
        let stub = self.instructions.len() as u64;
        for load in known.loads() {
            self.emit(load);
        }
        self.emit(Instr { code: Code::Jump, imm: edge.to as u64, ..EMPTY });
        let instr = &mut self.instructions[edge.from];
        match edge.way {
            Way::Low => instr.imm = instr.imm & !u64::from(u32::MAX) | stub,
            Way::High => instr.imm = instr.imm & u64::from(u32::MAX) | stub << 32,
            Way::Table(entry) => self.tables[instr.low()][entry] = stub as u32,
        }
    }

    fn apply(&mut self, patch: &Patch, index: u32) {
        match *patch {
            Patch::Low(at) => self.instructions[at].imm |= u64::from(index),
            Patch::High(at) => self.instructions[at].imm |= u64::from(index) << 32,
            Patch::Table { table, entry } => self.tables[table][entry] = index,
            Patch::CallNext(plan) => self.calls[plan].next = index,
        }
    }
}

/// Code that fails when it is run.
fn failing<H: Handle>() -> Instructions<H> {
    Instructions::new(Box::new([EMPTY]), &[], &[], 0).expect("an end is sound code")
}

/// A register as [`Instr`] encodes it: pairs by number, refs with their move bit.
fn encode(register: Register, kind: FieldKind) -> u16 {
    let (FieldKind::Read(bank)
    | FieldKind::Write(bank)
    | FieldKind::Reads(bank)
    | FieldKind::Writes(bank)) = kind
    else {
        return register.0;
    };
    match bank {
        Bank::I64 | Bank::F64 => register.ordinal() / 2,
        Bank::I32 | Bank::F32 => register.ordinal(),
        Bank::Ref | Bank::RefMove | Bank::Any => register.0,
    }
}

/// The copies of a branch, in order. Both halves of a pair are copied as one: a whole that is read
/// where halves were written makes the host wait.
fn copies(remap: RemapList<'_>) -> impl Iterator<Item = Instr> {
    let mut copies = remap.iter().peekable();
    std::iter::from_fn(move || {
        let (source, target) = copies.next()?;
        if source.is_ref() {
            return Some(Instr { code: Code::CopyRef, a: source.0, b: target.0, ..EMPTY });
        }
        let (a, b) = (source.ordinal(), target.ordinal());
        let is_second_half = |(source, target): &(Register, Register)| {
            !source.is_ref() && (source.ordinal(), target.ordinal()) == (a + 1, b + 1)
        };
        if a % 2 == 0 && b % 2 == 0 && copies.next_if(is_second_half).is_some() {
            return Some(Instr { code: Code::CopyI64, a: a / 2, b: b / 2, ..EMPTY });
        }
        Some(Instr { code: Code::CopyI32, a, b, ..EMPTY })
    })
}

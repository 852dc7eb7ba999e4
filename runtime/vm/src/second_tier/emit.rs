//! A function in Cranelift's terms.
//!
//! ```text
//! fn(door, entry, budget) -> place where the interpreter goes on | budget left << 32
//! ```
//!
//! A table leads from the number of an entry to a block that loads the registers held there, and
//! from it into the function's blocks. Every result is written to its register at once, so leaving
//! takes nothing but the index of the instruction: the interpreter begins with that instruction, as
//! if it had come there by itself. So compiled code knows only the ways that succeed. An index out
//! of range, a division by zero, the last turn of the budget: it leaves *before* the instruction,
//! and the interpreter fails, stops or asks for more turns as always.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, BlockArg, Function, InstBuilder, JumpTableData, MemFlagsData, SigRef, Signature,
    Type, Value, types,
};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};

use super::calls;
use super::flow::{Blocks, changed_refs};
use super::held::{Access, Held, HeldRegisters};
use super::helpers::{self, View};
use super::rows::{Element, Kind, Row, row};
use super::unit::{Door, FAILED, RETURNED};
use crate::code::{Code, Instr};
use crate::machine::{CheckedCode, FunctionCode};
use crate::stack::{Refs, ref_index};

/// What is compiled.
pub(super) struct Source<'a> {
    pub(super) code: &'a FunctionCode,
    pub(super) blocks: &'a Blocks,
    /// The ref registers that have views.
    pub(super) buffers: &'a [u16],
    /// The form for observers. Like the function, it lives as long as the machine code.
    pub(super) observed: *const CheckedCode,
    /// How many bytes of primitive globals the module has.
    pub(super) global_bytes: usize,
}

/// Cranelift's form of a function.
pub(super) fn emit(source: &Source<'_>, isa: &dyn TargetIsa) -> Function {
    let mut function = Function::new();
    let mut signature = Signature::new(isa.default_call_conv());
    let pointer = isa.pointer_type();
    signature.params.extend([pointer, types::I32, types::I32].map(AbiParam::new));
    signature.returns.push(AbiParam::new(types::I64));
    function.signature = signature;
    let mut context = FunctionBuilderContext::new();
    let builder = FunctionBuilder::new(&mut function, &mut context);
    let mut emitter = Emitter::new(source, builder, isa);
    emitter.entries();
    for index in 0..source.blocks.blocks.len() {
        emitter.block(index);
    }
    emitter.builder.seal_all_blocks();
    emitter.builder.finalize(isa.frontend_config());
    function
}

type ClifBlock = cranelift_codegen::ir::Block;

struct Emitter<'a> {
    source: &'a Source<'a>,
    builder: FunctionBuilder<'a>,
    call_conv: cranelift_codegen::isa::CallConv,
    pointer: Type,
    /// The function's blocks,
    blocks: Vec<ClifBlock>,
    /// and the one for an instruction that the interpreter ran and that failed.
    failed: ClifBlock,
    values: HashMap<(Kind, u16), Variable>,
    /// The views, and the registers whose views change.
    views: Variable,
    changing: HashSet<usize>,
    signatures: HashMap<(Vec<Type>, Vec<Type>), SigRef>,
    budget: Variable,
    door: Variable,
    registers: Variable,
    globals: Variable,
    held: HeldRegisters,
}

/// Memory of the machine's own: always there.
fn own() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

impl<'a> Emitter<'a> {
    fn new(source: &'a Source<'a>, mut builder: FunctionBuilder<'a>, isa: &dyn TargetIsa) -> Self {
        let pointer = isa.pointer_type();
        let blocks = source.blocks.blocks.iter().map(|_| builder.create_block()).collect();
        let budget = builder.declare_var(types::I32);
        let [door, registers, globals, views] = [0; 4].map(|_| builder.declare_var(pointer));
        let instructions = source.code.instructions.iter();
        let changed = instructions.flat_map(|instr| changed_refs(source.code, instr));
        let changing = changed.map(ref_index).collect();
        let failed = builder.create_block();
        let held = HeldRegisters::all(0, Held::No);
        Self {
            source,
            builder,
            call_conv: isa.default_call_conv(),
            pointer,
            blocks,
            failed,
            values: HashMap::new(),
            views,
            changing,
            signatures: HashMap::new(),
            budget,
            door,
            registers,
            globals,
            held,
        }
    }

    /// The way from the interpreter into the blocks.
    fn entries(&mut self) {
        let first = self.builder.create_block();
        self.builder.append_block_params_for_function_params(first);
        self.builder.switch_to_block(first);
        let [door, entry, budget] = *self.builder.block_params(first) else { return };
        self.builder.def_var(self.door, door);
        self.builder.def_var(self.budget, budget);
        for (variable, offset) in [
            (self.registers, Door::REGISTERS),
            (self.globals, Door::GLOBALS),
            (self.views, Door::VIEWS),
        ] {
            let value = self.builder.ins().load(self.pointer, own(), door, offset);
            self.builder.def_var(variable, value);
        }
        let entries = &self.source.blocks.entries;
        let stubs: Vec<ClifBlock> = entries.iter().map(|_| self.builder.create_block()).collect();
        let nowhere = self.builder.create_block();
        let call = |builder: &mut FunctionBuilder<'_>, block| {
            builder.func.dfg.block_call(block, &[] as &[BlockArg])
        };
        let default = call(&mut self.builder, nowhere);
        let table: Vec<_> = stubs.iter().map(|stub| call(&mut self.builder, *stub)).collect();
        let table = self.builder.create_jump_table(JumpTableData::new(default, &table));
        self.builder.ins().br_table(entry, table);
        for block in [nowhere, self.failed] {
            self.builder.switch_to_block(block);
            let failed = self.builder.ins().iconst(types::I64, i64::from(FAILED));
            self.builder.ins().return_(&[failed]);
        }
        for (entry, stub) in entries.iter().zip(stubs) {
            self.builder.switch_to_block(stub);
            let block = self.source.blocks.of[*entry];
            for (kind, register) in self.source.blocks.blocks[block].held.numbers() {
                let value = self.load(kind, register);
                self.set(kind, register, value);
            }
            self.builder.ins().jump(self.blocks[block], &[]);
        }
    }

    /// A block of the function.
    fn block(&mut self, index: usize) {
        let block = &self.source.blocks.blocks[index];
        self.builder.switch_to_block(self.blocks[index]);
        if !block.is_reached {
            self.leave(block.start);
            return;
        }
        self.held = block.held.clone();
        let mut has_ended = false;
        for at in block.start..block.end {
            let instr = self.source.code.instructions[at];
            has_ended = self.instruction(at, &instr);
            self.source.blocks.effects[at].apply(&mut self.held);
        }
        if !has_ended {
            match block.successors.last() {
                Some(next) => {
                    self.builder.ins().jump(self.blocks[*next], &[]);
                }
                None => self.leave(block.end - 1),
            }
        }
    }

    /// One instruction; returns whether it ends its block.
    fn instruction(&mut self, at: usize, instr: &Instr) -> bool {
        match row(instr.code) {
            Row::Nothing => {}
            Row::Constant(kind) => {
                let value = self.constant(kind, instr.imm);
                self.write(kind, instr.a, value);
            }
            Row::Unary(from, to, lower) => {
                let operand = self.read(from, instr.a);
                let value = lower(&mut self.builder, operand);
                self.write(to, instr.b, value);
            }
            Row::Binary([left, right], to, lower) => {
                let (x, y) = (self.read(left, instr.a), self.read(right, instr.b));
                let value = lower(&mut self.builder, x, y);
                self.write(to, instr.c, value);
            }
            Row::Ternary(kind, lower) => {
                let [x, y, z] = [instr.a, instr.b, instr.c].map(|it| self.read(kind, it));
                let value = lower(&mut self.builder, x, y, z);
                self.write(kind, instr.lane(0), value);
            }
            Row::Checked(kind, fails, lower) => {
                let (x, y) = (self.read(kind, instr.a), self.read(kind, instr.b));
                let fails = fails(&mut self.builder, x, y);
                self.leave_if(fails, at);
                let value = lower(&mut self.builder, x, y);
                self.write(kind, instr.c, value);
            }
            Row::Select(kind) => {
                let condition = self.read(Kind::I32, instr.a);
                let (x, y) = (self.read(kind, instr.b), self.read(kind, instr.c));
                let value = self.builder.ins().select(condition, x, y);
                self.write(kind, instr.lane(0), value);
            }
            Row::CallUnary(from, to, address) => {
                let operand = self.read(from, instr.a);
                let value = self.call(address, &[operand], &[to.ty()]);
                self.write(to, instr.b, value);
            }
            Row::CallBinary([left, right], address) => {
                let operands = [self.read(left, instr.a), self.read(right, instr.b)];
                let value = self.call(address, &operands, &[left.ty()]);
                self.write(left, instr.c, value);
            }
            Row::Load(element) => self.buffer_load(at, instr, element),
            Row::Store(element) => self.buffer_store(at, instr, element),
            Row::GlobalLoad(kind) => match self.global(kind, instr) {
                Some((address, offset)) => {
                    let value = self.builder.ins().load(kind.ty(), own(), address, offset);
                    self.write(kind, instr.a, value);
                }
                None => return self.ends_at(at),
            },
            Row::GlobalStore(kind) => match self.global(kind, instr) {
                Some((address, offset)) => {
                    let value = self.read(kind, instr.a);
                    self.builder.ins().store(own(), value, address, offset);
                }
                None => return self.ends_at(at),
            },
            Row::Step(_) => self.step(at),
            Row::Quick(_, address) => self.quick(at, address),
            Row::RefStep => {
                let changed = changed_refs(self.source.code, instr);
                if instr.code != Code::DropMoved || !changed.is_empty() {
                    self.step(at);
                    self.look_again(&changed);
                }
            }
            Row::Poll => self.poll(at),
            Row::Jump { back } => {
                if back {
                    self.poll(at);
                }
                let target = self.target(instr.low());
                self.builder.ins().jump(target, &[]);
                return true;
            }
            Row::CondJump { back } => {
                if back {
                    self.poll(at);
                }
                let condition = self.read(Kind::I32, instr.a);
                let (low, high) = (self.target(instr.low()), self.target(instr.high()));
                self.builder.ins().brif(condition, low, &[], high, &[]);
                return true;
            }
            Row::Table => {
                let index = self.read(Kind::I32, instr.a);
                self.table(at, index);
                return true;
            }
            Row::Call => {
                self.call_bytecode(at, instr);
                return true;
            }
            Row::ExitIf => {
                let condition = self.read(Kind::I32, instr.a);
                self.leave_if(condition, at);
            }
            Row::Exit => return self.ends_at(at),
        }
        false
    }

    /// The interpreter goes on at an instruction, always.
    fn ends_at(&mut self, at: usize) -> bool {
        self.leave(at);
        true
    }

    fn target(&self, index: usize) -> ClifBlock {
        self.blocks[self.source.blocks.of[index]]
    }

    /// Continues where a table says.
    fn table(&mut self, at: usize, index: Value) {
        let targets = self.source.code.instructions.targets(at);
        let calls: Vec<_> = targets
            .iter()
            .map(|target| {
                let block = self.target(*target);
                self.builder.func.dfg.block_call(block, &[] as &[BlockArg])
            })
            .collect();
        // The last one serves all higher indices too.
        let Some((last, others)) = calls.split_last() else { return self.leave(at) };
        let table = self.builder.create_jump_table(JumpTableData::new(*last, others));
        self.builder.ins().br_table(index, table);
    }

    /// Counts a backward branch or a call. The one that uses the budget up is the interpreter's.
    fn poll(&mut self, at: usize) {
        let budget = self.builder.use_var(self.budget);
        let is_last = self.builder.ins().icmp_imm_u(IntCC::Equal, budget, 1);
        self.leave_if(is_last, at);
        let left = self.builder.ins().iadd_imm_s(budget, -1);
        self.builder.def_var(self.budget, left);
    }

    /// The interpreter goes on at an instruction.
    fn leave(&mut self, at: usize) {
        let index = self.builder.ins().iconst(types::I64, at as i64);
        let budget = self.builder.use_var(self.budget);
        let budget = self.builder.ins().uextend(types::I64, budget);
        let high = self.builder.ins().ishl_imm_u(budget, 32);
        let place = self.builder.ins().bor(high, index);
        self.builder.ins().return_(&[place]);
    }

    fn leave_if(&mut self, condition: Value, at: usize) {
        let exit = self.builder.create_block();
        self.builder.set_cold_block(exit);
        let on = self.builder.create_block();
        self.builder.ins().brif(condition, exit, &[], on, &[]);
        self.builder.switch_to_block(exit);
        self.leave(at);
        self.builder.switch_to_block(on);
    }

    // Registers.

    fn place(kind: Kind, register: u16) -> i32 {
        let size = if kind.is_pair() { 8 } else { 4 };
        i32::from(register) * size
    }

    fn load(&mut self, kind: Kind, register: u16) -> Value {
        let registers = self.builder.use_var(self.registers);
        self.builder.ins().load(kind.ty(), own(), registers, Self::place(kind, register))
    }

    fn set(&mut self, kind: Kind, register: u16, value: Value) {
        let builder = &mut self.builder;
        let variable =
            self.values.entry((kind, register)).or_insert_with(|| builder.declare_var(kind.ty()));
        self.builder.def_var(*variable, value);
    }

    fn get(&mut self, kind: Kind, register: u16) -> Value {
        let builder = &mut self.builder;
        let variable =
            self.values.entry((kind, register)).or_insert_with(|| builder.declare_var(kind.ty()));
        self.builder.use_var(*variable)
    }

    /// The value of a register.
    fn read(&mut self, kind: Kind, register: u16) -> Value {
        match self.held.access(kind, register) {
            Access::Value => self.get(kind, register),
            Access::Other(held) => {
                let value = self.get(held, register);
                self.builder.ins().bitcast(kind.ty(), MemFlagsData::new(), value)
            }
            Access::Memory => {
                let value = self.load(kind, register);
                self.set(kind, register, value);
                self.held.read(kind, register);
                value
            }
        }
    }

    /// Writes a register.
    fn write(&mut self, kind: Kind, register: u16, value: Value) {
        let registers = self.builder.use_var(self.registers);
        self.builder.ins().store(own(), value, registers, Self::place(kind, register));
        self.set(kind, register, value);
    }

    fn constant(&mut self, kind: Kind, bits: u64) -> Value {
        match kind {
            Kind::I32 => self.builder.ins().iconst(types::I32, i64::from(bits as u32)),
            Kind::I64 => self.builder.ins().iconst(types::I64, bits.cast_signed()),
            Kind::F32 => self.builder.ins().f32const(f32::from_bits(bits as u32)),
            Kind::F64 => self.builder.ins().f64const(f64::from_bits(bits)),
        }
    }

    // Globals.

    /// Where a global is, if the module has it.
    fn global(&mut self, kind: Kind, instr: &Instr) -> Option<(Value, i32)> {
        let size = if kind.is_pair() { 8 } else { 4 };
        let end = instr.low().checked_add(size)?;
        let offset = i32::try_from(instr.low()).ok()?;
        (end <= self.source.global_bytes).then(|| (self.builder.use_var(self.globals), offset))
    }

    // Buffers.

    /// Where the view of a buffer is, and how it is read: one that stays as it is may be read
    /// early, before a loop.
    fn view(&mut self, register: u16) -> Option<(i32, MemFlagsData)> {
        let number = self.source.buffers.iter().position(|it| *it == register)?;
        let changes = self.changing.contains(&ref_index(register));
        let flags = own().with_aligned();
        let flags = if changes { flags } else { flags.with_readonly().with_can_move() };
        Some((number as i32 * View::SIZE, flags))
    }

    /// Looks again at the buffers in refs that have changed.
    fn look_again(&mut self, changed: &[u16]) {
        for register in changed {
            let register = ref_index(*register) as u16;
            let Some((place, _)) = self.view(register) else { continue };
            let (door, views) = (self.builder.use_var(self.door), self.builder.use_var(self.views));
            let offset = Refs::offset(register).cast_signed();
            let offset = self.builder.ins().iconst(types::I64, offset);
            let view = self.builder.ins().iadd_imm_s(views, i64::from(place));
            self.call(helpers::look as *const () as usize, &[door, offset, view], &[]);
        }
    }

    /// The address of an element of which the view counts `limit`; leaves if there is no such
    /// element. `None` if the buffer has no view.
    fn element(&mut self, at: usize, instr: &Instr, shift: u8, limit: i32) -> Option<Value> {
        let (place, flags) = self.view(instr.a)?;
        let index = self.read(Kind::I64, instr.b);
        let views = self.builder.use_var(self.views);
        let count = self.builder.ins().load(types::I64, flags, views, place + limit);
        let is_outside = self.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, count);
        self.leave_if(is_outside, at);
        let data = self.builder.ins().load(self.pointer, flags, views, place + View::DATA);
        let offset = self.builder.ins().ishl_imm_u(index, i64::from(shift));
        Some(self.builder.ins().iadd(data, offset))
    }

    fn buffer_load(&mut self, at: usize, instr: &Instr, element: Element) {
        let Element { kind, shift, is_signed } = element;
        let Some(address) = self.element(at, instr, shift, View::readable(shift)) else {
            self.step(at);
            let value = self.load(kind, instr.c);
            return self.set(kind, instr.c, value);
        };
        let ins = self.builder.ins();
        let value = match (kind, shift, is_signed) {
            (Kind::I32, 0, false) => ins.uload8(types::I32, own(), address, 0),
            (Kind::I32, 0, true) => ins.sload8(types::I32, own(), address, 0),
            (Kind::I32, 1, false) => ins.uload16(types::I32, own(), address, 0),
            (Kind::I32, 1, true) => ins.sload16(types::I32, own(), address, 0),
            _ => ins.load(kind.ty(), own(), address, 0),
        };
        self.write(kind, instr.c, value);
    }

    fn buffer_store(&mut self, at: usize, instr: &Instr, element: Element) {
        let Element { kind, shift, .. } = element;
        let value = self.read(kind, instr.c);
        let Some(address) = self.element(at, instr, shift, View::writable(shift)) else {
            return self.step(at);
        };
        let ins = self.builder.ins();
        match (kind, shift) {
            (Kind::I32, 0) => ins.istore8(own(), value, address, 0),
            (Kind::I32, 1) => ins.istore16(own(), value, address, 0),
            _ => ins.store(own(), value, address, 0),
        };
    }

    // Calls out of compiled code.

    /// Calls bytecode, and goes on where the call says once that has returned.
    fn call_bytecode(&mut self, at: usize, instr: &Instr) {
        let Some(plan) = self.source.code.calls.get(instr.low()) else { return self.leave(at) };
        self.poll(at);
        let door = self.builder.use_var(self.door);
        let index = self.builder.ins().iconst(types::I32, at as i64);
        let budget = self.builder.use_var(self.budget);
        let address = calls::call as *const () as usize;
        let left = self.call(address, &[door, index, budget], &[types::I64]);
        let place = self.builder.ins().ireduce(types::I32, left);
        let has_returned = self.builder.ins().icmp_imm_u(IntCC::Equal, place, i64::from(RETURNED));
        let (on, out) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(out);
        self.builder.ins().brif(has_returned, on, &[], out, &[]);
        self.builder.switch_to_block(out);
        self.builder.ins().return_(&[left]);

        self.builder.switch_to_block(on);
        let budget = self.builder.ins().ushr_imm_u(left, 32);
        let budget = self.builder.ins().ireduce(types::I32, budget);
        self.builder.def_var(self.budget, budget);
        // The stack may have moved.
        let registers = self.builder.ins().load(self.pointer, own(), door, Door::REGISTERS);
        self.builder.def_var(self.registers, registers);
        self.look_again(&changed_refs(self.source.code, instr));
        let next = self.target(plan.next as usize);
        self.builder.ins().jump(next, &[]);
    }

    /// Lets a function try an instruction, and else the interpreter run it.
    fn quick(&mut self, at: usize, address: usize) {
        let door = self.builder.use_var(self.door);
        let instr = std::ptr::from_ref(&self.source.code.instructions[at]);
        let instr = self.builder.ins().iconst(self.pointer, instr.addr() as i64);
        let has_run = self.call(address, &[door, instr], &[types::I32]);
        let (on, slow) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(slow);
        self.builder.ins().brif(has_run, on, &[], slow, &[]);
        self.builder.switch_to_block(slow);
        self.step(at);
        self.builder.ins().jump(on, &[]);
        self.builder.switch_to_block(on);
    }

    /// Lets the interpreter run an instruction.
    fn step(&mut self, at: usize) {
        let door = self.builder.use_var(self.door);
        let index = self.builder.ins().iconst(types::I32, at as i64);
        let budget = self.builder.use_var(self.budget);
        let address = helpers::step as *const () as usize;
        let observed = self.builder.ins().iconst(self.pointer, self.source.observed.addr() as i64);
        let has_run = self.call(address, &[door, observed, index, budget], &[types::I32]);
        let on = self.builder.create_block();
        self.builder.ins().brif(has_run, on, &[], self.failed, &[]);
        self.builder.switch_to_block(on);
    }

    /// Calls a function of the host. Without a result, the value means nothing.
    fn call(&mut self, address: usize, arguments: &[Value], results: &[Type]) -> Value {
        let dfg = &self.builder.func.dfg;
        let types: Vec<Type> = arguments.iter().map(|it| dfg.value_type(*it)).collect();
        let (call_conv, builder) = (self.call_conv, &mut self.builder);
        let key = (types, results.to_vec());
        let signature = *self.signatures.entry(key).or_insert_with_key(|(types, results)| {
            let mut signature = Signature::new(call_conv);
            signature.params.extend(types.iter().map(|it| AbiParam::new(*it)));
            signature.returns.extend(results.iter().map(|it| AbiParam::new(*it)));
            builder.import_signature(signature)
        });
        let callee = self.builder.ins().iconst(self.pointer, address as i64);
        let call = self.builder.ins().call_indirect(signature, callee, arguments);
        self.builder.inst_results(call).first().copied().unwrap_or(callee)
    }
}

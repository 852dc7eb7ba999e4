//! The blocks of a function: where control goes, which registers live, how they are held.

use super::held::{Held, HeldRegisters};
use super::rows::{Kind, Row, row};
use crate::code::{Code, Instr, Slot};
use crate::machine::FunctionCode;
use crate::stack::is_move;

/// A run of instructions that control enters only at the first.
#[derive(Debug)]
pub(super) struct Block {
    /// The indices of its instructions.
    pub(super) start: usize,
    pub(super) end: usize,
    /// The blocks that may follow.
    pub(super) successors: Vec<usize>,
    /// How registers are held when it begins.
    pub(super) held: HeldRegisters,
    /// Whether control gets here at all.
    pub(super) is_reached: bool,
}

/// A function's blocks, in the order of their instructions.
#[derive(Debug)]
pub(super) struct Blocks {
    pub(super) blocks: Vec<Block>,
    /// For each instruction, its block.
    pub(super) of: Vec<usize>,
    /// The places at which the interpreter hands over, ascending.
    pub(super) entries: Vec<usize>,
    /// For each instruction, what it does with registers.
    pub(super) effects: Vec<Effects>,
    /// The highest register, and one more.
    register_count: usize,
}

/// The numbers that an instruction reads, and the one that it writes.
#[derive(Debug)]
pub(super) struct Effects {
    reads: [Option<(Kind, u16)>; 3],
    writes: Option<(Kind, u16)>,
    /// Those that are written in memory only, where compiled code does not see them.
    forgets: Vec<(Kind, u16)>,
}

/// What an instruction does with registers.
fn effects(code: &FunctionCode, instr: &Instr) -> Effects {
    let (mut reads, mut writes, mut forgets) = ([None; 3], None, Vec::new());
    match row(instr.code) {
        Row::Nothing | Row::Poll | Row::Jump { .. } | Row::Exit | Row::RefStep => {}
        Row::Constant(kind) | Row::GlobalLoad(kind) => writes = Some((kind, instr.a)),
        Row::Unary(from, to, _) | Row::CallUnary(from, to, _) => {
            reads[0] = Some((from, instr.a));
            writes = Some((to, instr.b));
        }
        Row::Binary([left, right], to, _) => {
            reads = [Some((left, instr.a)), Some((right, instr.b)), None];
            writes = Some((to, instr.c));
        }
        Row::CallBinary([left, right], _) => {
            reads = [Some((left, instr.a)), Some((right, instr.b)), None];
            writes = Some((left, instr.c));
        }
        Row::Checked(kind, _, _) => {
            reads = [Some((kind, instr.a)), Some((kind, instr.b)), None];
            writes = Some((kind, instr.c));
        }
        Row::Ternary(kind, _) => {
            reads = [instr.a, instr.b, instr.c].map(|register| Some((kind, register)));
            writes = Some((kind, instr.lane(0)));
        }
        Row::Select(kind) => {
            reads = [Some((Kind::I32, instr.a)), Some((kind, instr.b)), Some((kind, instr.c))];
            writes = Some((kind, instr.lane(0)));
        }
        Row::Load(element) => {
            reads[0] = Some((Kind::I64, instr.b));
            writes = Some((element.kind, instr.c));
        }
        Row::Store(element) => {
            reads = [Some((Kind::I64, instr.b)), Some((element.kind, instr.c)), None];
        }
        Row::GlobalStore(kind) => reads[0] = Some((kind, instr.a)),
        Row::CondJump { .. } | Row::Table | Row::ExitIf => reads[0] = Some((Kind::I32, instr.a)),
        Row::Step(written) | Row::Quick(written, _) => {
            forgets.extend(written.map(|(register, kind)| (kind, register(instr))));
        }
        Row::Call => {
            let results = code.calls.get(instr.low()).map_or(&[][..], |plan| &plan.results);
            forgets.extend(results.iter().filter_map(|result| match *result {
                Slot::Word(register) => Some((Kind::I32, register)),
                Slot::Pair(register) => Some((Kind::I64, register)),
                Slot::Ref(_) => None,
            }));
        }
    }
    Effects { reads, writes, forgets }
}

/// The ref registers that an instruction may change, with or without the move bit.
pub(super) fn changed_refs(code: &FunctionCode, instr: &Instr) -> Vec<u16> {
    let moved = |registers: &[u16]| registers.iter().copied().filter(|it| is_move(*it)).collect();
    let list = || code.lists.get(instr.low()).map_or(&[][..], |list| list);
    match instr.code {
        Code::ConstRefZero | Code::ConstRefRodata | Code::GlobalLoadRef => vec![instr.a],
        Code::GlobalLoadIndirectRef | Code::ListAlloc => vec![instr.b],
        Code::ListGetRef | Code::BufferAlloc => vec![instr.c],
        Code::BufferClone => vec![instr.lane(1)],
        Code::GlobalStoreRef => moved(&[instr.a]),
        Code::GlobalStoreIndirectRef => moved(&[instr.b]),
        Code::ListSetRef => moved(&[instr.c]),
        Code::DiscardRefs => list().to_vec(),
        Code::DropMoved => moved(list()),
        Code::CopyRef | Code::CastAnyRef => vec![instr.a, instr.b],
        Code::SelectRef => vec![instr.b, instr.c, instr.lane(0)],
        Code::SwitchRef => [list(), &[instr.b, instr.c]].concat(),
        Code::Call => code.calls.get(instr.low()).map_or_else(Vec::new, |plan| {
            let given = plan.refs.iter().map(|(from, _)| *from).filter(|from| is_move(*from));
            let gets = plan.results.iter().filter_map(|result| match result {
                Slot::Ref(register) => Some(*register),
                _ => None,
            });
            given.chain(gets).collect()
        }),
        _ => Vec::new(),
    }
}

impl Effects {
    /// How registers are held after an instruction.
    pub(super) fn apply(&self, held: &mut HeldRegisters) {
        for (kind, register) in self.reads.into_iter().flatten() {
            held.read(kind, register);
        }
        for (kind, register) in &self.forgets {
            held.forget(*kind, *register);
        }
        if let Some((kind, register)) = self.writes {
            held.write(kind, register);
        }
    }

    /// The numbers that it reads or writes as what they are.
    fn numbers(&self) -> impl Iterator<Item = (Kind, u16)> {
        self.reads.into_iter().chain([self.writes]).flatten()
    }
}

impl Blocks {
    /// The blocks of a function.
    pub(super) fn of(code: &FunctionCode) -> Self {
        let entries = entries(code);
        let (mut blocks, of) = cut(code, &entries);
        reach(&mut blocks, &of, &entries);
        let effects: Vec<Effects> =
            code.instructions.iter().map(|instr| effects(code, instr)).collect();
        let register_count = effects
            .iter()
            .flat_map(|it| it.numbers().chain(it.forgets.iter().copied()))
            .map(|(kind, register)| kind.words(register).end)
            .max()
            .unwrap_or(0)
            .next_multiple_of(2);
        for block in &mut blocks {
            block.held = HeldRegisters::all(register_count, Held::Any);
        }
        let mut made = Self { blocks, of, entries, effects, register_count };
        let live = made.live();
        made.hold(&live);
        made
    }

    /// The ref registers whose elements are read or written, at most `most` of them.
    pub(super) fn buffers(&self, code: &FunctionCode, most: usize) -> Vec<u16> {
        let reached = self.blocks.iter().filter(|block| block.is_reached);
        let mut buffers = Vec::new();
        for instr in reached.flat_map(|block| &code.instructions[block.start..block.end]) {
            let is_access = matches!(row(instr.code), Row::Load(_) | Row::Store(_));
            if is_access && !buffers.contains(&instr.a) && buffers.len() < most {
                buffers.push(instr.a);
            }
        }
        buffers
    }

    /// For each block, the registers that are read after its beginning before they are written.
    fn live(&self) -> Vec<Vec<bool>> {
        let count = self.register_count;
        let mut live = vec![vec![false; count]; self.blocks.len()];
        loop {
            let mut has_changed = false;
            for (index, block) in self.blocks.iter().enumerate().rev() {
                let mut now = vec![false; count];
                for successor in &block.successors {
                    for (now, live) in now.iter_mut().zip(&live[*successor]) {
                        *now |= *live;
                    }
                }
                for effects in self.effects[block.start..block.end].iter().rev() {
                    let forgets = effects.forgets.iter().copied();
                    for (kind, register) in effects.writes.into_iter().chain(forgets) {
                        now[kind.words(register)].fill(false);
                    }
                    for (kind, register) in effects.reads.into_iter().flatten() {
                        now[kind.words(register)].fill(true);
                    }
                }
                has_changed |= live[index] != now;
                live[index] = now;
            }
            if !has_changed {
                return live;
            }
        }
    }

    /// How registers are held at the beginning of each block: what all ways there agree on, where
    /// the interpreter's entries can provide anything.
    fn hold(&mut self, live: &[Vec<bool>]) {
        let usual = self.usual();
        let mut has_way = vec![false; self.blocks.len()];
        for block in self.blocks.iter().filter(|block| block.is_reached) {
            for successor in &block.successors {
                has_way[*successor] = true;
            }
        }
        for (index, block) in self.blocks.iter_mut().enumerate() {
            if !has_way[index] {
                block.held.settle(&usual);
            }
            block.held.keep(&live[index]);
        }
        self.spread(live);
        for (index, block) in self.blocks.iter_mut().enumerate() {
            block.held.settle(&usual);
            block.held.keep(&live[index]);
        }
        self.spread(live);
    }

    /// Meets what is held at the ends of blocks with what is held where they lead, until nothing
    /// changes.
    fn spread(&mut self, live: &[Vec<bool>]) {
        let mut waiting: Vec<usize> = (0..self.blocks.len()).collect();
        while let Some(index) = waiting.pop() {
            let block = &self.blocks[index];
            if !block.is_reached {
                continue;
            }
            let mut held = block.held.clone();
            for effects in &self.effects[block.start..block.end] {
                effects.apply(&mut held);
            }
            for successor in block.successors.clone() {
                let target = &mut self.blocks[successor].held;
                let mut met = target.clone();
                met.meet(&held);
                met.keep(&live[successor]);
                if met != *target {
                    *target = met;
                    waiting.push(successor);
                }
            }
        }
    }

    /// How each register is held by all instructions that name it.
    fn usual(&self) -> HeldRegisters {
        let mut usual = HeldRegisters::all(self.register_count, Held::Any);
        for (kind, register) in self.effects.iter().flat_map(Effects::numbers) {
            usual.agree(kind, register);
        }
        usual
    }
}

/// Where the interpreter hands over: at the beginning, at heads of loops, and after calls.
fn entries(code: &FunctionCode) -> Vec<usize> {
    let instructions = &code.instructions;
    let mut entries = vec![1];
    for index in 0..instructions.len() {
        let targets = instructions.targets(index);
        entries.extend(targets.into_iter().filter(|target| *target <= index));
    }
    entries.extend(code.calls.iter().map(|call| call.next as usize));
    entries.sort_unstable();
    entries.dedup();
    entries.retain(|index| {
        instructions.get(*index).is_some_and(|instr| !matches!(row(instr.code), Row::Exit))
    });
    entries
}

/// Cuts a function into blocks.
fn cut(code: &FunctionCode, entries: &[usize]) -> (Vec<Block>, Vec<usize>) {
    let instructions = &code.instructions;
    let mut is_start = vec![false; instructions.len() + 1];
    is_start[0] = true;
    for entry in entries {
        is_start[*entry] = true;
    }
    for index in 0..instructions.len() {
        let targets = next(code, index);
        if !targets.is_empty() || matches!(row(instructions[index].code), Row::Exit) {
            is_start[index + 1] = true;
        }
        for target in targets {
            is_start[target] = true;
        }
    }
    let starts: Vec<usize> = (0..instructions.len()).filter(|index| is_start[*index]).collect();
    let mut of = vec![0; instructions.len()];
    let mut blocks = Vec::new();
    for (number, start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(instructions.len());
        of[*start..end].fill(number);
        let held = HeldRegisters::all(0, Held::Any);
        blocks.push(Block { start: *start, end, successors: Vec::new(), held, is_reached: false });
    }
    for block in &mut blocks {
        let last = block.end - 1;
        let targets = next(code, last);
        block.successors = targets.iter().map(|target| of[*target]).collect();
        let falls_through = !matches!(
            row(instructions[last].code),
            Row::Exit | Row::Jump { .. } | Row::CondJump { .. } | Row::Table | Row::Call
        );
        if falls_through && block.end < instructions.len() {
            block.successors.push(of[block.end]);
        }
    }
    (blocks, of)
}

/// Where control goes after an instruction that ends a block; empty for others, and after an exit.
fn next(code: &FunctionCode, index: usize) -> Vec<usize> {
    let instr = &code.instructions[index];
    match row(instr.code) {
        Row::Call => {
            code.calls.get(instr.low()).map(|plan| plan.next as usize).into_iter().collect()
        }
        _ => code.instructions.targets(index),
    }
}

/// Marks the blocks that control reaches from the entries.
fn reach(blocks: &mut [Block], of: &[usize], entries: &[usize]) {
    let mut waiting: Vec<usize> = entries.iter().map(|entry| of[*entry]).collect();
    while let Some(index) = waiting.pop() {
        if !std::mem::replace(&mut blocks[index].is_reached, true) {
            waiting.extend(&blocks[index].successors);
        }
    }
}

//! Bytecode as a graph of values: the contents of each register at every instruction.
//!
//! Registers are 32-bit cells that are written repeatedly; a 64-bit value takes two. The contents
//! of a cell at an instruction are the last write before it, in its block or else in the blocks
//! before; where several paths bring different values, a phi stands for them. (Braun et al. build
//! SSA form like this: on demand, with each phi made before its operands are known, so that loops
//! end.) This needs no debug information, so it is the same for every compiler.

use std::collections::HashMap;

use vmfb::decode::{Immediate, Operand, RemapList};
use vmfb::isa::Bank;
use vmfb::{BytecodeOffset, FunctionOrdinal, Instruction, Module, Op};

use mlir::{IntegerBinary as I, Scalar as Function};

use super::arithmetic::{Pure, Scalar};
use super::graph::{Block, Edge, Graph, Kind, Node, When};
use super::mnemonic;
use crate::bytecode::{RegisterSlot, argument_slots, result_banks};

/// The deepest nesting of joining paths that is followed.
const DEEPEST: usize = 400;

/// A cell of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Cell {
    Number(u16),
    Ref(u16),
}

/// A write to a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Write {
    /// The index of the writing instruction; 0 for arguments, whose block has no instructions.
    after: usize,
    first: Cell,
    is_pair: bool,
    node: Node,
}

/// The moves of an edge into a block, in order: from, to, and whether the source is emptied.
type Moves = Vec<(Cell, Cell, bool)>;

/// The values of a function, as its registers hold them.
#[derive(Debug)]
pub(crate) struct Registers {
    pub(crate) graph: Graph,
    /// The nodes of its arguments.
    pub(crate) arguments: Vec<Node>,
    /// By instruction, its results.
    pub(crate) results: Vec<Vec<Node>>,
    /// By instruction, its operands.
    pub(crate) operands: Vec<Vec<Node>>,
    /// By instruction, its block.
    pub(crate) blocks: Vec<Block>,
    /// By block, its writes in order.
    writes: Vec<Vec<Write>>,
    moves: HashMap<Edge, Moves>,
    /// The contents of cells at the start of blocks.
    entries: HashMap<(Block, Cell, bool), Node>,
    /// The node of cells that were never written, or only in part.
    nothing: Node,
    number_count: u16,
    ref_count: u16,
}

impl Registers {
    /// Reads a function.
    pub(crate) fn of(module: &Module, ordinal: FunctionOrdinal) -> Option<Self> {
        let function = module.function(ordinal)?;
        let bytecode = module.function_bytecode(ordinal);
        let mut builder = Builder::new(bytecode);
        builder.arguments(function.signature.calling_convention.as_deref());
        builder.definitions(module);
        builder.edges();
        builder.registers.number_count = function.i32_register_count;
        builder.registers.ref_count = function.ref_register_count;
        builder.computations();
        let mut registers = builder.registers;
        registers.simplify();
        registers.find_booleans();
        Some(registers)
    }

    /// Marks phis whose operands are all booleans as booleans: what a loop carries of them has one
    /// bit.
    fn find_booleans(&mut self) {
        let count = self.graph.nodes.len();
        let mut is_boolean = vec![true; count];
        let mut changed = true;
        while changed {
            changed = false;
            for node in 0..count {
                let is = |node: &Node| is_boolean.get(*node).copied().unwrap_or(false);
                let holds = match &self.graph.nodes[node].kind {
                    Kind::Leaf => false,
                    Kind::Constant(bits) => *bits <= 1,
                    Kind::Same(other) => is(other),
                    Kind::Phi(values) => values.iter().all(|(_, value)| is(value)),
                    Kind::Pure(pure, _) if pure.is_comparison() => true,
                    Kind::Pure(pure, operands) if pure.is_select() => {
                        operands.iter().skip(1).all(is)
                    }
                    Kind::Pure(
                        Pure::Of(Function::IntegerBinary(I::And | I::Or | I::Xor, _)),
                        both,
                    ) => both.iter().all(is),
                    Kind::Pure(..) => false,
                };
                changed |= is_boolean[node] && !holds;
                is_boolean[node] &= holds;
            }
        }
        for (node, data) in self.graph.nodes.iter_mut().enumerate() {
            if matches!(data.kind, Kind::Phi(_))
                && is_boolean[node]
                && data.scalar == Some(Scalar::Int(32))
            {
                data.scalar = Some(Scalar::Int(1));
            }
        }
    }

    /// The contents of the registers before an instruction: every number and reference, once for
    /// each register that holds it.
    pub(crate) fn held_at(&mut self, instruction: usize) -> Vec<(RegisterSlot, Node)> {
        let Some(block) = self.blocks.get(instruction).copied() else { return Vec::new() };
        let mut held = Vec::new();
        for ordinal in 0..self.number_count {
            for is_pair in [false, true] {
                let node = self.read(Cell::Number(ordinal), is_pair, block, instruction);
                if node == self.nothing {
                    continue;
                }
                let slot = match (self.graph.nodes[node].scalar, is_pair) {
                    (Some(Scalar::F32), false) => RegisterSlot::F32(ordinal),
                    (Some(Scalar::F64), true) => RegisterSlot::F64(ordinal),
                    (_, false) => RegisterSlot::I32(ordinal),
                    (_, true) => RegisterSlot::I64(ordinal),
                };
                held.push((slot, node));
            }
        }
        for ordinal in 0..self.ref_count {
            let node = self.read(Cell::Ref(ordinal), false, block, instruction);
            if node != self.nothing {
                held.push((RegisterSlot::Ref(ordinal), node));
            }
        }
        held
    }

    fn read(&mut self, cell: Cell, is_pair: bool, block: Block, before: usize) -> Node {
        let found = self.read_at(cell, is_pair, block, before, 0);
        self.graph.resolve(found)
    }

    fn read_at(
        &mut self,
        mut cell: Cell,
        is_pair: bool,
        mut block: Block,
        mut before: usize,
        depth: usize,
    ) -> Node {
        // Unreachable blocks may form a cycle in which the cell is never written.
        for _ in 0..=self.writes.len() {
            let writes = self.writes[block].iter().rev().filter(|write| write.after < before);
            for write in writes {
                match overlap(write, cell, is_pair) {
                    Overlap::None => {}
                    Overlap::Whole => return write.node,
                    Overlap::Part => return self.nothing,
                }
            }
            // Chains of blocks are walked in this loop; only joining paths recurse.
            let [edge] = self.graph.incoming[block][..] else {
                return self.entry(cell, is_pair, block, depth);
            };
            match self.source(edge, cell, is_pair) {
                Some(source) => cell = source,
                None => return self.nothing,
            }
            block = self.graph.edges[edge].from;
            before = usize::MAX;
        }
        self.nothing
    }

    /// The contents of a cell at the start of a block with several predecessors, or none.
    fn entry(&mut self, cell: Cell, is_pair: bool, block: Block, depth: usize) -> Node {
        if let Some(known) = self.entries.get(&(block, cell, is_pair)) {
            return self.graph.resolve(*known);
        }
        let incoming = self.graph.incoming[block].clone();
        if incoming.is_empty() || depth >= DEEPEST {
            return self.nothing;
        }
        let phi = self.graph.add(Kind::Phi(Vec::new()), None, block);
        self.entries.insert((block, cell, is_pair), phi);
        let mut values = Vec::new();
        for edge in incoming {
            let from = self.graph.edges[edge].from;
            let value = match self.source(edge, cell, is_pair) {
                Some(source) => self.read_at(source, is_pair, from, usize::MAX, depth + 1),
                None => self.nothing,
            };
            values.push((edge, value));
        }
        let scalar = values.iter().find_map(|(_, value)| self.graph.nodes[*value].scalar);
        self.graph.nodes[phi].scalar = scalar;
        self.graph.nodes[phi].kind = Kind::Phi(values);
        self.simplify_one(phi);
        self.graph.resolve(phi)
    }

    /// The cell that held, before the moves of an edge, what a cell holds after them.
    fn source(&self, edge: Edge, cell: Cell, is_pair: bool) -> Option<Cell> {
        let Some(moves) = self.moves.get(&edge) else { return Some(cell) };
        let first = source_of(moves, cell)?;
        if !is_pair {
            return Some(first);
        }
        match (first, source_of(moves, next(cell))?) {
            (Cell::Number(low), Cell::Number(high)) if low.checked_add(1) == Some(high) => {
                Some(first)
            }
            _ => None,
        }
    }

    /// Replaces a phi of one value and itself by that value.
    fn simplify_one(&mut self, phi: Node) -> bool {
        let Kind::Phi(values) = &self.graph.nodes[phi].kind else { return false };
        let mut only = None;
        for (_, value) in values {
            let value = self.graph.resolve(*value);
            if value == phi || only == Some(value) {
                continue;
            }
            if only.is_some() {
                return false;
            }
            only = Some(value);
        }
        self.graph.nodes[phi].kind = Kind::Same(only.unwrap_or(self.nothing));
        true
    }

    fn simplify(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for node in 0..self.graph.nodes.len() {
                changed |= self.simplify_one(node);
            }
        }
    }
}

fn next(cell: Cell) -> Cell {
    match cell {
        Cell::Number(ordinal) => Cell::Number(ordinal.wrapping_add(1)),
        reference @ Cell::Ref(_) => reference,
    }
}

/// The cell that held a cell's contents before moves made in order; `None` if it was emptied.
fn source_of(moves: &Moves, cell: Cell) -> Option<Cell> {
    let mut at = cell;
    for (from, to, is_emptied) in moves.iter().rev() {
        if *to == at {
            at = *from;
        } else if *from == at && *is_emptied {
            return None;
        }
    }
    Some(at)
}

enum Overlap {
    None,
    Part,
    Whole,
}

fn overlap(write: &Write, cell: Cell, is_pair: bool) -> Overlap {
    let span = |cell: Cell, is_pair: bool| match cell {
        Cell::Number(first) => (false, u32::from(first), u32::from(first) + u32::from(is_pair)),
        Cell::Ref(first) => (true, u32::from(first), u32::from(first)),
    };
    let (one, other) = (span(write.first, write.is_pair), span(cell, is_pair));
    if one == other {
        Overlap::Whole
    } else if one.0 != other.0 || one.2 < other.1 || other.2 < one.1 {
        Overlap::None
    } else {
        Overlap::Part
    }
}

struct Builder<'m> {
    registers: Registers,
    instructions: Vec<Instruction<'m>>,
    /// The blocks by the offsets at which they begin.
    starts: HashMap<BytecodeOffset, Block>,
    /// Pairs of blocks where control falls through from the first to the second.
    falls_through: Vec<(Block, Block)>,
}

impl<'m> Builder<'m> {
    fn new(bytecode: &'m [u8]) -> Self {
        let mut graph = Graph::default();
        let first = graph.add_block();
        let nothing = graph.add(Kind::Leaf, None, first);
        let registers = Registers {
            graph,
            arguments: Vec::new(),
            results: Vec::new(),
            operands: Vec::new(),
            blocks: Vec::new(),
            writes: vec![Vec::new()],
            moves: HashMap::new(),
            entries: HashMap::new(),
            nothing,
            number_count: 0,
            ref_count: 0,
        };
        let mut builder = Self {
            registers,
            instructions: Vec::new(),
            starts: HashMap::new(),
            falls_through: Vec::new(),
        };
        builder.blocks(bytecode);
        builder
    }

    /// Finds the blocks. The graph's first one has the arguments and no code.
    fn blocks(&mut self, bytecode: &'m [u8]) {
        let mut block = 0;
        let mut ended = false;
        for instruction in vmfb::instructions(bytecode).map_while(Result::ok) {
            if instruction.op == Op::Block {
                let next = self.registers.graph.add_block();
                self.registers.writes.push(Vec::new());
                self.starts.insert(instruction.offset, next);
                if !ended {
                    self.falls_through.push((block, next));
                }
                (block, ended) = (next, false);
                continue;
            }
            ended = instruction.op.is_terminator();
            self.registers.blocks.push(block);
            self.instructions.push(instruction);
        }
    }

    /// Adds the arguments, which are there before the first instruction.
    fn arguments(&mut self, convention: Option<&str>) {
        for slot in argument_slots(convention) {
            let scalar = scalar_of_slot(slot);
            let node = self.registers.graph.add(Kind::Leaf, scalar, 0);
            let first = match slot {
                RegisterSlot::Ref(ordinal) => Cell::Ref(ordinal),
                other => Cell::Number(other.ordinal()),
            };
            let write = Write { after: 0, first, is_pair: slot.is_pair(), node };
            self.registers.writes[0].push(write);
            self.registers.arguments.push(node);
        }
    }

    /// Makes a node for each result; its operands are not known yet.
    fn definitions(&mut self, module: &Module) {
        for (index, instruction) in self.instructions.iter().enumerate() {
            let block = self.registers.blocks[index];
            let emptied = instruction.register_uses().filter(|usage| {
                !usage.is_write && (usage.register.is_move() || instruction.op == Op::DiscardRefs)
            });
            for usage in emptied {
                let first = Cell::Ref(usage.register.ordinal());
                let node = self.registers.nothing;
                let write = Write { after: index, first, is_pair: false, node };
                self.registers.writes[block].push(write);
            }
            let banks = result_banks(module, instruction);
            let uses = instruction.register_uses().filter(|usage| usage.is_write);
            let mut results = Vec::new();
            for (position, usage) in uses.enumerate() {
                let bank = match (usage.bank, &banks) {
                    (Bank::Any, Some(banks)) => banks.get(position).copied().unwrap_or(Bank::I32),
                    (bank, _) => bank,
                };
                let scalar = scalar_of_bank(bank);
                let is_ref = scalar.is_none() || usage.register.is_ref();
                let ordinal = usage.register.ordinal();
                let first = if is_ref {
                    Cell::Ref(ordinal & vmfb::Register::MAX_REF)
                } else {
                    Cell::Number(ordinal)
                };
                let scalar = scalar.filter(|_| !is_ref);
                let node = self.registers.graph.add(Kind::Leaf, scalar, block);
                let is_pair = scalar.is_some_and(|it| it.width() == 64);
                self.registers.writes[block].push(Write { after: index, first, is_pair, node });
                results.push(node);
            }
            self.registers.results.push(results);
        }
    }

    fn edges(&mut self) {
        for (from, to) in std::mem::take(&mut self.falls_through) {
            self.registers.graph.add_edge(from, to, When::Always);
        }
        for index in 0..self.instructions.len() {
            let block = self.registers.blocks[index];
            let successors: Vec<(BytecodeOffset, Moves)> = self.instructions[index]
                .successors()
                .into_iter()
                .map(|(target, remap)| (target, moves(remap)))
                .collect();
            for (target, moves) in successors {
                let Some(to) = self.starts.get(&target).copied() else { continue };
                // The condition is filled in once values can be read.
                let edge = self.registers.graph.add_edge(block, to, When::Unknown);
                self.registers.moves.insert(edge, moves);
            }
        }
    }

    fn computations(&mut self) {
        for index in 0..self.instructions.len() {
            let operands = self.operands(index);
            let mnemonic = self.instructions[index].op.mnemonic();
            let block = self.registers.blocks[index];
            self.conditions(index, &operands);
            if let Some(result) = self.registers.results[index].first().copied()
                && let Some(kind) = self.kind(index, mnemonic, &operands)
            {
                self.registers.graph.nodes[result].kind = kind;
            }
            self.registers.operands.push(operands);
            debug_assert!(block < self.registers.graph.incoming.len());
        }
    }

    fn operands(&mut self, index: usize) -> Vec<Node> {
        let block = self.registers.blocks[index];
        let uses: Vec<_> =
            self.instructions[index].register_uses().filter(|usage| !usage.is_write).collect();
        let read = |usage: &vmfb::decode::RegisterUse| match usage.bank {
            Bank::Ref | Bank::RefMove => {
                (Cell::Ref(usage.register.0 & vmfb::Register::MAX_REF), false)
            }
            _ if usage.register.is_ref() => (Cell::Ref(usage.register.ordinal()), false),
            bank => (
                Cell::Number(usage.register.ordinal()),
                scalar_of_bank(bank).is_some_and(|it| it.width() == 64),
            ),
        };
        let cells: Vec<(Cell, bool)> = uses.iter().map(read).collect();
        let nodes = cells.into_iter().map(|(cell, is_pair)| {
            let node = self.registers.read(cell, is_pair, block, index);
            if node != self.registers.nothing || !matches!(cell, Cell::Number(_)) {
                return node;
            }
            // Operands of calls and returns may be pairs; only the callee knows.
            self.registers.read(cell, true, block, index)
        });
        nodes.collect()
    }

    fn kind(&mut self, index: usize, mnemonic: &str, operands: &[Node]) -> Option<Kind> {
        if let Some(constant) = constant(&self.instructions[index]) {
            return Some(Kind::Constant(constant));
        }
        if let Some((compare, scalar)) = mnemonic::comparison(mnemonic) {
            let mut operands = operands.to_vec();
            if let [operand] = operands[..] {
                let block = self.registers.blocks[index];
                operands.push(match mnemonic.starts_with("cmp.nan") {
                    true => operand,
                    false => self.registers.graph.add(Kind::Constant(0), Some(scalar), block),
                });
            }
            return Some(Kind::Pure(compare, operands));
        }
        Some(match self.instructions[index].op {
            // A copy of a reference, in another register.
            Op::AssignRef => Kind::Same(*operands.first()?),
            _ => Kind::Pure(mnemonic::pure(mnemonic)?, operands.to_vec()),
        })
    }

    /// Sets when the edges out of a block are taken.
    fn conditions(&mut self, index: usize, operands: &[Node]) {
        let block = self.registers.blocks[index];
        let instruction = &self.instructions[index];
        let edges: Vec<Edge> = self.registers.graph.outgoing[block].clone();
        match instruction.op {
            Op::CondBranch => {
                if let (Some(condition), [yes, no]) = (operands.first(), &edges[..]) {
                    self.registers.graph.edges[*yes].when = When::If(*condition, true);
                    self.registers.graph.edges[*no].when = When::If(*condition, false);
                }
            }
            op if op.is_terminator() => {
                if let [only] = edges[..] {
                    self.registers.graph.edges[only].when = When::Always;
                }
            }
            _ => {}
        }
    }
}

fn moves(remap: RemapList<'_>) -> Moves {
    let cell = |register: vmfb::Register| match register.is_ref() {
        true => Cell::Ref(register.ordinal()),
        false => Cell::Number(register.ordinal()),
    };
    let copies = remap.iter().map(|(from, to)| (cell(from), cell(to), from.is_move()));
    copies.collect()
}

fn constant(instruction: &Instruction<'_>) -> Option<u64> {
    match instruction.op {
        Op::ConstI32Zero | Op::ConstI64Zero | Op::ConstF32Zero | Op::ConstF64Zero => Some(0),
        Op::ConstI32 | Op::ConstI64 | Op::ConstF32 | Op::ConstF64 => {
            instruction.operands.iter().find_map(|operand| match operand {
                Operand::Immediate(immediate) => Some(match *immediate {
                    Immediate::I32(value) => u64::from(value as u32),
                    Immediate::I64(value) => value as u64,
                    Immediate::F32(bits) => u64::from(bits),
                    Immediate::F64(bits) => bits,
                }),
                _ => None,
            })
        }
        _ => None,
    }
}

fn scalar_of_bank(bank: Bank) -> Option<Scalar> {
    match bank {
        Bank::I32 | Bank::Any => Some(Scalar::Int(32)),
        Bank::I64 => Some(Scalar::Int(64)),
        Bank::F32 => Some(Scalar::F32),
        Bank::F64 => Some(Scalar::F64),
        Bank::Ref | Bank::RefMove => None,
    }
}

fn scalar_of_slot(slot: RegisterSlot) -> Option<Scalar> {
    match slot {
        RegisterSlot::I32(_) => Some(Scalar::Int(32)),
        RegisterSlot::I64(_) => Some(Scalar::Int(64)),
        RegisterSlot::F32(_) => Some(Scalar::F32),
        RegisterSlot::F64(_) => Some(Scalar::F64),
        RegisterSlot::Ref(_) => None,
    }
}

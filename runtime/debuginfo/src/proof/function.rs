//! A function of the source and its bytecode, with what is equal: the answers to names.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use vmfb::{FunctionOrdinal, Module, Op};

use super::answer::{Answer, Operation, Reason, Recipe, ScopedValue};
use super::arithmetic::{Binary, Cast, Pure, Scalar};
use super::elements::{Elements, Leaves};
use super::equal::{self, Draw, Pairs, SAMPLES, Sample, Side, mix};
use super::graph::{Block, Kind, Node, When};
use super::lower;
use super::matching::{self, Origin, Origins};
use super::registers::Registers;
use super::source_graph::{InstanceIndex, SourceGraph};
use crate::bytecode::Code;
use crate::bytecode::RegisterSlot;
use crate::source::functions::{FunctionIndex, LineColumn, OperationIndex, SourceFunction};

/// Values that one answer may be computed from.
const LONGEST_RECIPE: usize = 2000;
/// Values that take fewer different samples than this are told apart by their places, too.
const TELLING: usize = 8;

/// What a function was made from.
pub(crate) struct Sources<'s> {
    pub(crate) file: &'s FunctionIndex,
    pub(crate) text: &'s str,
    pub(crate) function: Arc<SourceFunction>,
    /// Whether it is the function itself, with its arguments, rather than a part of it.
    pub(crate) is_whole: bool,
}

/// What has been proven of a function.
#[derive(Debug)]
pub(crate) struct Proof {
    source: SourceGraph,
    source_side: Side,
    machine: Mutex<Machine>,
    origins: Origins,
    returns: Vec<bool>,
    draw: Draw,
    pairs: Pairs,
    /// By value of the source, what is computed from it.
    users: HashMap<Node, Vec<Node>>,
    /// The arguments of the function.
    arguments: Vec<Node>,
    /// Loops of the source whose code is in the machine twice, before the loop and in it.
    rotated: Vec<Block>,
}

#[derive(Debug)]
struct Machine {
    registers: Registers,
    side: Side,
}

/// Where the program stands, for the answers about it.
struct Stand<'p> {
    proof: &'p Proof,
    held: Vec<(RegisterSlot, Node)>,
    machine: &'p Machine,
    /// The machine's block.
    block: Block,
    instruction: usize,
    /// The source's block.
    source_block: Option<Block>,
    /// Whether what the function was called with can be asked for.
    knows_arguments: bool,
    /// By value of the source, what was found of it.
    known: HashMap<Node, Option<Recipe>>,
    budget: usize,
}

impl Proof {
    /// Compares a function with the source that it was made from.
    pub(crate) fn new(
        module: &Module,
        ordinal: FunctionOrdinal,
        code: &Code,
        origins: Vec<Origin>,
        sources: &Sources<'_>,
    ) -> Option<Self> {
        let registers = Registers::of(module, ordinal)?;
        if registers.results.len() != code.instructions.len() {
            return None;
        }
        let origins = Origins::new(origins, code, &registers);
        let is_double = |node: &super::graph::NodeData| matches!(node.scalar, Some(Scalar::F64));
        let is_demoted = !registers.graph.nodes.iter().any(is_double);
        let is_part = !sources.is_whole;
        let texts = lower::Texts { file: sources.file, text: sources.text, is_demoted, is_part };
        let mut source = lower::lower(&texts, &sources.function, &origins);
        if source.is_broken {
            return None;
        }
        let draw = Draw::new([&source.graph, &registers.graph]);
        let elements = Elements { registers: &registers, code, origins: &origins, draw: &draw };
        let Leaves { source: mut given, machine: mut other } =
            if is_part { elements.find(&mut source) } else { Leaves::default() };
        let mut source_side = Side::new(&source.graph, 1);
        let mut side = Side::new(&registers.graph, 2);
        let pairs = matching::loops(&source, &source_side.flow, &registers, &side.flow, &origins);
        for (number, (written, held)) in
            matching::leaves(&source, &registers, code, &origins, sources.is_whole)
                .into_iter()
                .enumerate()
        {
            let seed = mix(number as u64 + 1000);
            let scalar = source.graph.nodes[written].scalar;
            let sample = draw.sample(seed, scalar);
            let wide = registers.graph.nodes[held].scalar;
            other.insert(held, widened(&sample, scalar, wide, seed));
            given.insert(written, sample);
        }
        equal::number(
            [&source.graph, &registers.graph],
            [&mut source_side, &mut side],
            &draw,
            &given,
            &other,
            &pairs,
        );
        let rotated = rotated(&source, &source_side, &registers, &side, &origins, &pairs);
        let returns = code.instructions.iter().map(|it| it.op == Op::Return).collect();
        let machine = Mutex::new(Machine { registers, side });
        let users = users(&source);
        let function = source.instances.first().map(|it| Arc::clone(&it.function))?;
        let arguments = function.arguments().iter();
        let arguments = arguments.filter_map(|it| source.values.get(&(0, *it)).copied()).collect();
        Some(Self {
            source,
            source_side,
            machine,
            origins,
            returns,
            draw,
            pairs,
            users,
            arguments,
            rotated,
        })
    }

    /// The names that are in scope at an instruction, in the frame that so many inlined calls lead
    /// to. `path` is where the instruction is, from its function inwards.
    pub(crate) fn scope(
        &self,
        instruction: usize,
        path: &[LineColumn],
        calls: usize,
        knows_arguments: bool,
    ) -> Option<Vec<ScopedValue>> {
        let place = path.get(calls).copied();
        let around = path.get(..calls)?;
        let instance = self.source.instances.iter().position(|it| it.path == around)?;
        let function = &self.source.instances[instance].function;
        let operation = match place.and_then(|place| function.operation_at(place)) {
            // What the compiler makes of the function as a whole is its beginning, or its end.
            Some(0) | None if self.returns.get(instruction) == Some(&true) => {
                last_operation(function)
            }
            other => other,
        };
        let mut machine = self.machine.lock().unwrap_or_else(PoisonError::into_inner);
        let held = machine.registers.held_at(instruction);
        let Machine { registers, side } = &mut *machine;
        side.extend(&registers.graph, &self.draw);
        let source_block = operation.and_then(|operation| self.block_of(instance, operation));
        let mut stand = Stand {
            proof: self,
            held,
            machine: &machine,
            block: machine.registers.blocks.get(instruction).copied()?,
            instruction,
            source_block,
            knows_arguments,
            known: HashMap::new(),
            budget: LONGEST_RECIPE,
        };
        Some(stand.names(instance, operation))
    }

    /// The block that an operation is in; of one whose region was not gone into, that of the
    /// region's operation.
    fn block_of(&self, instance: InstanceIndex, operation: OperationIndex) -> Option<Block> {
        let function = &self.source.instances[instance].function;
        let mut around = function.ancestors(operation);
        around.find_map(|it| self.source.blocks.get(&(instance, it)).copied())
    }
}

/// The names that are in scope at a place, where nothing is known of their values.
pub(crate) fn without_values(function: &SourceFunction, place: LineColumn) -> Vec<ScopedValue> {
    let values = match function.operation_at(place) {
        Some(operation) if operation > 0 => function.in_scope(operation),
        _ => function.arguments().to_vec(),
    };
    let mut found: Vec<ScopedValue> = Vec::new();
    for value in values {
        let written = &function.values[value];
        let name = written.name.clone();
        let type_text = written.type_text.clone().unwrap_or_default();
        let reason = if is_tensor(&type_text) { Reason::Tensor } else { Reason::OptimizedOut };
        found.retain(|known| known.name != name);
        let argument = function.arguments().iter().position(|it| *it == value);
        let answer = Answer::Missing(reason);
        found.push(ScopedValue { name, type_text, scalar: None, argument, answer });
    }
    found
}

fn is_tensor(type_text: &str) -> bool {
    type_text.starts_with("tensor") || type_text.starts_with("!torch.vtensor")
}

/// By value, those that are computed from it.
fn users(source: &SourceGraph) -> HashMap<Node, Vec<Node>> {
    let mut users: HashMap<Node, Vec<Node>> = HashMap::new();
    for (node, data) in source.graph.nodes.iter().enumerate() {
        if let Kind::Pure(_, operands) = &data.kind {
            for operand in operands {
                users.entry(source.graph.resolve(*operand)).or_default().push(node);
            }
        }
    }
    users
}

/// The samples of a narrow integer in a register, whose upper bits nobody has said anything of.
fn widened(
    sample: &Sample,
    scalar: Option<Scalar>,
    wide: Option<Scalar>,
    seed: u64,
) -> Box<Sample> {
    let mut wider = Box::new(*sample);
    if let (Some(Scalar::Int(width @ 2..32)), Some(wide)) = (scalar, wide) {
        for (index, slot) in wider.iter_mut().enumerate() {
            *slot = wide.cut(*slot | mix(seed ^ index as u64) << width);
        }
    }
    wider
}

/// The operation that a function ends with, where it has one block.
fn last_operation(function: &SourceFunction) -> Option<OperationIndex> {
    let body = function.operations.first()?.regions.first()?;
    let returns = body.blocks.iter().filter_map(|block| block.operations.last()).copied();
    let is_return =
        |it: &OperationIndex| function.operations[*it].name.rsplit('.').next() == Some("return");
    let mut returns = returns.filter(is_return);
    returns.next().filter(|_| returns.next().is_none())
}

/// A loop whose test was copied before it runs in step with the source no more: in its body the
/// next turn begins.
fn rotated(
    source: &SourceGraph,
    source_side: &Side,
    registers: &Registers,
    side: &Side,
    origins: &Origins,
    pairs: &Pairs,
) -> Vec<Block> {
    let mut found = Vec::new();
    for (head, other) in pairs {
        let mut inside = source
            .blocks
            .iter()
            .filter(|(_, block)| source_side.flow.loops(**block).next() == Some(*head));
        let is_copied = inside.any(|((instance, operation), _)| {
            let path = source.path(*instance, *operation);
            let is_constant = |index: &&usize| {
                registers.results[**index]
                    .iter()
                    .any(|result| matches!(registers.graph.nodes[*result].kind, Kind::Constant(_)))
            };
            let copies = origins.at(&path).iter().filter(|index| !is_constant(index));
            let (within, outside): (Vec<&usize>, Vec<&usize>) =
                copies.partition(|index| side.flow.is_in(registers.blocks[**index], *other));
            !within.is_empty() && !outside.is_empty()
        });
        if is_copied {
            found.push(*head);
        }
    }
    found
}

/// Whether a folded f32 reads as the f64 that it may be: code in which no double is left does not
/// say whether the compiler made f32 of f64, or folded all of them.
fn is_same_in_both_widths(bits: u64) -> bool {
    /// Larger whole numbers may have been rounded.
    const EXACT: f32 = 16_777_216.0;
    let value = f32::from_bits(bits as u32);
    value.abs() < EXACT && value.to_string() == f64::from(value).to_string()
}

impl Stand<'_> {
    fn names(
        &mut self,
        instance: InstanceIndex,
        operation: Option<OperationIndex>,
    ) -> Vec<ScopedValue> {
        let proof = self.proof;
        let function = &proof.source.instances[instance].function;
        let values = match operation {
            Some(operation) if operation > 0 => function.in_scope(operation),
            _ => function.arguments().to_vec(),
        };
        let mut found: Vec<ScopedValue> = Vec::new();
        for value in values {
            let written = &function.values[value];
            let node = proof.source.values.get(&(instance, value)).copied();
            let scalar = node.and_then(|node| proof.source.graph.nodes[node].scalar);
            let type_text = written.type_text.clone().unwrap_or_default();
            let answer = match node.and_then(|node| self.answer(node)) {
                Some(Recipe::Register(slot, _)) => Answer::Register(slot),
                Some(Recipe::Constant(bits))
                    if type_text == "f64"
                        && scalar == Some(Scalar::F32)
                        && !is_same_in_both_widths(bits) =>
                {
                    Answer::Missing(Reason::OptimizedOut)
                }
                Some(recipe) => Answer::Computed(recipe),
                None => match node.and_then(|node| self.reference(node)) {
                    Some(slot) => Answer::Register(slot),
                    None => Answer::Missing(self.reason(&type_text, node)),
                },
            };
            let name = written.name.clone();
            found.retain(|known| known.name != name);
            let argument = function.arguments().iter().position(|it| *it == value);
            found.push(ScopedValue { name, type_text, scalar, argument, answer });
        }
        found
    }

    fn reason(&self, type_text: &str, node: Option<Node>) -> Reason {
        if is_tensor(type_text) {
            return Reason::Tensor;
        }
        let comes_later = node.is_some_and(|node| {
            let registers = &self.machine.registers;
            (self.instruction..registers.results.len()).any(|index| {
                let block = registers.blocks[index];
                let is_ahead =
                    block == self.block || self.machine.side.flow.dominates(self.block, block);
                is_ahead && registers.results[index].iter().any(|it| self.is_equal(node, *it))
            })
        });
        if comes_later { Reason::NotYetComputed } else { Reason::OptimizedOut }
    }

    /// The register that holds a reference.
    fn reference(&self, node: Node) -> Option<RegisterSlot> {
        if self.proof.source.graph.nodes[node].scalar.is_some() {
            return None;
        }
        let mut held = self.held.iter().filter(|(slot, _)| slot.is_ref());
        held.find(|(_, held)| self.is_here(node, *held)).map(|(slot, _)| *slot)
    }

    /// How a value is known where the program stands.
    fn answer(&mut self, node: Node) -> Option<Recipe> {
        let node = self.proof.source.graph.resolve(node);
        if let Some(known) = self.known.get(&node) {
            return known.clone();
        }
        self.budget = self.budget.checked_sub(1)?;
        // A value that would be computed from itself has no answer.
        self.known.insert(node, None);
        let found = self.find(node);
        self.known.insert(node, found.clone());
        found
    }

    fn find(&mut self, node: Node) -> Option<Recipe> {
        let proof = self.proof;
        let data = &proof.source.graph.nodes[node];
        let scalar = data.scalar?;
        if let Kind::Constant(bits) = data.kind {
            return Some(Recipe::Constant(bits));
        }
        let held = self.held.iter().find(|(_, held)| self.is_here(node, *held));
        if let Some((slot, _)) = held {
            return Some(Recipe::Register(*slot, scalar));
        }
        let argument = proof.arguments.iter().position(|argument| *argument == node);
        if let Some(argument) = argument.filter(|_| self.knows_arguments) {
            return Some(Recipe::Argument(argument, scalar));
        }
        let forwards = match &data.kind {
            Kind::Pure(pure, operands) if !matches!(pure, Pure::Named(_)) => {
                let operands: Option<Vec<Recipe>> =
                    operands.iter().map(|operand| self.answer(*operand)).collect();
                operands.map(|it| Recipe::Apply(Operation(*pure), it))
            }
            Kind::Phi(values) if !proof.source_side.flow.is_head(data.block) => {
                let above = proof.source_side.flow.dominator(data.block)?;
                self.chosen(above, data.block, values, 32)
            }
            _ => None,
        };
        forwards.or_else(|| self.backwards(node, scalar))
    }

    /// A value from what was computed of it, where that can be undone: `%n` of `%n + 1`.
    fn backwards(&mut self, node: Node, scalar: Scalar) -> Option<Recipe> {
        let proof = self.proof;
        for user in proof.users.get(&node).into_iter().flatten().copied() {
            let data = &proof.source.graph.nodes[user];
            let (Kind::Pure(pure, operands), Some(result)) = (&data.kind, data.scalar) else {
                continue;
            };
            let held = self.held.iter().find(|(_, held)| self.is_here(user, *held));
            let Some((slot, _)) = held else { continue };
            let made = Recipe::Register(*slot, result);
            let apply = |pure, operands| Some(Recipe::Apply(Operation(pure), operands));
            let is_first = operands.first().map(|it| proof.source.graph.resolve(*it)) == Some(node);
            let found = match (*pure, &operands[..]) {
                (Pure::Cast(Cast::SignExtend | Cast::ZeroExtend, from, to), _) => {
                    apply(Pure::Cast(Cast::Truncate, to, from), vec![made])
                }
                (Pure::Binary(binary, _), [one, other]) if one != other => {
                    let rest = self.answer(if is_first { *other } else { *one });
                    let Some(rest) = rest else { continue };
                    match (binary, is_first) {
                        (Binary::Add, _) | (Binary::Sub, true) => {
                            let undone =
                                if binary == Binary::Add { Binary::Sub } else { Binary::Add };
                            apply(Pure::Binary(undone, scalar), vec![made, rest])
                        }
                        (Binary::Sub, false) => {
                            apply(Pure::Binary(Binary::Sub, scalar), vec![rest, made])
                        }
                        (Binary::Xor, _) => {
                            apply(Pure::Binary(Binary::Xor, scalar), vec![made, rest])
                        }
                        _ => None,
                    }
                }
                _ => None,
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The value that control brings into a block of the source from one above.
    fn chosen(
        &mut self,
        mut at: Block,
        block: Block,
        values: &[(super::graph::Edge, Node)],
        depth: usize,
    ) -> Option<Recipe> {
        let graph = &self.proof.source.graph;
        loop {
            let edges = &graph.outgoing[at];
            let &[first, ..] = &edges[..] else { return None };
            match (&edges[..], graph.edges[first].when) {
                ([_], When::Always) => {
                    if let Some((_, value)) = values.iter().find(|(edge, _)| *edge == first) {
                        return self.answer(*value);
                    }
                    at = graph.edges[first].to;
                }
                ([yes, no], When::If(condition, is_yes)) => {
                    // Of a loop on the way only its end matters.
                    let flow = &self.proof.source_side.flow;
                    let leaves = |edge: &usize| {
                        let head = flow.loops(at).next();
                        head.is_some_and(|head| !flow.is_in(graph.edges[*edge].to, head))
                    };
                    let is_inside = flow.loops(at).next() != flow.loops(block).next();
                    if is_inside && leaves(yes) != leaves(no) {
                        let out = if leaves(yes) { *yes } else { *no };
                        if let Some((_, value)) = values.iter().find(|(edge, _)| *edge == out) {
                            return self.answer(*value);
                        }
                        at = graph.edges[out].to;
                        continue;
                    }
                    let depth = depth.checked_sub(1)?;
                    let condition = self.answer(condition)?;
                    let mut side = |edge: usize| {
                        match values.iter().find(|(it, _)| *it == edge) {
                            Some((_, value)) => self.answer(*value),
                            None => self.chosen(graph.edges[edge].to, block, values, depth),
                        }
                        .map(Box::new)
                    };
                    let [yes, no] = if is_yes { [*yes, *no] } else { [*no, *yes] };
                    let sides = [side(yes), side(no)];
                    return Some(Recipe::Choose(Box::new(condition), sides));
                }
                _ => return None,
            }
        }
    }

    /// Whether a value of the machine is one of the source, and of the turn of loops that is meant.
    fn is_here(&self, node: Node, held: Node) -> bool {
        self.is_equal(node, held) && self.is_of_this_turn(node, held)
    }

    fn is_equal(&self, node: Node, held: Node) -> bool {
        let graph = &self.proof.source.graph;
        let registers = &self.machine.registers;
        let (scalar, wide) = (graph.nodes[node].scalar, registers.graph.nodes[held].scalar);
        if !matching::is_same_width(scalar, wide) {
            return false;
        }
        let one = self.proof.source_side.samples.get(node).and_then(Option::as_deref);
        let other = self.machine.side.samples.get(held).and_then(Option::as_deref);
        let (Some(one), Some(other)) = (one, other) else { return false };
        let cut = |bits: u64| scalar.map_or(bits, |scalar| scalar.cut(bits));
        let is_same = (0..SAMPLES).all(|index| one[index] == cut(other[index]));
        is_same && (is_telling(one) || self.is_from_there(node, held))
    }

    /// Whether an instruction comes from the place of an operation. That and equal samples are
    /// enough for what takes few values, such as conditions.
    fn is_from_there(&self, node: Node, held: Node) -> bool {
        let registers = &self.machine.registers;
        if let (Kind::Phi(_), Kind::Phi(_)) =
            (&self.proof.source.graph.nodes[node].kind, &registers.graph.nodes[held].kind)
        {
            let heads =
                (self.proof.source.graph.nodes[node].block, registers.graph.nodes[held].block);
            return self.proof.pairs.contains(&heads);
        }
        let Some(instruction) = registers.results.iter().position(|it| it.contains(&held)) else {
            return true;
        };
        let places = &self.proof.origins.origins[instruction].places;
        let source = &self.proof.source;
        let mut named = source.values.iter().filter(|(_, it)| **it == node);
        named.any(|((instance, value), _)| {
            let function = &source.instances[*instance].function;
            let made = function.values[*value].definition;
            made.is_some_and(|(it, _)| places.contains(&function.operations[it].place))
        })
    }

    /// The loops around a value of the machine are gone round where it is looked at, if and only if
    /// those of the source are.
    fn is_of_this_turn(&self, node: Node, held: Node) -> bool {
        let proof = self.proof;
        let source_flow = &proof.source_side.flow;
        let flow = &self.machine.side.flow;
        let home = proof.source.graph.nodes[node].block;
        let is_rotated = source_flow.loops(home).any(|head| proof.rotated.contains(&head));
        if is_rotated {
            return false;
        }
        let block = self.machine.registers.graph.nodes[held].block;
        let mut around = flow.loops(block);
        around.all(|head| {
            let stands_in = flow.is_in(self.block, head);
            match proof.pairs.iter().find(|(_, other)| *other == head) {
                Some((written, _)) => {
                    let is_meant =
                        self.source_block.is_some_and(|at| source_flow.is_in(at, *written));
                    stands_in == is_meant
                }
                None => stands_in,
            }
        })
    }
}

fn is_telling(sample: &Sample) -> bool {
    let mut distinct = sample.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    distinct.len() >= TELLING
}

//! The names that are in scope at an instruction, each with where its value is.

use std::collections::HashMap;
use std::sync::PoisonError;

use super::arithmetic::{Binary, Cast, Pure, Scalar};
use super::comparison::{Machine, Proof};
use super::equal::{SAMPLES, Sample};
use super::graph::{Block, Edge, Kind, Node, When};
use super::matching;
use super::source_graph::InstanceIndex;
use super::value_location::{MissingReason, Recipe, RecipeOperation, ScopedValue, ValueLocation};
use crate::bytecode::RegisterSlot;
use crate::source::functions::{LineColumn, OperationIndex, SourceFunction};

/// The most values that one name is computed from.
const LONGEST_RECIPE: usize = 2000;
/// Values with fewer distinct samples than this must also agree in their locations.
const TELLING: usize = 8;

/// The place where the program is stopped, with the values found there so far.
struct Stand<'p> {
    proof: &'p Proof,
    held: Vec<(RegisterSlot, Node)>,
    machine: &'p Machine,
    /// The machine's block.
    block: Block,
    instruction: usize,
    /// The source's block.
    source_block: Option<Block>,
    /// Whether the caller knows the values that the function was called with.
    knows_arguments: bool,
    /// By value of the source, how to compute it.
    known: HashMap<Node, Option<Recipe>>,
    budget: usize,
}

impl Proof {
    /// The names in scope at an instruction, in the frame that is `calls` inlined calls deep.
    /// `path` holds the positions of these calls from the function inwards, and last the
    /// instruction's own.
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
            // Code with the location of the function itself is its beginning or its end.
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

    /// The block of an operation; if its region was not lowered, the block of the nearest operation
    /// around it that was.
    fn block_of(&self, instance: InstanceIndex, operation: OperationIndex) -> Option<Block> {
        let function = &self.source.instances[instance].function;
        let mut around = function.ancestors(operation);
        around.find_map(|it| self.source.blocks.get(&(instance, it)).copied())
    }
}

/// The names in scope at a place whose values are all unknown.
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
        let reason =
            if is_tensor(&type_text) { MissingReason::Tensor } else { MissingReason::OptimizedOut };
        found.retain(|known| known.name != name);
        let argument = function.arguments().iter().position(|it| *it == value);
        let location = ValueLocation::Missing(reason);
        found.push(ScopedValue { name, type_text, scalar: None, argument, location, node: None });
    }
    found
}

fn is_tensor(type_text: &str) -> bool {
    type_text.starts_with("tensor") || type_text.starts_with("!torch.vtensor")
}

/// The return of a function, if it has only one.
fn last_operation(function: &SourceFunction) -> Option<OperationIndex> {
    let body = function.operations.first()?.regions.first()?;
    let returns = body.blocks.iter().filter_map(|block| block.operations.last()).copied();
    let is_return =
        |it: &OperationIndex| function.operations[*it].name.rsplit('.').next() == Some("return");
    let mut returns = returns.filter(is_return);
    returns.next().filter(|_| returns.next().is_none())
}

/// Whether a folded f32 reads the same as f64. If no f64 is left in the code, the compiler has
/// either demoted f64 to f32 or folded all of it, and the code does not say which.
fn is_same_in_both_widths(bits: u64) -> bool {
    /// From here on, f32 rounds some integers.
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
            let location = match node.and_then(|node| self.compute(node)) {
                Some(Recipe::Register(slot, _)) => ValueLocation::Register(slot),
                Some(Recipe::Constant(bits))
                    if type_text == "f64"
                        && scalar == Some(Scalar::F32)
                        && !is_same_in_both_widths(bits) =>
                {
                    ValueLocation::Missing(MissingReason::OptimizedOut)
                }
                Some(recipe) => ValueLocation::Computed(recipe),
                None => match node.and_then(|node| self.reference(node)) {
                    Some(slot) => ValueLocation::Register(slot),
                    None => ValueLocation::Missing(self.reason(&type_text, node)),
                },
            };
            let name = written.name.clone();
            found.retain(|known| known.name != name);
            let argument = function.arguments().iter().position(|it| *it == value);
            found.push(ScopedValue { name, type_text, scalar, argument, location, node: None });
        }
        found
    }

    fn reason(&self, type_text: &str, node: Option<Node>) -> MissingReason {
        if is_tensor(type_text) {
            return MissingReason::Tensor;
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
        if comes_later { MissingReason::NotYetComputed } else { MissingReason::OptimizedOut }
    }

    /// The register that holds a reference, if one does.
    fn reference(&self, node: Node) -> Option<RegisterSlot> {
        if self.proof.source.graph.nodes[node].scalar.is_some() {
            return None;
        }
        let mut held = self.held.iter().filter(|(slot, _)| slot.is_ref());
        held.find(|(_, held)| self.is_here(node, *held)).map(|(slot, _)| *slot)
    }

    /// How to compute a value where the program is stopped.
    fn compute(&mut self, node: Node) -> Option<Recipe> {
        let node = self.proof.source.graph.resolve(node);
        if let Some(known) = self.known.get(&node) {
            return known.clone();
        }
        self.budget = self.budget.checked_sub(1)?;
        // A value cannot be computed from itself.
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
                    operands.iter().map(|operand| self.compute(*operand)).collect();
                operands.map(|it| Recipe::Apply(RecipeOperation(*pure), it))
            }
            Kind::Phi(values) if !proof.source_side.flow.is_head(data.block) => {
                let above = proof.source_side.flow.dominator(data.block)?;
                self.chosen(above, data.block, values, 32)
            }
            _ => None,
        };
        forwards.or_else(|| self.backwards(node, scalar))
    }

    /// A value from another that was computed from it, if that can be undone: `%n` from `%n + 1`.
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
            let apply = |pure, operands| Some(Recipe::Apply(RecipeOperation(pure), operands));
            let is_first = operands.first().map(|it| proof.source.graph.resolve(*it)) == Some(node);
            let found = match (*pure, &operands[..]) {
                (Pure::Cast(Cast::SignExtend | Cast::ZeroExtend, from, to), _) => {
                    apply(Pure::Cast(Cast::Truncate, to, from), vec![made])
                }
                (Pure::Binary(binary, _), [one, other]) if one != other => {
                    let rest = self.compute(if is_first { *other } else { *one });
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

    /// The value that a phi takes when control comes from a block above.
    fn chosen(
        &mut self,
        mut at: Block,
        block: Block,
        values: &[(Edge, Node)],
        depth: usize,
    ) -> Option<Recipe> {
        let graph = &self.proof.source.graph;
        loop {
            let edges = &graph.outgoing[at];
            let &[first, ..] = &edges[..] else { return None };
            match (&edges[..], graph.edges[first].when) {
                ([_], When::Always) => {
                    if let Some((_, value)) = values.iter().find(|(edge, _)| *edge == first) {
                        return self.compute(*value);
                    }
                    at = graph.edges[first].to;
                }
                ([yes, no], When::If(condition, is_yes)) => {
                    // A loop on the path is passed by its exit.
                    let flow = &self.proof.source_side.flow;
                    let leaves = |edge: &usize| {
                        let head = flow.loops(at).next();
                        head.is_some_and(|head| !flow.is_in(graph.edges[*edge].to, head))
                    };
                    let is_inside = flow.loops(at).next() != flow.loops(block).next();
                    if is_inside && leaves(yes) != leaves(no) {
                        let out = if leaves(yes) { *yes } else { *no };
                        if let Some((_, value)) = values.iter().find(|(edge, _)| *edge == out) {
                            return self.compute(*value);
                        }
                        at = graph.edges[out].to;
                        continue;
                    }
                    let depth = depth.checked_sub(1)?;
                    let condition = self.compute(condition)?;
                    let mut side = |edge: usize| {
                        match values.iter().find(|(it, _)| *it == edge) {
                            Some((_, value)) => self.compute(*value),
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

    /// Whether a value of the bytecode is one of the source, in the same iteration of every loop.
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

    /// Whether an instruction comes from the location of a value's operation. For values with few
    /// distinct samples, such as conditions, that and equal samples are enough.
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

    /// Whether a value of the bytecode is from the current iteration: the program is stopped inside
    /// a loop around that value exactly if it is inside the corresponding loop of the source.
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

//! The names that are in scope at an instruction, each with where its value is.

use std::collections::HashMap;
use std::sync::PoisonError;

use super::arithmetic::Scalar;
use super::comparison::{Machine, Proof};
use super::graph::{Block, Node};
use super::recipes::Found;
use super::source_graph::InstanceIndex;
use super::value_location::{Check, MissingReason, Recipe, ScopedValue, ValueLocation};
use crate::bytecode::RegisterSlot;
use crate::source::functions::{LineColumn, OperationIndex, SourceFunction, ValueIndex};
use crate::source::writes_constant;

/// The most values that the names at one place are computed from.
const MOST_VALUES: usize = 2000;

/// The values that a function was called with, as far as the program's caller can tell them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Given {
    /// They are not known.
    #[default]
    Unknown,
    /// Those of an exported function, which has all of its arguments.
    Program,
    /// Those of a call in the bytecode. They are the source's if these are as many and of the same
    /// types: the compiler may have dropped some.
    Call,
}

/// Where the program is stopped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StandAt<'p> {
    /// The instruction that is next.
    pub(crate) instruction: usize,
    /// The positions of inlined calls from the function inwards, and last the instruction's own.
    pub(crate) path: &'p [LineColumn],
    /// How many of these calls lead to the frame.
    pub(crate) calls: usize,
    /// The values that the function was called with.
    pub(crate) given: Given,
}

/// The place where the program is stopped, with the values found there so far.
pub(super) struct Stand<'p> {
    pub(super) proof: &'p Proof,
    pub(super) held: Vec<(RegisterSlot, Node)>,
    pub(super) machine: &'p Machine,
    /// The machine's block.
    pub(super) block: Block,
    /// The instruction that is next.
    pub(super) instruction: usize,
    /// The source's block.
    pub(super) source_block: Option<Block>,
    /// The values that the function was called with.
    pub(super) given: Given,
    /// By value of the source, how to find it.
    pub(super) known: HashMap<Node, Option<Found>>,
    pub(super) budget: usize,
}

impl Proof {
    /// The names in scope at an instruction, in the frame that is `calls` inlined calls deep.
    /// `path` holds the positions of these calls from the function inwards, and last the
    /// instruction's own.
    pub(crate) fn scope(&self, at: &StandAt<'_>) -> Option<Vec<ScopedValue>> {
        self.stand(at, |mut stand, instance, operation| stand.names(instance, operation))
    }

    /// Asks something at a place where the program is stopped, for the values of an instance of a
    /// function at an operation.
    pub(super) fn stand<T>(
        &self,
        at: &StandAt<'_>,
        ask: impl FnOnce(Stand<'_>, InstanceIndex, Option<OperationIndex>) -> T,
    ) -> Option<T> {
        let StandAt { instruction, path, calls, given } = *at;
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
        let Machine { registers, side, terms, .. } = &mut *machine;
        side.extend(&registers.graph, &self.draw);
        side.extend_terms(&registers.graph, terms);
        let source_block = operation.and_then(|operation| self.block_of(instance, operation));
        let stand = Stand {
            proof: self,
            held,
            machine: &machine,
            block: machine.registers.blocks.get(instruction).copied()?,
            instruction,
            source_block,
            given,
            known: HashMap::new(),
            budget: MOST_VALUES,
        };
        Some(ask(stand, instance, operation))
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
    let values = values_in_scope(function, function.operation_at(place));
    missing(function, values, MissingReason::OptimizedOut)
}

/// The names that the operation at a place defines.
pub(crate) fn results_without_values(
    function: &SourceFunction,
    place: LineColumn,
) -> Vec<ScopedValue> {
    let operation = function.operation_at(place).and_then(|it| function.operations.get(it));
    let results = operation.map(|it| it.results.clone()).unwrap_or_default();
    missing(function, results, MissingReason::NotYetComputed)
}

/// Values that are tensors, or that have no value for a reason.
fn missing(
    function: &SourceFunction,
    values: Vec<ValueIndex>,
    reason: MissingReason,
) -> Vec<ScopedValue> {
    let mut found: Vec<ScopedValue> = Vec::new();
    for value in values {
        let written = &function.values[value];
        let name = written.name.clone();
        let type_text = written.type_text.clone().unwrap_or_default();
        let reason = if is_tensor(&type_text) { MissingReason::Tensor } else { reason };
        found.retain(|known| known.name != name);
        let argument = function.arguments().iter().position(|it| *it == value);
        let location = ValueLocation::Missing(reason);
        found.push(ScopedValue {
            name,
            type_text,
            scalar: None,
            defined_at: Some(function.defined_at(value)),
            argument,
            is_constant: is_constant(function, value),
            location,
            check: None,
            node: None,
        });
    }
    found
}

fn is_tensor(type_text: &str) -> bool {
    type_text.starts_with("tensor") || type_text.starts_with("!torch.vtensor")
}

/// Whether a value is a tensor that the text writes.
fn is_constant(function: &SourceFunction, value: ValueIndex) -> bool {
    let written = &function.values[value];
    written.type_text.as_deref().is_some_and(is_tensor)
        && written.definition.is_some_and(|(index, _)| {
            let head = || function.head_text(index).unwrap_or_default();
            writes_constant(&function.operations[index].name, head)
        })
}

/// The values in scope at an operation.
pub(super) fn values_in_scope(
    function: &SourceFunction,
    operation: Option<OperationIndex>,
) -> Vec<ValueIndex> {
    match operation {
        Some(operation) if operation > 0 => function.in_scope(operation),
        _ => function.arguments().to_vec(),
    }
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
        let mut found: Vec<ScopedValue> = Vec::new();
        for value in values_in_scope(function, operation) {
            let written = &function.values[value];
            let node = proof.source.values.get(&(instance, value)).copied();
            let scalar = node.and_then(|node| proof.source.graph.nodes[node].scalar);
            let type_text = written.type_text.clone().unwrap_or_default();
            let (location, check) = self.location(node, &type_text);
            let name = written.name.clone();
            found.retain(|known| known.name != name);
            let argument = function.arguments().iter().position(|it| *it == value);
            found.push(ScopedValue {
                name,
                type_text,
                scalar,
                defined_at: Some(function.defined_at(value)),
                argument,
                is_constant: is_constant(function, value),
                location,
                check,
                node: None,
            });
        }
        found
    }

    /// Where a value is, and a second opinion on that.
    pub(super) fn location(
        &mut self,
        node: Option<Node>,
        type_text: &str,
    ) -> (ValueLocation, Option<Check>) {
        let Some((node, found)) = node.and_then(|node| Some((node, self.compute(node)?))) else {
            let location = match node.and_then(|node| self.reference(node)) {
                Some(slot) => ValueLocation::Register(slot),
                None => ValueLocation::Missing(self.reason(type_text, node)),
            };
            return (location, None);
        };
        let scalar = self.proof.source.graph.nodes[node].scalar;
        match (found.register, &found.recipe) {
            (Some(slot), _) => (ValueLocation::Register(slot), self.check(node, &found)),
            (None, Recipe::Constant(bits))
                if type_text == "f64"
                    && scalar == Some(Scalar::F32)
                    && !is_same_in_both_widths(*bits) =>
            {
                (ValueLocation::Missing(MissingReason::OptimizedOut), None)
            }
            (None, _) => (ValueLocation::Computed(found.recipe), None),
        }
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
                is_ahead
                    && registers.results[index].iter().any(|it| self.support(node, *it).is_ok())
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
        held.find(|(_, held)| self.support_here(node, *held).is_ok()).map(|(slot, _)| *slot)
    }
}

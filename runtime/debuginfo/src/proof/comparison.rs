//! [`Proof`]: a function of the source and its bytecode as graphs, with samples by which equal
//! values are found.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use vmfb::{FunctionOrdinal, Module, Op};

use super::arithmetic::Scalar;
use super::draw::Draw;
use super::elements::{Elements, Leaves};
use super::equal::{self, Pairs, Sample, Side, mix};
use super::graph::{Block, Kind, Node, NodeData};
use super::lower;
use super::matching::{self, Origin, Origins};
use super::named::Named;
use super::numbering;
use super::registers::Registers;
use super::source_graph::SourceGraph;
use super::terms::{Program, Terms};
use crate::bytecode::Code;
use crate::source::SourceText;
use crate::source::functions::SourceFunction;

/// The source that a function was compiled from.
pub(crate) struct Sources<'s> {
    pub(crate) text: &'s SourceText,
    pub(crate) function: Arc<SourceFunction>,
    /// Whether the code is the whole function, with its arguments, not a part of it such as a
    /// dispatch.
    pub(crate) is_whole: bool,
}

/// The comparison of a function's source and bytecode.
#[derive(Debug)]
pub(crate) struct Proof {
    pub(super) source: SourceGraph,
    pub(super) source_side: Side,
    pub(super) machine: Mutex<Machine>,
    pub(super) origins: Origins,
    pub(super) returns: Vec<bool>,
    pub(super) draw: Draw,
    pub(super) pairs: Pairs,
    /// By value of the source, the values computed from it.
    pub(super) users: HashMap<Node, Vec<Node>>,
    /// The arguments of the function.
    pub(super) arguments: Vec<Node>,
    /// Whether the bytecode has them all.
    pub(super) has_all_arguments: bool,
    /// Loops of the source whose code the compiler has rotated: it is in the bytecode twice, before
    /// the loop and in it.
    pub(super) rotated: Vec<Rotated>,
    /// The named values of the source.
    pub(super) named: Named,
}

/// A loop whose code was rotated.
#[derive(Debug)]
pub(super) struct Rotated {
    /// Its head in the source, and in the bytecode.
    pub(super) heads: (Block, Block),
    /// The instructions in the loop of which there are copies before it. Where the first of them
    /// has run, the next turn of the source has begun.
    pub(super) copies: Vec<usize>,
}

/// The values of the bytecode.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) registers: Registers,
    pub(super) side: Side,
    /// The terms of both programs.
    pub(super) terms: Terms,
    /// By value, the instruction that makes it.
    pub(super) made_by: HashMap<Node, usize>,
}

impl Proof {
    /// Compares a function's bytecode with its source; `None` if either cannot be modelled.
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
        let is_double = |node: &NodeData| matches!(node.scalar, Some(Scalar::F64));
        let is_demoted = !registers.graph.nodes.iter().any(is_double);
        let is_part = !sources.is_whole;
        let texts = lower::Texts { text: sources.text, is_demoted, is_part };
        let mut source = lower::lower(&texts, &sources.function, &origins);
        if source.is_broken {
            return None;
        }
        let draw = Draw::new([&source.graph, &registers.graph]);
        let elements = Elements { registers: &registers, code, origins: &origins, draw: &draw };
        let leaves = if is_part { elements.find(&mut source) } else { Leaves::default() };
        let mut other = leaves.machine();
        let Leaves { source: mut given, mut partners } = leaves;
        let mut source_side = Side::new(&source.graph, Program::Source);
        let mut side = Side::new(&registers.graph, Program::Bytecode);
        let flows = [&source_side.flow, &side.flow];
        let pairs = matching::loops(&source, &registers, flows, &origins, is_part);
        let matched = matching::leaves(&source, &registers, code, &origins, sources.is_whole);
        for (number, (written, held)) in matched.into_iter().enumerate() {
            let seed = mix(number as u64 + 1000);
            let scalar = source.graph.nodes[written].scalar;
            let sample = draw.sample(seed, scalar);
            partners.insert(held, written);
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
        let graphs = [&source.graph, &registers.graph];
        let mut terms = Terms::default();
        let given_terms = [
            given.keys().map(|it| (*it, terms.own(Program::Source, *it))).collect(),
            partners.iter().map(|(held, it)| (*held, terms.own(Program::Source, *it))).collect(),
        ];
        let sides = &mut [&mut source_side, &mut side];
        numbering::number(&mut terms, graphs, sides, &given_terms, &pairs);
        let machine = (&registers, &side, code);
        let rotated = rotated((&source, &source_side), machine, &origins, &pairs);
        let named = Named::of(&source, &source_side);
        let returns = code.instructions.iter().map(|it| it.op == Op::Return).collect();
        let has_all_arguments =
            sources.is_whole && !matching::arguments(&source, &registers).is_empty();
        let results = registers.results.iter().enumerate();
        let made_by = results.flat_map(|(index, nodes)| nodes.iter().map(move |it| (*it, index)));
        let made_by = made_by.collect();
        let machine = Mutex::new(Machine { registers, side, terms, made_by });
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
            has_all_arguments,
            rotated,
            named,
        })
    }
}

/// By value, the values computed from it.
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

/// The samples of a narrow integer in a register, whose upper bits are unknown.
fn widened(
    sample: &Sample,
    scalar: Option<Scalar>,
    wide: Option<Scalar>,
    seed: u64,
) -> Box<Sample> {
    let mut wider: Box<Sample> = Box::from(sample);
    if let (Some(Scalar::Int(width @ 2..32)), Some(wide)) = (scalar, wide) {
        for (index, slot) in wider.iter_mut().enumerate() {
            *slot = wide.cut(*slot | mix(seed ^ index as u64) << width);
        }
    }
    wider
}

/// The loops whose test was copied before the loop. They no longer run in step with the source: the
/// next iteration begins inside the body.
fn rotated(
    (source, source_side): (&SourceGraph, &Side),
    (registers, side, code): (&Registers, &Side, &Code),
    origins: &Origins,
    pairs: &Pairs,
) -> Vec<Rotated> {
    let op = |index: usize| code.instructions.get(index).map(|it| it.op);
    let mut found = Vec::new();
    for (head, other) in pairs {
        let inside = source
            .blocks
            .iter()
            .filter(|(_, block)| source_side.flow.loops(**block).next() == Some(*head));
        let copied = inside.flat_map(|((instance, operation), _)| {
            let path = source.path(*instance, *operation);
            let is_constant = |index: &&usize| {
                registers.results[**index]
                    .iter()
                    .any(|result| matches!(registers.graph.nodes[*result].kind, Kind::Constant(_)))
            };
            // What comes after the loop is no copy: it runs where the loop is left.
            let is_after = |index: &&usize| {
                let block = registers.blocks[**index];
                side.flow.dominates(*other, block) && !side.flow.is_in(block, *other)
            };
            let copies = origins.at(&path).iter();
            let copies = copies.filter(|index| !is_constant(index) && !is_after(index));
            let (within, outside): (Vec<&usize>, Vec<&usize>) =
                copies.partition(|index| side.flow.is_in(registers.blocks[**index], *other));
            // A load of what never changes, such as the device, was moved out of the loop, and not
            // copied.
            let is_copy = |index: &usize| {
                let is_load = op(*index).is_some_and(|it| it.mnemonic().starts_with("global.load"));
                !is_load || within.iter().any(|it| op(**it) == op(*index))
            };
            let is_copied = outside.into_iter().any(is_copy);
            within.into_iter().copied().filter(move |_| is_copied).collect::<Vec<usize>>()
        });
        let copies: Vec<usize> = copied.collect();
        if !copies.is_empty() {
            found.push(Rotated { heads: (*head, *other), copies });
        }
    }
    found
}

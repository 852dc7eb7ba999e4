//! The code for one element in a dispatch: which loads are which arguments of a tensor operation's
//! body.
//!
//! The compiler turns a tensor operation into loops around its body, in which each operation keeps
//! its own location. Before the body are loads of its arguments, in their order and with the
//! location of the tensor operation. So far this is a guess. It is taken for true if every
//! operation of the body that has an instruction of its own has the samples of that instruction; if
//! one does not, nothing of the body is known.
//!
//! ```text
//! %act = linalg.generic … {          %27 = buffer.load.f32 %buffer[%26]     8:10
//! ^bb0(%a: f32, %o: f32):
//!   %s = arith.addf %a, %k : f32     %28 = add.f32 %27, %1                 10:10
//! ```
//!
//! A number that the body captures (`%k`) is an argument of the dispatch. It is found through an
//! operation whose other operands are known.

use std::collections::HashMap;

use super::arithmetic::Scalar;
use super::draw::Draw;
use super::equal::{Sample, Side, mix};
use super::graph::{Block, Kind, Node};
use super::matching::{Origins, is_same_width};
use super::registers::Registers;
use super::source_graph::SourceGraph;
use super::terms::Program;
use crate::bytecode::Code;

/// The most passes in search of captured numbers.
const ROUNDS: usize = 4;

/// The leaves that both programs have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leaves {
    /// The samples of the source's.
    pub(crate) source: HashMap<Node, Box<Sample>>,
    /// By leaf of the bytecode, the source's that it is.
    pub(crate) partners: HashMap<Node, Node>,
}

impl Leaves {
    /// The samples of the bytecode's leaves.
    pub(crate) fn machine(&self) -> HashMap<Node, Box<Sample>> {
        let sample = |(held, node): (&Node, &Node)| Some((*held, self.source.get(node)?.clone()));
        self.partners.iter().filter_map(sample).collect()
    }
}

/// The bytecode of a dispatch, with what it is compared with.
pub(crate) struct Elements<'e> {
    pub(crate) registers: &'e Registers,
    pub(crate) code: &'e Code,
    pub(crate) origins: &'e Origins,
    pub(crate) draw: &'e Draw,
}

impl Elements<'_> {
    /// Finds the leaves of tensor operations whose code is confirmed; changes the source's graph
    /// where the compiler fused some of them.
    pub(crate) fn find(&self, source: &mut SourceGraph) -> Leaves {
        let mut leaves = Leaves::default();
        // Later operations may have absorbed earlier ones.
        for element in (0..source.elements.len()).rev() {
            for is_fused in [false, true] {
                let mut tried = source.clone();
                if is_fused {
                    tried.fuse(element);
                }
                let loaded = source.loaded(element, is_fused);
                if let Some(found) = self.confirmed(&tried, element, &loaded, &leaves) {
                    *source = tried;
                    leaves = found;
                    break;
                }
            }
        }
        leaves
    }

    /// The leaves extended by those of an operation, if they confirm its code.
    fn confirmed(
        &self,
        source: &SourceGraph,
        element: usize,
        loaded: &[Node],
        known: &Leaves,
    ) -> Option<Leaves> {
        let mut leaves = known.clone();
        let loads = self.loads(source, element);
        let mut matched = false;
        for (_, loads) in &loads {
            let fits = loads.len() == loaded.len()
                && loads.iter().zip(loaded).all(|(load, argument)| {
                    is_same_width(
                        source.graph.nodes[*argument].scalar,
                        self.registers.graph.nodes[*load].scalar,
                    )
                });
            if !fits {
                continue;
            }
            matched = true;
            for (load, argument) in loads.iter().zip(loaded) {
                self.give(source, &mut leaves, *argument, *load);
            }
        }
        if !matched {
            return None;
        }
        for _ in 0..ROUNDS {
            let sides = self.sides(source, &leaves);
            let found = self.captured(source, element, &sides, &leaves);
            let Some((node, held)) = found else { break };
            self.give(source, &mut leaves, node, held);
        }
        let sides = self.sides(source, &leaves);
        self.holds(source, element, &sides).then_some(leaves)
    }

    fn give(&self, source: &SourceGraph, leaves: &mut Leaves, node: Node, held: Node) {
        let scalar = source.graph.nodes[node].scalar;
        let sample = || self.draw.sample(mix(0x5eed ^ node as u64), scalar);
        leaves.source.entry(node).or_insert_with(sample);
        leaves.partners.insert(held, node);
    }

    fn sides(&self, source: &SourceGraph, leaves: &Leaves) -> [Side; 2] {
        let mut one = Side::new(&source.graph, Program::Source);
        let mut other = Side::new(&self.registers.graph, Program::Bytecode);
        one.compute(&source.graph, self.draw, &leaves.source);
        other.compute(&self.registers.graph, self.draw, &leaves.machine());
        [one, other]
    }

    fn path(&self, source: &SourceGraph, element: usize, operation: usize) -> Vec<(u32, u32)> {
        let instance = &source.instances[source.elements[element].instance];
        let mut path = instance.path.clone();
        path.push(instance.function.operations[operation].place);
        path
    }

    /// By block, the values loaded at the location of a tensor operation.
    fn loads(&self, source: &SourceGraph, element: usize) -> Vec<(Block, Vec<Node>)> {
        let path = self.path(source, element, source.elements[element].operation);
        let mut found: Vec<(Block, Vec<Node>)> = Vec::new();
        for index in self.origins.at(&path) {
            let mnemonic = self.code.instructions.get(*index).map_or("", |it| it.op.mnemonic());
            let [result] = self.registers.results[*index][..] else { continue };
            if !mnemonic.starts_with("buffer.load.") {
                continue;
            }
            let block = self.registers.blocks[*index];
            match found.iter_mut().find(|(known, _)| *known == block) {
                Some((_, loads)) => loads.push(result),
                None => found.push((block, vec![result])),
            }
        }
        found
    }

    /// The instructions of each operation of a body: in each block, the last one that comes from
    /// this operation alone.
    fn instructions(&self, source: &SourceGraph, element: usize) -> Vec<(Node, usize)> {
        let it = &source.elements[element];
        let function = &source.instances[it.instance].function;
        let mut found = Vec::new();
        for operation in &it.inside {
            let [value] = function.operations[*operation].results[..] else { continue };
            let Some(node) = source.values.get(&(it.instance, value)) else { continue };
            let here = self.origins.at(&self.path(source, element, *operation));
            for index in here {
                let results = &self.registers.results[*index];
                let block = self.registers.blocks[*index];
                let is_used_here = here.iter().any(|other| {
                    self.registers.blocks[*other] == block
                        && self.registers.operands[*other].iter().any(|it| results.contains(it))
                });
                if results.len() == 1 && !is_used_here {
                    found.push((source.graph.resolve(*node), *index));
                }
            }
        }
        found
    }

    /// A captured number, and the value of the machine that it must be.
    fn captured(
        &self,
        source: &SourceGraph,
        element: usize,
        sides: &[Side; 2],
        leaves: &Leaves,
    ) -> Option<(Node, Node)> {
        for (node, index) in self.instructions(source, element) {
            let Kind::Pure(pure, operands) = &source.graph.nodes[node].kind else { continue };
            let held = self.registers.results[index][0];
            let Kind::Pure(other, registers) = &self.registers.graph.nodes[held].kind else {
                continue;
            };
            if pure != other || operands.len() != registers.len() {
                continue;
            }
            let pairs = operands.iter().zip(registers);
            let (same, rest): (Vec<_>, Vec<_>) = pairs
                .partition(|(one, other)| is_equal(source, self.registers, sides, **one, **other));
            let [(one, other)] = rest[..] else { continue };
            let (one, other) = (source.graph.resolve(*one), self.registers.graph.resolve(*other));
            let is_open = matches!(source.graph.nodes[one].kind, Kind::Leaf)
                && !leaves.source.contains_key(&one)
                && !matches!(self.registers.graph.nodes[other].kind, Kind::Constant(_))
                && is_same_width(
                    source.graph.nodes[one].scalar,
                    self.registers.graph.nodes[other].scalar,
                );
            if is_open && !same.is_empty() {
                return Some((one, other));
            }
        }
        None
    }

    /// Whether every operation of a body that has an instruction computes the same as that
    /// instruction.
    fn holds(&self, source: &SourceGraph, element: usize, sides: &[Side; 2]) -> bool {
        let instructions = self.instructions(source, element);
        let is_so = |(node, index): &(Node, usize)| {
            let held = self.registers.results[*index][0];
            is_equal(source, self.registers, sides, *node, held)
        };
        !instructions.is_empty() && instructions.iter().all(is_so)
    }
}

fn is_equal(
    source: &SourceGraph,
    registers: &Registers,
    sides: &[Side; 2],
    node: Node,
    held: Node,
) -> bool {
    let (node, held) = (source.graph.resolve(node), registers.graph.resolve(held));
    let scalar: Option<Scalar> = source.graph.nodes[node].scalar;
    if !is_same_width(scalar, registers.graph.nodes[held].scalar) {
        return false;
    }
    sides[0].told(node, scalar, &sides[1], held).is_ok()
}

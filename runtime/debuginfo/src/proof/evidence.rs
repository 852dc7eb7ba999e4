//! Whether a register holds a value of the source, and how well that is known.
//!
//! Equal samples are needed, and never enough: a guard such as `select(x == pad, 0, x)` is `x` on
//! all samples but those that meet its constant, and no choice of samples meets every one
//! (`x * x == 3481`). So a register must also
//!
//! - have the value's term ([`super::terms`]), which proves it; or
//! - not have the term of another value of the source, and have telling samples that no other value
//!   of the source has, or an instruction that comes from the value's operation. What is known only
//!   so is shown while the value's operands, if these are known, give the same.

use super::comparison::{Proof, Rotated};
use super::equal::Sample;
use super::graph::{Kind, Node};
use super::matching;
use super::names::Stand;
use crate::bytecode::RegisterSlot;
use crate::source::functions::LineColumn;

/// Values with fewer distinct samples than this must also agree in their locations.
const TELLING: usize = 8;

/// How it is known that a register holds a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Support {
    /// Both have the same term.
    Term,
    /// Their samples agree, and nothing speaks against it.
    Samples,
}

/// Why it is not known, or wrong, that a register holds a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    /// Its type cannot hold the value.
    Type,
    /// Nothing is known of one of them.
    Unsampled,
    /// They differ for this sample.
    Sample(usize),
    /// It has the term of another name.
    Another,
    /// Most samples depend on how the operation is compiled.
    Open,
    /// Other names have the same samples, and its instruction does not tell which is meant.
    Doubles,
    /// Few different values agree, and its instruction comes from elsewhere.
    Elsewhere,
    /// It is the value of another turn of a loop.
    Turn,
}

fn is_telling(sample: &Sample) -> bool {
    Stand::distinct(sample) >= TELLING
}

impl Proof {
    /// The places of the operations that make a value, by all of its names.
    fn places_of(&self, node: Node) -> Vec<LineColumn> {
        let term = self.source_side.term(&self.source.graph, node);
        let names = term.and_then(|term| self.named.by_term.get(&term));
        let places = names.into_iter().flatten().filter_map(|(instance, value)| {
            let function = &self.source.instances[*instance].function;
            let (made, _) = function.values[*value].definition?;
            Some(function.operations[made].place)
        });
        places.collect()
    }
}

impl Stand<'_> {
    /// The register that holds a value. Of several that hold different values of the bytecode, the
    /// one with its term, or else the only one whose instruction comes from its operation.
    pub(super) fn holder(&self, node: Node) -> Option<(RegisterSlot, Support)> {
        let mut likely: Vec<(RegisterSlot, Node)> = Vec::new();
        for (slot, held) in &self.held {
            match self.support_here(node, *held) {
                Ok(Support::Term) => return Some((*slot, Support::Term)),
                Ok(Support::Samples) => likely.push((*slot, *held)),
                Err(_) => {}
            }
        }
        let registers = &self.machine.registers.graph;
        let term = |held: Node| self.machine.side.term(registers, held);
        let is_one = |likely: &[(RegisterSlot, Node)]| {
            likely.iter().all(|(_, held)| *held == likely[0].1 || term(*held) == term(likely[0].1))
        };
        if !is_one(&likely) {
            likely.retain(|(_, held)| self.leads_to(node, *held));
        }
        let (slot, _) = *likely.first().filter(|_| is_one(&likely))?;
        Some((slot, Support::Samples))
    }

    /// How it is known that a value of the bytecode is one of the source, in the same iteration of
    /// every loop.
    pub(super) fn support_here(&self, node: Node, held: Node) -> Result<Support, Refusal> {
        let support = self.support(node, held)?;
        if self.is_of_this_turn(node, held) { Ok(support) } else { Err(Refusal::Turn) }
    }

    /// How it is known that a value of the bytecode is one of the source.
    pub(super) fn support(&self, node: Node, held: Node) -> Result<Support, Refusal> {
        let (proof, machine) = (self.proof, self.machine);
        let (graph, registers) = (&proof.source.graph, &machine.registers.graph);
        let scalar = graph.nodes[node].scalar;
        if !matching::is_same_width(scalar, registers.nodes[held].scalar) {
            return Err(Refusal::Type);
        }
        let told = proof.source_side.told(node, scalar, &machine.side, held);
        let told = told.map_err(|at| at.map_or(Refusal::Unsampled, Refusal::Sample))?;
        let term = machine.side.term(registers, held);
        if term.is_some() && term == proof.source_side.term(graph, node) {
            return Ok(Support::Term);
        }
        let sample = proof.source_side.sample(node).ok_or(Refusal::Unsampled)?;
        let is_another = term.is_some_and(|term| proof.named.by_term.contains_key(&term));
        if is_another {
            return Err(Refusal::Another);
        }
        if told * 2 < sample.len() {
            return Err(Refusal::Open);
        }
        if proof.named.doubles.contains_key(&node) {
            return if self.leads_to(node, held) {
                Ok(Support::Samples)
            } else {
                Err(Refusal::Doubles)
            };
        }
        let is_enough = is_telling(sample) || self.is_from_there(node, held);
        if is_enough { Ok(Support::Samples) } else { Err(Refusal::Elsewhere) }
    }

    /// How many different numbers a value's samples are.
    pub(super) fn distinct(sample: &Sample) -> usize {
        let mut distinct = sample.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        distinct.len()
    }

    /// Whether an instruction of a value's own operation makes what a register holds.
    pub(super) fn is_made_there(&self, node: Node, held: Node) -> bool {
        self.places_of_held(held).is_some() && self.is_from_there(node, held)
    }

    /// Whether an instruction makes a value of the bytecode and comes from the operation of the
    /// source's value, and from no operation whose value has the same samples.
    fn leads_to(&self, node: Node, held: Node) -> bool {
        let Some(places) = self.places_of_held(held) else { return false };
        let is_of = |node: Node| self.proof.places_of(node).iter().any(|it| places.contains(it));
        let doubles = self.proof.named.doubles.get(&node);
        is_of(node) && !doubles.into_iter().flatten().any(|double| is_of(*double))
    }

    /// The places of the operations that the instruction of a value of the bytecode comes from.
    fn places_of_held(&self, held: Node) -> Option<&[LineColumn]> {
        let instruction = self.machine.made_by.get(&held)?;
        Some(&self.proof.origins.origins[*instruction].places)
    }

    /// Whether an instruction comes from the location of a value's operation. For values with few
    /// distinct samples, such as conditions, that and equal samples are enough.
    fn is_from_there(&self, node: Node, held: Node) -> bool {
        let (written, registers) = (&self.proof.source.graph, &self.machine.registers.graph);
        if let (Kind::Phi(_), Kind::Phi(_)) =
            (&written.nodes[node].kind, &registers.nodes[held].kind)
        {
            let heads = (written.nodes[node].block, registers.nodes[held].block);
            return self.proof.pairs.contains(&heads);
        }
        let Some(places) = self.places_of_held(held) else { return true };
        self.proof.places_of(node).iter().any(|it| places.contains(it))
    }

    /// Whether a turn of a rotated loop is still the one that the source is in: every way to its
    /// copied code leads through the place where the program stands.
    fn is_in_turn_of(&self, rotated: &Rotated) -> bool {
        let flow = &self.machine.side.flow;
        let blocks = &self.machine.registers.blocks;
        flow.is_in(self.block, rotated.heads.1)
            && rotated.copies.iter().all(|copy| {
                let is_own = flow.loops(blocks[*copy]).next() == Some(rotated.heads.1);
                let is_ahead = match blocks[*copy] == self.block {
                    true => self.instruction <= *copy,
                    false => flow.dominates(self.block, blocks[*copy]),
                };
                is_own && is_ahead
            })
    }

    /// Whether a value of the bytecode is from the current iteration: the program is stopped inside
    /// a loop around that value exactly if it is inside the corresponding loop of the source.
    fn is_of_this_turn(&self, node: Node, held: Node) -> bool {
        let proof = self.proof;
        let source_flow = &proof.source_side.flow;
        let flow = &self.machine.side.flow;
        let home = proof.source.graph.nodes[node].block;
        let mut rotated = proof.rotated.iter();
        if rotated.any(|it| source_flow.is_in(home, it.heads.0) && !self.is_in_turn_of(it)) {
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

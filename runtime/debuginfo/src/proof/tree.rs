//! What a value of the source is made from, beside what of the bytecode it was matched with: the
//! operations that [`super::account`] shows as evidence.

use std::collections::HashMap;

use super::arithmetic::Scalar;
use super::graph::{Kind, Node};
use super::names::Stand;
use super::source_graph::InstanceIndex;
use super::terms::Term;
use super::written::WrittenRecipe;
use crate::evidence::{Matched, MatchedBy};
use crate::source::functions::ValueIndex;

/// How many operations deep a value is explained.
const DEEPEST: usize = 4;
/// The most operations that explain a value.
const MOST: usize = 40;

/// Which registers can hold a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Bank {
    Object,
    Word,
    Pair,
    Single,
    Double,
}

impl Bank {
    fn of(scalar: Option<Scalar>) -> Self {
        match scalar {
            None => Self::Object,
            Some(Scalar::Int(..=32)) => Self::Word,
            Some(Scalar::Int(_)) => Self::Pair,
            Some(Scalar::F32) => Self::Single,
            Some(Scalar::F64) => Self::Double,
        }
    }
}

/// Prints an instruction by its index.
pub(crate) type Print<'p> = dyn Fn(usize) -> String + 'p;

/// The operations found so far.
pub(super) struct Trees<'t, 'p> {
    stand: &'t mut Stand<'p>,
    print: &'t Print<'t>,
    /// By value of the source, the name that it is shown with.
    names: HashMap<Node, (InstanceIndex, ValueIndex)>,
    /// By term and bank, a value of the bytecode: constants of several types have one term.
    by_term: HashMap<(Term, Bank), Node>,
    found: Vec<Matched>,
    indices: HashMap<Node, usize>,
}

impl<'t, 'p> Trees<'t, 'p> {
    pub(super) fn new(stand: &'t mut Stand<'p>, print: &'t Print<'t>) -> Self {
        let machine = stand.machine;
        let mut by_term = HashMap::new();
        for node in 0..machine.registers.graph.nodes.len() {
            if let Some(term) = machine.side.term(&machine.registers.graph, node) {
                let node = machine.registers.graph.resolve(node);
                let bank = Bank::of(machine.registers.graph.nodes[node].scalar);
                let known = by_term.entry((term, bank)).or_insert(node);
                // What an instruction makes says more than what paths bring.
                if machine.made_by.contains_key(&node) && !machine.made_by.contains_key(known) {
                    *known = node;
                }
            }
        }
        let names = names(stand);
        let (found, indices) = Default::default();
        Self { stand, print, names, by_term, found, indices }
    }

    /// The operations that make a value, itself first, under the name that was asked for. `held` is
    /// the value of the bytecode that it is known to be.
    pub(super) fn of(
        mut self,
        node: Node,
        name: (InstanceIndex, ValueIndex),
        held: Option<Node>,
    ) -> Vec<Matched> {
        let node = self.stand.proof.source.graph.resolve(node);
        self.names.insert(node, name);
        let partner = match held {
            Some(held) => (Some(held), self.kind_of_match(node, held)),
            None => self.partner(node, None),
        };
        self.add(node, partner, 0);
        self.found
    }

    fn add(&mut self, node: Node, partner: (Option<Node>, MatchedBy), depth: usize) -> usize {
        let at = self.found.len();
        let (held, by) = partner;
        self.indices.insert(node, at);
        let (source, line) = self.written(node);
        let compiled = held.map(|held| self.compiled(held));
        let found = self.found_at(node);
        self.found.push(Matched { source, line, compiled, by, found, ..Matched::default() });
        let source = &self.stand.proof.source.graph;
        let inputs: Vec<Node> = match &source.nodes[node].kind {
            Kind::Pure(_, operands) => operands.iter().map(|it| source.resolve(*it)).collect(),
            Kind::Phi(values) => values.iter().map(|(_, it)| source.resolve(*it)).collect(),
            _ => Vec::new(),
        };
        for input in inputs {
            let known = self.indices.get(&input).copied();
            if known.is_none() && (depth + 1 >= DEEPEST || self.found.len() >= MOST) {
                self.found[at].is_cut = true;
                continue;
            }
            let operand = known.unwrap_or_else(|| {
                let partner = self.partner(input, held);
                self.add(input, partner, depth + 1)
            });
            if !self.found[at].operands.contains(&operand) {
                self.found[at].operands.push(operand);
            }
        }
        at
    }

    /// The value of the bytecode that a value of the source is a pair with: among what its user is
    /// made from, or else anywhere.
    fn partner(&self, node: Node, user: Option<Node>) -> (Option<Node>, MatchedBy) {
        let (proof, machine) = (self.stand.proof, self.stand.machine);
        let registers = &machine.registers.graph;
        let near: Vec<Node> = match user.map(|user| &registers.nodes[user].kind) {
            Some(Kind::Pure(_, operands)) => operands.clone(),
            Some(Kind::Phi(values)) => values.iter().map(|(_, value)| *value).collect(),
            _ => Vec::new(),
        };
        let mut near = near.into_iter().map(|it| registers.resolve(it));
        if let Some(term) = proof.source_side.term(&proof.source.graph, node) {
            let bank = Bank::of(proof.source.graph.nodes[node].scalar);
            let is_it = |held: &Node| {
                machine.side.term(registers, *held) == Some(term)
                    && Bank::of(registers.nodes[*held].scalar) == bank
            };
            let anywhere = || self.by_term.get(&(term, bank)).copied();
            let held = near.clone().find(is_it).or_else(anywhere);
            if let Some(held) = held {
                return (Some(held), self.kind_of_match(node, held));
            }
        }
        match near.find(|held| self.stand.support(node, *held).is_ok()) {
            Some(held) => (Some(held), MatchedBy::Samples),
            None if proof.source.graph.constant(node).is_some() => (None, MatchedBy::Constant),
            None => (None, MatchedBy::Nothing),
        }
    }

    fn kind_of_match(&self, node: Node, held: Node) -> MatchedBy {
        let (proof, machine) = (self.stand.proof, self.stand.machine);
        let data = &proof.source.graph.nodes[node];
        let term = proof.source_side.term(&proof.source.graph, node);
        if term.is_none() || machine.side.term(&machine.registers.graph, held) != term {
            return MatchedBy::Samples;
        }
        match data.kind {
            Kind::Constant(_) => MatchedBy::Constant,
            Kind::Leaf if proof.arguments.contains(&node) => MatchedBy::Argument,
            Kind::Leaf => MatchedBy::Location,
            Kind::Phi(_) if proof.source_side.flow.is_head(data.block) => MatchedBy::Loop,
            _ => MatchedBy::Term,
        }
    }

    /// A value of the source as its operation is written, and the line.
    fn written(&self, node: Node) -> (String, Option<u32>) {
        let proof = self.stand.proof;
        let Some((instance, value)) = self.names.get(&node).copied() else {
            return (unnamed(&proof.source.graph.nodes[node].kind), None);
        };
        let function = &proof.source.instances[instance].function;
        (function.defined_as(value), Some(function.values[value].place.0))
    }

    /// A value of the bytecode, as what makes it.
    fn compiled(&self, held: Node) -> String {
        let machine = self.stand.machine;
        if let Some(instruction) = machine.made_by.get(&held) {
            return (self.print)(*instruction);
        }
        if let Some(at) = machine.registers.arguments.iter().position(|it| *it == held) {
            return format!("argument {at}");
        }
        let data = &machine.registers.graph.nodes[held];
        match &data.kind {
            Kind::Constant(bits) => match data.scalar {
                Some(scalar) => scalar.text(*bits),
                None => bits.to_string(),
            },
            Kind::Phi(_) if machine.side.flow.is_head(data.block) => {
                "registers that a loop writes again in each turn".to_owned()
            }
            Kind::Phi(_) => "registers that several paths write".to_owned(),
            _ => "no instruction".to_owned(),
        }
    }

    /// Where a value is now.
    fn found_at(&mut self, node: Node) -> Option<String> {
        let data = &self.stand.proof.source.graph.nodes[node];
        if matches!(data.kind, Kind::Constant(_)) {
            return None;
        }
        let scalar = data.scalar;
        let found = self.stand.compute(node);
        let register = found.as_ref().and_then(|it| it.register);
        match (register, found) {
            (Some(slot), _) => Some(format!("in {slot}")),
            (None, Some(found)) => Some(format!("= {}", WrittenRecipe(&found.recipe, scalar))),
            (None, None) => None,
        }
    }
}

/// By value, the name that it is shown with: that of the operation which makes it, in the outermost
/// function that has one. What a loop carries has a name inside of the loop, too, which is shown.
fn names(stand: &Stand<'_>) -> HashMap<Node, (InstanceIndex, ValueIndex)> {
    let source = &stand.proof.source;
    let mut names: HashMap<Node, (bool, InstanceIndex, ValueIndex)> = HashMap::new();
    for ((instance, value), node) in &source.values {
        let written = &source.instances[*instance].function.values[*value];
        let node = source.graph.resolve(*node);
        // Arguments of inlined calls are made by what the call is given.
        let is_carried = matches!(source.graph.nodes[node].kind, Kind::Phi(_));
        let own = (written.definition.is_none() != is_carried, *instance, *value);
        let known = names.entry(node).or_insert(own);
        *known = own.min(*known);
    }
    names.into_iter().map(|(node, (_, instance, value))| (node, (instance, value))).collect()
}

/// A value without a name in the source, which lowering adds.
fn unnamed(kind: &Kind) -> String {
    match kind {
        Kind::Pure(pure, _) => format!("a part of an operation: {pure}"),
        Kind::Phi(_) => "a choice by the path that control takes".to_owned(),
        Kind::Constant(bits) => format!("the constant {}", bits.cast_signed()),
        Kind::Leaf | Kind::Same(_) => "an operation that is not looked into".to_owned(),
    }
}

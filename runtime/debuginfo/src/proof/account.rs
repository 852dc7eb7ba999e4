//! Why a register holds a name's value, why a recipe computes it, or why neither is known: the
//! [`Evidence`] of names that the comparison of source and bytecode makes.

use super::comparison::Proof;
use super::evidence::{Refusal, Support};
use super::graph::{Kind, Node};
use super::matching;
use super::names::{Stand, StandAt, values_in_scope};
use super::source_graph::InstanceIndex;
use super::tree::{Print, Trees};
use super::value_location::{Check, MissingReason, Recipe, ValueLocation};
use super::written::WrittenRecipe;
use crate::bytecode::RegisterSlot;
use crate::evidence::{Evidence, Grounds, Maker, Refuted, SecondOpinion};
use crate::source::functions::{OperationIndex, ValueIndex};

/// The most candidates that are named.
const MOST_CANDIDATES: usize = 8;
/// The most arguments that a sample is shown with.
const MOST_ARGUMENTS: usize = 6;

impl Proof {
    /// Why a name has its value where the program is stopped; `None` if it is not in scope.
    pub(crate) fn evidence(
        &self,
        at: &StandAt<'_>,
        name: &str,
        print: &Print<'_>,
    ) -> Option<Evidence> {
        self.stand(at, |mut stand, instance, operation| {
            stand.account(instance, operation, name, print)
        })?
    }
}

impl Stand<'_> {
    fn account(
        &mut self,
        instance: InstanceIndex,
        operation: Option<OperationIndex>,
        name: &str,
        print: &Print<'_>,
    ) -> Option<Evidence> {
        let proof = self.proof;
        let function = &proof.source.instances[instance].function;
        let in_scope = values_in_scope(function, operation);
        let value = in_scope.into_iter().rev().find(|it| function.values[*it].name == name)?;
        let type_text = function.values[value].type_text.clone().unwrap_or_default();
        let node = proof.source.values.get(&(instance, value)).copied();
        let mut told = Evidence { name: name.to_owned(), ..Evidence::default() };
        let Some(node) = node else {
            told.missing = Some(self.location(None, &type_text).0.missing_text());
            told.notes.push(not_lowered(self, instance, value));
            return Some(told);
        };
        let resolved = proof.source.graph.resolve(node);
        let scalar = proof.source.graph.nodes[resolved].scalar;
        let (location, check) = self.location(Some(node), &type_text);
        let held = match &location {
            ValueLocation::Register(slot) => {
                told.place = Some(slot.to_string());
                self.held_in(*slot, resolved)
            }
            ValueLocation::Computed(recipe) => {
                told.maker = Maker::Recipes;
                told.place = Some(WrittenRecipe(recipe, scalar).to_string());
                None
            }
            ValueLocation::Missing(_) => None,
        };
        told.grounds = self.grounds(resolved, held, &location);
        told.check = check.map(|Check { recipe, is_sure }| SecondOpinion {
            recipe: WrittenRecipe(&recipe, scalar).to_string(),
            is_believed: is_sure,
            ..SecondOpinion::default()
        });
        if let ValueLocation::Missing(_) = location {
            told.missing = Some(location.missing_text());
        }
        if !told.grounds.is_proven() {
            told.refuted = self.candidates(resolved, held);
        }
        told.operations = Trees::new(self, print).of(resolved, (instance, value), held);
        if let ValueLocation::Missing(reason) = location {
            let is_computed = told.operations.first().is_some_and(|it| it.compiled.is_some());
            told.notes.extend(self.why_missing(resolved, reason, is_computed));
        }
        Some(told)
    }

    /// Why neither a register nor a recipe has a value.
    fn why_missing(&mut self, node: Node, reason: MissingReason, is_computed: bool) -> Vec<String> {
        let in_bytecode = match (reason, is_computed) {
            (MissingReason::Tensor, _) => return Vec::new(),
            (MissingReason::NotYetComputed, _) => "the instruction that makes it is still ahead",
            (_, true) => "the bytecode has it, and no register holds it here",
            (_, false) => "nothing in the bytecode is known to be it",
        };
        let proof = self.proof;
        let again = match &proof.source.graph.nodes[node].kind {
            Kind::Pure(pure, _) if !pure.is_computed() => {
                format!("it cannot be computed again: the debugger does not compute {pure}")
            }
            Kind::Pure(_, operands) => {
                let unknown = operands.iter().filter(|it| self.compute(**it).is_none());
                let unknown: Vec<Node> =
                    unknown.map(|it| proof.source.graph.resolve(*it)).collect();
                let mut names: Vec<String> =
                    unknown.iter().filter_map(|it| self.name_of_node(*it)).collect();
                names.dedup();
                match names.as_slice() {
                    [] => "it cannot be computed again from what is known here".to_owned(),
                    names => {
                        let names = names.join(" and ");
                        format!("it cannot be computed again: {names} is not known here either")
                    }
                }
            }
            Kind::Phi(_) => {
                "it cannot be computed again: it depends on the path that control took".to_owned()
            }
            _ => "it cannot be computed again: an argument, a call or a load gives it".to_owned(),
        };
        vec![in_bytecode.to_owned(), again]
    }

    /// The value of the bytecode in a register.
    fn held_in(&self, slot: RegisterSlot, node: Node) -> Option<Node> {
        let is_it =
            |it: &&(RegisterSlot, Node)| it.0 == slot && self.support_here(node, it.1).is_ok();
        self.held.iter().find(is_it).map(|(_, held)| *held)
    }

    fn grounds(&mut self, node: Node, held: Option<Node>, location: &ValueLocation) -> Grounds {
        match location {
            ValueLocation::Missing(_) => Grounds::Unknown,
            ValueLocation::Computed(Recipe::Constant(_)) => Grounds::Constant,
            ValueLocation::Computed(_) => match self.compute(node) {
                Some(found) => Grounds::Read { is_proven: found.is_sure },
                None => Grounds::Unknown,
            },
            ValueLocation::Register(_) => match held {
                Some(held) if self.support(node, held) == Ok(Support::Term) => Grounds::Term,
                Some(held) => self.samples(node, held),
                None => Grounds::Unknown,
            },
        }
    }

    fn samples(&self, node: Node, held: Node) -> Grounds {
        let side = &self.proof.source_side;
        let scalar = self.proof.source.graph.nodes[node].scalar;
        let Some(sample) = side.sample(node) else { return Grounds::Unknown };
        Grounds::Samples {
            agreeing: side.told(node, scalar, &self.machine.side, held).unwrap_or_default(),
            of: sample.len(),
            distinct: Self::distinct(sample),
            is_from_its_operation: self.is_made_there(node, held),
            alike: self.doubles_of(node),
        }
    }

    /// The registers that might have held a value, and what speaks against each: those first that
    /// are most like it.
    fn candidates(&self, node: Node, accepted: Option<Node>) -> Vec<Refuted> {
        let rank = |refusal: Refusal| match refusal {
            Refusal::Turn => 0,
            Refusal::Doubles => 1,
            Refusal::Elsewhere => 2,
            Refusal::Open => 3,
            Refusal::Another => 4,
            Refusal::Sample(_) => 5,
            Refusal::Unsampled => 6,
            Refusal::Type => 7,
        };
        let refused = self.held.iter().filter(|(_, held)| Some(*held) != accepted);
        let refused = refused.filter_map(|(slot, held)| {
            let refusal = self.support_here(node, *held).err()?;
            (refusal != Refusal::Type).then_some((*slot, *held, refusal))
        });
        let mut refused: Vec<_> = refused.collect();
        refused.sort_by_key(|(slot, _, refusal)| (rank(*refusal), *slot));
        let shown = refused.into_iter().take(MOST_CANDIDATES);
        let candidates = shown.map(|(slot, held, refusal)| Refuted {
            place: slot.to_string(),
            holds: self.names_of_held(held),
            refuted_by: self.refusal_text(node, held, refusal),
        });
        candidates.collect()
    }

    /// The names of the source with the term of a value of the bytecode.
    fn names_of_held(&self, held: Node) -> Vec<String> {
        let term = self.machine.side.term(&self.machine.registers.graph, held);
        let named = term.and_then(|term| self.proof.named.by_term.get(&term));
        let source = &self.proof.source;
        let held_scalar = self.machine.registers.graph.nodes[held].scalar;
        // Constants of several types have the term of their bits.
        let fits = |it: &&(InstanceIndex, ValueIndex)| {
            let node = source.values.get(it).map(|it| source.graph.resolve(*it));
            node.is_some_and(|node| {
                matching::is_same_width(source.graph.nodes[node].scalar, held_scalar)
            })
        };
        let named = named.into_iter().flatten().filter(fits);
        let mut names: Vec<String> = named.map(|it| self.name_of(*it)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn name_of(&self, (instance, value): (InstanceIndex, ValueIndex)) -> String {
        self.proof.source.instances[instance].function.values[value].name.clone()
    }

    /// The names of values that no sample tells from a value.
    fn doubles_of(&self, node: Node) -> Vec<String> {
        let doubles = self.proof.named.doubles.get(&node).into_iter().flatten();
        let mut names: Vec<String> =
            doubles.filter_map(|double| self.name_of_node(*double)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// A name of a value of the source.
    fn name_of_node(&self, node: Node) -> Option<String> {
        let source = &self.proof.source;
        let named = source.values.iter().filter(|(_, it)| source.graph.resolve(**it) == node);
        named.map(|(name, _)| *name).min().map(|name| self.name_of(name))
    }

    fn refusal_text(&self, node: Node, held: Node, refusal: Refusal) -> String {
        match refusal {
            Refusal::Type => "its type".to_owned(),
            Refusal::Unsampled => "nothing is known of what it holds".to_owned(),
            Refusal::Sample(at) => self.sample_text(node, held, at),
            Refusal::Another => "its term, which is that of another name".to_owned(),
            Refusal::Open => {
                "too few samples: in most, the result depends on how it is compiled".to_owned()
            }
            Refusal::Doubles => {
                let others = self.doubles_of(node).join(" and ");
                format!("it might as well be {others}: no sample tells them apart")
            }
            Refusal::Elsewhere => {
                "its few different values agree, and its instruction is of another operation"
                    .to_owned()
            }
            Refusal::Turn => "it is the value of another turn of a loop".to_owned(),
        }
    }

    /// How a sample differs: "with %n = 3 the source gives 9, and the register would hold 6".
    fn sample_text(&self, node: Node, held: Node, at: usize) -> String {
        let proof = self.proof;
        let scalar = proof.source.graph.nodes[node].scalar;
        let number = |bits: Option<u64>| match (bits, scalar) {
            (Some(bits), Some(scalar)) => scalar.text(scalar.cut(bits)),
            (Some(bits), None) => format!("object {bits:x}"),
            (None, _) => "?".to_owned(),
        };
        let own = proof.source_side.sample(node).and_then(|it| it.get(at).copied());
        let other = self.machine.side.sample(held).and_then(|it| it.get(at).copied());
        let arguments = proof.arguments.iter().filter_map(|argument| {
            let scalar = proof.source.graph.nodes[*argument].scalar?;
            let bits = *proof.source_side.sample(*argument)?.get(at)?;
            let name = self.name_of_node(proof.source.graph.resolve(*argument))?;
            Some(format!("{name} = {}", scalar.text(bits)))
        });
        let arguments: Vec<String> = arguments.take(MOST_ARGUMENTS).collect();
        let with = match arguments.as_slice() {
            [] => String::new(),
            arguments => format!(" with {}", arguments.join(", ")),
        };
        let (own, other) = (number(own), number(other));
        if scalar.is_none() {
            return format!("a sample{with}: it is another object");
        }
        format!("a sample{with}: the source gives {own}, and it would hold {other}")
    }
}

impl ValueLocation {
    fn missing_text(&self) -> String {
        match self {
            Self::Missing(reason) => reason.words().to_owned(),
            Self::Register(_) | Self::Computed(_) => String::new(),
        }
    }
}

/// Why a value of the source has no place in the comparison.
fn not_lowered(stand: &Stand<'_>, instance: InstanceIndex, value: ValueIndex) -> String {
    let function = &stand.proof.source.instances[instance].function;
    let made_by = function.values[value].definition;
    let made_by = made_by.and_then(|(at, _)| function.operations.get(at));
    match made_by {
        Some(made_by) => format!(
            "`{}` of line {} is not compared with bytecode: its region or its kind is not modelled",
            made_by.name, made_by.place.0
        ),
        None => "it is not compared with bytecode: its region is not modelled".to_owned(),
    }
}

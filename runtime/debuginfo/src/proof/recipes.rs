//! How the value of a name is found where the program is stopped: in a register, or from others.

use mlir::{IntegerBinary as I, Scalar as Function};

use super::arithmetic::{Pure, Scalar};
use super::evidence::Support;
use super::graph::{Block, Edge, Kind, Node, When};
use super::names::{Given, Stand};
use super::value_location::{Check, Recipe, RecipeOperation};
use crate::bytecode::RegisterSlot;

/// The most operations of a recipe.
const LONGEST_RECIPE: usize = 2000;

/// How to find a value.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) recipe: Recipe,
    /// The register that holds it, if one does.
    pub(super) register: Option<RegisterSlot>,
    /// Whether terms prove everything that the recipe reads.
    pub(super) is_sure: bool,
    /// The number of operations.
    size: usize,
}

impl Found {
    fn sure(recipe: Recipe) -> Self {
        Self { recipe, register: None, is_sure: true, size: 1 }
    }

    /// A recipe from others; `None` if it is too long.
    fn from(recipe: Recipe, parts: &[&Self]) -> Option<Self> {
        let size = parts.iter().map(|part| part.size).sum::<usize>() + 1;
        let is_sure = parts.iter().all(|part| part.is_sure);
        (size <= LONGEST_RECIPE).then_some(Self { recipe, register: None, is_sure, size })
    }
}

impl Stand<'_> {
    /// How to find a value where the program is stopped.
    pub(super) fn compute(&mut self, node: Node) -> Option<Found> {
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

    /// The second opinion on a value in a register.
    pub(super) fn check(&mut self, node: Node, found: &Found) -> Option<Check> {
        match &found.recipe {
            Recipe::Register(..) if found.is_sure => {
                let node = self.proof.source.graph.resolve(node);
                // Where even a proven register differs, neither is believed.
                let recipe = self.forwards(node)?.recipe;
                Some(Check { recipe, is_sure: false })
            }
            Recipe::Register(..) => None,
            Recipe::Agreed(_, check, _) => {
                Some(Check { recipe: Recipe::clone(check), is_sure: false })
            }
            recipe => Some(Check { recipe: recipe.clone(), is_sure: true }),
        }
    }

    fn find(&mut self, node: Node) -> Option<Found> {
        let data = &self.proof.source.graph.nodes[node];
        let scalar = data.scalar?;
        if let Kind::Constant(bits) = data.kind {
            return Some(Found::sure(Recipe::Constant(bits)));
        }
        let held = self.holder(node);
        if let Some((slot, Support::Term)) = held {
            let recipe = Recipe::Register(slot, scalar);
            return Some(Found { register: Some(slot), ..Found::sure(recipe) });
        }
        let argument = self.proof.arguments.iter().position(|argument| *argument == node);
        let is_known = match self.given {
            Given::Unknown => false,
            Given::Program => true,
            Given::Call => self.proof.has_all_arguments,
        };
        let computed = match argument.filter(|_| is_known) {
            Some(index) => Some(Found::sure(Recipe::Argument(index, scalar))),
            None => self.forwards(node),
        };
        let Some((slot, _)) = held else {
            return computed.or_else(|| self.backwards(node, scalar));
        };
        let register = Recipe::Register(slot, scalar);
        let found = match computed {
            Some(computed) if computed.is_sure => computed,
            Some(computed) => {
                let both = (Box::new(register), Box::new(computed.recipe));
                let recipe = Recipe::Agreed(both.0, both.1, scalar);
                Found { recipe, ..computed }
            }
            None => Found { is_sure: false, ..Found::sure(register) },
        };
        Some(Found { register: Some(slot), ..found })
    }

    /// A value from the operands of its operation.
    fn forwards(&mut self, node: Node) -> Option<Found> {
        let proof = self.proof;
        let data = &proof.source.graph.nodes[node];
        match &data.kind {
            Kind::Pure(pure, operands) if pure.is_computed() => {
                let operands: Option<Vec<Found>> =
                    operands.iter().map(|operand| self.compute(*operand)).collect();
                let operands = operands?;
                let recipes = operands.iter().map(|it| it.recipe.clone()).collect();
                let parts: Vec<&Found> = operands.iter().collect();
                Found::from(Recipe::Apply(RecipeOperation(*pure), recipes), &parts)
            }
            Kind::Phi(values) if !proof.source_side.flow.is_head(data.block) => {
                let above = proof.source_side.flow.dominator(data.block)?;
                self.chosen(above, data.block, values, 32)
            }
            _ => None,
        }
    }

    /// A value from another that was computed from it, if that can be undone: `%n` from `%n + 1`.
    fn backwards(&mut self, node: Node, scalar: Scalar) -> Option<Found> {
        let proof = self.proof;
        for user in proof.users.get(&node).into_iter().flatten().copied() {
            let data = &proof.source.graph.nodes[user];
            let (Kind::Pure(pure, operands), Some(result)) = (&data.kind, data.scalar) else {
                continue;
            };
            let Some((slot, support)) = self.holder(user) else { continue };
            let is_sure = support == Support::Term;
            let made = Found { is_sure, ..Found::sure(Recipe::Register(slot, result)) };
            let is_first = operands.first().map(|it| proof.source.graph.resolve(*it)) == Some(node);
            let found = match (*pure, &operands[..]) {
                (
                    Pure::Of(Function::SignExtend { from, .. } | Function::ZeroExtend { from, .. }),
                    _,
                ) => {
                    let cut = RecipeOperation(Function::Narrow { to: from }.into());
                    Found::from(Recipe::Apply(cut, vec![made.recipe.clone()]), &[&made])
                }
                (Pure::Of(Function::IntegerBinary(binary, _)), [one, other]) if one != other => {
                    let rest = self.compute(if is_first { *other } else { *one });
                    let Some(rest) = rest else { continue };
                    let (from, with) = (made.recipe.clone(), rest.recipe.clone());
                    let undone = match (binary, is_first) {
                        (I::Add, _) => Some((I::Subtract, vec![from, with])),
                        (I::Subtract, true) => Some((I::Add, vec![from, with])),
                        (I::Subtract, false) => Some((I::Subtract, vec![with, from])),
                        (I::Xor, _) => Some((I::Xor, vec![from, with])),
                        _ => None,
                    };
                    undone.and_then(|(binary, operands)| {
                        let operation = RecipeOperation(Pure::integers(binary, scalar));
                        Found::from(Recipe::Apply(operation, operands), &[&made, &rest])
                    })
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
    ) -> Option<Found> {
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
                    let mut side = |edge: usize| match values.iter().find(|(it, _)| *it == edge) {
                        Some((_, value)) => self.compute(*value),
                        None => self.chosen(graph.edges[edge].to, block, values, depth),
                    };
                    let [yes, no] = if is_yes { [*yes, *no] } else { [*no, *yes] };
                    let sides = [side(yes), side(no)];
                    let mut parts = vec![&condition];
                    parts.extend(sides.iter().flatten());
                    let recipes = sides
                        .each_ref()
                        .map(|it| it.as_ref().map(|it| Box::new(it.recipe.clone())));
                    let condition = Box::new(condition.recipe.clone());
                    return Found::from(Recipe::Choose(condition, recipes), &parts);
                }
                _ => return None,
            }
        }
    }
}

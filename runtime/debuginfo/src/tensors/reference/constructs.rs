//! Loops, branches and calls of the source: what they begin with, what that is inside, and what
//! each of their regions ends with. Nothing else is known of what they compute; that suffices to
//! prove that a loop of the compiled program carries the same (see `tensors::constructs`).

use mlir::table::Control;

use super::{Reference, Walk, tensors, type_text, unknown};
use crate::mlir_text::CallChain;
use crate::source::functions::{OperationIndex, SourceBlock, SourceFunction, ValueIndex};
use crate::tensors::steps::StepValueId;
use crate::tensors::symbolic::build::{Scope, Value};
use crate::tensors::symbolic::terms::{NodeId, TermId, Terms};

/// A loop or a branch, or a call.
#[derive(Clone, Debug, Default)]
pub(in crate::tensors) struct Construct {
    pub(in crate::tensors) chain: CallChain,
    pub(in crate::tensors) name: String,
    /// The tensors that it begins with.
    pub(in crate::tensors) initial: Vec<NodeId>,
    /// What they are inside.
    pub(in crate::tensors) inside: Vec<NodeId>,
    /// What a loop carries, as it is in a turn; empty for others.
    pub(super) carried: Vec<Slot>,
    /// For each region, the tensors that it ends with.
    pub(in crate::tensors) yielded: Vec<Vec<NodeId>>,
    pub(in crate::tensors) results: Vec<NodeId>,
    pub(in crate::tensors) numbers: Numbers,
}

/// The numbers of a loop or a branch.
#[derive(Clone, Debug, Default)]
pub(in crate::tensors) struct Numbers {
    /// What they begin with; of a counting loop, first where it begins to count.
    pub(in crate::tensors) initial: Vec<TermId>,
    /// By how much the counter of a loop grows in each turn.
    pub(in crate::tensors) step: Option<TermId>,
    /// What they are inside.
    pub(in crate::tensors) inside: Vec<TermId>,
    /// For each region, what it ends with, besides whether the loop goes on.
    pub(in crate::tensors) yielded: Vec<Vec<TermId>>,
    pub(in crate::tensors) results: Vec<TermId>,
}

/// A tensor that a loop carries.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) initial: NodeId,
    /// What it is in a turn.
    pub(super) node: NodeId,
    pub(super) step: Option<StepValueId>,
    pub(super) tensor_type: String,
}

impl Reference<'_> {
    /// A loop or a branch: what it computes is not known, but what it is computed from is.
    pub(super) fn construct(
        &mut self,
        scope: &mut Scope<'_>,
        index: OperationIndex,
        chain: &CallChain,
        calls: &CallChain,
        walk: &mut Walk<'_>,
    ) {
        let function = scope.function;
        let Some(written) = function.operations.get(index) else { return };
        let mut construct =
            Construct { chain: chain.clone(), name: written.name.clone(), ..Default::default() };
        for value in &written.results {
            if let Some(node) = unknown(scope, *value, walk.terms) {
                construct.results.push(node);
                scope.values.insert(*value, Value::Tensor(node));
            } else if is_number(function, *value) {
                let term = self.builder(walk).unknown_scalar();
                construct.numbers.results.push(term);
                scope.values.insert(*value, Value::Scalar(term));
            }
        }
        construct.numbers.step = step(scope, index);
        let counts = range(scope, index, walk.terms);
        for (inside, initial) in &written.initial {
            let known = initial.and_then(|it| scope.values.get(&it).copied());
            if let Some(Value::Scalar(first)) = known {
                let term = self.builder(walk).unknown_scalar();
                if let Some((least, greatest)) =
                    counts.filter(|_| construct.numbers.initial.is_empty())
                {
                    walk.terms.counts(term, least, greatest);
                }
                construct.numbers.initial.push(first);
                construct.numbers.inside.push(term);
                walk.function.steps.inside(*inside);
                scope.values.insert(*inside, Value::Scalar(term));
            }
            let Some(known) = known.and_then(Value::tensor) else { continue };
            let node = walk.terms.node(known);
            let (shape, element) = (node.shape.clone(), node.element.clone());
            let node = walk.terms.input(shape, element);
            construct.initial.push(known);
            construct.inside.push(node);
            walk.function.steps.inside(*inside);
            construct.carried.push(Slot {
                initial: known,
                node,
                step: walk.function.steps.value(*inside),
                tensor_type: type_text(walk.terms.node(known)),
            });
            scope.values.insert(*inside, Value::Tensor(node));
        }
        // A loop that tests before each turn passes on what it carries from its first region.
        let mut passed_on = Vec::new();
        for region in &written.regions {
            let Some(block) = region.blocks.first() else { continue };
            for argument in &block.arguments {
                if scope.values.contains_key(argument) {
                    continue;
                }
                if let Some(node) = unknown(scope, *argument, walk.terms) {
                    construct.inside.push(node);
                    walk.function.steps.inside(*argument);
                    passed_on.push((node, walk.function.steps.value(*argument)));
                    scope.values.insert(*argument, Value::Tensor(node));
                } else if is_number(function, *argument) {
                    let term = self.builder(walk).unknown_scalar();
                    construct.numbers.inside.push(term);
                    scope.values.insert(*argument, Value::Scalar(term));
                }
            }
            let yielded = self.block(scope, &block.operations, calls, walk).unwrap_or_default();
            construct.numbers.yielded.push(carried_numbers(function, block, &yielded));
            construct.yielded.push(tensors(yielded.into_iter()));
        }
        if mlir::table::control(&written.name) == Some(Control::While) {
            if passed_on.len() != construct.carried.len() {
                construct.carried.clear();
            }
            for (slot, (node, step)) in construct.carried.iter_mut().zip(passed_on) {
                (slot.node, slot.step) = (node, step);
            }
        }
        self.name_inside(scope, index, &construct, calls, walk);
        walk.function.constructs.push(construct);
    }
}

/// Whether a value is declared to be a number.
pub(in crate::tensors) fn is_number(function: &SourceFunction, value: ValueIndex) -> bool {
    let declared = function.values.get(value).and_then(|it| it.type_text.as_deref());
    let width = |it: &str| {
        ["i", "f", "bf"]
            .iter()
            .find_map(|kind| it.strip_prefix(kind))
            .is_some_and(|width| !width.is_empty() && width.bytes().all(|it| it.is_ascii_digit()))
    };
    declared.is_some_and(|it| it == "index" || width(it))
}

/// By how much the counter of a loop grows in each turn, if an operation is a loop that counts:
/// `scf.for %i = %first to %end step %step`.
pub(in crate::tensors) fn step(scope: &Scope<'_>, index: OperationIndex) -> Option<TermId> {
    let written = scope.function.operations.get(index)?;
    let counts = mlir::table::control(&written.name) == Some(Control::For);
    let step = written.operands.get(2).filter(|_| counts)?;
    scope.values.get(step)?.scalar()
}

/// The least and the greatest number that the counter of a loop may be, if an operation is a loop
/// that counts up between numbers that the source writes.
fn range(scope: &Scope<'_>, index: OperationIndex, terms: &Terms) -> Option<(i64, i64)> {
    let written = scope.function.operations.get(index)?;
    let number = |at: usize| {
        let (least, greatest) =
            terms.bounds(scope.values.get(written.operands.get(at)?)?.scalar()?)?;
        (least == greatest).then_some(least)
    };
    let counts = mlir::table::control(&written.name) == Some(Control::For);
    let (first, end) = (number(0)?, number(1)?);
    (counts && number(2)? > 0 && first < end).then(|| (first, end - 1))
}

/// The numbers that a block ends with. The first one of a condition says whether its loop goes on.
pub(in crate::tensors) fn carried_numbers(
    function: &SourceFunction,
    block: &SourceBlock,
    yielded: &[Option<Value>],
) -> Vec<TermId> {
    let last = block.operations.last().and_then(|it| function.operations.get(*it));
    let is_condition =
        last.is_some_and(|it| mlir::table::control(&it.name) == Some(Control::Condition));
    let carried = yielded.iter().skip(usize::from(is_condition));
    carried.filter_map(|it| (*it)?.scalar()).collect()
}

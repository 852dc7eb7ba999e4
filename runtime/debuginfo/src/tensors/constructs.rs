//! Loops, branches and calls that the compiler has left: their tensors and numbers are those of the
//! source at the same place, if they begin with the same and each turn ends with the same.
//!
//! What is inside is assumed to be what it is in the source, and what the regions end with has to
//! follow: an induction over the turns. An assumption that turns out to be wrong is not made again
//! when the function is read once more; first that of the numbers is given up, as tensors may be
//! proven without them.

use mlir::table::Control;

use super::names::Walk;
use super::places::is_at;
use super::reader::id;
use super::reference::{Construct, carried_numbers, is_number, step};
use super::symbolic::build::{Scope, Value};
use super::symbolic::equal::{Equality, Proof};
use super::symbolic::maps;
use super::symbolic::terms::{NodeId, TermId};
use crate::source::functions::{OperationIndex, SourceOperation, ValueIndex};

/// What a loop, a branch or a call of the compiled program begins with, and its values.
#[derive(Default)]
struct Compiled {
    /// The tensors that it begins with, those that they are inside, and those that it leaves.
    initial: Vec<NodeId>,
    inside: Vec<ValueIndex>,
    results: Vec<ValueIndex>,
    /// The same of numbers.
    first_numbers: Vec<TermId>,
    numbers: Vec<ValueIndex>,
    left_numbers: Vec<ValueIndex>,
    step: Option<TermId>,
}

impl<'w, 'f> Walk<'w, 'f> {
    /// Reads one.
    pub(super) fn construct(&mut self, scope: &mut Scope<'f>, index: OperationIndex) {
        let Some(written) = self.function.operations.get(index) else { return };
        let compiled = self.compiled(scope, index, written);
        let own =
            self.own_construct(written, index).filter(|own| self.begins_alike(own, &compiled));
        let has_numbers = own.is_some_and(|own| self.counts_alike(own, &compiled));
        self.bind_inside(scope, own, has_numbers, &compiled);
        let (mut is_proven, mut numbers_hold) = (own.is_some(), has_numbers);
        for (at, region) in written.regions.iter().enumerate() {
            let Some(block) = region.blocks.first() else { continue };
            let yielded = self.block(scope, &block.operations).unwrap_or_default();
            let numbers = carried_numbers(self.function, block, &yielded);
            let tensors: Vec<NodeId> = yielded.into_iter().filter_map(|it| it?.tensor()).collect();
            let expected = own.and_then(|own| own.yielded.get(at));
            is_proven &= expected.is_some_and(|expected| self.are_same(expected, &tensors));
            let expected = own.and_then(|own| own.numbers.yielded.get(at));
            numbers_hold &= has_numbers
                && expected.is_some_and(|expected| self.are_same_numbers(expected, &numbers));
        }
        match own {
            Some(own) if has_numbers && !numbers_hold => {
                self.refused.numbers.insert(own.chain.clone());
                self.is_sound = false;
            }
            Some(own) if !is_proven => {
                self.refused.constructs.insert(own.chain.clone());
                self.is_sound = false;
            }
            _ => {}
        }
        let own = own.filter(|_| is_proven);
        self.bind_results(scope, own, numbers_hold, &compiled);
    }

    /// What it begins with.
    fn compiled(
        &self,
        scope: &Scope<'_>,
        index: OperationIndex,
        written: &SourceOperation,
    ) -> Compiled {
        let function = self.function;
        let declared =
            |value: ValueIndex| function.values.get(value).and_then(|it| it.type_text.as_deref());
        let mut found = Compiled { step: step(scope, index), ..Compiled::default() };
        if mlir::table::control(&written.name) == Some(Control::Call) {
            let given = written.operands.iter().filter_map(|it| scope.values.get(it)?.tensor());
            found.initial.extend(given);
        }
        for (argument, first) in &written.initial {
            match first.and_then(|it| scope.values.get(&it).copied()) {
                Some(Value::Tensor(first)) => {
                    found.initial.push(first);
                    found.inside.push(*argument);
                }
                Some(Value::Scalar(first)) => {
                    found.first_numbers.push(first);
                    found.numbers.push(*argument);
                }
                None => {}
            }
        }
        let blocks = written.regions.iter().filter_map(|it| it.blocks.first());
        for argument in blocks.flat_map(|it| &it.arguments) {
            let is_known = found.inside.contains(argument) || found.numbers.contains(argument);
            if is_known {
                continue;
            }
            if declared(*argument).is_some_and(|it| it.starts_with("tensor<")) {
                found.inside.push(*argument);
            } else if is_number(function, *argument) {
                found.numbers.push(*argument);
            }
        }
        let read = self.program.functions.get(self.number);
        for result in &written.results {
            let is_tensor = read.is_some_and(|it| it.value(id(*result)).is_tensor);
            if is_tensor || declared(*result).is_some_and(|it| it.starts_with("tensor<")) {
                found.results.push(*result);
            } else if is_number(function, *result) {
                found.left_numbers.push(*result);
            }
        }
        found
    }

    /// The one of the source at the same place.
    fn own_construct(
        &self,
        written: &SourceOperation,
        index: OperationIndex,
    ) -> Option<&'w Construct> {
        let is_call = mlir::table::control(&written.name) == Some(Control::Call);
        let name = if is_call { "call" } else { written.name.as_str() };
        let chains = self.operation_of(index).map(|it| it.chains.clone()).unwrap_or_default();
        let source = self.source;
        source.constructs.iter().find(|it| {
            it.name == name
                && chains.iter().any(|chain| is_at(chain, &it.chain))
                && !self.refused.constructs.contains(&it.chain)
        })
    }

    /// Whether both have as many tensors, and begin with the same.
    fn begins_alike(&mut self, own: &Construct, compiled: &Compiled) -> bool {
        own.initial.len() == compiled.initial.len()
            && own.inside.len() == compiled.inside.len()
            && own.results.len() == compiled.results.len()
            && self.are_same(&own.initial, &compiled.initial)
    }

    /// Whether both have as many numbers, begin with the same, and count in the same steps.
    fn counts_alike(&mut self, own: &Construct, compiled: &Compiled) -> bool {
        let numbers = &own.numbers;
        let has_same_step = match (numbers.step, compiled.step) {
            (Some(one), Some(other)) => self.is_same_number(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        has_same_step
            && !self.refused.numbers.contains(&own.chain)
            && numbers.inside.len() == compiled.numbers.len()
            && numbers.results.len() == compiled.left_numbers.len()
            && self.are_same_numbers(&numbers.initial, &compiled.first_numbers)
    }

    /// Gives values inside the meaning that they have in the source.
    fn bind_inside(
        &mut self,
        scope: &mut Scope<'f>,
        own: Option<&Construct>,
        has_numbers: bool,
        compiled: &Compiled,
    ) {
        for (at, argument) in compiled.inside.iter().enumerate() {
            let known = own.and_then(|own| own.inside.get(at).copied());
            let node = self.known_or_new(known, *argument);
            scope.values.extend(node.map(|it| (*argument, Value::Tensor(it))));
        }
        for (at, argument) in compiled.numbers.iter().enumerate() {
            let known = own.filter(|_| has_numbers).and_then(|own| own.numbers.inside.get(at));
            let term = known.copied().unwrap_or_else(|| self.builder().unknown_scalar());
            scope.values.insert(*argument, Value::Scalar(term));
        }
    }

    /// Gives results the meaning that they have in the source.
    fn bind_results(
        &mut self,
        scope: &mut Scope<'f>,
        own: Option<&Construct>,
        has_numbers: bool,
        compiled: &Compiled,
    ) {
        for (at, result) in compiled.results.iter().enumerate() {
            let known = own.and_then(|own| own.results.get(at).copied());
            let node = self.known_or_new(known, *result);
            scope.values.extend(node.map(|it| (*result, Value::Tensor(it))));
        }
        for (at, result) in compiled.left_numbers.iter().enumerate() {
            let known = own.filter(|_| has_numbers).and_then(|own| own.numbers.results.get(at));
            let term = known.copied().unwrap_or_else(|| self.builder().unknown_scalar());
            scope.values.insert(*result, Value::Scalar(term));
        }
    }

    /// What a value is known to be, in its own shape.
    fn known_or_new(&mut self, known: Option<NodeId>, value: ValueIndex) -> Option<NodeId> {
        let declared = self.function.values.get(value).and_then(|it| it.type_text.clone());
        let read = self.program.functions.get(self.number);
        let read = read.map(|it| format!("tensor<{}>", it.value(id(value)).tensor_type));
        let (shape, element) = maps::tensor(declared.or(read).as_deref()?)?;
        Some(self.builder().as_declared(known, &shape, element))
    }

    /// Whether tensors have the same bytes, whatever constants are.
    fn are_same(&mut self, source: &[NodeId], compiled: &[NodeId]) -> bool {
        source.len() == compiled.len()
            && source
                .iter()
                .zip(compiled)
                .all(|(one, other)| self.compare(*one, *other) == Equality::Proven)
    }

    fn are_same_numbers(&mut self, source: &[TermId], compiled: &[TermId]) -> bool {
        source.len() == compiled.len()
            && source.iter().zip(compiled).all(|(one, other)| self.is_same_number(*one, *other))
    }

    /// Whether two numbers are the same, whatever constants are.
    fn is_same_number(&mut self, source: TermId, compiled: TermId) -> bool {
        let pair = (source, compiled);
        let folded = &mut self.folded;
        Proof::of(&mut self.terms, Vec::new(), folded, pair) == Equality::Proven
    }
}

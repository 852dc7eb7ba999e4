//! Loops, branches and calls that the compiler has left: their tensors and numbers are those of the
//! source at the same place, if they begin with the same and each turn ends with the same.
//!
//! What is inside is assumed to be what it is in the source, and what the regions end with has to
//! follow: an induction over the turns. An assumption that turns out to be wrong is not made again
//! when the function is read once more; first that of the numbers is given up, as tensors may be
//! proven without them. How many turns there are is not compared: the compiler keeps that.

use mlir::table::Control;

use super::names::Walk;
use super::places::is_at;
use super::reader::id;
use super::reference::{Construct, carried_numbers, is_number, step};
use super::symbolic::build::{Scope, Value};
use super::symbolic::equal::{Equality, Proof};
use super::symbolic::maps;
use super::symbolic::terms::{NodeId, TermId};
use crate::mlir_text::CallChain;
use crate::source::functions::{OperationIndex, SourceOperation, ValueIndex};

/// What a loop, a branch or a call of the compiled program begins with, and its values.
#[derive(Default)]
struct Compiled {
    /// The tensors that it begins with; then what they are called inside, and after it.
    initial: Vec<NodeId>,
    inside: Vec<ValueIndex>,
    results: Vec<ValueIndex>,
    /// The same of numbers.
    first_numbers: Vec<TermId>,
    numbers: Vec<ValueIndex>,
    left_numbers: Vec<ValueIndex>,
    step: Option<TermId>,
}

/// Tensors and numbers, such as a region begins or ends with.
#[derive(Default)]
struct Ends {
    tensors: Vec<NodeId>,
    numbers: Vec<TermId>,
}

impl Ends {
    /// Those of the second region of a loop.
    fn rest(&self, own: &Construct) -> (&[NodeId], &[TermId]) {
        (
            self.tensors.get(own.initial.len()..).unwrap_or_default(),
            self.numbers.get(own.numbers.initial.len()..).unwrap_or_default(),
        )
    }
}

/// How a loop of the compiled program stands to the one of the source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Form {
    /// Region by region.
    AsWritten,
    /// The compiler has moved the test of an `scf.while` to the end of a turn, and tests once more
    /// before the loop: what came after the test comes before it, and nothing after.
    ///
    /// ```text
    ///  while (a = x) { test(a) … a } do { b: … y(b) }
    ///  if test(x) { while (b = x) { … y(b); test(y(b)) … y(b) } do { c: c } } else { x }
    /// ```
    Rotated,
}

/// The loop, branch or call of the source that a compiled one is taken for.
#[derive(Clone, Copy)]
struct Taken<'w> {
    own: &'w Construct,
    form: Form,
    /// Whether their numbers are the same, too.
    has_numbers: bool,
}

impl Taken<'_> {
    fn key(&self) -> (CallChain, Form) {
        (self.own.chain.clone(), self.form)
    }

    /// The tensors and the numbers that what is inside begins with, in the order of the compiled
    /// regions. What they are in a region that does nothing is not said.
    fn inside(&self) -> (&[NodeId], &[TermId]) {
        let Construct { initial, inside, numbers, .. } = self.own;
        match self.form {
            Form::AsWritten => (inside, &numbers.inside),
            Form::Rotated => (
                inside.get(initial.len()..).unwrap_or_default(),
                numbers.inside.get(numbers.initial.len()..).unwrap_or_default(),
            ),
        }
    }

    /// What a compiled region has to end with; `None` for one that does nothing.
    fn yielded(&self, region: usize) -> Option<(&[NodeId], &[TermId])> {
        let region = match (self.form, region) {
            (Form::AsWritten, region) => region,
            (Form::Rotated, 0) => 1,
            (Form::Rotated, _) => return None,
        };
        let numbers = self.own.numbers.yielded.get(region).map_or(&[][..], Vec::as_slice);
        Some((self.own.yielded.get(region)?, numbers))
    }
}

impl Construct {
    /// Whether its test may have been moved: what it tests is what it goes on with.
    fn may_be_rotated(&self) -> bool {
        let (tensors, numbers) = (self.initial.len(), self.numbers.initial.len());
        mlir::table::control(&self.name) == Some(Control::While)
            && self.inside.len() == 2 * tensors
            && self.numbers.inside.len() == 2 * numbers
            && self.yielded.first().is_some_and(|it| *it == self.inside[..tensors])
            && self.numbers.yielded.first().is_some_and(|it| *it == self.numbers.inside[..numbers])
    }
}

impl<'w, 'f> Walk<'w, 'f> {
    /// Reads one.
    pub(super) fn construct(&mut self, scope: &mut Scope<'f>, index: OperationIndex) {
        let Some(written) = self.function.operations.get(index) else { return };
        let compiled = self.compiled(scope, index, written);
        let taken = self.taken(written, index, &compiled);
        let begun = self.bind_inside(scope, taken, &compiled);
        let (mut is_proven, mut numbers_hold) = (true, true);
        let mut ends: Vec<Ends> = Vec::new();
        for (at, region) in written.regions.iter().enumerate() {
            let Some(block) = region.blocks.first() else { continue };
            let yielded = self.block(scope, &block.operations).unwrap_or_default();
            let numbers = carried_numbers(self.function, block, &yielded);
            let tensors = yielded.into_iter().filter_map(|it| it?.tensor()).collect();
            let left = Ends { tensors, numbers };
            if let Some(taken) = taken {
                let (tensors, numbers) = match taken.yielded(at) {
                    Some(expected) => expected,
                    None if taken.form == Form::Rotated => begun.rest(taken.own),
                    None => (&[][..], &[][..]),
                };
                is_proven &= self.are_same(tensors, &left.tensors);
                numbers_hold &= self.are_same_numbers(numbers, &left.numbers);
            }
            ends.push(left);
        }
        let mut proven = None;
        match taken {
            Some(taken) if taken.has_numbers && !numbers_hold => {
                self.refused.numbers.insert(taken.key());
                self.is_sound = false;
            }
            Some(taken) if !is_proven => {
                self.refused.constructs.insert(taken.key());
                self.is_sound = false;
            }
            Some(taken) => {
                self.rotated.extend((taken.form == Form::Rotated).then_some(taken.own));
                proven = Some((taken.own, taken.has_numbers));
            }
            None => proven = self.guarded(&ends).map(|own| (own, true)),
        }
        self.bind_results(scope, proven, &compiled);
    }

    /// The loop whose results a branch around it has: the first region has those of a loop that was
    /// rotated, and the second what that begins with.
    fn guarded(&mut self, ends: &[Ends]) -> Option<&'w Construct> {
        let [inside, outside] = ends else { return None };
        let rotated = self.rotated.clone();
        rotated.into_iter().find(|own| {
            self.are_same(&own.results, &inside.tensors)
                && self.are_same_numbers(&own.numbers.results, &inside.numbers)
                && self.are_same(&own.initial, &outside.tensors)
                && self.are_same_numbers(&own.numbers.initial, &outside.numbers)
        })
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

    /// The one of the source at the same place, as far as it may be assumed.
    fn taken(
        &mut self,
        written: &SourceOperation,
        index: OperationIndex,
        compiled: &Compiled,
    ) -> Option<Taken<'w>> {
        let is_call = mlir::table::control(&written.name) == Some(Control::Call);
        let name = if is_call { "call" } else { written.name.as_str() };
        let chains = self.operation_of(index).map(|it| it.chains.clone()).unwrap_or_default();
        let source = self.source;
        let here = source
            .constructs
            .iter()
            .filter(|it| it.name == name && chains.iter().any(|chain| is_at(chain, &it.chain)));
        let forms = here.flat_map(|own| {
            let forms = [Form::AsWritten, Form::Rotated].into_iter();
            let forms = forms.filter(|form| *form == Form::AsWritten || own.may_be_rotated());
            forms.map(move |form| Taken { own, form, has_numbers: false })
        });
        let mut forms = forms.filter(|it| !self.refused.constructs.contains(&it.key()));
        let taken = forms.next()?;
        if !self.begins_alike(taken.own, compiled) {
            return None;
        }
        let may_count = !self.refused.numbers.contains(&taken.key());
        let has_numbers = may_count && self.counts_alike(taken.own, compiled);
        Some(Taken { has_numbers, ..taken })
    }

    /// Whether both have as many tensors, and begin with the same.
    fn begins_alike(&mut self, own: &Construct, compiled: &Compiled) -> bool {
        own.inside.len() == compiled.inside.len()
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
            && numbers.inside.len() == compiled.numbers.len()
            && numbers.results.len() == compiled.left_numbers.len()
            && self.are_same_numbers(&numbers.initial, &compiled.first_numbers)
    }

    /// Gives values inside the meaning that they have in the source; returns what they are.
    fn bind_inside(
        &mut self,
        scope: &mut Scope<'f>,
        taken: Option<Taken<'w>>,
        compiled: &Compiled,
    ) -> Ends {
        let mut begun = Ends::default();
        for (at, argument) in compiled.inside.iter().enumerate() {
            let known = taken.and_then(|taken| taken.inside().0.get(at).copied());
            let Some(node) = self.known_or_new(known, *argument) else { continue };
            begun.tensors.push(node);
            scope.values.insert(*argument, Value::Tensor(node));
        }
        for (at, argument) in compiled.numbers.iter().enumerate() {
            let known = taken.filter(|taken| taken.has_numbers);
            let known = known.and_then(|taken| taken.inside().1.get(at).copied());
            let term = known.unwrap_or_else(|| self.builder().unknown_scalar());
            begun.numbers.push(term);
            scope.values.insert(*argument, Value::Scalar(term));
        }
        begun
    }

    /// Gives results the meaning that they have in the source.
    fn bind_results(
        &mut self,
        scope: &mut Scope<'f>,
        proven: Option<(&Construct, bool)>,
        compiled: &Compiled,
    ) {
        for (at, result) in compiled.results.iter().enumerate() {
            let known = proven.and_then(|(own, _)| own.results.get(at).copied());
            let node = self.known_or_new(known, *result);
            scope.values.extend(node.map(|it| (*result, Value::Tensor(it))));
        }
        for (at, result) in compiled.left_numbers.iter().enumerate() {
            let known = proven.filter(|(_, has_numbers)| *has_numbers);
            let known = known.and_then(|(own, _)| own.numbers.results.get(at).copied());
            let term = known.unwrap_or_else(|| self.builder().unknown_scalar());
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

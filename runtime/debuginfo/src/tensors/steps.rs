//! The operations of a function of the source, with all calls inlined, one by one: so that a tensor
//! that no dispatch leaves can be computed from tensors that are there.
//!
//! [`Reference`] records them while it reads the source for proofs ([`Steps`]); [`SourceSteps`] is
//! what is kept of it, with the text of each operation.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::program::{SourceTensor, TensorProgram, Unrecognised};
use super::reference::Reference;
use super::symbolic::terms::{NodeId, Terms};
use crate::mlir_text::{CallChain, NamedPosition};
use crate::source::SourceText;
use crate::source::functions::{OperationIndex, SourceFunction, ValueIndex};

/// A value of a function with all calls inlined.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StepValueId(pub u32);

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepOrigin {
    /// An argument of the function, by its index.
    Argument(usize),
    /// What a loop or a branch has inside: another value in each turn.
    Inside,
    /// A result of an operation, by the index of the operation.
    Step(usize),
}

/// An operation of the source as a function of its own: it may use only what is in `operands`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceStep {
    /// The name of the operation.
    pub operation: String,
    /// Its text.
    pub text: String,
    /// Where the user's source has it, then the calls around that, innermost first; empty if that
    /// is not known.
    pub place: CallChain,
    /// The values that it uses, in itself or in its regions.
    pub operands: Vec<StepValue>,
    /// The values that it defines.
    pub results: Vec<StepValue>,
}

impl SourceStep {
    /// The line of the user's source that it was made from.
    #[must_use]
    pub fn line(&self) -> Option<u32> {
        self.place.first().map(|it| it.line)
    }
}

/// A value that an operation uses or defines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StepValue {
    /// Its name in the text.
    pub name: String,
    /// Its type, if the text declares it.
    pub type_text: Option<String>,
    /// The value.
    pub value: StepValueId,
}

/// The operations of a function of the source, with all calls inlined.
#[derive(Debug, Default)]
pub struct SourceSteps {
    steps: Vec<SourceStep>,
    origins: Vec<StepOrigin>,
    /// The types that the text declares for the arguments of the function.
    argument_types: Vec<Option<String>>,
    /// The names of values.
    tensors: HashMap<StepValueId, Vec<SourceTensor>>,
    named: HashMap<String, Vec<(CallChain, StepValueId)>>,
    /// The definitions of aliases of attributes.
    aliases: HashMap<String, String>,
}

impl SourceSteps {
    /// Reads what a function of a program was made from: from the phase `input`, or else from the
    /// user's own text.
    #[must_use]
    pub fn of(
        program: &TensorProgram,
        function: usize,
        input: Option<&str>,
        file: &dyn Fn(&str) -> Option<Arc<SourceText>>,
    ) -> Option<Self> {
        let name = &program.functions().get(function)?.name;
        if let Some(input) = input {
            return Self::read(input, None, file, name);
        }
        let own_file = program.first_file()?;
        let own = file(&own_file)?;
        Self::read(own.text(), Some(&own_file), file, name)
    }

    fn read(
        text: &str,
        own_file: Option<&str>,
        file: &dyn Fn(&str) -> Option<Arc<SourceText>>,
        function: &str,
    ) -> Option<Self> {
        let mut reference = Reference::new(text, own_file, file);
        let (mut terms, mut reshaped) = (Terms::default(), HashMap::new());
        let mut read = reference.function(function, &mut terms, &mut reshaped)?;
        let recorded = std::mem::take(&mut read.steps);
        let mut steps = Self {
            origins: recorded.origins,
            argument_types: recorded.argument_types,
            ..Self::default()
        };
        let mut places: HashMap<usize, CallChain> = HashMap::new();
        for value in read.values {
            let Some(id) = value.step else { continue };
            if let Some(StepOrigin::Step(step)) = steps.origin(id) {
                places.insert(step, value.chain);
            }
            let Some(tensor) = value.tensor.filter(|_| value.node != NodeId(u32::MAX)) else {
                continue;
            };
            let calls = tensor.calls.clone();
            steps.named.entry(tensor.name.clone()).or_default().push((calls, id));
            steps.tensors.entry(id).or_default().push(tensor);
        }
        for (index, step) in recorded.steps.into_iter().enumerate() {
            let place = places.remove(&index).unwrap_or_default();
            steps.steps.push(reference.written_step(step, place)?);
        }
        let aliases = text.lines().filter(|it| it.starts_with('#') && !it.starts_with("#loc"));
        steps.aliases.extend(aliases.filter_map(|line| {
            let (name, _) = line.split_once(" = ")?;
            Some((name.to_owned(), line.to_owned()))
        }));
        Some(steps)
    }

    /// A place of the function in the source.
    pub(super) fn own_place(&self) -> Option<NamedPosition> {
        let mut named = self.tensors.values().flatten();
        named.find(|it| it.calls.is_empty()).map(|it| it.at.clone())
    }

    /// Adds an operation with one result, and the name of that.
    pub(super) fn add(&mut self, mut step: SourceStep, named: SourceTensor) {
        let Ok(id) = u32::try_from(self.origins.len()).map(StepValueId) else { return };
        step.results.iter_mut().for_each(|it| it.value = id);
        self.origins.push(StepOrigin::Step(self.steps.len()));
        self.steps.push(step);
        self.named.entry(named.name.clone()).or_default().push((named.calls.clone(), id));
        self.tensors.entry(id).or_default().push(named);
    }

    /// Whether a value has a name of the source, wherever.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.named.contains_key(name)
    }

    /// The value that alone has a name of the source, and has it outside of calls.
    pub(super) fn only_named(&self, name: &str) -> Option<StepValueId> {
        match self.named.get(name)?.as_slice() {
            [(calls, value)] if calls.is_empty() => Some(*value),
            _ => None,
        }
    }

    /// The only result of the only operation of a kind that was made from an operation of the
    /// source, outside of calls.
    pub(super) fn only_at(&self, place: &NamedPosition, operation: &str) -> Option<StepValueId> {
        let is_it =
            |it: &&SourceStep| it.operation == operation && it.place == std::slice::from_ref(place);
        let mut found = self.steps.iter().filter(is_it);
        match (found.next()?.results.as_slice(), found.next()) {
            ([only], None) => Some(only.value),
            _ => None,
        }
    }

    /// The value of a name of the source with `%`, in these inlined calls, as
    /// [`super::TensorProgram::named`] finds it. `defined_at` is the place of what defines it,
    /// if that is known: regions side by side have values of the same names.
    ///
    /// # Errors
    /// Several have the name there.
    pub fn named(
        &self,
        name: &str,
        calls: &[NamedPosition],
        is_in_call: bool,
        defined_at: Option<(u32, u32)>,
    ) -> Result<Option<StepValueId>, Unrecognised> {
        let is_meant = |(own, id): &&(CallChain, StepValueId)| {
            let mut tensors = self.tensors(*id).iter();
            defined_at.is_none_or(|at| {
                // A location may be farther right on the line than the operation's name.
                tensors.any(|it| (it.name.as_str(), &it.calls, it.at.line) == (name, own, at.0))
            })
        };
        let found = self.named.get(name).map_or(&[][..], Vec::as_slice);
        let found: Vec<(CallChain, StepValueId)> = found.iter().filter(is_meant).cloned().collect();
        match super::program::one_of(&found, calls, is_in_call) {
            Some(Some(at)) => Ok(found.get(at).map(|(_, id)| *id)),
            Some(None) => Err(Unrecognised::SeveralOfTheName),
            None => Ok(None),
        }
    }

    /// Where a value comes from.
    #[must_use]
    pub fn origin(&self, value: StepValueId) -> Option<StepOrigin> {
        self.origins.get(value.0 as usize).copied()
    }

    /// The tensors of the source that a value is.
    #[must_use]
    pub fn tensors(&self, value: StepValueId) -> &[SourceTensor] {
        self.tensors.get(&value).map_or(&[], Vec::as_slice)
    }

    /// The type that the text declares for a value, if an operation defines it.
    #[must_use]
    pub fn type_text(&self, value: StepValueId) -> Option<&str> {
        let Some(StepOrigin::Step(step)) = self.origin(value) else { return None };
        let mut results = self.step(step)?.results.iter();
        results.find(|it| it.value == value)?.type_text.as_deref()
    }

    /// The type that the text declares for an argument of the function.
    #[must_use]
    pub fn argument_type(&self, index: usize) -> Option<&str> {
        self.argument_types.get(index)?.as_deref()
    }

    /// An operation.
    #[must_use]
    pub fn step(&self, index: usize) -> Option<&SourceStep> {
        self.steps.get(index)
    }

    /// The names of the source, each with the calls around it, in the order of the source.
    pub fn names(&self) -> impl Iterator<Item = (&str, &CallChain, StepValueId)> {
        let mut all: Vec<_> = self
            .named
            .iter()
            .flat_map(|(name, found)| found.iter().map(move |(calls, id)| (&**name, calls, *id)))
            .collect();
        all.sort_by_key(|(name, _, id)| (*id, name.len(), *name));
        all.into_iter()
    }

    /// The aliases that an operation's text uses, a line each.
    #[must_use]
    pub fn aliases(&self, step: &SourceStep) -> String {
        let mut lines = String::new();
        let mut seen = HashSet::new();
        for part in step.text.split('#').skip(1) {
            let end = part.find(|it: char| !(it.is_ascii_alphanumeric() || "_$.-".contains(it)));
            let name = format!("#{}", &part[..end.unwrap_or(part.len())]);
            if let Some(line) = self.aliases.get(&name)
                && seen.insert(name)
            {
                lines.push_str(line);
                lines.push('\n');
            }
        }
        lines
    }
}

/// An operation as it is recorded.
pub(super) struct Recorded {
    /// The function of the text.
    pub(super) function: usize,
    pub(super) operation: OperationIndex,
    pub(super) operands: Vec<(ValueIndex, StepValueId)>,
    pub(super) results: Vec<(ValueIndex, StepValueId)>,
}

/// What is recorded of operations while a function is read.
#[derive(Default)]
pub(super) struct Steps {
    steps: Vec<Recorded>,
    origins: Vec<StepOrigin>,
    argument_types: Vec<Option<String>>,
    /// The values of the function of the text that is being read.
    scope: HashMap<ValueIndex, StepValueId>,
    /// The function that is being read.
    function: usize,
    /// What the last block ended with.
    ended_with: Vec<Option<StepValueId>>,
}

/// A function of the text that is read again when a call in it has been.
pub(super) struct Outer {
    scope: HashMap<ValueIndex, StepValueId>,
    function: usize,
}

impl Steps {
    /// Those of a function with arguments of these types.
    pub(super) fn of(argument_types: Vec<Option<String>>) -> Self {
        let origins = (0..argument_types.len()).map(StepOrigin::Argument).collect();
        Self { origins, argument_types, ..Self::default() }
    }

    /// The value of an argument of the function.
    pub(super) fn argument(index: usize) -> StepValueId {
        StepValueId(u32::try_from(index).unwrap_or(u32::MAX))
    }

    fn add(&mut self, origin: StepOrigin) -> StepValueId {
        self.origins.push(origin);
        Self::argument(self.origins.len() - 1)
    }

    /// A value of the function of the text that is being read.
    pub(super) fn value(&self, value: ValueIndex) -> Option<StepValueId> {
        self.scope.get(&value).copied()
    }

    /// Begins with a function of the text, given its arguments.
    pub(super) fn begin(
        &mut self,
        function: usize,
        arguments: &[ValueIndex],
        given: &[Option<StepValueId>],
    ) -> Outer {
        let known = arguments.iter().zip(given);
        let scope = known.filter_map(|(value, given)| Some((*value, (*given)?))).collect();
        let scope = std::mem::replace(&mut self.scope, scope);
        Outer { scope, function: std::mem::replace(&mut self.function, function) }
    }

    /// Goes on with the function before; returns what the other one ended with.
    pub(super) fn end(&mut self, outer: Outer) -> Vec<Option<StepValueId>> {
        (self.scope, self.function) = (outer.scope, outer.function);
        std::mem::take(&mut self.ended_with)
    }

    /// A block ends with these.
    pub(super) fn ends_with(&mut self, values: &[ValueIndex]) {
        self.ended_with = values.iter().map(|it| self.value(*it)).collect();
    }

    /// A value is one that is known.
    pub(super) fn bind(&mut self, value: ValueIndex, known: Option<StepValueId>) {
        self.scope.extend(known.map(|it| (value, it)));
    }

    /// A value is another one in each turn of a loop.
    pub(super) fn inside(&mut self, value: ValueIndex) {
        let id = self.add(StepOrigin::Inside);
        self.scope.insert(value, id);
    }

    /// Records an operation, unless its results are known.
    pub(super) fn unless_known(&mut self, read: &SourceFunction, operation: OperationIndex) {
        let results = read.operations.get(operation).map(|it| it.results.as_slice());
        if !results.unwrap_or_default().iter().all(|it| self.scope.contains_key(it)) {
            self.operation(read, operation);
        }
    }

    /// Records an operation.
    pub(super) fn operation(&mut self, read: &SourceFunction, operation: OperationIndex) {
        let Some(written) = read.operations.get(operation) else { return };
        let used = used_by(read, operation);
        let operands = used.into_iter().filter_map(|it| Some((it, self.value(it)?))).collect();
        let step = StepOrigin::Step(self.steps.len());
        let results: Vec<(ValueIndex, StepValueId)> =
            written.results.iter().map(|it| (*it, self.add(step))).collect();
        self.scope.extend(results.iter().copied());
        self.steps.push(Recorded { function: self.function, operation, operands, results });
    }
}

/// The values from outside that an operation uses, in itself or in its regions.
fn used_by(read: &SourceFunction, operation: OperationIndex) -> Vec<ValueIndex> {
    let (mut used, mut inner) = (Vec::new(), HashSet::new());
    let mut pending = vec![operation];
    while let Some(at) = pending.pop() {
        let Some(written) = read.operations.get(at) else { continue };
        used.extend(&written.operands);
        inner.extend(written.initial.iter().map(|(argument, _)| *argument));
        if at != operation {
            inner.extend(&written.results);
        }
        for block in written.regions.iter().flat_map(|it| &it.blocks) {
            inner.extend(&block.arguments);
            pending.extend(&block.operations);
        }
    }
    let mut seen = HashSet::new();
    used.retain(|it| !inner.contains(it) && seen.insert(*it));
    used
}

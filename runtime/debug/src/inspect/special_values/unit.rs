//! [`Unit`]: the operations of one line of the source as a function of the tensors from elsewhere,
//! which may be evaluated with some of their elements changed.
//!
//! A line of a framework is often several operations (a softmax is five), and their values between
//! have no names. What a line makes of its operands is what a user asks about.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use abi::element_type::ElementType;
use debuginfo::{SourceStep, SourceSteps, StepOrigin, StepValueId};
use reference::{Argument, Dispatch, Elements, Output, RefusalKind, Settings};

use crate::inspect::source_evaluation::{
    Known, Leaves, NotRecomputed, SourceEvaluation, floats, function_of, in_precision, in_type,
};

/// The operations of a line, up to one of its values.
pub(super) struct Unit {
    steps: Arc<SourceSteps>,
    operations: Vec<Operation>,
    /// What they use that others make.
    pub(super) operands: Vec<Operand>,
    result: StepValueId,
    allowed: u64,
    left: u64,
}

struct Operation {
    step: usize,
    /// Read when it is evaluated first.
    function: Option<Arc<Dispatch>>,
}

/// A value from elsewhere.
pub(super) struct Operand {
    pub(super) value: StepValueId,
    given: Argument,
    /// Its elements, if they are floats, and its sizes.
    pub(super) floats: Option<(Vec<f64>, Vec<usize>)>,
    element_type: ElementType,
    /// Whether no argument of the function has a part in it.
    pub(super) is_constant: bool,
}

impl Unit {
    /// The operations that make a value on its line.
    pub(super) fn of(
        value: StepValueId,
        evaluation: &mut SourceEvaluation,
        leaves: &mut dyn Leaves,
        allowed: u64,
    ) -> Result<Self, NotRecomputed> {
        let steps = Arc::clone(&evaluation.steps);
        let Some(StepOrigin::Step(last)) = steps.origin(value) else {
            return Err(NotRecomputed::NoSource);
        };
        let line = steps.step(last).ok_or(NotRecomputed::NoSource)?;
        let (mut inside, mut outside) = (BTreeSet::from([last]), Vec::new());
        let (mut pending, mut seen) = (vec![last], HashSet::new());
        while let Some(step) = pending.pop().and_then(|it| steps.step(it)) {
            for operand in step.operands.iter().filter(|it| seen.insert(it.value)) {
                match steps.origin(operand.value) {
                    Some(StepOrigin::Step(made_by)) if is_of_line(&steps, made_by, line) => {
                        inside.insert(made_by);
                        pending.push(made_by);
                    }
                    _ => outside.push((operand.value, operand.type_text.clone())),
                }
            }
        }
        outside.sort_by_key(|(value, _)| *value);
        let mut operands = Vec::new();
        for (value, type_text) in outside {
            let known = evaluation.settled(value, leaves)?;
            let is_constant = is_constant(&steps, value);
            operands.push(Operand { is_constant, ..Operand::of(value, known, type_text)? });
        }
        let operations = inside.into_iter().map(|step| Operation { step, function: None });
        let operations = operations.collect();
        Ok(Self { steps, operations, operands, result: value, allowed, left: allowed })
    }

    /// How many scalar operations are left of those that are allowed.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// The elements of the value, rounded to its type after each operation, where some operands
    /// have other elements.
    pub(super) fn evaluate(
        &mut self,
        changed: &[Option<Vec<f64>>],
    ) -> Result<Vec<f64>, NotRecomputed> {
        let mut values: HashMap<StepValueId, Argument> = HashMap::new();
        for (operand, changed) in self.operands.iter().zip(changed) {
            values.insert(operand.value, operand.with(changed.as_ref()));
        }
        for operation in &mut self.operations {
            let step = self.steps.step(operation.step).ok_or(NotRecomputed::NoSource)?;
            let given = step.operands.iter().map(|it| values.get(&it.value).cloned());
            let given: Vec<Argument> =
                given.collect::<Option<_>>().ok_or(NotRecomputed::NoSource)?;
            let function = match &mut operation.function {
                Some(function) => function,
                unread => unread.insert(function_of(&self.steps, step, &types(step, &given))?),
            };
            let settings = Settings { with_bounds: false, most_operations: self.left };
            let (outputs, took) =
                function.evaluate_counted(&given, &settings).map_err(|it| match it.kind {
                    RefusalKind::Limit => NotRecomputed::TooLong { operations: self.allowed },
                    _ => NotRecomputed::Refused {
                        operation: step.operation.clone(),
                        line: step.line().unwrap_or_default(),
                        reason: it.reason,
                    },
                })?;
            self.left = self.left.saturating_sub(took);
            let results = step.results.iter().map(|it| it.value);
            let outputs = outputs.into_iter().map(|it| Argument::Computed(Arc::new(rounded(it))));
            values.extend(results.zip(outputs));
        }
        match values.remove(&self.result) {
            Some(Argument::Computed(output)) => match &output.values {
                Elements::Floats(floats) => Ok(floats.clone()),
                Elements::Integers(_) => Err(NotRecomputed::Type),
            },
            _ => Err(NotRecomputed::Type),
        }
    }
}

/// Whether an operation is one of a line in the same call. What has no line is alone, and so are
/// constants: they are what others compute with.
fn is_of_line(steps: &SourceSteps, step: usize, line: &SourceStep) -> bool {
    let place = |step: &SourceStep| {
        let (at, calls) = step.place.split_first()?;
        Some((at.file.clone(), at.line, calls.to_vec()))
    };
    let of_line = place(line);
    let is_of = |step: &SourceStep| {
        of_line.is_some()
            && place(step) == of_line
            && !matches!(step.operation.as_str(), "arith.constant" | "hal.buffer_view.dim")
    };
    steps.step(step).is_some_and(is_of)
}

/// Whether a value is made of constants alone.
pub(super) fn is_constant(steps: &SourceSteps, value: StepValueId) -> bool {
    let (mut pending, mut seen) = (vec![value], HashSet::new());
    while let Some(value) = pending.pop() {
        match steps.origin(value) {
            Some(StepOrigin::Step(step)) => {
                let operands = steps.step(step).map_or(&[][..], |it| &it.operands);
                pending.extend(operands.iter().map(|it| it.value).filter(|it| seen.insert(*it)));
            }
            _ => return false,
        }
    }
    true
}

pub(super) fn types(step: &SourceStep, given: &[Argument]) -> Vec<String> {
    let given = given.iter().map(|it| match it {
        Argument::Computed(output) => Known::Computed(Arc::clone(output)).type_text(),
        Argument::Tensor(tensor) => Known::memory(tensor.clone()).type_text(),
        _ => None,
    });
    let declared = step.operands.iter().map(|it| it.type_text.clone());
    declared.zip(given).map(|(declared, given)| declared.or(given).unwrap_or_default()).collect()
}

impl Operand {
    pub(super) fn of(
        value: StepValueId,
        known: Known,
        type_text: Option<String>,
    ) -> Result<Self, NotRecomputed> {
        let type_text = type_text.or_else(|| known.type_text()).ok_or(NotRecomputed::Type)?;
        let known = match known {
            Known::Memory(tensor, from) => Known::Memory(in_type(tensor, &type_text), from),
            Known::Computed(output) => {
                let output = Arc::unwrap_or_clone(output);
                Known::Computed(Arc::new(Output { bounds: Vec::new(), ..rounded(output) }))
            }
        };
        let floats = floats(&known);
        let element_type = match &known {
            Known::Memory(tensor, _) => tensor.element_type,
            Known::Computed(output) => output.element_type,
        };
        let given = match known {
            Known::Memory(tensor, _) => Argument::Tensor(tensor),
            Known::Computed(output) => Argument::Computed(output),
        };
        Ok(Self { value, given, floats, element_type, is_constant: false })
    }

    pub(super) fn with(&self, changed: Option<&Vec<f64>>) -> Argument {
        let (Some(changed), Some((_, shape))) = (changed, &self.floats) else {
            return self.given.clone();
        };
        Argument::Computed(Arc::new(Output {
            parameter: None,
            shape: shape.clone(),
            element_type: self.element_type,
            values: Elements::Floats(changed.clone()),
            bounds: Vec::new(),
            written: Vec::new(),
            reason: String::new(),
        }))
    }
}

/// As an implementation has the elements, which keeps them in their type.
fn rounded(output: Output) -> Output {
    let Elements::Floats(mut values) = output.values else { return output };
    for value in &mut values {
        *value = in_precision(output.element_type, *value);
    }
    Output { values: Elements::Floats(values), ..output }
}

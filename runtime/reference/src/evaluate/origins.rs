//! Which elements of its parameters an element of a function's result is made of.
//!
//! A loop nest says it by its indexing maps: the points of the nest that lead to the element are
//! walked again, and of a sum each point is a term. What only moves elements is evaluated with
//! elements that tell where they are from. Where neither is possible there is no answer.

use std::collections::HashMap;
use std::sync::Arc;

use crate::evaluate::generic::Nest;
use crate::evaluate::walk::Evaluator;
use crate::lanes::{Bank, Context, Program, run};
use crate::operations::{Extension, Function, Generic, Id, Kind, Operation};
use crate::refusal::{Refusal, Result};
use crate::values::{Elements, Tensor, Value, strides_of};
use mlir::Expression;

/// The most points of a loop nest for an element.
const MOST_POINTS: u128 = 1 << 18;
/// The least number that tells where an element is from: larger than what texts write.
const FIRST_TAG: i64 = 1 << 45;

/// A part of an element: of a sum, one of its terms; otherwise the only one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Term {
    /// The elements that it is made of: the number of a parameter, and that of an element of it in
    /// row-major order.
    pub reads: Vec<(usize, usize)>,
    /// What it adds to the sum.
    pub value: Option<f64>,
}

/// A walk back from results to parameters, after the function has run.
pub(crate) struct Origins<'e, 'f> {
    evaluator: &'e mut Evaluator<'f>,
    function: &'f Function,
    /// The operation that makes a value, and the place among its results.
    makers: HashMap<Id, (&'f Operation, usize)>,
    /// What operations make of elements that tell where they are from, and whose these are.
    tagged: HashMap<Id, Tagged>,
}

/// A result of an operation whose operands have numbered elements.
struct Tagged {
    numbers: Vec<Option<i64>>,
    /// The operands, each with the number of its first element.
    sources: Vec<(Id, i64)>,
}

impl<'e, 'f> Origins<'e, 'f> {
    pub(crate) fn new(evaluator: &'e mut Evaluator<'f>) -> Self {
        let function = evaluator.function;
        let made = function.body.operations.iter().flat_map(|operation| {
            let results = operation.results.iter().enumerate();
            results.map(move |(at, id)| (*id, (operation, at)))
        });
        Self { evaluator, function, makers: made.collect(), tagged: HashMap::new() }
    }

    /// The parts of an element of a value.
    pub(crate) fn of(&mut self, id: Id, element: usize) -> Result<Vec<Term>> {
        if let Some(at) = self.function.parameters.iter().position(|it| *it == id) {
            return Ok(vec![Term { reads: vec![(at, element)], value: None }]);
        }
        let made = self.makers.get(&id).copied();
        let (operation, at) =
            made.ok_or_else(|| Refusal::malformed(0, "a value that nothing makes"))?;
        let found = self.of_operation(operation, at, element);
        found.map_err(|it| it.in_operation(&operation.name, operation.line))
    }

    /// All that an element is made of.
    fn reads(&mut self, id: Id, element: usize) -> Result<Vec<(usize, usize)>> {
        Ok(self.of(id, element)?.into_iter().flat_map(|it| it.reads).collect())
    }

    fn of_operation(
        &mut self,
        operation: &'f Operation,
        at: usize,
        element: usize,
    ) -> Result<Vec<Term>> {
        let id = operation.results[at];
        match &operation.kind {
            Kind::Constant(_) | Kind::Empty { .. } => Ok(Vec::new()),
            Kind::Alias(values) => self.of(values[at], element),
            Kind::Reshape { source, .. } => self.of(*source, element),
            Kind::Generic(generic) => self.of_nest(generic, at, element),
            Kind::Scalar(_, operands) => {
                let mut reads = Vec::new();
                for operand in operands {
                    let is_tensor = self.function.tensor_type(*operand).is_some();
                    reads.extend(self.reads(*operand, if is_tensor { element } else { 0 })?);
                }
                Ok(one(reads))
            }
            Kind::Splat { value, .. } => self.of(*value, 0),
            Kind::FromElements(values) => self.of(values[element], 0),
            Kind::Extract { source, .. }
            | Kind::ExtractSlice { source, .. }
            | Kind::Unpack { source, .. } => self.moved(operation, id, &[*source], None, element),
            Kind::Pad { source, body, .. } => {
                self.moved(operation, id, &[*source], body.yields.first().copied(), element)
            }
            Kind::Pack { source, padding, .. } => {
                self.moved(operation, id, &[*source], *padding, element)
            }
            Kind::InsertSlice { value, target, .. } => {
                self.moved(operation, id, &[*value, *target], None, element)
            }
            Kind::Concat { sources, .. } => self.moved(operation, id, sources, None, element),
            Kind::Extension { what: Extension::Softmax { dimension }, inputs, .. } => {
                let row = self.row(inputs[0], *dimension, element)?;
                let mut reads = Vec::new();
                for element in row {
                    reads.extend(self.reads(inputs[0], element)?);
                }
                Ok(one(reads))
            }
            _ => Err(Refusal::unsupported(0, "elements are not followed through it")),
        }
    }

    /// The elements of a tensor along a dimension, through one of them.
    fn row(&self, id: Id, dimension: usize, element: usize) -> Result<Vec<usize>> {
        let shape = self.evaluator.tensor(id)?.shape.clone();
        let (Some(size), Some(step)) =
            (shape.get(dimension), strides_of(&shape).get(dimension).copied())
        else {
            return Err(Refusal::malformed(0, "a dimension that is not there"));
        };
        let first = element - element / step % size * step;
        Ok((0..*size).map(|at| first + at * step).collect())
    }

    /// Where an operation that only moves elements has one from; what is from nowhere is `padding`.
    fn moved(
        &mut self,
        operation: &'f Operation,
        id: Id,
        sources: &[Id],
        padding: Option<Id>,
        element: usize,
    ) -> Result<Vec<Term>> {
        if !self.tagged.contains_key(&id) {
            let tagged = self.with_tags(operation, id, sources)?;
            self.tagged.insert(id, tagged);
        }
        let tagged = &self.tagged[&id];
        let number = tagged.numbers.get(element).copied().flatten();
        let of = |number: i64| {
            let (source, first) =
                tagged.sources.iter().rev().find(|(_, first)| *first <= number)?;
            Some((*source, usize::try_from(number - first).ok()?))
        };
        match (number.and_then(of), padding) {
            (Some((source, element)), _) => Ok(one(self.reads(source, element)?)),
            (None, Some(padding)) => Ok(one(self.reads(padding, 0)?)),
            (None, None) => Err(Refusal::malformed(0, "an element that is from nowhere")),
        }
    }

    /// Evaluates an operation once more, with elements that tell where they are from.
    fn with_tags(&mut self, operation: &'f Operation, id: Id, sources: &[Id]) -> Result<Tagged> {
        let (mut next, mut firsts, mut before) = (FIRST_TAG, Vec::new(), Vec::new());
        for source in sources {
            let tensor = self.evaluator.tensor(*source)?;
            let numbers = next..next + tensor.count() as i64;
            let elements = match &tensor.elements {
                // A half is no number of a text that is as large.
                Elements::Floats(_) => {
                    Elements::Floats(numbers.clone().map(|it| it as f64 + 0.5).collect())
                }
                Elements::Integers(_) => Elements::Integers(numbers.clone().collect()),
            };
            firsts.push((*source, next));
            next = numbers.end;
            let (shape, element) = (tensor.shape.clone(), tensor.element);
            let tagged = Tensor { shape, element, elements, bounds: Vec::new() };
            before.push((*source, Value::Tensor(tensor)));
            self.evaluator.set(*source, Value::Tensor(Arc::new(tagged)));
        }
        let made = self.evaluator.evaluate(operation);
        before.into_iter().for_each(|(source, value)| self.evaluator.set(source, value));
        let at = operation.results.iter().position(|it| *it == id).unwrap_or_default();
        let numbers = match made?.get(at) {
            Some(Value::Tensor(tensor)) => numbers_of(&tensor.elements, next),
            Some(Value::Number(number)) => {
                let is_float = self.function.type_of(id).element().is_float();
                let element = match is_float {
                    true => Elements::Floats(vec![number.float]),
                    false => Elements::Integers(vec![number.integer]),
                };
                numbers_of(&element, next)
            }
            _ => return Err(Refusal::malformed(0, "a result that is no tensor")),
        };
        Ok(Tagged { numbers, sources: firsts })
    }

    fn of_nest(&mut self, generic: &'f Generic, at: usize, element: usize) -> Result<Vec<Term>> {
        let program = Program::compile(self.function, &generic.body)?;
        if !program.tensors.is_empty() {
            return Err(Refusal::unsupported(0, "elements at indices that it computes"));
        }
        let points = {
            let nest = self.evaluator.nest(generic, &program)?;
            nest.points(at, element, &mut self.evaluator.budget)?
        };
        let mut captured = Vec::new();
        for (id, _) in &program.captures {
            captured.extend(self.reads(*id, 0)?);
        }
        let is_sum = program.sums.get(at).copied().flatten().is_some();
        let mut terms = Vec::new();
        let start = self.reads(generic.outputs[at], element)?;
        let uses_start = program.reads(generic.inputs.len() + at);
        if uses_start && !start.is_empty() {
            let value = points.first().map(|it| it.before).filter(|_| is_sum);
            terms.push(Term { reads: start, value });
        }
        for point in points {
            let mut reads = captured.clone();
            let used = point.reads.into_iter().filter(|(input, _)| program.reads(*input));
            for (input, element) in used {
                reads.extend(self.reads(generic.inputs[input], element)?);
            }
            // A square reads one element twice.
            reads.dedup();
            let value = is_sum.then_some(point.after - point.before);
            terms.push(Term { reads, value });
        }
        Ok(match is_sum && terms.len() > 1 {
            true => terms,
            false => one(terms.into_iter().flat_map(|it| it.reads).collect()),
        })
    }
}

fn one(mut reads: Vec<(usize, usize)>) -> Vec<Term> {
    reads.sort_unstable();
    reads.dedup();
    vec![Term { reads, value: None }]
}

/// The numbers of elements that tell where they are from.
fn numbers_of(elements: &Elements, end: i64) -> Vec<Option<i64>> {
    let is_tag = |it: &i64| (FIRST_TAG..end).contains(it);
    match elements {
        Elements::Floats(values) => {
            let tag = |it: &f64| Some((it - 0.5) as i64).filter(|_| it.fract() == 0.5);
            values.iter().map(|it| tag(it).filter(is_tag)).collect()
        }
        Elements::Integers(values) => values.iter().map(|it| Some(*it).filter(is_tag)).collect(),
    }
}

/// A point of a loop nest.
struct Point {
    /// The elements of inputs that it reads.
    reads: Vec<(usize, usize)>,
    /// What the output was, and what it is then.
    before: f64,
    after: f64,
}

impl Nest<'_> {
    /// The points that lead to an element of an output, in order.
    fn points(
        &self,
        output: usize,
        element: usize,
        budget: &mut crate::evaluate::budget::Budget,
    ) -> Result<Vec<Point>> {
        let sizes = self.loop_sizes()?;
        let map = |at: usize| &self.generic.maps[self.inputs.len() + at];
        let shape = &self.outputs[output].shape;
        // Loops that the element decides.
        let mut fixed: Vec<Option<usize>> = vec![None; sizes.len()];
        for ((result, step), size) in map(output).results.iter().zip(strides_of(shape)).zip(shape) {
            let Expression::Operand(at) = result else {
                return Err(Refusal::unsupported(0, "an output that is no loop's"));
            };
            fixed[*at] = Some(element / step % size);
        }
        if (0..self.outputs.len()).any(|it| map(it) != map(output)) {
            return Err(Refusal::unsupported(0, "outputs of several shapes"));
        }
        let free: Vec<usize> = (0..sizes.len()).filter(|at| fixed[*at].is_none()).collect();
        let count = free.iter().map(|at| sizes[*at] as u128).product::<u128>();
        if count > MOST_POINTS {
            return Err(Refusal::unsupported(0, format!("{count} elements are too many")));
        }
        budget.take(count * (self.program.cost as u128 + 1) * 16)?;
        let mut bank = Bank::new(self.program.floats.len(), self.outputs.len());
        for (register, number) in &self.program.constants {
            bank.broadcast(*register, *number);
        }
        for ((_, register), number) in self.program.captures.iter().zip(&self.captures) {
            bank.broadcast(*register, *number);
        }
        let mut outputs: Vec<_> = self.outputs.iter().map(|it| it.get(element)).collect();
        let context = Context { tensors: &self.tensors, with_bounds: false };
        let mut index: Vec<i64> = fixed.iter().map(|it| it.unwrap_or_default() as i64).collect();
        let mut points = Vec::new();
        for round in 0..count as usize {
            let mut rest = round;
            for at in free.iter().rev() {
                index[*at] = (rest % sizes[*at]) as i64;
                rest /= sizes[*at];
            }
            let mut reads = Vec::new();
            for (at, value) in self.inputs.iter().enumerate() {
                let register = self.program.arguments[at];
                match value {
                    Value::Number(number) => bank.broadcast(register, *number),
                    Value::Tensor(tensor) => {
                        let place = self.place(at, tensor, &index)?;
                        bank.set(register, 0, tensor.get(place));
                        reads.push((at, place));
                    }
                    Value::Bound(..) => {
                        return Err(Refusal::unsupported(0, "a dispatch tensor as an operand"));
                    }
                }
            }
            for (at, number) in outputs.iter().enumerate() {
                bank.set(self.program.arguments[self.inputs.len() + at], 0, *number);
            }
            for (register, dimension) in &self.program.indices {
                bank.integers[*register][0] = index.get(*dimension).copied().unwrap_or_default();
            }
            run(&mut bank, &self.program.steps, 1, &context)?;
            let before = outputs[output].float;
            for (number, register) in outputs.iter_mut().zip(&self.program.yields) {
                *number = bank.get(*register, 0);
            }
            points.push(Point { reads, before, after: outputs[output].float });
        }
        Ok(points)
    }

    /// The element of an input that a point reads.
    fn place(&self, at: usize, tensor: &Tensor, index: &[i64]) -> Result<usize> {
        let results = self.generic.maps[at].results.iter();
        let mut place = 0;
        for ((result, step), size) in results.zip(strides_of(&tensor.shape)).zip(&tensor.shape) {
            let at = usize::try_from(result.value(index)?).ok().filter(|at| at < size);
            place += at.ok_or_else(|| Refusal::undefined(0, "an index out of range"))? * step;
        }
        Ok(place)
    }
}

//! From a region to a [`Program`] over registers.

use std::collections::HashMap;

use crate::operations::{Constant, Function, Id, Kind, Region};
use crate::refusal::{Refusal, Result};
use crate::values::Number;
use mlir::table::Affine;
use mlir::{Element, FloatBinary, FloatUnary, Format, Map, Scalar};

/// What a step does.
#[derive(Clone, Debug)]
pub(crate) enum What {
    Scalar(Scalar),
    /// A result of an affine map.
    Affine(Map, Affine),
    /// An element of a tensor outside the region, which is a number in [`Program::tensors`].
    Extract(usize),
    /// Fails unless its input is true.
    Assert(String),
    /// One of two blocks; only with one lane.
    If {
        then: Vec<Step>,
        otherwise: Vec<Step>,
        pairs: [Vec<usize>; 2],
        results: Vec<usize>,
    },
}

/// A step of a program.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) what: What,
    pub(crate) inputs: Vec<usize>,
    pub(crate) output: usize,
    pub(crate) line: usize,
    /// Of which output this adds a term, and the term's place in the inputs.
    pub(crate) sum: Option<Term>,
    /// Of what this ends, if that may be a logistic function.
    pub(crate) logistic: Option<Logistic>,
}

/// `one / (other + exp(-operand))`, which is a logistic function where both are 1. They may come
/// from outside of the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Logistic {
    pub(crate) operand: usize,
    pub(crate) ones: [usize; 2],
}

/// A term of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) output: usize,
    pub(crate) input: usize,
}

/// How an output is a sum of terms over the reducing loops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sum {
    /// Additions in each round.
    pub(crate) additions: usize,
    pub(crate) format: Format,
    /// Whether the terms are products.
    pub(crate) of_products: bool,
}

/// The body of a loop nest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    /// Whether each register is a float.
    pub(crate) floats: Vec<bool>,
    pub(crate) steps: Vec<Step>,
    pub(crate) arguments: Vec<usize>,
    pub(crate) yields: Vec<usize>,
    pub(crate) constants: Vec<(usize, Number)>,
    /// Scalars of the function around it.
    pub(crate) captures: Vec<(Id, usize)>,
    /// Tensors of the function around it.
    pub(crate) tensors: Vec<Id>,
    /// Loops whose index is read: the register and the loop.
    pub(crate) indices: Vec<(usize, usize)>,
    /// For each yielded value, if it is a sum.
    pub(crate) sums: Vec<Option<Sum>>,
    pub(crate) has_branches: bool,
    /// The number of steps, with those of branches.
    pub(crate) cost: usize,
}

/// Compiles a region. `carried` are the arguments that the yielded values become in the next round.
struct Compiler<'f> {
    function: &'f Function,
    registers: HashMap<Id, usize>,
    program: Program,
}

/// Whether steps read a register.
fn reads(steps: &[Step], register: usize) -> bool {
    steps.iter().any(|step| {
        let inside = match &step.what {
            What::If { then, otherwise, pairs, .. } => {
                let yields = pairs.iter().flatten().any(|it| *it == register);
                yields || reads(then, register) || reads(otherwise, register)
            }
            _ => false,
        };
        inside || step.inputs.contains(&register)
    })
}

impl Program {
    /// Whether it reads one of its arguments.
    pub(crate) fn reads(&self, argument: usize) -> bool {
        let register = self.arguments[argument];
        self.yields.contains(&register) || reads(&self.steps, register)
    }

    /// Compiles a region whose last arguments take what the round before has yielded.
    pub(crate) fn compile(function: &Function, region: &Region) -> Result<Self> {
        let mut compiler =
            Compiler { function, registers: HashMap::new(), program: Self::default() };
        for argument in &region.arguments {
            let register = compiler.define(*argument);
            compiler.program.arguments.push(register);
        }
        let steps = compiler.steps(region)?;
        let yields = region.yields.iter().map(|id| compiler.register(*id));
        let yields = yields.collect::<Result<Vec<_>>>()?;
        let mut program = compiler.program;
        program.steps = steps;
        program.yields = yields;
        program.cost = cost(&program.steps);
        program.find_sums();
        program.find_logistics();
        Ok(program)
    }

    /// The format of its products, if all that it does is adding a product of two arguments to the
    /// third.
    pub(crate) fn contraction(&self) -> Option<Format> {
        let ([times, plus], [a, b, so_far]) = (&self.steps[..], &self.arguments[..]) else {
            return None;
        };
        let of = |step: &Step, wanted: FloatBinary| match &step.what {
            What::Scalar(Scalar::FloatBinary(function, Element::Float(format))) => {
                (*function == wanted).then_some(*format)
            }
            _ => None,
        };
        let (format, other) = (of(times, FloatBinary::Multiply)?, of(plus, FloatBinary::Add)?);
        let is_product = times.inputs == [*a, *b] || times.inputs == [*b, *a];
        let (product, so_far) = (times.output, *so_far);
        let is_sum = plus.inputs == [product, so_far] || plus.inputs == [so_far, product];
        let is_plain = is_product && is_sum && a != b && self.yields == [plus.output];
        (is_plain && format == other && plus.sum.is_some()).then_some(format)
    }

    /// Finds quotients that may be logistic functions. Their bound is that of the whole function:
    /// its exponential may be infinite, and of that alone nothing could be said.
    fn find_logistics(&mut self) {
        let made_by: HashMap<usize, &Step> =
            self.steps.iter().map(|step| (step.output, step)).collect();
        let unary = |register: usize, wanted: FloatUnary| {
            let step = made_by.get(&register)?;
            let What::Scalar(Scalar::FloatUnary(function, _)) = step.what else { return None };
            (function == wanted).then(|| step.inputs[0])
        };
        let binary = |step: &Step, wanted: FloatBinary| {
            let What::Scalar(Scalar::FloatBinary(function, _)) = step.what else { return None };
            (function == wanted).then(|| (step.inputs[0], step.inputs[1]))
        };
        let negated_exponent =
            |register: usize| unary(unary(register, FloatUnary::Exp)?, FloatUnary::Negate);
        let logistic = |step: &Step| {
            let (one, divisor) = binary(step, FloatBinary::Divide)?;
            let (a, b) = binary(made_by.get(&divisor)?, FloatBinary::Add)?;
            let (other, operand) = match (negated_exponent(a), negated_exponent(b)) {
                (Some(operand), _) => (b, operand),
                (None, operand) => (a, operand?),
            };
            Some(Logistic { operand, ones: [one, other] })
        };
        let found: Vec<_> = self.steps.iter().map(logistic).collect();
        for (step, logistic) in self.steps.iter_mut().zip(found) {
            step.logistic = logistic;
        }
    }

    /// Finds yielded values that are sums of an argument and terms.
    fn find_sums(&mut self) {
        self.sums = vec![None; self.yields.len()];
        let Some(first) = self.arguments.len().checked_sub(self.yields.len()) else { return };
        let mut uses = vec![0_usize; self.floats.len()];
        for register in self.steps.iter().flat_map(|step| &step.inputs).chain(&self.yields) {
            uses[*register] += 1;
        }
        if self.has_branches {
            return;
        }
        let mut made_by = vec![None; self.floats.len()];
        for (place, step) in self.steps.iter().enumerate() {
            made_by[step.output] = Some(place);
        }
        for at in 0..self.yields.len() {
            let start = self.arguments[first + at];
            let reached = self.sums_from(start);
            let mut path = Vec::new();
            let mut current = self.yields[at];
            let mut of_products = false;
            let mut format = None;
            while current != start {
                let Some(place) = made_by[current] else { break };
                let step = &self.steps[place];
                let (element, so_far) = match &step.what {
                    What::Scalar(Scalar::FloatBinary(FloatBinary::Add, element)) => {
                        let is_left = reached[step.inputs[0]];
                        (*element, usize::from(!is_left))
                    }
                    What::Scalar(Scalar::FloatBinary(FloatBinary::Subtract, element)) => {
                        (*element, 0)
                    }
                    What::Scalar(Scalar::FusedMultiplyAdd(element)) => {
                        of_products = true;
                        (*element, 2)
                    }
                    _ => break,
                };
                let next = step.inputs[so_far];
                let Element::Float(its_format) = element else { break };
                if uses[current] != 1 || format.is_some_and(|it| it != its_format) {
                    break;
                }
                let term = step.inputs[usize::from(so_far == 0)];
                let what = made_by[term].map(|place| &self.steps[place].what);
                of_products |= matches!(
                    what,
                    Some(What::Scalar(Scalar::FloatBinary(FloatBinary::Multiply, _)))
                );
                format = Some(its_format);
                path.push((place, usize::from(so_far == 0)));
                current = next;
            }
            let Some(format) = format else { continue };
            if current != start || uses[start] != 1 {
                continue;
            }
            for (place, input) in &path {
                self.steps[*place].sum = Some(Term { output: at, input: *input });
            }
            self.sums[at] = Some(Sum { additions: path.len(), format, of_products });
        }
    }

    /// Which registers are sums that begin with one.
    fn sums_from(&self, start: usize) -> Vec<bool> {
        let mut reached = vec![false; self.floats.len()];
        reached[start] = true;
        for step in &self.steps {
            let is_sum = matches!(
                step.what,
                What::Scalar(
                    Scalar::FloatBinary(FloatBinary::Add | FloatBinary::Subtract, _)
                        | Scalar::FusedMultiplyAdd(_)
                )
            );
            if is_sum && step.inputs.iter().any(|it| reached[*it]) {
                reached[step.output] = true;
            }
        }
        reached
    }
}

/// Refuses integers for floats and the reverse.
pub(crate) fn check_types(function: &Function, what: &Scalar, operands: &[Id]) -> Result<()> {
    let is_wrong = |(at, id): (usize, &Id)| {
        let is_float = function.type_of(*id).element().is_float();
        what.takes_float(at) != is_float
    };
    if operands.iter().enumerate().any(is_wrong) {
        return Err(Refusal::malformed(0, "an integer for a float, or a float for an integer"));
    }
    Ok(())
}

fn cost(steps: &[Step]) -> usize {
    let of = |step: &Step| match &step.what {
        What::If { then, otherwise, .. } => 1 + cost(then) + cost(otherwise),
        _ => 1,
    };
    steps.iter().map(of).sum()
}

impl Compiler<'_> {
    fn define(&mut self, id: Id) -> usize {
        let register = self.program.floats.len();
        self.program.floats.push(self.function.type_of(id).element().is_float());
        self.registers.insert(id, register);
        register
    }

    /// The register of a value; one of the function around it is captured.
    fn register(&mut self, id: Id) -> Result<usize> {
        if let Some(register) = self.registers.get(&id) {
            return Ok(*register);
        }
        if self.function.type_of(id).tensor().is_some() {
            return Err(Refusal::unsupported(0, "a tensor as a value of a loop's body"));
        }
        let register = self.define(id);
        self.program.captures.push((id, register));
        Ok(register)
    }

    fn all(&mut self, ids: &[Id]) -> Result<Vec<usize>> {
        ids.iter().map(|id| self.register(*id)).collect()
    }

    fn steps(&mut self, region: &Region) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        for operation in &region.operations {
            let line = operation.line;
            let refuse = |refusal: Refusal| refusal.in_operation(&operation.name, line);
            let mut step = |what, inputs, output| {
                steps.push(Step { what, inputs, output, line, sum: None, logistic: None });
            };
            match &operation.kind {
                Kind::Scalar(what, operands) => {
                    let inputs = self.all(operands).map_err(refuse)?;
                    check_types(self.function, what, operands).map_err(refuse)?;
                    let output = self.define(operation.results[0]);
                    step(What::Scalar(*what), inputs, output);
                }
                Kind::Affine { map, which, operands } => {
                    let inputs = self.all(operands).map_err(refuse)?;
                    let output = self.define(operation.results[0]);
                    step(What::Affine(map.clone(), *which), inputs, output);
                }
                Kind::Constant(constant) => {
                    let number = match constant {
                        Constant::Float(float) => Number { float: *float, ..Number::default() },
                        Constant::Integer(integer) => {
                            Number { integer: *integer, ..Number::default() }
                        }
                        _ => {
                            let reason = "a constant tensor in a loop's body";
                            return Err(refuse(Refusal::unsupported(line, reason)));
                        }
                    };
                    let register = self.define(operation.results[0]);
                    self.program.constants.push((register, number));
                }
                Kind::LoopIndex(dimension) => {
                    let register = self.define(operation.results[0]);
                    self.program.indices.push((register, *dimension));
                }
                Kind::Alias(values) => {
                    let values = self.all(values).map_err(refuse)?;
                    for (result, register) in operation.results.iter().zip(values) {
                        self.registers.insert(*result, register);
                    }
                }
                Kind::Extract { source, indices } => {
                    let inputs = self.all(indices).map_err(refuse)?;
                    let place = self.program.tensors.iter().position(|it| it == source);
                    let place = place.unwrap_or_else(|| {
                        self.program.tensors.push(*source);
                        self.program.tensors.len() - 1
                    });
                    let output = self.define(operation.results[0]);
                    step(What::Extract(place), inputs, output);
                }
                Kind::Assert { condition, message } => {
                    let condition = self.register(*condition).map_err(refuse)?;
                    step(What::Assert(message.clone()), vec![condition], condition);
                }
                Kind::If { condition, then, otherwise } => {
                    let condition = self.register(*condition).map_err(refuse)?;
                    let then_steps = self.steps(then)?;
                    let then_yields = self.all(&then.yields).map_err(refuse)?;
                    let other_steps = self.steps(otherwise)?;
                    let other_yields = self.all(&otherwise.yields).map_err(refuse)?;
                    let results: Vec<usize> =
                        operation.results.iter().map(|id| self.define(*id)).collect();
                    if then_yields.len() != results.len() || other_yields.len() != results.len() {
                        let reason = "its blocks yield another number of values";
                        return Err(refuse(Refusal::malformed(line, reason)));
                    }
                    self.program.has_branches = true;
                    let pairs = [then_yields, other_yields];
                    let what =
                        What::If { then: then_steps, otherwise: other_steps, pairs, results };
                    step(what, vec![condition], condition);
                }
                _ => {
                    let reason = "is not evaluated in a loop's body";
                    return Err(refuse(Refusal::unsupported(line, reason)));
                }
            }
        }
        Ok(steps)
    }
}

//! [`Dispatch`]: one function, read once and evaluated as often as wanted.

use std::sync::Arc;

use abi::element_type::ElementType;
use abi::tensor::Tensor;

use crate::dispatch::output::{Elements, Output};
use crate::dispatch::parts;
use crate::dispatch::reason::reason;
use crate::evaluate::{BoundTensor, Evaluator, Origins, Term};
use crate::operations::{Function, Id, Kind, Operation, Region};
use crate::refusal::{Refusal, RefusalKind, Result};
use crate::text::{ModuleText, read_function};
use crate::values::{self, Number, Value, canonical};
use mlir::{Access, Element, Type};

/// What a parameter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A tensor that is read.
    Input,
    /// A tensor that is written; it takes no argument.
    Output,
    /// A tensor that is read and written.
    InOut,
    /// A scalar, such as a size.
    Scalar,
}

/// A parameter of a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// What it is for.
    pub role: Role,
    /// The dimensions, `None` where they are dynamic; of a scalar, none.
    pub shape: Vec<Option<usize>>,
    /// The type of its elements. A scalar of type `index` is an `i64`.
    pub element_type: ElementType,
}

/// Where the text says that the number of a scalar parameter is to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Among the numbers that the count of workgroups is computed from: its ordinal.
    Workload(usize),
    /// It is the size of an axis of a bound tensor.
    Size {
        /// The parameter that is the tensor.
        parameter: usize,
        /// The axis.
        axis: usize,
    },
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A tensor, with its bytes.
    Tensor(Tensor),
    /// A tensor each of whose elements may be as far away as its bound says.
    Uncertain(Tensor, Vec<f64>),
    /// A tensor of floats with other values, which are not rounded to its type.
    Unrounded(Tensor, Vec<f64>),
    /// A tensor or a scalar that was evaluated before, with its bounds.
    Computed(Arc<Output>),
    /// A scalar integer or index.
    Integer(i64),
    /// A scalar float.
    Float(f64),
}

/// How a dispatch is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether each element has a bound. They cost most of the time: a convolution took 7 times as
    /// long with them. Without them, what depends on a step that is near is an ordinary value.
    pub with_bounds: bool,
    /// The most scalar operations; with more there is a [`Refusal`] of [`RefusalKind::Limit`].
    pub most_operations: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { with_bounds: true, most_operations: 20_000_000_000 }
    }
}

/// A dispatch, or another function over tensors.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    function: Function,
}

impl Dispatch {
    /// Reads the function with this name out of a text. For several, [`crate::Module`] looks for
    /// functions only once.
    ///
    /// # Errors
    /// There is none, or it has an operation that is not evaluated.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        Self::read(&ModuleText::new(text), name)
    }

    pub(crate) fn read(text: &ModuleText<'_>, name: &str) -> Result<Self> {
        let function = crate::complex::split(read_function(text, name)?)?;
        check(&function, &function.body)?;
        Ok(Self { function })
    }

    /// The name of the function.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.function.name
    }

    /// The line of the text in which it begins, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.function.line
    }

    /// Whether it is bound to tensors, which other functions are not.
    #[must_use]
    pub fn is_dispatch(&self) -> bool {
        self.function.parameters.iter().any(|id| matches!(self.type_of(*id), Type::Bound(..)))
    }

    fn type_of(&self, id: Id) -> &Type {
        self.function.type_of(id)
    }

    /// The parameters, in their order.
    #[must_use]
    pub fn parameters(&self) -> Vec<Parameter> {
        let parameter = |id: &Id| {
            let type_ = self.type_of(*id);
            let role = match type_ {
                Type::Scalar(_) => Role::Scalar,
                Type::Tensor(_) | Type::Bound(Access::ReadOnly, _) => Role::Input,
                Type::Bound(Access::WriteOnly, _) => Role::Output,
                Type::Bound(Access::ReadWrite, _) => Role::InOut,
            };
            let shape = type_.tensor().map(|it| it.dimensions.clone()).unwrap_or_default();
            let mut element = type_.element();
            if let (Element::Float(format), true) =
                (element, self.function.imaginary.contains_key(id))
            {
                element = Element::Complex(format);
            }
            Parameter { role, shape, element_type: element.element_type() }
        };
        self.function.parameters.iter().map(parameter).collect()
    }

    /// Where a caller finds the number of a scalar parameter, as far as the text says. All of these
    /// are the same number.
    #[must_use]
    pub fn known_from(&self, parameter: usize) -> Vec<Known> {
        let parameters = &self.function.parameters;
        let Some(scalar) = parameters.get(parameter) else { return Vec::new() };
        let (mut names, mut known) = (vec![*scalar], Vec::new());
        for operation in &self.function.body.operations {
            match &operation.kind {
                Kind::Ordinal { value, ordinal } if names.contains(value) => {
                    known.push(Known::Workload(*ordinal));
                    names.extend(&operation.results);
                }
                Kind::TieShape { source, sizes } => {
                    let tensor = parameters.iter().position(|id| id == source);
                    let Some(parameter) = tensor else { continue };
                    let Some(type_) = self.type_of(*source).tensor() else { continue };
                    let dynamic =
                        type_.dimensions.iter().enumerate().filter(|(_, it)| it.is_none());
                    let sized = dynamic.zip(sizes).filter(|(_, size)| names.contains(size));
                    known.extend(sized.map(|((axis, _), _)| Known::Size { parameter, axis }));
                }
                _ => {}
            }
        }
        known
    }

    /// Evaluates the function. `arguments` are those of all parameters that are not
    /// [`Role::Output`], in their order. The outputs are those tensors that are written, in the
    /// order of their parameters, then what the function returns.
    ///
    /// # Errors
    /// The arguments do not fit, the result is not defined for them, or it takes too long.
    pub fn evaluate(&self, arguments: &[Argument], settings: &Settings) -> Result<Vec<Output>> {
        Ok(self.evaluate_counted(arguments, settings)?.0)
    }

    /// The same, with how many scalar operations it took.
    ///
    /// # Errors
    /// As those of [`Self::evaluate`].
    pub fn evaluate_counted(
        &self,
        arguments: &[Argument],
        settings: &Settings,
    ) -> Result<(Vec<Output>, u64)> {
        let mut evaluator = self.given(arguments, settings)?;
        let returned = evaluator.run()?;
        let took = settings.most_operations - evaluator.budget.left();
        Ok((self.outputs(&mut evaluator, returned)?, took))
    }

    /// Which elements of the arguments an element of a result is made of, and for a sum, how much
    /// each of its terms is. The element is numbered in row-major order.
    ///
    /// # Errors
    /// As those of [`Self::evaluate`], and that elements are not followed through an operation.
    pub fn origins(
        &self,
        arguments: &[Argument],
        settings: &Settings,
        result: usize,
        element: usize,
    ) -> Result<Vec<Term>> {
        let mut evaluator = self.given(arguments, settings)?;
        evaluator.run()?;
        let id = self.function.body.yields.get(result).copied();
        let id = id.filter(|_| self.function.imaginary.is_empty());
        let id = id.ok_or_else(|| Refusal::arguments(format!("no result {result} of floats")))?;
        Origins::new(&mut evaluator).of(id, element)
    }

    /// The function with arguments, before it runs.
    pub(super) fn given(
        &self,
        arguments: &[Argument],
        settings: &Settings,
    ) -> Result<Evaluator<'_>> {
        let budget = crate::evaluate::Budget::new(settings.most_operations);
        let mut evaluator = Evaluator::new(&self.function, budget, settings.with_bounds);
        let mut given = arguments.iter();
        for (at, id) in self.function.parameters.iter().enumerate() {
            let imaginary = self.function.imaginary.get(id).copied();
            if matches!(self.type_of(*id), Type::Bound(Access::WriteOnly, _)) {
                [Some(*id), imaginary].into_iter().flatten().for_each(|id| {
                    let value = self.unwritten(&mut evaluator, id);
                    evaluator.set(id, value);
                });
                continue;
            }
            let Some(argument) = given.next() else {
                return Err(Refusal::arguments(format!("no argument for parameter {at}")));
            };
            let in_parameter = |mut refusal: Refusal| {
                refusal.reason = format!("parameter {at}: {}", refusal.reason);
                refusal
            };
            let Some(imaginary) = imaginary else {
                self.give(&mut evaluator, *id, argument).map_err(in_parameter)?;
                continue;
            };
            let both = parts::argument(argument).map_err(in_parameter)?;
            for (id, argument) in [*id, imaginary].into_iter().zip(both) {
                self.give(&mut evaluator, id, &argument).map_err(in_parameter)?;
            }
        }
        if given.next().is_some() {
            let reason = format!("{} arguments are too many", arguments.len());
            return Err(Refusal::arguments(reason));
        }
        Ok(evaluator)
    }

    /// A tensor that is written only.
    fn unwritten(&self, evaluator: &mut Evaluator<'_>, id: Id) -> Value {
        evaluator.bound.push(BoundTensor { tensor: None, written: Vec::new() });
        let shape = self.type_of(id).tensor().and_then(mlir::TensorType::fixed);
        Value::Bound(evaluator.bound.len() - 1, shape)
    }

    /// Gives an argument to a parameter, or to a part of one.
    fn give(&self, evaluator: &mut Evaluator<'_>, id: Id, argument: &Argument) -> Result<()> {
        let type_ = self.type_of(id);
        let it = match (type_, value(type_, argument)?) {
            (Type::Bound(..), Value::Tensor(tensor)) => {
                let shape = tensor.shape.clone();
                evaluator.bound.push(BoundTensor { tensor: Some(tensor), written: Vec::new() });
                Value::Bound(evaluator.bound.len() - 1, Some(shape))
            }
            (_, it) => it,
        };
        evaluator.set(id, it);
        Ok(())
    }

    pub(super) fn outputs(
        &self,
        evaluator: &mut Evaluator<'_>,
        returned: Vec<Value>,
    ) -> Result<Vec<Output>> {
        // What has no other owner becomes an output without a copy.
        evaluator.forget_values();
        let mut outputs = Vec::new();
        let mut number = 0;
        for (at, id) in self.function.parameters.iter().enumerate() {
            let Type::Bound(access, _) = self.type_of(*id) else { continue };
            let imaginary = self.function.imaginary.get(id).copied();
            let first = number;
            number += 1 + usize::from(imaginary.is_some());
            if *access == Access::ReadOnly {
                continue;
            }
            let mut it = self.left(evaluator, *id, first, at)?;
            if let Some(imaginary) = imaginary {
                it = parts::joined(it, &self.left(evaluator, imaginary, first + 1, at)?);
            }
            it.parameter = Some(at);
            outputs.push(it);
        }
        let mut results = returned.into_iter().zip(&self.function.body.yields);
        while let Some((value, id)) = results.next() {
            let Some(mut it) = self.returned(evaluator, value, *id) else { continue };
            if self.function.imaginary.contains_key(id)
                && let Some((value, id)) = results.next()
                && let Some(imaginary) = self.returned(evaluator, value, *id)
            {
                it = parts::joined(it, &imaginary);
            }
            outputs.push(it);
        }
        Ok(outputs)
    }

    /// What a bound tensor holds after the function.
    fn left(
        &self,
        evaluator: &mut Evaluator<'_>,
        id: Id,
        bound: usize,
        at: usize,
    ) -> Result<Output> {
        let BoundTensor { tensor, written } = std::mem::take(&mut evaluator.bound[bound]);
        let Some(tensor) = tensor else {
            let reason = format!("parameter {at} is never written");
            return Err(Refusal::new(RefusalKind::Undefined, self.function.line, reason));
        };
        let mut names = names_of(&self.function.body, id);
        let stored = stored_in(&self.function.body, &mut names);
        let reasons: Vec<String> =
            stored.iter().map(|id| reason(&self.function, *id, &evaluator.reduced)).collect();
        let mut it = output(tensor, evaluator.with_bounds, written);
        it.reason = reasons.join("; ");
        Ok(it)
    }

    /// A result of the function.
    fn returned(&self, evaluator: &Evaluator<'_>, value: Value, id: Id) -> Option<Output> {
        let tensor = match value {
            Value::Tensor(tensor) => tensor,
            Value::Number(number) => {
                let mut tensor = values::Tensor::zeros(Vec::new(), self.type_of(id).element());
                tensor.set(0, number);
                Arc::new(tensor)
            }
            Value::Bound(..) => return None,
        };
        let mut it = output(tensor, evaluator.with_bounds, Vec::new());
        it.reason = reason(&self.function, id, &evaluator.reduced);
        Some(it)
    }
}

/// The names that a bound tensor has.
fn names_of(body: &Region, id: Id) -> Vec<Id> {
    let mut names = vec![id];
    for operation in &body.operations {
        if let Kind::TieShape { source, .. } = &operation.kind
            && names.contains(source)
        {
            names.extend(&operation.results);
        }
    }
    names
}

/// The values that are stored in a bound tensor.
fn stored_in(body: &Region, names: &mut Vec<Id>) -> Vec<Id> {
    let mut stored = Vec::new();
    for operation in &body.operations {
        match &operation.kind {
            Kind::Store { value, target, .. } if names.contains(target) => stored.push(*value),
            Kind::For { body, .. } => stored.extend(stored_in(body, names)),
            Kind::If { then, otherwise, .. } => {
                stored.extend(stored_in(then, names));
                stored.extend(stored_in(otherwise, names));
            }
            _ => {}
        }
    }
    stored
}

fn output(tensor: Arc<values::Tensor>, with_bounds: bool, written: Vec<bool>) -> Output {
    let mut tensor = Arc::unwrap_or_clone(tensor);
    if with_bounds {
        tensor.with_bounds();
    }
    let values::Tensor { shape, element, elements, mut bounds } = tensor;
    if !with_bounds {
        bounds = Vec::new();
    }
    // What is stored is rounded to the element type; an operation's bound has this rounding, and
    // a value that is no number of the type needs it.
    if let (Element::Float(format), values::Elements::Floats(values)) = (element, &elements) {
        for (bound, value) in bounds.iter_mut().zip(values) {
            let rounded = crate::formats::round_to(format, *value);
            if rounded != *value && !value.is_nan() && rounded.is_finite() {
                *bound = bound.max((rounded - value).abs());
            }
        }
    }
    let all = written.iter().all(|it| *it);
    Output {
        parameter: None,
        shape,
        element_type: element.element_type(),
        values: match elements {
            values::Elements::Floats(values) => Elements::Floats(values),
            values::Elements::Integers(values) => Elements::Integers(values),
        },
        bounds,
        written: if all { Vec::new() } else { written },
        reason: String::new(),
    }
}

/// An argument as a value of a parameter's type.
fn value(type_: &Type, argument: &Argument) -> Result<Value> {
    let number = match (type_, argument) {
        (_, Argument::Computed(output)) => return computed(type_, output),
        (Type::Scalar(Element::Float(_)), Argument::Float(float)) => {
            Number { float: *float, ..Number::default() }
        }
        (Type::Scalar(element), Argument::Integer(integer)) if !element.is_float() => {
            Number { integer: canonical(*integer, element.width()), ..Number::default() }
        }
        (
            Type::Tensor(type_) | Type::Bound(_, type_),
            Argument::Tensor(tensor)
            | Argument::Uncertain(tensor, _)
            | Argument::Unrounded(tensor, _),
        ) => {
            let mut tensor = values::Tensor::from_abi(tensor, type_.element)?;
            if !type_.accepts(&tensor.shape) {
                let reason = format!("a tensor of {:?} for {type_}", tensor.shape);
                return Err(Refusal::arguments(reason));
            }
            if let Argument::Uncertain(_, given) | Argument::Unrounded(_, given) = argument
                && given.len() != tensor.count()
            {
                let reason = format!("{} numbers for {} elements", given.len(), tensor.count());
                return Err(Refusal::arguments(reason));
            }
            match (argument, &mut tensor.elements) {
                (Argument::Uncertain(_, bounds), _) => {
                    let known = |it: &f64| if *it >= 0.0 { *it } else { f64::INFINITY };
                    tensor.bounds = bounds.iter().map(known).collect();
                }
                (Argument::Unrounded(_, given), values::Elements::Floats(values)) => {
                    values.copy_from_slice(given);
                }
                _ => {}
            }
            return Ok(Value::Tensor(Arc::new(tensor)));
        }
        (Type::Scalar(element), _) => {
            return Err(Refusal::arguments(format!("expected a scalar of {element}")));
        }
        (Type::Tensor(type_) | Type::Bound(_, type_), _) => {
            return Err(Refusal::arguments(format!("expected a {type_}")));
        }
    };
    Ok(Value::Number(number))
}

/// What was evaluated before as a value of a parameter's type.
fn computed(type_: &Type, output: &Output) -> Result<Value> {
    let element = type_.element();
    let bits = (output.element_type.bits, element.element_type().bits);
    let elements = match &output.values {
        Elements::Floats(values) => values::Elements::Floats(values.clone()),
        Elements::Integers(values) => values::Elements::Integers(values.clone()),
    };
    let is_float = matches!(elements, values::Elements::Floats(_));
    let is_type = output.element_type == element.element_type() || !is_float && bits.0 == bits.1;
    if !is_type || is_float != element.is_float() || !output.written.is_empty() {
        let reason = format!("{} for {}", output.element_type, element.element_type());
        return Err(Refusal::arguments(reason));
    }
    let (shape, bounds) = (output.shape.clone(), output.bounds.clone());
    let mut tensor = values::Tensor { shape, element, elements, bounds };
    tensor.settle_bounds();
    match type_ {
        Type::Scalar(_) if tensor.count() == 1 => Ok(Value::Number(tensor.get(0))),
        Type::Tensor(declared) if declared.accepts(&tensor.shape) => {
            Ok(Value::Tensor(Arc::new(tensor)))
        }
        _ => Err(Refusal::arguments(format!("{:?} for another shape", output.shape))),
    }
}

/// Refuses, before anything runs, what the bodies of loop nests do not evaluate.
fn check(function: &Function, region: &Region) -> Result<()> {
    for operation in &region.operations {
        let Operation { name, line, kind, .. } = operation;
        let compiled = match kind {
            Kind::Generic(generic) => crate::lanes::Program::compile(function, &generic.body),
            Kind::Pad { body, .. } | Kind::Generate { body, .. } => {
                crate::lanes::Program::compile(function, body)
            }
            Kind::For { body, .. } => {
                check(function, body)?;
                continue;
            }
            Kind::If { then, otherwise, .. } => {
                check(function, then)?;
                check(function, otherwise)?;
                continue;
            }
            _ => continue,
        };
        compiled.map_err(|it| it.in_operation(name, *line))?;
    }
    Ok(())
}

//! Evaluating a tree with the help of a [`Scope`]. Nothing here changes the program; a scope that
//! can call functions of the program does so itself.

use std::ops::Range;

use abi::tensor::TensorType;
use vm::{Ref, Value};

use super::budget::Budget;
use super::datum::{Datum, Family, Item, Place};
use super::elementwise::{Operand, Stop};
use super::error::ExpressionError;
use super::evaluation_error::EvaluationError;
use super::foreign;
use super::matrix_product::matrix_product;
use super::operators;
use super::reduce;
use super::scalars;
use super::scope::Scope;
use super::syntax::{Binary, Expr, Kind, Subscript};
use crate::tensor::Number;
use crate::tensor::{Slice, TensorView};
use crate::view::variable::BufferView;

/// Evaluates trees.
pub(crate) struct Evaluator<'a> {
    pub(crate) scope: &'a mut dyn Scope,
    pub(crate) budget: Budget,
}

impl Evaluator<'_> {
    /// The value of a tree.
    pub(crate) fn item(&mut self, expr: &Expr) -> Result<Item, ExpressionError> {
        let at = |reason| ExpressionError::new(expr.span.clone(), reason);
        self.budget.step().map_err(at)?;
        match &expr.kind {
            Kind::Name(name) => self.name(name).map_err(at),
            Kind::Printed(which) => self.scope.printed(*which).map_err(at),
            Kind::Function(symbol) if let Some(global) = self.scope.global(symbol) => Ok(global),
            Kind::Function(path) if path.ends_with(".npy") => {
                self.scope.file(path).map(Item::from).map_err(at)
            }
            Kind::Field(base, field)
                if matches!(&base.kind, Kind::Name(name) if name == "dispatch")
                    && self.scope.find("dispatch").is_none() =>
            {
                let found = self.scope.dispatch_field(field);
                found.map(Item::from).ok_or_else(|| at(EvaluationError::NoDispatchRuns))
            }
            Kind::Index(..) | Kind::Field(..) if let Some(found) = self.part(expr) => Ok(found),
            Kind::Index(base, subscripts) => {
                let base = self.item(base)?;
                self.index(&base.datum, subscripts, &expr.span)
            }
            Kind::Field(base, name) if name == TRANSPOSED => {
                let base = self.item(base)?;
                let tensor = base.datum.tensor().ok_or_else(|| at(base.datum.is_no("tensor")))?;
                Ok(Datum::Tensor(tensor.transposed()).into())
            }
            Kind::Field(base, name) => {
                let base = self.item(base)?;
                field(&base.datum, name).map(Item::from).map_err(at)
            }
            Kind::Cast(base, type_name) => {
                let base = self.item(base)?;
                if foreign::is_type(type_name) && !self.scope.reads_foreign_memory() {
                    return Err(at(EvaluationError::ForeignMemory));
                }
                cast(&base.datum, type_name).map_err(at)
            }
            Kind::Choice(condition, yes, no) => {
                let holds = self.truth(condition)?;
                self.item(if holds { yes } else { no })
            }
            _ => self.computed(expr).map(Item::from),
        }
    }

    /// The part of a variable of Python that a tree is.
    fn part(&self, expr: &Expr) -> Option<Item> {
        self.scope.part(&expr.part()?)
    }

    /// The value of a tree whose value no place keeps.
    fn computed(&mut self, expr: &Expr) -> Result<Datum, ExpressionError> {
        let at = |reason| ExpressionError::new(expr.span.clone(), reason);
        match &expr.kind {
            Kind::Integer(value) => Ok(Datum::integer(*value)),
            Kind::Float(value) => Ok(Datum::float(*value)),
            Kind::Bool(value) => Ok(Datum::Bool(*value)),
            Kind::Text(text) => Ok(Datum::Text(text.clone())),
            Kind::Binary(Binary::And, left, right) => {
                Ok(Datum::Bool(self.truth(left)? && self.truth(right)?))
            }
            Kind::Binary(Binary::Or, left, right) => {
                Ok(Datum::Bool(self.truth(left)? || self.truth(right)?))
            }
            Kind::Binary(..) | Kind::Unary(..) | Kind::Call(..) => {
                self.operand(expr)?.value(&mut self.budget)
            }
            Kind::Function(name) => Err(at(self.scope.unknown_symbol(name))),
            _ => Ok(self.item(expr)?.datum),
        }
    }

    /// The value of a tree as an operand; its elements may not be computed yet.
    fn operand(&mut self, expr: &Expr) -> Result<Operand, ExpressionError> {
        let at = |reason| ExpressionError::new(expr.span.clone(), reason);
        match &expr.kind {
            Kind::Binary(Binary::And | Binary::Or, ..) => {}
            Kind::Binary(Binary::MatrixProduct, left, right) => {
                self.budget.step().map_err(at)?;
                let data = [self.item(left)?.datum, self.item(right)?.datum];
                let product = matrix_product(&data[0], &data[1], &mut self.budget);
                let spans = [&left.span, &right.span];
                return product
                    .map(Operand::Datum)
                    .map_err(|stop| placed(stop, &expr.span, &spans));
            }
            Kind::Binary(operator, left, right) => {
                self.budget.step().map_err(at)?;
                let (left, right) = (self.operand(left)?, self.operand(right)?);
                return operators::binary(*operator, &left, &right, &expr.span, &self.budget)
                    .map_err(at);
            }
            Kind::Unary(operator, operand) => {
                self.budget.step().map_err(at)?;
                let operand = self.operand(operand)?;
                return operators::unary(*operator, &operand, &expr.span, &self.budget).map_err(at);
            }
            Kind::Call(callee, arguments) => {
                self.budget.step().map_err(at)?;
                return self.call(callee, arguments, &expr.span);
            }
            _ => {}
        }
        self.item(expr).map(|item| Operand::Datum(item.datum))
    }

    /// Whether a tree is true.
    pub(crate) fn truth(&mut self, expr: &Expr) -> Result<bool, ExpressionError> {
        let value = self.item(expr)?.datum;
        scalars::truth(&value).map_err(|reason| ExpressionError::new(expr.span.clone(), reason))
    }

    fn name(&mut self, name: &str) -> Result<Item, EvaluationError> {
        if let Some(found) = self.scope.find(name) {
            return Ok(found);
        }
        match (name, Family::named(name)) {
            (_, Some(family)) => Ok(Datum::Family(family).into()),
            ("null", None) => Ok(Datum::Value(Value::Ref(Ref::Null)).into()),
            _ => Err(self.scope.suggest(name)),
        }
    }

    fn call(
        &mut self,
        callee: &Expr,
        arguments: &[Expr],
        span: &Range<usize>,
    ) -> Result<Operand, ExpressionError> {
        let at = |reason| ExpressionError::new(span.clone(), reason);
        let operands = arguments.iter().map(|argument| self.operand(argument));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        let (function, name) = match &callee.kind {
            Kind::Name(name) => (reduce::named(name), name),
            Kind::Function(name) => (None, name),
            _ => return Err(ExpressionError::of_text(span.clone(), "this is no function")),
        };
        let spans: Vec<&Range<usize>> = arguments.iter().map(|argument| &argument.span).collect();
        if let Some(function) = function {
            match function.call(&operands, span, &mut self.budget) {
                Ok(result) => return Ok(result),
                Err(Stop::Irregular) => {}
                Err(stop) => return Err(placed(stop, span, &spans)),
            }
        }
        let values = operands.into_iter().map(|operand| operand.value(&mut self.budget));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let Some(function) = function else {
            return self.scope.call(name, values).map(Operand::Datum).map_err(at);
        };
        let operands: Vec<_> = values.into_iter().map(Operand::Datum).collect();
        let result = function.call(&operands, span, &mut self.budget);
        result.map_err(|stop| placed(stop, span, &spans))
    }

    fn index(
        &mut self,
        base: &Datum,
        subscripts: &[Subscript],
        span: &Range<usize>,
    ) -> Result<Item, ExpressionError> {
        let at = |reason| ExpressionError::new(span.clone(), reason);
        if let Datum::Family(family) = base {
            let [Subscript::At(index)] = subscripts else {
                return Err(at(EvaluationError::OneIndex {
                    what: format!("`{}` takes", family.name()),
                }));
            };
            let index = self.whole(index)?;
            let index = usize::try_from(index).map_err(|_| {
                at(EvaluationError::NotA { is: index.to_string(), wanted: "index" })
            })?;
            return self.scope.member(*family, index).map_err(at);
        }
        if let Some((list, start, end)) = base.list() {
            let list = list.clone();
            let [subscript] = subscripts else {
                return Err(at(EvaluationError::OneIndex { what: "a list takes".to_owned() }));
            };
            let length = end.saturating_sub(start);
            return match subscript {
                Subscript::At(index) => {
                    let index = self.position(index, length)? + start;
                    let value = list.get(index);
                    let value = value.ok_or_else(|| at(EvaluationError::NotSet { index }))?;
                    Ok(Item::kept(Datum::Value(value), Place::ListElement(list, index)))
                }
                Subscript::Range(_, _, Some(step)) if self.whole(step)? != 1 => {
                    Err(ExpressionError::new(step.span.clone(), EvaluationError::ListStep))
                }
                Subscript::Range(from, to, _) => {
                    let Slice { start: from, count, .. } = self.slice([from, to, &None], length)?;
                    Ok(Datum::ListPart(list, start + from, start + from + count).into())
                }
            };
        }
        let tensor = base.tensor().ok_or_else(|| match base.memory() {
            Some(_) => at(EvaluationError::WithoutType),
            None => at(base.has_no("elements")),
        })?;
        self.element(&tensor, subscripts, span)
    }

    fn element(
        &mut self,
        tensor: &TensorView,
        subscripts: &[Subscript],
        span: &Range<usize>,
    ) -> Result<Item, ExpressionError> {
        let rank = tensor.tensor_type().shape.len();
        if subscripts.len() > rank {
            return Err(ExpressionError::new(
                span.clone(),
                EvaluationError::Rank {
                    type_name: tensor.type_name(),
                    rank,
                    given: subscripts.len(),
                },
            ));
        }
        if let [Subscript::At(index)] = subscripts
            && matches!(index.kind, Kind::Call(..) | Kind::Name(_))
            && let Some(coordinates) = self.item(index)?.datum.tensor()
            && coordinates.tensor_type().shape == [rank as u64]
        {
            let at = |reason| ExpressionError::new(index.span.clone(), reason);
            return at_coordinates(tensor, &coordinates).map_err(at);
        }
        let mut view = tensor.clone();
        let mut dimension = 0;
        for subscript in subscripts {
            let length = usize::try_from(view.tensor_type().shape[dimension]).unwrap_or(usize::MAX);
            match subscript {
                Subscript::At(index) => view = view.pick(dimension, self.position(index, length)?),
                Subscript::Range(start, end, step) => {
                    view = view.slice(dimension, self.slice([start, end, step], length)?);
                    dimension += 1;
                }
            }
        }
        let place = view.scalar().is_some().then(|| Place::Element(view.clone()));
        Ok(Item { datum: Datum::Tensor(view), place, declared: None })
    }

    /// The value of an index.
    fn whole(&mut self, expr: &Expr) -> Result<i128, ExpressionError> {
        let value = self.item(expr)?.datum;
        match value.number() {
            Some(Number::Integer(value)) => Ok(value),
            _ => {
                let reason = EvaluationError::Index { is: value.kind() };
                Err(ExpressionError::new(expr.span.clone(), reason))
            }
        }
    }

    /// An index; negative ones count from the end.
    fn position(&mut self, expr: &Expr, length: usize) -> Result<usize, ExpressionError> {
        let index = self.whole(expr)?;
        Slice::index(index, length).ok_or_else(|| {
            let reason = EvaluationError::NoElement { index, count: length };
            ExpressionError::new(expr.span.clone(), reason)
        })
    }

    /// A range; its ends are clipped to the elements that exist.
    fn slice(
        &mut self,
        [start, end, step]: [&Option<Expr>; 3],
        length: usize,
    ) -> Result<Slice, ExpressionError> {
        let mut number =
            |expr: &Option<Expr>| expr.as_ref().map(|expr| self.whole(expr)).transpose();
        let (from, to, by) = (number(start)?, number(end)?, number(step)?);
        Slice::of(from, to, by.unwrap_or(1), length).ok_or_else(|| {
            let span = step.as_ref().map_or(0..0, |step| step.span.clone());
            ExpressionError::new(span, EvaluationError::Step)
        })
    }
}

/// Why a part of the text has no value: at the argument at fault, or at the whole part.
fn placed(stop: Stop, whole: &Range<usize>, arguments: &[&Range<usize>]) -> ExpressionError {
    match stop {
        Stop::Because(reason) => ExpressionError::new(whole.clone(), reason),
        Stop::OfArgument(index, reason) => {
            let span = arguments.get(index).copied().unwrap_or(whole);
            ExpressionError::new(span.clone(), reason)
        }
        Stop::Irregular => ExpressionError::of_text(whole.clone(), "this cannot be computed"),
    }
}

/// The element whose coordinates are the elements of a tensor.
fn at_coordinates(tensor: &TensorView, coordinates: &TensorView) -> Result<Item, EvaluationError> {
    let mut view = tensor.clone();
    for dimension in 0..coordinates.count() {
        let length = view.tensor_type().shape.first().copied().unwrap_or(0);
        let found = coordinates.pick(0, dimension).scalar();
        let index = match found {
            Some(Number::Integer(index)) if index >= 0 && index < i128::from(length) => index,
            _ => return Err(EvaluationError::Coordinate { axis: dimension, length }),
        };
        view = view.pick(0, usize::try_from(index).unwrap_or(usize::MAX));
    }
    Ok(Item {
        place: Some(Place::Element(view.clone())),
        datum: Datum::Tensor(view),
        declared: None,
    })
}

/// A property of a value, or another view of it.
fn field(base: &Datum, name: &str) -> Result<Datum, EvaluationError> {
    if let Some(view) = BufferView::named(name) {
        return match base.memory() {
            Some(memory) => Ok(Datum::Buffer(memory, view)),
            None => Err(base.is_no("memory")),
        };
    }
    let tensor = base.tensor();
    match (name, &tensor) {
        ("shape", Some(tensor)) => {
            let shape = &tensor.tensor_type().shape;
            let numbers: Vec<Number> =
                shape.iter().map(|length| Number::Integer((*length).into())).collect();
            scalars::computed(vec![shape.len() as u64], &numbers, false)
        }
        ("rank", Some(tensor)) => Ok(Datum::integer(tensor.tensor_type().shape.len() as i128)),
        ("count", Some(tensor)) => Ok(Datum::integer(tensor.count() as i128)),
        ("type", Some(tensor)) => Ok(Datum::Text(tensor.type_name())),
        ("type", None) => Ok(Datum::Text(base.variable("").type_name)),
        ("count", None) if base.list().is_some() => {
            let (_, start, end) = base.list().ok_or_else(|| base.is_no("list"))?;
            Ok(Datum::integer(end.saturating_sub(start) as i128))
        }
        ("bytes", _) => match base.memory() {
            Some(memory) => Ok(Datum::integer(memory.len() as i128)),
            None => Err(base.is_no("memory")),
        },
        ("references", _) => match base {
            Datum::Value(Value::Ref(value)) => {
                Ok(Datum::integer(value.reference_count().saturating_sub(1) as i128))
            }
            _ => Err(base.is_no("reference")),
        },
        _ => Err(EvaluationError::NoField { is: base.kind(), name: name.to_owned() }),
    }
}

/// The field that is a tensor with its axes in reverse order.
const TRANSPOSED: &str = "T";

/// Fields that values have, for completions.
pub(crate) const FIELDS: &[(&str, &str)] = &[
    (TRANSPOSED, "a tensor with its axes in reverse order"),
    ("shape", "the dimensions of a tensor"),
    ("rank", "how many dimensions a tensor has"),
    ("count", "how many elements there are"),
    ("type", "the type, as text"),
    ("bytes", "how many bytes of memory there are"),
    ("references", "how many references to the object the program holds"),
    ("u8", "memory as bytes"),
    ("i32", "memory as 32-bit integers"),
    ("i64", "memory as 64-bit integers"),
    ("f32", "memory as 32-bit floats"),
    ("f64", "memory as 64-bit floats"),
];

/// Memory as a tensor of a type, or a number converted to another type.
fn cast(base: &Datum, type_name: &str) -> Result<Item, EvaluationError> {
    if foreign::is_type(type_name) {
        return foreign::cast(base, type_name);
    }
    let parsed = TensorType::parse(type_name);
    let parsed = parsed.map_err(|error| EvaluationError::Text(error.to_string()))?;
    let is_single = matches!(base, Datum::Tensor(tensor) if tensor.scalar().is_some());
    let is_ref = matches!(base, Datum::Value(Value::Ref(_)));
    if parsed.shape.is_empty()
        && !is_ref
        && let Some(number) = base.number()
    {
        return reduce::convert(number, parsed.element_type).map(Item::from).ok_or_else(|| {
            EvaluationError::CannotCast { is: base.kind(), type_name: type_name.to_owned() }
        });
    }
    if let Datum::Tensor(tensor) = base
        && !tensor.is_contiguous()
    {
        return Err(EvaluationError::Gaps);
    }
    let memory = base.memory().filter(|_| !is_single || !parsed.shape.is_empty());
    let memory = memory.ok_or_else(|| EvaluationError::NotMemory { is: base.kind() })?;
    let view = TensorView::new(memory, parsed)?;
    let place = view.scalar().is_some().then(|| Place::Element(view.clone()));
    Ok(Item { datum: Datum::Tensor(view), place, declared: None })
}

//! [`Evaluator`]: functions, blocks, scalars, loops.

use std::sync::Arc;

use crate::evaluate::budget::Budget;
use crate::evaluate::generic::{Nest, Reduced};
use crate::evaluate::slices::Part;
use crate::evaluate::{extensions, indices, packing, shares, slices};
use crate::formats::epsilon;
use crate::lanes::{Bank, LANES, Program, apply, check_types};
use crate::operations::{
    Constant, Function, Generic, Id, Kind, Operation, Region, Shape, Size, Slice, Tiling,
};
use crate::refusal::{Refusal, Result};
use crate::values::{Elements, Number, Tensor, Value, count_of};
use mlir::{FloatBinary, Scalar, TensorType, Tiles, Type};

/// A tensor that a dispatch is bound to.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoundTensor {
    /// Its elements, once they are known or one of them is written.
    pub(crate) tensor: Option<Arc<Tensor>>,
    /// Which elements have been written.
    pub(crate) written: Vec<bool>,
}

/// Evaluates one function once.
pub(crate) struct Evaluator<'f> {
    pub(super) function: &'f Function,
    values: Vec<Option<Value>>,
    pub(crate) bound: Vec<BoundTensor>,
    pub(crate) budget: Budget,
    pub(crate) with_bounds: bool,
    /// How many threads share a loop nest.
    pub(crate) threads: usize,
    /// What loop nests have reduced, by the value that is their first result.
    pub(crate) reduced: Vec<(Id, Reduced)>,
}

impl<'f> Evaluator<'f> {
    pub(crate) fn new(function: &'f Function, budget: Budget, with_bounds: bool) -> Self {
        Self {
            function,
            values: vec![None; function.types.len()],
            bound: Vec::new(),
            budget,
            with_bounds,
            threads: shares::threads(),
            reduced: Vec::new(),
        }
    }

    /// Gives a value before the function runs.
    pub(crate) fn set(&mut self, id: Id, value: Value) {
        self.values[id.0] = Some(value);
    }

    /// Runs the function; what it returns.
    pub(crate) fn run(&mut self) -> Result<Vec<Value>> {
        let function = self.function;
        self.block(&function.body)
    }

    fn block(&mut self, region: &Region) -> Result<Vec<Value>> {
        for operation in &region.operations {
            self.budget.take(500)?;
            self.operation(operation)
                .map_err(|it| it.in_operation(&operation.name, operation.line))?;
        }
        region.yields.iter().map(|id| self.get(*id)).collect()
    }

    /// Lets go of all values but those of bound tensors, after the function has run.
    pub(crate) fn forget_values(&mut self) {
        self.values.clear();
    }

    pub(crate) fn get(&self, id: Id) -> Result<Value> {
        self.values[id.0]
            .clone()
            .ok_or_else(|| Refusal::malformed(0, "a value is used before it is computed"))
    }

    pub(crate) fn tensor(&self, id: Id) -> Result<Arc<Tensor>> {
        match self.get(id)? {
            Value::Tensor(tensor) => Ok(tensor),
            _ => Err(Refusal::malformed(0, "expected a tensor")),
        }
    }

    pub(super) fn number(&self, id: Id) -> Result<Number> {
        match self.get(id)? {
            Value::Number(number) => Ok(number),
            _ => Err(Refusal::malformed(0, "expected a scalar")),
        }
    }

    /// An index that no rounding could change.
    pub(super) fn index(&self, id: Id) -> Result<i64> {
        let number = self.number(id)?;
        if number.bound != 0.0 {
            let reason = "an index or a size depends on a float that may be rounded either way";
            return Err(Refusal::undefined(0, reason));
        }
        Ok(number.integer)
    }

    fn indices(&self, ids: &[Id]) -> Result<Vec<i64>> {
        ids.iter().map(|id| self.index(*id)).collect()
    }

    fn sizes(&self, sizes: &[Size]) -> Result<Vec<i64>> {
        let number = |size: &Size| match size {
            Size::Fixed(number) => Ok(*number),
            Size::Value(id) => self.index(*id),
        };
        sizes.iter().map(number).collect()
    }

    fn part(&self, slice: &Slice) -> Result<Part> {
        Ok(Part {
            offsets: self.sizes(&slice.offsets)?,
            sizes: self.sizes(&slice.sizes)?,
            strides: self.sizes(&slice.strides)?,
        })
    }

    fn type_of(&self, id: Id) -> Result<&'f TensorType> {
        let type_ = self.function.tensor_type(id);
        type_.ok_or_else(|| Refusal::malformed(0, "expected the type of a tensor"))
    }

    /// A tensor of zeros, within the limits.
    pub(crate) fn zeros(&mut self, shape: Vec<usize>, type_: &TensorType) -> Result<Tensor> {
        if !type_.accepts(&shape) {
            return Err(Refusal::undefined(0, format!("a tensor of {shape:?} as {type_}")));
        }
        self.budget.take_tensor(&shape)?;
        if count_of(&shape).is_none() {
            return Err(Refusal::undefined(0, format!("a tensor of {shape:?}")));
        }
        Ok(Tensor::zeros(shape, type_.element))
    }

    fn operation(&mut self, operation: &Operation) -> Result<()> {
        let values = self.evaluate(operation)?;
        if values.len() != operation.results.len() {
            return Err(Refusal::malformed(0, "another number of results"));
        }
        for (id, value) in operation.results.iter().zip(values) {
            self.check(*id, &value)?;
            self.values[id.0] = Some(value);
        }
        Ok(())
    }

    /// A value has the type that the text says.
    fn check(&self, id: Id, value: &Value) -> Result<()> {
        match (self.function.type_of(id), value) {
            (Type::Tensor(type_), Value::Tensor(tensor)) => {
                if type_.accepts(&tensor.shape) && type_.element == tensor.element {
                    return Ok(());
                }
                let (shape, element) = (&tensor.shape, tensor.element);
                Err(Refusal::undefined(0, format!("a tensor of {shape:?} {element} as {type_}")))
            }
            (Type::Scalar(_), Value::Number(_)) | (Type::Bound(..), Value::Bound(..)) => Ok(()),
            _ => Err(Refusal::malformed(0, "a result of another type")),
        }
    }

    pub(super) fn evaluate(&mut self, operation: &Operation) -> Result<Vec<Value>> {
        let result = operation.results.first().copied();
        let one = |tensor: Arc<Tensor>| Ok(vec![Value::Tensor(tensor)]);
        let result_type = || match result {
            Some(id) => self.type_of(id),
            None => Err(Refusal::malformed(0, "no result")),
        };
        match &operation.kind {
            Kind::Constant(constant) => {
                let Some(id) = result else { return Ok(Vec::new()) };
                Ok(vec![self.constant(constant, id)?])
            }
            Kind::Scalar(what, operands) => self.scalar(what, operands, result),
            // The module `complex` leaves none.
            Kind::Complex(..) => Err(Refusal::unsupported(0, "is not evaluated")),
            Kind::Alias(values) => values.iter().map(|id| self.get(*id)).collect(),
            Kind::Ordinal { value, .. } => Ok(vec![self.get(*value)?]),
            Kind::LoopIndex(_) => Err(Refusal::malformed(0, "outside of a loop nest")),
            Kind::Generic(generic) => self.generic(generic, result),
            Kind::Load { source, slice } => {
                let Value::Bound(number, _) = self.get(*source)? else {
                    return Err(Refusal::malformed(0, "expected a dispatch tensor"));
                };
                let Some(tensor) = self.bound[number].tensor.clone() else {
                    return Err(Refusal::undefined(0, "reads a tensor that nothing has written"));
                };
                let type_ = result_type()?;
                let part = self.part(slice)?;
                self.budget.take_tensor(&part.check(&tensor.shape)?)?;
                one(slices::extract(&tensor, &part, type_)?)
            }
            Kind::Store { value, target, slice } => self.store(*value, *target, slice),
            Kind::TieShape { source, sizes } => {
                let type_ = self.type_of(*source)?;
                let shape = shape_of(type_, &self.indices(sizes)?)?;
                let Value::Bound(number, known) = self.get(*source)? else {
                    return Err(Refusal::malformed(0, "expected a dispatch tensor"));
                };
                if known.is_some_and(|known| known != shape) {
                    let reason = format!("the argument does not have the shape {shape:?}");
                    return Err(Refusal::undefined(0, reason));
                }
                Ok(vec![Value::Bound(number, Some(shape))])
            }
            Kind::Empty { sizes } => {
                let type_ = result_type()?;
                let shape = shape_of(type_, &self.indices(sizes)?)?;
                one(Arc::new(self.zeros(shape, type_)?))
            }
            Kind::Splat { value, sizes } => {
                let type_ = result_type()?;
                let shape = shape_of(type_, &self.indices(sizes)?)?;
                let number = self.number(*value)?;
                let mut tensor = self.zeros(shape, type_)?;
                (0..tensor.count()).for_each(|at| tensor.set(at, number));
                one(Arc::new(tensor))
            }
            Kind::FromElements(values) => {
                let type_ = result_type()?;
                let mut tensor = self.zeros(shape_of(type_, &[])?, type_)?;
                if tensor.count() != values.len() {
                    return Err(Refusal::malformed(0, "another number of elements"));
                }
                for (at, id) in values.iter().enumerate() {
                    tensor.set(at, self.number(*id)?);
                }
                one(Arc::new(tensor))
            }
            Kind::Extract { source, indices } => {
                let tensor = self.tensor(*source)?;
                let place = self.place(&tensor, indices)?;
                Ok(vec![Value::Number(tensor.get(place))])
            }
            Kind::Insert { value, target, indices } => {
                let mut tensor = (*self.tensor(*target)?).clone();
                self.budget.take_tensor(&tensor.shape)?;
                let place = self.place(&tensor, indices)?;
                tensor.set(place, self.number(*value)?);
                one(Arc::new(tensor))
            }
            Kind::ExtractSlice { source, slice } => {
                let type_ = result_type()?;
                let tensor = self.tensor(*source)?;
                let part = self.part(slice)?;
                self.budget.take_tensor(&part.check(&tensor.shape)?)?;
                one(slices::extract(&tensor, &part, type_)?)
            }
            Kind::InsertSlice { value, target, slice } => {
                let mut tensor = (*self.tensor(*target)?).clone();
                self.budget.take_tensor(&tensor.shape)?;
                let value = self.tensor(*value)?;
                slices::insert(&value, &mut tensor, &self.part(slice)?, |_| {})?;
                one(Arc::new(tensor))
            }
            Kind::Pad { source, low, high, body } => {
                let type_ = result_type()?;
                let source = self.tensor(*source)?;
                let (low, high) = (self.sizes(low)?, self.sizes(high)?);
                one(Arc::new(self.pad(&source, &low, &high, body, type_)?))
            }
            Kind::Generate { sizes, body } => {
                let type_ = result_type()?;
                let shape = shape_of(type_, &self.indices(sizes)?)?;
                let mut tensor = self.zeros(shape, type_)?;
                self.each_index(body, &mut tensor, |_| true)?;
                one(Arc::new(tensor))
            }
            Kind::Reshape { source, sizes } => {
                let type_ = result_type()?;
                let source = self.tensor(*source)?;
                let shape = self.shape(&source, sizes)?;
                if count_of(&shape) != Some(source.count()) || !type_.accepts(&shape) {
                    let reason = format!("{} elements as {shape:?}, {type_}", source.count());
                    return Err(Refusal::undefined(0, reason));
                }
                one(slices::reshaped(&source, shape))
            }
            Kind::Dimension { source, index } => {
                let index = self.index(*index)?;
                let shape = match self.get(*source)? {
                    Value::Tensor(tensor) => tensor.shape.clone(),
                    Value::Bound(_, Some(shape)) => shape,
                    _ => return Err(Refusal::malformed(0, "expected a tensor")),
                };
                let size = usize::try_from(index).ok().and_then(|at| shape.get(at).copied());
                match size {
                    Some(size) => Ok(integer(size as i64)),
                    None => Err(Refusal::undefined(0, format!("dimension {index} of {shape:?}"))),
                }
            }
            Kind::Rank { source } => Ok(integer(self.tensor(*source)?.shape.len() as i64)),
            Kind::Concat { dimension, sources } => {
                let sources: Vec<_> =
                    sources.iter().map(|id| self.tensor(*id)).collect::<Result<_>>()?;
                for source in &sources {
                    self.budget.take_tensor(&source.shape)?;
                }
                one(Arc::new(slices::concat(&sources, *dimension)?))
            }
            Kind::Pack { source, padding, target, tiling } => {
                let (source, target) = (self.tensor(*source)?, self.tensor(*target)?);
                self.budget.take_tensor(&target.shape)?;
                let padding = padding.map(|id| self.number(id)).transpose()?;
                let tiles = self.tiles(tiling, source.shape.len())?;
                one(Arc::new(packing::pack(&tiles, &source, target.shape.clone(), padding)?))
            }
            Kind::Unpack { source, target, tiling } => {
                let (source, target) = (self.tensor(*source)?, self.tensor(*target)?);
                self.budget.take_tensor(&target.shape)?;
                let tiles = self.tiles(tiling, target.shape.len())?;
                one(Arc::new(packing::unpack(&tiles, &source, &target.shape)?))
            }
            Kind::Affine { map, which, operands } => {
                let operands = self.indices(operands)?;
                let all = map.values(&operands)?;
                Ok(integer(which.of(all).unwrap_or_default()))
            }
            Kind::For { low, high, step, initial, body } => {
                self.repeat([*low, *high, *step], initial, body)
            }
            Kind::Assert { condition, message } => {
                let condition = self.number(*condition)?;
                if condition.integer == 0 && condition.bound == 0.0 {
                    return Err(Refusal::undefined(operation.line, format!("fails: {message}")));
                }
                Ok(Vec::new())
            }
            Kind::If { condition, then, otherwise } => {
                let condition = self.number(*condition)?;
                if condition.bound != 0.0 {
                    let reason = "a branch depends on a float that may be rounded either way";
                    return Err(Refusal::undefined(0, reason));
                }
                self.block(if condition.integer != 0 { then } else { otherwise })
            }
            Kind::Extension { what, inputs, outputs } => {
                let inputs: Vec<_> =
                    inputs.iter().map(|id| self.tensor(*id)).collect::<Result<_>>()?;
                let outputs: Vec<_> =
                    outputs.iter().map(|id| self.tensor(*id)).collect::<Result<_>>()?;
                for tensor in &outputs {
                    self.budget.take_tensor(&tensor.shape)?;
                }
                let results = extensions::evaluate(self, what, &inputs, &outputs)?;
                Ok(results.into_iter().map(|it| Value::Tensor(Arc::new(it))).collect())
            }
        }
    }

    fn constant(&mut self, constant: &Constant, id: Id) -> Result<Value> {
        let Some(type_) = self.function.tensor_type(id) else {
            return Ok(Value::Number(match constant {
                Constant::Float(float) => Number { float: *float, ..Number::default() },
                Constant::Integer(integer) => Number { integer: *integer, ..Number::default() },
                _ => return Err(Refusal::malformed(0, "several elements of a scalar")),
            }));
        };
        let mut tensor = self.zeros(shape_of(type_, &[])?, type_)?;
        match (&mut tensor.elements, constant) {
            (Elements::Floats(values), Constant::Float(float)) => values.fill(*float),
            (Elements::Integers(values), Constant::Integer(integer)) => values.fill(*integer),
            (Elements::Floats(values), Constant::Floats(given)) if values.len() == given.len() => {
                values.copy_from_slice(given);
            }
            (Elements::Integers(values), Constant::Integers(given))
                if values.len() == given.len() =>
            {
                values.copy_from_slice(given);
            }
            _ => return Err(Refusal::malformed(0, "elements of another type or number")),
        }
        Ok(Value::Tensor(Arc::new(tensor)))
    }

    /// A scalar operation, on scalars or on each element of tensors.
    fn scalar(&mut self, what: &Scalar, operands: &[Id], result: Option<Id>) -> Result<Vec<Value>> {
        let Some(result) = result else { return Ok(Vec::new()) };
        check_types(self.function, what, operands)?;
        let mut bank = Bank::new(operands.len() + 1, 0);
        let registers: Vec<usize> = (0..operands.len()).collect();
        let output = operands.len();
        let values: Vec<Value> = operands.iter().map(|id| self.get(*id)).collect::<Result<_>>()?;
        let Some(type_) = self.function.tensor_type(result) else {
            for (register, value) in registers.iter().zip(&values) {
                let Value::Number(number) = value else {
                    return Err(Refusal::malformed(0, "a tensor for a scalar"));
                };
                bank.broadcast(*register, *number);
            }
            apply(&mut bank, what, &registers, output, None, 1, self.with_bounds)?;
            return Ok(vec![Value::Number(bank.get(output, 0))]);
        };
        let shape = values.iter().find_map(|value| match value {
            Value::Tensor(tensor) => Some(tensor.shape.clone()),
            _ => None,
        });
        let Some(shape) = shape else {
            return Err(Refusal::malformed(0, "scalars for a tensor"));
        };
        let mut tensor = self.zeros(shape, type_)?;
        for start in (0..tensor.count()).step_by(LANES) {
            let lanes = (tensor.count() - start).min(LANES);
            for (register, value) in registers.iter().zip(&values) {
                match value {
                    Value::Number(number) => bank.broadcast(*register, *number),
                    Value::Tensor(operand) if operand.shape == tensor.shape => {
                        for lane in 0..lanes {
                            let number = operand.get(start + lane);
                            bank.set(*register, lane, number);
                        }
                    }
                    _ => return Err(Refusal::undefined(0, "tensors of different shapes")),
                }
            }
            apply(&mut bank, what, &registers, output, None, lanes, self.with_bounds)?;
            (0..lanes).for_each(|lane| tensor.set(start + lane, bank.get(output, lane)));
        }
        Ok(vec![Value::Tensor(Arc::new(tensor))])
    }

    fn generic(&mut self, generic: &Generic, result: Option<Id>) -> Result<Vec<Value>> {
        let program = Program::compile(self.function, &generic.body)?;
        let mut nest = self.nest(generic, &program)?;
        if self.with_bounds {
            self.widen_addends(generic, &mut nest);
        }
        let (tensors, reduced) = nest.run(&mut self.budget)?;
        if let Some(id) = result {
            self.reduced.push((id, reduced));
        }
        Ok(tensors.into_iter().map(|it| Value::Tensor(Arc::new(it))).collect())
    }

    /// Gives numbers that are added to a sum the bound of a start of that sum: the compiler may
    /// begin with them instead of zero, and each step of the sum then rounds them, too.
    fn widen_addends(&self, generic: &Generic, nest: &mut Nest<'_>) {
        let of_sum = |id: &Id| {
            let (_, reduced) = self.reduced.iter().rev().find(|(known, _)| known == id)?;
            Some(reduced.rounds as f64 * epsilon(reduced.sum?.format))
        };
        let operands: Vec<Id> = generic.inputs.iter().chain(&generic.outputs).copied().collect();
        let place = |id: &Id| generic.body.arguments.iter().position(|it| it == id);
        for operation in &generic.body.operations {
            let Kind::Scalar(
                Scalar::FloatBinary(FloatBinary::Add | FloatBinary::Subtract, _),
                terms,
            ) = &operation.kind
            else {
                continue;
            };
            let places: Option<Vec<usize>> = terms.iter().map(place).collect();
            let Some([one, other]) = places.as_deref() else { continue };
            for (sum, addend) in [(*one, *other), (*other, *one)] {
                if let Some(relative) = operands.get(sum).and_then(of_sum)
                    && !nest.are_whole([sum, addend])
                {
                    nest.widen(addend, relative);
                }
            }
        }
    }

    /// A loop nest with its operands.
    pub(super) fn nest<'g>(&self, generic: &'g Generic, program: &'g Program) -> Result<Nest<'g>> {
        Ok(Nest {
            generic,
            program,
            inputs: generic.inputs.iter().map(|id| self.get(*id)).collect::<Result<_>>()?,
            outputs: generic.outputs.iter().map(|id| self.tensor(*id)).collect::<Result<_>>()?,
            captures: self.captures(program)?,
            tensors: self.tensors(program)?,
            with_bounds: self.with_bounds,
            threads: self.threads,
        })
    }

    pub(super) fn captures(&self, program: &Program) -> Result<Vec<Number>> {
        program.captures.iter().map(|(id, _)| self.number(*id)).collect()
    }

    pub(super) fn tensors(&self, program: &Program) -> Result<Vec<Arc<Tensor>>> {
        program.tensors.iter().map(|id| self.tensor(*id)).collect()
    }

    fn shape(&self, source: &Tensor, sizes: &Shape) -> Result<Vec<usize>> {
        let bad = || Refusal::undefined(0, "a size below zero, or a dimension that is not there");
        let unsigned = |size: i64| usize::try_from(size).map_err(|_| bad());
        match sizes {
            Shape::Same => Ok(source.shape.clone()),
            Shape::Sizes(sizes) => self.sizes(sizes)?.into_iter().map(unsigned).collect(),
            Shape::Products(groups) => {
                let product = |group: &Vec<usize>| {
                    let sizes = group.iter().map(|at| source.shape.get(*at).copied());
                    let sizes: Option<Vec<usize>> = sizes.collect();
                    sizes.and_then(|sizes| count_of(&sizes)).ok_or_else(bad)
                };
                groups.iter().map(product).collect()
            }
            Shape::Tensor(id) => {
                let tensor = self.tensor(*id)?;
                if tensor.element.is_float() || tensor.bounds.iter().any(|it| *it != 0.0) {
                    return Err(Refusal::undefined(0, "a shape that is not known exactly"));
                }
                (0..tensor.count()).map(|at| unsigned(tensor.get(at).integer)).collect()
            }
        }
    }

    fn tiles(&self, tiling: &Tiling, rank: usize) -> Result<Tiles> {
        packing::tiling(rank, &tiling.outer, &tiling.inner, &self.sizes(&tiling.tiles)?)
    }

    fn place(&self, tensor: &Tensor, indices: &[Id]) -> Result<usize> {
        let indices = self.indices(indices)?;
        let part = Part {
            sizes: vec![1; indices.len()],
            strides: vec![1; indices.len()],
            offsets: indices,
        };
        part.check(&tensor.shape)?;
        let at: Vec<usize> = part.offsets.iter().map(|it| *it as usize).collect();
        Ok(indices::offset(&at, &crate::values::strides_of(&tensor.shape)))
    }

    fn store(&mut self, value: Id, target: Id, slice: &Slice) -> Result<Vec<Value>> {
        let value = self.tensor(value)?;
        let type_ = self.type_of(target)?;
        let part = self.part(slice)?;
        let Value::Bound(number, known) = self.get(target)? else {
            return Err(Refusal::malformed(0, "expected a dispatch tensor"));
        };
        if self.bound[number].tensor.is_none() {
            let Some(shape) = known.or_else(|| type_.fixed()) else {
                return Err(Refusal::undefined(0, "stores into a tensor of unknown shape"));
            };
            let tensor = self.zeros(shape, type_)?;
            self.bound[number].written = vec![false; tensor.count()];
            self.bound[number].tensor = Some(Arc::new(tensor));
        }
        self.budget.take_tensor(&value.shape)?;
        let it = &mut self.bound[number];
        if let Some(tensor) = &mut it.tensor {
            let written = &mut it.written;
            slices::insert(&value, Arc::make_mut(tensor), &part, |at| {
                if let Some(written) = written.get_mut(at) {
                    *written = true;
                }
            })?;
        }
        Ok(Vec::new())
    }

    fn repeat(&mut self, range: [Id; 3], initial: &[Id], body: &Region) -> Result<Vec<Value>> {
        let [low, high, step] = range;
        let (low, high, step) = (self.index(low)?, self.index(high)?, self.index(step)?);
        if step <= 0 {
            return Err(Refusal::undefined(0, format!("a step of {step}")));
        }
        let mut carried: Vec<Value> =
            initial.iter().map(|id| self.get(*id)).collect::<Result<_>>()?;
        let mut counter = low;
        while counter < high {
            self.budget.take(500)?;
            let Some((first, others)) = body.arguments.split_first() else { break };
            let number = Number { integer: counter, ..Number::default() };
            self.set(*first, Value::Number(number));
            for (id, value) in others.iter().zip(carried) {
                self.check(*id, &value)?;
                self.set(*id, value);
            }
            carried = self.block(body)?;
            if carried.len() != initial.len() {
                return Err(Refusal::malformed(0, "the loop yields another number of values"));
            }
            let Some(next) = counter.checked_add(step) else { break };
            counter = next;
        }
        Ok(carried)
    }
}

fn integer(value: i64) -> Vec<Value> {
    vec![Value::Number(Number { integer: value, ..Number::default() })]
}

/// The shape of a type with these sizes in the place of dynamic ones.
fn shape_of(type_: &TensorType, dynamic: &[i64]) -> Result<Vec<usize>> {
    let lacks = || Refusal::malformed(0, format!("{type_} lacks a size"));
    type_.with(dynamic).ok_or_else(lacks)
}

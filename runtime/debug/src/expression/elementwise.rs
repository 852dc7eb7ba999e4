//! Computing element by element: operators on tensors, and functions of each element.
//!
//! `max(abs(t - u))` never stores the tensor `t - u`. Operators and functions of elements are
//! collected ([`Computation`]) until the elements are needed. Then they are computed block by
//! block, either by a reduction, which keeps no elements, or to store the whole result. A block is
//! of f64 or of i64. Values that fit neither (an integer that is too large, a division by zero) are
//! left to [`super::scalars`], whose operators on single numbers define the meaning of everything
//! here ([`Stop::Irregular`]).

use std::ops::Range;
use std::sync::Arc;

use abi::element_type::{ElementType, NumericalKind};
use abi::tensor::TensorType;
use vm::Buffer;

use super::budget::Budget;
use super::datum::Datum;
use super::error::ExpressionError;
use super::evaluation_error::EvaluationError;
use super::scalars::{self, Each};
use super::slots::Slot;
pub(crate) use super::slots::Stop;
use super::syntax::Binary;
use crate::tensor::Number;
use crate::tensor::TensorView;
use crate::tensor::{BLOCK, Block, Reader};
use crate::tensor::{Statistics, Wanted};

/// A value, or a tensor whose elements are not computed yet.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Datum(Datum),
    Computation(Computation),
}

/// A tensor whose elements are not computed yet: steps on a stack of blocks.
#[derive(Clone, Debug)]
pub(crate) struct Computation {
    shape: Vec<u64>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Tensor(TensorView),
    /// A number that pairs with every element.
    Number(Number),
    Binary(Binary, Range<usize>),
    Each(Each, Range<usize>),
}

impl Operand {
    pub(crate) fn number(&self) -> Option<Number> {
        match self {
            Self::Datum(datum) => datum.number(),
            Self::Computation(_) => None,
        }
    }

    /// The tensor, if its elements are stored.
    pub(crate) fn tensor(&self) -> Option<TensorView> {
        match self {
            Self::Datum(datum) => datum.tensor(),
            Self::Computation(_) => None,
        }
    }

    /// A description of the operand's kind, for messages.
    pub(crate) fn kind(&self) -> String {
        match self {
            Self::Datum(datum) => datum.kind(),
            Self::Computation(computation) => {
                format!("a tensor of {}", computation.type_name())
            }
        }
    }

    /// That the operand is not of a kind that is needed.
    pub(super) fn is_no(&self, wanted: &'static str) -> EvaluationError {
        EvaluationError::NotA { is: self.kind(), wanted }
    }

    /// That the operand lacks something.
    pub(super) fn has_no(&self, what: &'static str) -> EvaluationError {
        EvaluationError::Without { is: self.kind(), what }
    }

    /// The value. Elements are computed now.
    pub(crate) fn value(self, budget: &mut Budget) -> Result<Datum, ExpressionError> {
        match self {
            Self::Datum(datum) => Ok(datum),
            Self::Computation(computation) => computation.value(budget),
        }
    }

    /// The operand as a part of a computation, if it is a number or a tensor.
    pub(crate) fn computation(&self) -> Option<Computation> {
        match self {
            Self::Computation(computation) => Some(computation.clone()),
            Self::Datum(datum) => Some(match datum.number() {
                Some(number) => {
                    Computation { shape: Vec::new(), steps: vec![Step::Number(number)] }
                }
                None => {
                    let tensor = datum.tensor()?;
                    let shape = tensor.tensor_type().shape.clone();
                    Computation { shape, steps: vec![Step::Tensor(tensor)] }
                }
            }),
        }
    }
}

impl Computation {
    /// An operator on two tensors of one shape, or on a number and a tensor.
    pub(crate) fn binary(
        operator: Binary,
        left: Self,
        right: Self,
        span: &Range<usize>,
    ) -> Result<Self, EvaluationError> {
        let is_number = left.shape.is_empty() || right.shape.is_empty();
        if left.shape != right.shape && !is_number {
            let (left, right) = (left.type_name(), right.type_name());
            return Err(EvaluationError::Shapes { left, right });
        }
        let shape = if left.shape.is_empty() { right.shape } else { left.shape };
        let mut steps = left.steps;
        steps.extend(right.steps);
        steps.push(Step::Binary(operator, span.clone()));
        Ok(Self { shape, steps })
    }

    /// A function of each element.
    pub(crate) fn each(mut self, each: Each, span: &Range<usize>) -> Self {
        self.steps.push(Step::Each(each, span.clone()));
        self
    }

    pub(crate) fn count(&self) -> usize {
        let lengths = self.shape.iter().map(|length| usize::try_from(*length).ok());
        let count = lengths.reduce(|count, length| count?.checked_mul(length?));
        count.unwrap_or(Some(1)).unwrap_or(usize::MAX)
    }

    fn type_name(&self) -> String {
        match self.steps.as_slice() {
            [Step::Tensor(tensor)] => tensor.type_name(),
            _ => self.tensor_type().to_string(),
        }
    }

    /// Adds the elements to statistics.
    pub(crate) fn summarize(
        &self,
        wanted: Wanted,
        summary: &mut Statistics,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        self.run(budget, |block| {
            summary.add_block(block, wanted);
            Ok(())
        })
    }

    /// The tensor.
    pub(crate) fn value(&self, budget: &mut Budget) -> Result<Datum, ExpressionError> {
        match self.stored(budget) {
            Ok(tensor) => Ok(Datum::Tensor(tensor)),
            Err(Stop::Irregular) => self.one_by_one(budget),
            Err(Stop::Because(reason) | Stop::OfArgument(_, reason)) => {
                Err(ExpressionError::new(self.span(), reason))
            }
        }
    }

    /// The type of a regular result: f64, i64, or i8 for truth.
    fn tensor_type(&self) -> TensorType {
        let mut kinds: Vec<(NumericalKind, u8)> = Vec::new();
        for step in &self.steps {
            let kind = match step {
                Step::Tensor(tensor) if is_of_integers(tensor) => INTEGER,
                Step::Number(Number::Integer(_)) => INTEGER,
                Step::Tensor(_) | Step::Number(Number::Float(_)) => FLOAT,
                Step::Each(Each::Float(..), _) => {
                    kinds.pop();
                    FLOAT
                }
                Step::Each(Each::Magnitude, _) => match kinds.pop() {
                    Some(FLOAT) => FLOAT,
                    _ => INTEGER,
                },
                Step::Binary(operator, _) => match (kinds.pop(), kinds.pop()) {
                    _ if scalars::is_comparison(*operator) => TRUTH,
                    (Some(FLOAT), _) | (_, Some(FLOAT)) => FLOAT,
                    _ => INTEGER,
                },
            };
            kinds.push(kind);
        }
        let (kind, bits) = kinds.pop().unwrap_or(FLOAT);
        TensorType { shape: self.shape.clone(), element_type: ElementType { kind, bits } }
    }

    /// The place of the last step in the text.
    fn span(&self) -> Range<usize> {
        match self.steps.last() {
            Some(Step::Binary(_, span) | Step::Each(_, span)) => span.clone(),
            _ => 0..0,
        }
    }

    fn stored(&self, budget: &mut Budget) -> Result<TensorView, Stop> {
        let tensor_type = self.tensor_type();
        let width = tensor_type.element_type.byte_count();
        let bytes = self.count().checked_mul(width).ok_or(Stop::Irregular)?;
        if bytes == 0 {
            return Err(Stop::Irregular);
        }
        let buffer = Buffer::dense(bytes)?;
        let mut at = 0;
        self.run(budget, |block| {
            let bytes: &[u8] = match block {
                Block::U8(truths) => truths,
                Block::I64(values) => bytemuck::cast_slice(values),
                Block::F64(values) => bytemuck::cast_slice(values),
                _ => return Err(Stop::Irregular),
            };
            buffer.write(at, bytes)?;
            at += bytes.len();
            Ok(())
        })?;
        Ok(TensorView::new(Arc::new(buffer), tensor_type)?)
    }
}

const TRUTH: (NumericalKind, u8) = (NumericalKind::Integer, 8);
const INTEGER: (NumericalKind, u8) = (NumericalKind::Integer, 64);
const FLOAT: (NumericalKind, u8) = (NumericalKind::Float, 64);

pub(super) fn is_of_integers(tensor: &TensorView) -> bool {
    use NumericalKind::{Boolean, Integer, SignedInteger, UnsignedInteger};
    let kind = tensor.tensor_type().element_type.kind;
    matches!(kind, Integer | SignedInteger | UnsignedInteger | Boolean)
}

impl Computation {
    /// Computes the elements in order, one block at a time.
    fn run(
        &self,
        budget: &mut Budget,
        mut visit: impl FnMut(Block<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let tensors = self.steps.iter().filter_map(|step| match step {
            Step::Tensor(tensor) => Some(Reader::new(tensor)),
            _ => None,
        });
        let mut readers = tensors.collect::<Result<Vec<_>, _>>()?;
        let mut slots: Vec<Slot> = Vec::new();
        let mut left = self.count();
        while left > 0 {
            let count = left.min(BLOCK);
            left -= count;
            budget.steps(count)?;
            let mut readers = readers.iter_mut();
            let mut height = 0;
            for step in &self.steps {
                if height == slots.len() {
                    slots.push(Slot::new());
                }
                match step {
                    Step::Tensor(_) => {
                        let block =
                            readers.next().and_then(|reader| reader.read(count).transpose());
                        slots[height].take(block.ok_or(Stop::Irregular)??)?;
                        height += 1;
                    }
                    Step::Number(number) => {
                        slots[height].splat(*number, count)?;
                        height += 1;
                    }
                    Step::Binary(operator, _) => {
                        height -= 1;
                        let (below, above) = slots.split_at_mut(height);
                        let left = below.last_mut().ok_or(Stop::Irregular)?;
                        left.compute(*operator, &mut above[0], count)?;
                    }
                    Step::Each(each, _) => slots[height - 1].each(*each, count)?,
                }
            }
            visit(slots[0].block(count))?;
        }
        Ok(())
    }

    /// The tensor, computed by the operators on single numbers.
    pub(super) fn one_by_one(&self, budget: &mut Budget) -> Result<Datum, ExpressionError> {
        let mut stack: Vec<Datum> = Vec::new();
        for step in &self.steps {
            let next = match step {
                Step::Tensor(tensor) => Datum::Tensor(tensor.clone()),
                Step::Number(number) => Datum::Number(*number),
                Step::Binary(operator, span) => {
                    let (right, left) = (stack.pop(), stack.pop());
                    let (left, right) = left.zip(right).ok_or_else(|| broken(span))?;
                    scalars::one_by_one(*operator, &left, &right, budget)
                        .map_err(|reason| ExpressionError::new(span.clone(), reason))?
                }
                Step::Each(each, span) => {
                    let operand = stack.pop().ok_or_else(|| broken(span))?;
                    scalars::each_one_by_one(*each, &operand, budget)
                        .map_err(|reason| ExpressionError::new(span.clone(), reason))?
                }
            };
            stack.push(next);
        }
        stack.pop().ok_or_else(|| broken(&self.span()))
    }
}

/// An operand is missing. That never happens, as steps are only added with their operands.
fn broken(span: &Range<usize>) -> ExpressionError {
    ExpressionError::of_text(span.clone(), "the computation has no operand")
}

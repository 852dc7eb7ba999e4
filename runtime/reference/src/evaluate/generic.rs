//! Loop nests over elements: `linalg.generic` and all that is one.
//!
//! What is read and written where, what a nest adds up, and the bounds of sums. `rounds` walks the
//! loops, and `shares` lets several threads do so.

use std::ops::Range;
use std::sync::Arc;

use crate::evaluate::budget::Budget;
use crate::evaluate::contraction::Contraction;
use crate::evaluate::rounds::Walk;
use crate::evaluate::shares::Shares;
use crate::formats::epsilon;
use crate::lanes::{Bank, LANES, Program, Sum};
use crate::operations::{Generic, Iterator};
use crate::refusal::{Refusal, Result};
use crate::values::{Elements, Number, Tensor, Value, strides_of};
use mlir::Expression;

/// What a loop nest reduces, for people.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reduced {
    /// How many rounds the reducing loops have for each element.
    pub(crate) rounds: u128,
    /// How the first output is a sum, if it is one.
    pub(crate) sum: Option<Sum>,
}

/// A loop nest with its operands.
pub(crate) struct Nest<'g> {
    pub(crate) generic: &'g Generic,
    pub(crate) program: &'g Program,
    pub(crate) inputs: Vec<Value>,
    pub(crate) outputs: Vec<Arc<Tensor>>,
    /// Values of the function around it.
    pub(crate) captures: Vec<Number>,
    pub(crate) tensors: Vec<Arc<Tensor>>,
    pub(crate) with_bounds: bool,
    /// How many threads may share its work.
    pub(crate) threads: usize,
}

/// How an operand is read.
#[derive(Clone)]
pub(super) struct Access<'g> {
    pub(super) register: usize,
    pub(super) tensor: Arc<Tensor>,
    /// The offset of the first element, and the step of each loop.
    pub(super) base: i64,
    pub(super) steps: Vec<i64>,
    /// Expressions that are no sums of loops; they are computed for each element.
    pub(super) expressions: Option<&'g [Expression]>,
}

impl Nest<'_> {
    /// Runs all loops; the results are in the order of the outputs.
    pub(crate) fn run(self, budget: &mut Budget) -> Result<(Vec<Tensor>, Reduced)> {
        let sizes = self.loop_sizes()?;
        let points = sizes.iter().try_fold(1_u128, |count, size| count.checked_mul(*size as u128));
        let points = points.unwrap_or(u128::MAX);
        // Without a loop that lanes can share, each element has the cost of a block.
        let alone =
            self.program.has_branches || !self.generic.iterators.contains(&Iterator::Parallel);
        let for_each = (self.program.cost as u128 + 1) * if alone { 16 } else { 1 };
        budget.take(points.saturating_mul(for_each))?;
        let rounds =
            sizes.iter().zip(&self.generic.iterators).try_fold(1_u128, |count, (size, kind)| {
                count.checked_mul(if *kind == Iterator::Reduction { *size as u128 } else { 1 })
            });
        let reduced = Reduced {
            rounds: rounds.unwrap_or(u128::MAX),
            sum: self.program.sums.first().copied().flatten(),
        };
        for output in &self.outputs {
            budget.take_tensor(&output.shape)?;
        }
        let mut results = self.starts();
        if points > 0 {
            self.fill(&sizes, reduced.rounds, &mut results, points.saturating_mul(for_each))?;
        }
        for result in &mut results {
            if !self.with_bounds {
                result.bounds = Vec::new();
            }
            result.settle_bounds();
        }
        Ok((results, reduced))
    }

    /// What the results are before any round.
    pub(super) fn starts(&self) -> Vec<Tensor> {
        let mut starts = self.outputs.iter().map(|it| (**it).clone()).collect::<Vec<_>>();
        if self.with_bounds {
            starts.iter_mut().for_each(Tensor::with_bounds);
        }
        starts
    }

    /// Whether operands are tensors of whole numbers, whose sums are exact in any order.
    pub(super) fn are_whole(&self, operands: [usize; 2]) -> bool {
        let is_whole = |at: usize| match at.checked_sub(self.inputs.len()) {
            None => matches!(&self.inputs[at], Value::Tensor(it) if it.is_whole()),
            Some(output) => self.outputs.get(output).is_some_and(|it| it.is_whole()),
        };
        operands.into_iter().all(is_whole)
    }

    /// Widens the bound of an operand, relative to its magnitude.
    pub(super) fn widen(&mut self, operand: usize, relative: f64) {
        let wider = |number: Number| {
            let own = number.float.abs() * relative;
            Number { bound: number.bound + if own.is_finite() { own } else { 0.0 }, ..number }
        };
        let wider_tensor = |tensor: &Arc<Tensor>| {
            let mut wide = (**tensor).clone();
            wide.with_bounds();
            (0..wide.count()).for_each(|at| wide.set(at, wider(wide.get(at))));
            Arc::new(wide)
        };
        match operand.checked_sub(self.inputs.len()) {
            None => {
                let widened = match &self.inputs[operand] {
                    Value::Tensor(tensor) => Value::Tensor(wider_tensor(tensor)),
                    Value::Number(number) => Value::Number(wider(*number)),
                    other => other.clone(),
                };
                self.inputs[operand] = widened;
            }
            Some(output) => {
                if let Some(tensor) = self.outputs.get_mut(output) {
                    *tensor = wider_tensor(tensor);
                }
            }
        }
    }

    /// The size of each loop, from the operands that it indexes alone.
    pub(super) fn loop_sizes(&self) -> Result<Vec<usize>> {
        let count = self.generic.iterators.len();
        let mut sizes: Vec<Option<usize>> = vec![None; count];
        for (map, shape) in self.generic.maps.iter().zip(self.shapes()) {
            for (result, size) in map.results.iter().zip(shape) {
                let Expression::Operand(dimension) = result else { continue };
                match sizes[*dimension] {
                    Some(other) if other != size => {
                        let reason = format!(
                            "loop {dimension} has {other} rounds for one operand and {size} for \
                             another"
                        );
                        return Err(Refusal::undefined(0, reason));
                    }
                    _ => sizes[*dimension] = Some(size),
                }
            }
        }
        let sizes: Option<Vec<usize>> = sizes.into_iter().collect();
        sizes.ok_or_else(|| Refusal::unsupported(0, "a loop whose size no operand says"))
    }

    fn shapes(&self) -> impl std::iter::Iterator<Item = Vec<usize>> {
        let inputs = self.inputs.iter().map(|value| match value {
            Value::Tensor(tensor) => tensor.shape.clone(),
            _ => Vec::new(),
        });
        let outputs = self.outputs.iter().map(|tensor| tensor.shape.clone());
        inputs.chain(outputs)
    }

    /// How the operand with this number is read; `None` for a scalar.
    fn access(&self, at: usize, tensor: &Arc<Tensor>, sizes: &[usize]) -> Result<Access<'_>> {
        let map = &self.generic.maps[at];
        let strides = strides_of(&tensor.shape);
        let register = self.program.arguments[at];
        let mut access = Access {
            register,
            tensor: Arc::clone(tensor),
            base: 0,
            steps: vec![0; sizes.len()],
            expressions: None,
        };
        for ((result, stride), size) in map.results.iter().zip(&strides).zip(&tensor.shape) {
            let Some(linear) = result.linear(sizes.len()) else {
                access.expressions = Some(&map.results);
                return Ok(access);
            };
            let (mut low, mut high) = (i128::from(linear.constant), i128::from(linear.constant));
            for (factor, size) in linear.factors.iter().zip(sizes) {
                let most = i128::from(*factor) * (*size as i128 - 1);
                low += most.min(0);
                high += most.max(0);
            }
            if low < 0 || high >= *size as i128 {
                let reason = format!("indices {low} to {high} of a dimension of {size}");
                return Err(Refusal::undefined(0, reason));
            }
            let stride = *stride as i64;
            access.base = access.base.wrapping_add(linear.constant.wrapping_mul(stride));
            for (step, factor) in access.steps.iter_mut().zip(&linear.factors) {
                *step = step.wrapping_add(factor.wrapping_mul(stride));
            }
        }
        Ok(access)
    }

    /// The loop that is walked in lanes: a parallel one that every output has, of many rounds and
    /// with neighbours in memory.
    fn lane_loop(
        &self,
        sizes: &[usize],
        accesses: &[Access<'_>],
        outputs: &[Access<'_>],
    ) -> Option<usize> {
        if self.program.has_branches {
            return None;
        }
        let is_parallel = |at: &usize| {
            self.generic.iterators[*at] == Iterator::Parallel
                && outputs.iter().all(|output| output.steps[*at] != 0)
        };
        let score = |at: &usize| {
            let all = accesses.iter().chain(outputs);
            let far = all.filter(|it| it.steps[*at].unsigned_abs() > 1).count();
            sizes[*at].min(LANES) * 4 / (far + 2)
        };
        (0..sizes.len()).filter(is_parallel).max_by_key(score)
    }

    /// Whether all that it does is adding up products of elements. Sums of whole numbers may be
    /// exact, which is not asked here.
    fn contraction(&self, inputs: &[Access<'_>]) -> Option<Contraction> {
        let is_plain = |it: &Access<'_>| it.expressions.is_none();
        let is_meant = inputs.len() == 2 && self.inputs.len() == 2 && self.outputs.len() == 1;
        let contraction = is_meant.then(|| self.new_contraction()).flatten()?;
        let are_whole = self.with_bounds && inputs.iter().all(|it| it.tensor.is_whole());
        let is_one = inputs.iter().all(is_plain) && !are_whole;
        is_one.then_some(contraction)
    }

    fn new_contraction(&self) -> Option<Contraction> {
        Some(Contraction::new(self.program.contraction()?, self.with_bounds))
    }

    /// Runs all rounds, of which there is that much work.
    fn fill(
        &self,
        sizes: &[usize],
        rounds: u128,
        results: &mut Vec<Tensor>,
        work: u128,
    ) -> Result<()> {
        let mut inputs = Vec::new();
        for (at, value) in self.inputs.iter().enumerate() {
            match value {
                Value::Tensor(tensor) => inputs.push(self.access(at, tensor, sizes)?),
                Value::Number(_) => {}
                Value::Bound(..) => {
                    return Err(Refusal::unsupported(0, "a dispatch tensor as an operand"));
                }
            }
        }
        let mut outputs = Vec::new();
        for (at, tensor) in self.outputs.iter().enumerate() {
            let access = self.access(self.inputs.len() + at, tensor, sizes)?;
            if access.expressions.is_some() {
                return Err(Refusal::unsupported(0, "an output at indices that are divided"));
            }
            outputs.push(access);
        }
        let lane_loop = self.lane_loop(sizes, &inputs, &outputs);
        let is_contraction = self.contraction(&inputs).is_some();
        let whole = Work { sizes, rounds, inputs, outputs, lane_loop, is_contraction };
        match Shares::of(self, &whole, work) {
            Some(shares) => shares.fill(self, &whole, results),
            None => self.fill_part(&whole, whole.outputs.clone(), &whole.ranges(), results),
        }
    }

    /// Runs the rounds in these ranges of the loops. The results are as large as these need.
    pub(super) fn fill_part(
        &self,
        work: &Work<'_>,
        outputs: Vec<Access<'_>>,
        ranges: &[Range<usize>],
        results: &mut [Tensor],
    ) -> Result<()> {
        let mut bank = Bank::new(self.program.floats.len(), results.len());
        for (register, number) in &self.program.constants {
            bank.broadcast(*register, *number);
        }
        for ((_, register), number) in self.program.captures.iter().zip(&self.captures) {
            bank.broadcast(*register, *number);
        }
        for (at, value) in self.inputs.iter().enumerate() {
            if let Value::Number(number) = value {
                bank.broadcast(self.program.arguments[at], *number);
            }
        }
        let &Work { rounds, ref inputs, lane_loop, .. } = work;
        let mut magnitudes: Vec<Vec<f64>> = Vec::new();
        for (result, sum) in results.iter().zip(&self.program.sums) {
            let Elements::Floats(values) = &result.elements else {
                magnitudes.push(Vec::new());
                continue;
            };
            let has_sum = self.with_bounds && sum.is_some();
            magnitudes.push(if has_sum {
                values.iter().map(|it| it.abs()).collect()
            } else {
                Vec::new()
            });
        }
        let contraction = match work.is_contraction {
            true => self.new_contraction(),
            false => None,
        };
        let mut walk =
            Walk { nest: self, bank, inputs, outputs, results, magnitudes, lane_loop, contraction };
        walk.all(work.sizes, ranges)?;
        let Walk { magnitudes, contraction, .. } = walk;
        let rounds = rounds as f64;
        for ((result, sum), magnitudes) in
            results.iter_mut().zip(&self.program.sums).zip(magnitudes)
        {
            let (Some(sum), Elements::Floats(values)) = (sum, &result.elements) else { continue };
            if magnitudes.is_empty() {
                continue;
            }
            // Each term takes part in as many additions as there are, in the worst order.
            let additions = sum.additions as f64 * rounds;
            let unit = epsilon(sum.format) * additions;
            let greatest = crate::formats::greatest(sum.format);
            for ((bound, magnitude), value) in result.bounds.iter_mut().zip(magnitudes).zip(values)
            {
                if value.is_finite() {
                    // The magnitudes of the products are rounded, too.
                    *bound += unit * magnitude;
                    if let Some(contraction) = &contraction {
                        *bound += contraction.rounding(magnitude, rounds);
                    }
                    if bound.is_nan() || magnitude + *bound > greatest {
                        *bound = f64::INFINITY;
                    }
                }
            }
        }
        Ok(())
    }
}

/// What all parts of a loop nest have in common.
pub(super) struct Work<'w> {
    pub(super) sizes: &'w [usize],
    rounds: u128,
    inputs: Vec<Access<'w>>,
    pub(super) outputs: Vec<Access<'w>>,
    pub(super) lane_loop: Option<usize>,
    is_contraction: bool,
}

impl Work<'_> {
    /// All rounds of each loop.
    pub(super) fn ranges(&self) -> Vec<Range<usize>> {
        self.sizes.iter().map(|size| 0..*size).collect()
    }
}

//! Loop nests over elements: `linalg.generic` and all that is one.
//!
//! One parallel loop is walked [`LANES`] elements at a time; all others are odometers around it, in
//! the order in which they are written.

use std::rc::Rc;

use crate::evaluate::budget::Budget;
use crate::evaluate::contraction::{Contraction, Factors, Rounds, Sums};
use crate::evaluate::strided::{copy, place, put};
use crate::formats::epsilon;
use crate::lanes::{Bank, Context, LANES, Program, Sum, run};
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
    pub(crate) outputs: Vec<Rc<Tensor>>,
    /// Values of the function around it.
    pub(crate) captures: Vec<Number>,
    pub(crate) tensors: Vec<Rc<Tensor>>,
    pub(crate) with_bounds: bool,
}

/// How an operand is read.
struct Access<'g> {
    register: usize,
    tensor: Rc<Tensor>,
    /// The offset of the first element, and the step of each loop.
    base: i64,
    steps: Vec<i64>,
    /// Expressions that are no sums of loops; they are computed for each element.
    expressions: Option<&'g [Expression]>,
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
        let mut results = self.outputs.iter().map(|it| (**it).clone()).collect::<Vec<_>>();
        for result in &mut results {
            budget.take_tensor(&result.shape)?;
            if self.with_bounds {
                result.with_bounds();
            }
        }
        if points > 0 {
            self.fill(&sizes, reduced.rounds, &mut results)?;
        }
        for result in &mut results {
            if !self.with_bounds {
                result.bounds = Vec::new();
            }
            result.settle_bounds();
        }
        Ok((results, reduced))
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
        let wider_tensor = |tensor: &Rc<Tensor>| {
            let mut wide = (**tensor).clone();
            wide.with_bounds();
            (0..wide.count()).for_each(|at| wide.set(at, wider(wide.get(at))));
            Rc::new(wide)
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
    fn access(&self, at: usize, tensor: &Rc<Tensor>, sizes: &[usize]) -> Result<Access<'_>> {
        let map = &self.generic.maps[at];
        let strides = strides_of(&tensor.shape);
        let register = self.program.arguments[at];
        let mut access = Access {
            register,
            tensor: Rc::clone(tensor),
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
        let format = is_meant.then(|| self.program.contraction()).flatten()?;
        let are_whole = self.with_bounds && inputs.iter().all(|it| it.tensor.is_whole());
        let is_one = inputs.iter().all(is_plain) && !are_whole;
        is_one.then(|| Contraction::new(format, self.with_bounds))
    }

    fn fill(&self, sizes: &[usize], rounds: u128, results: &mut [Tensor]) -> Result<()> {
        let mut bank = Bank::new(self.program.floats.len(), results.len());
        for (register, number) in &self.program.constants {
            bank.broadcast(*register, *number);
        }
        for ((_, register), number) in self.program.captures.iter().zip(&self.captures) {
            bank.broadcast(*register, *number);
        }
        let mut inputs = Vec::new();
        for (at, value) in self.inputs.iter().enumerate() {
            match value {
                Value::Tensor(tensor) => inputs.push(self.access(at, tensor, sizes)?),
                Value::Number(number) => bank.broadcast(self.program.arguments[at], *number),
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
        let lane_loop = self.lane_loop(sizes, &inputs, &outputs);
        let contraction = self.contraction(&inputs);
        let mut walk =
            Walk { nest: self, bank, inputs, outputs, results, magnitudes, lane_loop, contraction };
        walk.all(sizes)?;
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

/// The walk over all loops.
struct Walk<'w, 'g> {
    nest: &'w Nest<'g>,
    bank: Bank,
    inputs: Vec<Access<'w>>,
    outputs: Vec<Access<'w>>,
    results: &'w mut [Tensor],
    magnitudes: Vec<Vec<f64>>,
    lane_loop: Option<usize>,
    contraction: Option<Contraction>,
}

/// Products of some lanes, and where they are added up.
struct Products<'p> {
    contraction: &'p mut Contraction,
    factors: [Factors<'p>; 2],
    /// Their step in each loop.
    steps: [&'p [i64]; 2],
    sums: Sums<'p>,
}

impl Walk<'_, '_> {
    fn all(&mut self, sizes: &[usize]) -> Result<()> {
        let lane_size = self.lane_loop.map_or(1, |at| sizes[at]);
        let summed_loop = self.summed_loop(sizes.len());
        let mut index: Vec<i64> = vec![0; sizes.len()];
        loop {
            for start in (0..lane_size).step_by(LANES) {
                let lanes = (lane_size - start).min(LANES);
                if let Some(at) = self.lane_loop {
                    index[at] = start as i64;
                }
                match summed_loop {
                    Some(at) => self.rounds(&mut index, lanes, (at, sizes[at]))?,
                    None => self.block(&index, lanes)?,
                }
            }
            if let Some(at) = self.lane_loop {
                index[at] = 0;
            }
            let mut is_done = true;
            for at in (0..sizes.len()).rev() {
                if Some(at) == self.lane_loop || Some(at) == summed_loop {
                    continue;
                }
                index[at] += 1;
                if (index[at] as usize) < sizes[at] {
                    is_done = false;
                    break;
                }
                index[at] = 0;
            }
            if is_done {
                return Ok(());
            }
        }
    }

    /// The innermost loop around the lanes, if it adds up products.
    fn summed_loop(&self, loops: usize) -> Option<usize> {
        self.contraction.as_ref()?;
        let innermost = (0..loops).rev().find(|at| Some(*at) != self.lane_loop)?;
        (self.outputs[0].steps[innermost] == 0).then_some(innermost)
    }

    /// All rounds of that loop.
    fn rounds(
        &mut self,
        index: &mut [i64],
        lanes: usize,
        (at, count): (usize, usize),
    ) -> Result<()> {
        if self.summed(index, lanes, (at, count)) {
            return Ok(());
        }
        for round in 0..count {
            index[at] = round as i64;
            self.block(index, lanes)?;
        }
        index[at] = 0;
        Ok(())
    }

    /// The same in one go. False: nothing was done.
    fn summed(&mut self, index: &[i64], lanes: usize, (at, count): (usize, usize)) -> bool {
        let Some(Products { contraction, factors: [a, b], steps, sums }) = self.products(index)
        else {
            return false;
        };
        let rounds = [(a, steps[0]), (b, steps[1])];
        let rounds = rounds.map(|(first, steps)| Rounds { first, step: steps[at], count });
        contraction.sum(rounds, lanes, sums)
    }

    /// The same for products that are added up, which are most of all that is evaluated. False: it
    /// is left to be done as anything else.
    fn contracted(&mut self, index: &[i64], lanes: usize) -> bool {
        let Some(Products { contraction, factors, sums, .. }) = self.products(index) else {
            return false;
        };
        (sums.to.1 > 0 || lanes == 1) && contraction.add(factors, lanes, sums)
    }

    /// What is multiplied and added up along the lane loop.
    fn products(&mut self, index: &[i64]) -> Option<Products<'_>> {
        let Self { inputs, outputs, results, magnitudes, lane_loop, contraction, .. } = self;
        let contraction = contraction.as_mut()?;
        let [a, b] = &inputs[..] else { return None };
        let factors = [factors(a, index, *lane_loop)?, factors(b, index, *lane_loop)?];
        let steps = [&a.steps[..], &b.steps[..]];
        let (from, step) = start(&outputs[0], index, *lane_loop);
        let to = (usize::try_from(from).ok()?, usize::try_from(step).ok()?);
        let Tensor { elements: Elements::Floats(sums), bounds, .. } = &mut results[0] else {
            return None;
        };
        let sums = Sums { sums, bounds, magnitudes: &mut magnitudes[0], to };
        Some(Products { contraction, factors, steps, sums })
    }

    /// Some neighbours along the lane loop.
    fn block(&mut self, index: &[i64], lanes: usize) -> Result<()> {
        if self.contracted(index, lanes) {
            return Ok(());
        }
        for access in &self.inputs {
            match access.expressions {
                None => {
                    let (from, step) = start(access, index, self.lane_loop);
                    load(&mut self.bank, access.register, &access.tensor, from, step, lanes);
                }
                Some(expressions) => {
                    gather(&mut self.bank, access, expressions, index, self.lane_loop, lanes)?;
                }
            }
        }
        for (at, access) in self.outputs.iter().enumerate() {
            let (from, step) = start(access, index, self.lane_loop);
            load(&mut self.bank, access.register, &self.results[at], from, step, lanes);
            if let Some(all) = self.magnitudes.get(at).filter(|all| !all.is_empty()) {
                for (lane, it) in self.bank.magnitudes[at][..lanes].iter_mut().enumerate() {
                    *it = all[place(from, step, lane)];
                }
            }
        }
        for (register, dimension) in &self.nest.program.indices {
            let first = index.get(*dimension).copied().unwrap_or_default();
            let step = i64::from(Some(*dimension) == self.lane_loop);
            for (lane, it) in self.bank.integers[*register][..lanes].iter_mut().enumerate() {
                *it = first + step * lane as i64;
            }
        }
        let context = Context { tensors: &self.nest.tensors, with_bounds: self.nest.with_bounds };
        run(&mut self.bank, &self.nest.program.steps, lanes, &context)?;
        for (at, register) in self.nest.program.yields.iter().enumerate() {
            let (from, step) = start(&self.outputs[at], index, self.lane_loop);
            store(&self.bank, *register, &mut self.results[at], from, step, lanes);
            if let Some(all) = self.magnitudes.get_mut(at).filter(|all| !all.is_empty()) {
                for (lane, it) in self.bank.magnitudes[at][..lanes].iter().enumerate() {
                    all[place(from, step, lane)] = *it;
                }
            }
        }
        Ok(())
    }
}

/// The elements of an operand of floats that are read along the lane loop.
fn factors<'a>(
    access: &'a Access<'_>,
    index: &[i64],
    lane_loop: Option<usize>,
) -> Option<Factors<'a>> {
    let Elements::Floats(values) = &access.tensor.elements else { return None };
    let (from, step) = start(access, index, lane_loop);
    Some(Factors { values, bounds: &access.tensor.bounds, from, step })
}

/// The offset of the first lane, and the step between lanes.
fn start(access: &Access<'_>, index: &[i64], lane_loop: Option<usize>) -> (i64, i64) {
    let from = access
        .steps
        .iter()
        .zip(index)
        .fold(access.base, |from, (step, at)| from.wrapping_add(step.wrapping_mul(*at)));
    (from, lane_loop.map_or(0, |at| access.steps[at]))
}

fn load(bank: &mut Bank, register: usize, tensor: &Tensor, from: i64, step: i64, lanes: usize) {
    match &tensor.elements {
        Elements::Floats(values) => copy(&mut bank.floats[register][..lanes], values, from, step),
        Elements::Integers(values) => {
            copy(&mut bank.integers[register][..lanes], values, from, step);
        }
    }
    if tensor.bounds.is_empty() {
        bank.bounds[register][..lanes].fill(0.0);
    } else {
        copy(&mut bank.bounds[register][..lanes], &tensor.bounds, from, step);
    }
}

fn store(bank: &Bank, register: usize, tensor: &mut Tensor, from: i64, step: i64, lanes: usize) {
    match &mut tensor.elements {
        Elements::Floats(values) => put(values, &bank.floats[register][..lanes], from, step),
        Elements::Integers(values) => put(values, &bank.integers[register][..lanes], from, step),
    }
    if !tensor.bounds.is_empty() {
        put(&mut tensor.bounds, &bank.bounds[register][..lanes], from, step);
    }
}

/// Reads elements at indices that are computed one by one.
fn gather(
    bank: &mut Bank,
    access: &Access<'_>,
    expressions: &[Expression],
    index: &[i64],
    lane_loop: Option<usize>,
    lanes: usize,
) -> Result<()> {
    let strides = strides_of(&access.tensor.shape);
    let mut index = index.to_vec();
    for lane in 0..lanes {
        let mut offset = 0;
        for ((it, stride), size) in expressions.iter().zip(&strides).zip(&access.tensor.shape) {
            let value = it.value(&index)?;
            let Some(at) = usize::try_from(value).ok().filter(|at| at < size) else {
                let reason = format!("index {value} of a dimension of {size}");
                return Err(Refusal::undefined(0, reason));
            };
            offset += at * stride;
        }
        let number = access.tensor.get(offset);
        bank.set(access.register, lane, number);
        if let Some(at) = lane_loop {
            index[at] += 1;
        }
    }
    Ok(())
}

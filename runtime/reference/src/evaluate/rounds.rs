//! [`Walk`]: all rounds of a loop nest.
//!
//! One parallel loop is walked [`LANES`] elements at a time; all others are odometers around it, in
//! the order in which they are written. The innermost ones that add up products do so in one go.

use std::ops::Range;

use crate::evaluate::contraction::{Contraction, Factors, Rounds, Sums};
use crate::evaluate::generic::{Access, Nest};
use crate::evaluate::strided::{copy, place, put};
use crate::lanes::{Bank, Context, LANES, run};
use crate::refusal::{Refusal, Result};
use crate::values::{Elements, Tensor, strides_of};
use mlir::Expression;

/// So many products are added to a sum at once.
const MOST_ROUNDS: usize = 4096;

/// The walk over all loops.
pub(super) struct Walk<'w, 'g> {
    pub(super) nest: &'w Nest<'g>,
    pub(super) bank: Bank,
    pub(super) inputs: &'w [Access<'w>],
    pub(super) outputs: Vec<Access<'w>>,
    pub(super) results: &'w mut [Tensor],
    pub(super) magnitudes: Vec<Vec<f64>>,
    pub(super) lane_loop: Option<usize>,
    pub(super) contraction: Option<Contraction>,
}

/// Products of some lanes, and where they are added up.
struct Products<'p> {
    contraction: &'p mut Contraction,
    factors: [Factors<'p>; 2],
    sums: Sums<'p>,
}

/// The innermost loops around the lanes that add up products.
struct Summed {
    /// From the outermost to the innermost, each with its size.
    loops: Vec<(usize, usize)>,
    /// Where their rounds read both factors, from where the first one does: all rounds of all of
    /// them, or of the only one, as many as are added at once.
    offsets: [Vec<i64>; 2],
}

impl Walk<'_, '_> {
    pub(super) fn all(&mut self, sizes: &[usize], ranges: &[Range<usize>]) -> Result<()> {
        let lane_range = self.lane_loop.map_or(0..1, |at| ranges[at].clone());
        let summed = self.summed_loops(sizes);
        let is_inside = |at: usize| {
            let mut inside = summed.iter().flat_map(|it| &it.loops);
            Some(at) == self.lane_loop || inside.any(|(inside, _)| *inside == at)
        };
        let around: Vec<usize> = (0..sizes.len()).rev().filter(|at| !is_inside(*at)).collect();
        let mut index: Vec<i64> = ranges.iter().map(|range| range.start as i64).collect();
        loop {
            for start in lane_range.clone().step_by(LANES) {
                let lanes = (lane_range.end - start).min(LANES);
                if let Some(at) = self.lane_loop {
                    index[at] = start as i64;
                }
                match &summed {
                    Some(summed) => self.rounds(&mut index, lanes, summed)?,
                    None => self.block(&index, lanes)?,
                }
            }
            let mut is_done = true;
            for at in &around {
                index[*at] += 1;
                if (index[*at] as usize) < ranges[*at].end {
                    is_done = false;
                    break;
                }
                index[*at] = ranges[*at].start as i64;
            }
            if is_done {
                return Ok(());
            }
        }
    }

    /// The innermost loops around the lanes, if they add up products.
    fn summed_loops(&self, sizes: &[usize]) -> Option<Summed> {
        self.contraction.as_ref()?;
        let [a, b] = self.inputs else { return None };
        let mut loops = Vec::new();
        let mut count = 1;
        for at in (0..sizes.len()).rev().filter(|at| Some(*at) != self.lane_loop) {
            let is_summed = self.outputs[0].steps[at] == 0;
            if !is_summed || !loops.is_empty() && count * sizes[at] > MOST_ROUNDS {
                break;
            }
            loops.push((at, sizes[at]));
            count *= sizes[at];
        }
        if loops.is_empty() {
            return None;
        }
        loops.reverse();
        let offsets = [a, b].map(|factor| {
            let mut offsets = vec![0];
            for (at, size) in &loops {
                let step = factor.steps[*at];
                let rounds = 0..(*size).min(MOST_ROUNDS) as i64;
                let of = |from: i64| {
                    rounds.clone().map(move |it| from.wrapping_add(step.wrapping_mul(it)))
                };
                offsets = offsets.into_iter().flat_map(of).collect();
            }
            offsets
        });
        Some(Summed { loops, offsets })
    }

    /// All rounds of those loops.
    fn rounds(&mut self, index: &mut [i64], lanes: usize, summed: &Summed) -> Result<()> {
        let [(at, size)] = summed.loops[..] else {
            if !self.summed(index, lanes, summed, 0..summed.offsets[0].len()) {
                self.one_by_one(index, lanes, &summed.loops)?;
            }
            return Ok(());
        };
        for start in (0..size).step_by(MOST_ROUNDS) {
            let end = (start + MOST_ROUNDS).min(size);
            index[at] = start as i64;
            if !self.summed(index, lanes, summed, 0..end - start) {
                for round in start..end {
                    index[at] = round as i64;
                    self.block(index, lanes)?;
                }
            }
        }
        index[at] = 0;
        Ok(())
    }

    fn one_by_one(
        &mut self,
        index: &mut [i64],
        lanes: usize,
        loops: &[(usize, usize)],
    ) -> Result<()> {
        let Some(((at, size), inside)) = loops.split_first() else {
            return self.block(index, lanes);
        };
        for round in 0..*size {
            index[*at] = round as i64;
            self.one_by_one(index, lanes, inside)?;
        }
        index[*at] = 0;
        Ok(())
    }

    /// Rounds of those loops in one go, from the index on. False: nothing was done.
    fn summed(
        &mut self,
        index: &[i64],
        lanes: usize,
        summed: &Summed,
        rounds: Range<usize>,
    ) -> bool {
        let Some(Products { contraction, factors: [a, b], sums }) = self.products(index) else {
            return false;
        };
        let [of_a, of_b] = summed.offsets.each_ref().map(|it| &it[rounds.clone()]);
        let rounds = [Rounds { first: a, offsets: of_a }, Rounds { first: b, offsets: of_b }];
        (sums.to.1 > 0 || lanes == 1) && contraction.sum(rounds, lanes, sums)
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
        let (from, step) = start(&outputs[0], index, *lane_loop);
        let to = (usize::try_from(from).ok()?, usize::try_from(step).ok()?);
        let Tensor { elements: Elements::Floats(sums), bounds, .. } = &mut results[0] else {
            return None;
        };
        let sums = Sums { sums, bounds, magnitudes: &mut magnitudes[0], to };
        Some(Products { contraction, factors, sums })
    }

    /// Some neighbours along the lane loop.
    fn block(&mut self, index: &[i64], lanes: usize) -> Result<()> {
        if self.contracted(index, lanes) {
            return Ok(());
        }
        for access in self.inputs {
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

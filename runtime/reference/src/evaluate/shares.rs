//! [`Shares`]: a loop nest that several threads share, so that large ones take all cores.
//!
//! A share has some rows of all outputs to itself, and takes its lanes as one thread would: results
//! and bounds are the same bits, however many threads there are.

use std::ops::Range;
use std::sync::{Mutex, OnceLock};

use crate::evaluate::generic::{Access, Nest, Work};
use crate::lanes::LANES;
use crate::operations::Iterator;
use crate::refusal::Result;
use crate::values::{Elements, Tensor};
use mlir::Expression;

/// Less work than this many scalar operations is done sooner than a thread is there.
const LEAST_WORK: u128 = 1 << 18;
/// Shares for each thread: others go on where one is slow.
const SHARES: usize = 4;

/// How many threads share a loop nest here.
pub(super) fn threads() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// The ranges of one loop that are done by themselves.
pub(super) struct Shares {
    of_loop: usize,
    ranges: Vec<Range<usize>>,
}

impl Shares {
    /// How a loop nest is shared, if it is worth it and its outputs have rows of their own.
    pub(super) fn of(nest: &Nest<'_>, work: &Work<'_>, operations: u128) -> Option<Self> {
        if nest.threads < 2 || operations < LEAST_WORK {
            return None;
        }
        let of_loop = row_loop(nest)?;
        let size = work.sizes[of_loop];
        // Lanes that are computed at the same time stay together.
        let unit = if work.lane_loop == Some(of_loop) { LANES } else { 1 };
        let length = size.div_ceil(nest.threads * SHARES).next_multiple_of(unit);
        let ranges: Vec<_> =
            (0..size).step_by(length).map(|from| from..(from + length).min(size)).collect();
        (ranges.len() > 1).then_some(Self { of_loop, ranges })
    }

    /// Runs all shares. Where one fails, all is done again in the order of the loops, as the first
    /// that fails there is what is said.
    pub(super) fn fill(
        &self,
        nest: &Nest<'_>,
        work: &Work<'_>,
        results: &mut Vec<Tensor>,
    ) -> Result<()> {
        let mut parts = self.cut(std::mem::take(results), work.sizes[self.of_loop]);
        let waiting = Mutex::new(self.ranges.iter().zip(&mut parts));
        let next = || waiting.lock().ok()?.next();
        let run = || -> Result<()> {
            while let Some((range, part)) = next() {
                let mut ranges = work.ranges();
                ranges[self.of_loop] = range.clone();
                nest.fill_part(work, self.moved(&work.outputs, range.start), &ranges, part)?;
            }
            Ok(())
        };
        let is_done = std::thread::scope(|scope| {
            let others: Vec<_> =
                (1..nest.threads.min(self.ranges.len())).map(|_| scope.spawn(run)).collect();
            let own = run().is_ok();
            others.into_iter().fold(own, |all, it| matches!(it.join(), Ok(Ok(()))) && all)
        });
        if is_done {
            *results = joined(parts);
            return Ok(());
        }
        drop(parts);
        *results = nest.starts();
        nest.fill_part(work, work.outputs.clone(), &work.ranges(), results)
    }

    /// How outputs are reached that begin with the row of this round.
    fn moved<'a>(&self, outputs: &[Access<'a>], start: usize) -> Vec<Access<'a>> {
        let mut outputs = outputs.to_vec();
        for output in &mut outputs {
            let skipped = output.steps[self.of_loop].wrapping_mul(start as i64);
            output.base = output.base.wrapping_sub(skipped);
        }
        outputs
    }

    /// For each share, its rows of all results.
    fn cut(&self, results: Vec<Tensor>, size: usize) -> Vec<Vec<Tensor>> {
        let mut parts: Vec<Vec<Tensor>> = self.ranges.iter().map(|_| Vec::new()).collect();
        for mut result in results {
            let row = result.count() / size;
            for (range, part) in self.ranges.iter().zip(&mut parts).skip(1).rev() {
                part.push(split_off(&mut result, range.start * row));
            }
            parts[0].push(result);
        }
        parts
    }
}

/// The loop whose rounds are rows of all outputs: the outermost axis of each that is not of size 1.
fn row_loop(nest: &Nest<'_>) -> Option<usize> {
    let mut found = None;
    let maps = &nest.generic.maps[nest.inputs.len()..];
    for (map, output) in maps.iter().zip(&nest.outputs) {
        let axis = output.shape.iter().position(|size| *size != 1)?;
        let Expression::Operand(of_loop) = map.results.get(axis)? else { return None };
        let is_other = |it: &Expression| matches!(it, Expression::Operand(at) if at != of_loop);
        let mut others = map.results.iter().enumerate().filter(|(at, _)| *at != axis);
        if !others.all(|(_, it)| is_other(it)) || found.is_some_and(|known| known != *of_loop) {
            return None;
        }
        found = Some(*of_loop);
    }
    found.filter(|it| nest.generic.iterators[*it] == Iterator::Parallel)
}

/// Takes the elements from this one on out of a tensor. Only their number is known of the rest.
fn split_off(tensor: &mut Tensor, at: usize) -> Tensor {
    let elements = match &mut tensor.elements {
        Elements::Floats(values) => Elements::Floats(values.split_off(at)),
        Elements::Integers(values) => Elements::Integers(values.split_off(at)),
    };
    let bounds = match tensor.bounds.is_empty() {
        true => Vec::new(),
        false => tensor.bounds.split_off(at),
    };
    Tensor { shape: tensor.shape.clone(), element: tensor.element, elements, bounds }
}

/// The results that were cut.
fn joined(parts: Vec<Vec<Tensor>>) -> Vec<Tensor> {
    let mut parts = parts.into_iter();
    let mut results = parts.next().unwrap_or_default();
    for part in parts {
        for (result, more) in results.iter_mut().zip(part) {
            match (&mut result.elements, more.elements) {
                (Elements::Floats(values), Elements::Floats(more)) => values.extend(more),
                (Elements::Integers(values), Elements::Integers(more)) => values.extend(more),
                _ => {}
            }
            result.bounds.extend(more.bounds);
        }
    }
    results
}

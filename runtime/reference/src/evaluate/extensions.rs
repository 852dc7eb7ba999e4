//! Softmax, and operations of `iree_linalg_ext`.

use std::collections::HashMap;
use std::sync::Arc;

use crate::evaluate::walk::Evaluator;
use crate::evaluate::{attention, fft};
use crate::formats::epsilon;
use crate::lanes::float::{self, Pair};
use crate::operations::{Extension, Region};
use crate::refusal::{Refusal, Result};
use crate::values::{Number, Tensor, count_of, strides_of};
use mlir::Element;
use mlir::{FloatBinary as B, FloatUnary as U};

/// Evaluates an extension; the results are in the order of the outputs.
pub(crate) fn evaluate(
    evaluator: &mut Evaluator<'_>,
    what: &Extension,
    inputs: &[Arc<Tensor>],
    outputs: &[Arc<Tensor>],
) -> Result<Vec<Tensor>> {
    match what {
        Extension::Softmax { dimension } => softmax(evaluator, *dimension, inputs, outputs),
        Extension::TopK { dimension, body, inputs: count } => {
            top(evaluator, *dimension, body, &inputs[..*count], outputs)
        }
        Extension::ArgCompare { dimension, body, inputs: count } => {
            arg_compare(evaluator, *dimension, body, &inputs[..*count], outputs)
        }
        Extension::Sort { dimension, body } => sort(evaluator, *dimension, body, outputs),
        Extension::Scatter { dimension_map, body } => {
            scatter(evaluator, dimension_map, body, inputs, outputs)
        }
        Extension::Gather { dimension_map } => gather(evaluator, dimension_map, inputs, outputs),
        Extension::Scan { dimension, inclusive, body } => {
            scan(evaluator, (*dimension, *inclusive), body, inputs, outputs)
        }
        Extension::Attention { scale, maps } => {
            let scale = evaluator.number(*scale)?;
            let (operands, with_bounds) = ([inputs, outputs], evaluator.with_bounds);
            attention::attention(scale, maps, operands, &mut evaluator.budget, with_bounds)
        }
        Extension::Fft { stage } => {
            let stage = evaluator.index(*stage)?;
            fft::stage(evaluator, stage, inputs, outputs)
        }
    }
}

/// The places of the first elements of all rows along a dimension, the step, and the length.
fn rows(shape: &[usize], dimension: usize) -> (Vec<usize>, usize, usize) {
    let step = strides_of(shape)[dimension];
    let length = shape[dimension];
    let count = count_of(shape).unwrap_or_default();
    let is_first = |at: &usize| (at / step).is_multiple_of(length);
    ((0..count).filter(is_first).collect(), step, length)
}

fn softmax(
    evaluator: &mut Evaluator<'_>,
    dimension: usize,
    inputs: &[Arc<Tensor>],
    outputs: &[Arc<Tensor>],
) -> Result<Vec<Tensor>> {
    let (input, mut result) = (&inputs[0], (*outputs[0]).clone());
    let Element::Float(format) = input.element else {
        return Err(Refusal::unsupported(0, "elements that are no floats"));
    };
    if input.shape != result.shape || dimension >= input.shape.len() {
        return Err(Refusal::mismatch());
    }
    evaluator.budget.take(input.count() as u128 * 5)?;
    let (firsts, step, length) = rows(&input.shape, dimension);
    for first in firsts {
        let at = |place: usize| first + place * step;
        let row = (0..length).map(|place| input.get(at(place))).map(|it| (it.float, it.bound));
        let greatest = float::greatest_of(format, row.clone());
        let mut sum: Pair = (0.0, 0.0);
        let mut terms = Vec::with_capacity(length);
        for it in row {
            let difference = float::difference(format, it, greatest);
            let value = difference.0.exp();
            let term = (value, float::unary_bound(U::Exp, format, value, difference));
            sum = (sum.0 + term.0, sum.1 + term.1);
            terms.push(term);
        }
        sum.1 += sum.0 * length as f64 * epsilon(format);
        for (place, term) in terms.into_iter().enumerate() {
            let value = term.0 / sum.0;
            // A reciprocal and a product are allowed in the place of a division.
            let mut bound = float::binary_bound(B::Divide, format, value, term, sum);
            if value.is_finite() {
                bound += value.abs() * epsilon(format);
            }
            let bound = if evaluator.with_bounds { bound } else { 0.0 };
            result.set(at(place), Number { float: value, integer: 0, bound });
        }
    }
    Ok(vec![result])
}

/// The index of an element: that of the second input, or else its place in its row.
fn index_of(inputs: &[Arc<Tensor>], at: usize, place: usize) -> Number {
    match inputs.get(1) {
        Some(given) => given.get(at),
        None => Number { integer: place as i64, ..Number::default() },
    }
}

/// The greatest elements of each row by a comparison, with their indices. Of equal ones, the one
/// with the lesser index.
fn top(
    evaluator: &mut Evaluator<'_>,
    dimension: usize,
    body: &Region,
    inputs: &[Arc<Tensor>],
    outputs: &[Arc<Tensor>],
) -> Result<Vec<Tensor>> {
    let input = &inputs[0];
    let (mut values, mut indices) = ((*outputs[0]).clone(), (*outputs[1]).clone());
    let mut expected = input.shape.clone();
    if values.shape != indices.shape || dimension >= values.shape.len() {
        return Err(Refusal::mismatch());
    }
    expected[dimension] = values.shape[dimension];
    if expected != values.shape || inputs.get(1).is_some_and(|it| it.shape != input.shape) {
        return Err(Refusal::mismatch());
    }
    let mut compare = evaluator.callable(body, 2)?;
    let kept = values.shape[dimension];
    evaluator.budget.take(input.count() as u128 * kept as u128 * 2 * compare.cost())?;
    let (firsts, step, length) = rows(&input.shape, dimension);
    let (targets, target_step, _) = rows(&values.shape, dimension);
    for (first, target) in firsts.into_iter().zip(targets) {
        let mut most = 0.0_f64;
        for place in 0..length {
            let from = first + place * step;
            let mut carried = (input.get(from), index_of(inputs, from, place));
            most = most.max(carried.0.bound);
            for rank in 0..kept {
                let at = target + rank * target_step;
                let found = (values.get(at), indices.get(at));
                let wins = compare.call(&[carried.0, found.0])?.integer != 0;
                let loses = compare.call(&[found.0, carried.0])?.integer != 0;
                if wins || wins == loses && carried.1.integer < found.1.integer {
                    values.set(at, carried.0);
                    indices.set(at, carried.1);
                    carried = found;
                }
            }
        }
        if most > 0.0 && evaluator.with_bounds {
            // An order of numbers moves no more than the numbers; which one it is may change.
            for rank in 0..kept {
                let at = target + rank * target_step;
                let value = values.get(at);
                values.set(at, Number { bound: most, ..value });
                let near = (0..length).filter(|place| {
                    let other = input.get(first + place * step);
                    let apart = (other.float - value.float).abs()
                        + (other.integer - value.integer).abs() as f64;
                    apart <= 2.0 * most
                });
                let bound = if near.count() > 1 { f64::INFINITY } else { 0.0 };
                indices.set(at, Number { bound, ..indices.get(at) });
            }
        }
    }
    Ok(vec![values, indices])
}

fn sort(
    evaluator: &mut Evaluator<'_>,
    dimension: usize,
    body: &Region,
    outputs: &[Arc<Tensor>],
) -> Result<Vec<Tensor>> {
    let mut results: Vec<Tensor> = outputs.iter().map(|it| (**it).clone()).collect();
    let shape = results[0].shape.clone();
    if dimension >= shape.len() || results.iter().any(|it| it.shape != shape) {
        return Err(Refusal::mismatch());
    }
    let mut compare = evaluator.callable(body, 2 * outputs.len())?;
    let (firsts, step, length) = rows(&shape, dimension);
    let all = (firsts.len() as u128) * (length as u128) * (length as u128);
    evaluator.budget.take(all.saturating_mul(2).saturating_mul(compare.cost()))?;
    for first in firsts {
        let mut order: Vec<usize> = Vec::with_capacity(length);
        for place in 0..length {
            let mut arguments = |a: usize, b: usize| {
                let pair = |it: &Tensor| [it.get(first + a * step), it.get(first + b * step)];
                let pairs: Vec<Number> = results.iter().flat_map(pair).collect();
                compare.call(&pairs)
            };
            let mut at = order.len();
            while at > 0 {
                let before = order[at - 1];
                let (here, there) = (arguments(place, before)?, arguments(before, place)?);
                if here.bound != 0.0 || there.bound != 0.0 {
                    let reason = "an order that a rounding may change";
                    return Err(Refusal::undefined(0, reason));
                }
                // Equal keys may come in any order, which shows in the other operands. `a <= b`
                // says so of both.
                let is_tie = here.integer == there.integer;
                if is_tie && results.len() > 1 {
                    return Err(Refusal::undefined(0, "the order of equal keys"));
                }
                if is_tie || here.integer == 0 {
                    break;
                }
                at -= 1;
            }
            order.insert(at, place);
        }
        for result in &mut results {
            let row: Vec<Number> =
                order.iter().map(|place| result.get(first + place * step)).collect();
            for (place, number) in row.into_iter().enumerate() {
                result.set(first + place * step, number);
            }
        }
    }
    Ok(results)
}

/// The place of a slice in a tensor whose leading dimensions are indexed by row `at` of `indices`.
fn indexed(
    indices: &Tensor,
    at: usize,
    depth: usize,
    map: &[usize],
    shape: &[usize],
) -> Result<usize> {
    let strides = strides_of(shape);
    let mut place = 0;
    for (which, dimension) in map.iter().enumerate() {
        let number = indices.get(at * depth + which);
        if number.bound != 0.0 {
            return Err(Refusal::undefined(0, "an index that a rounding may change"));
        }
        let size = shape.get(*dimension).copied().unwrap_or_default();
        let Some(index) = usize::try_from(number.integer).ok().filter(|index| *index < size) else {
            let reason = format!("index {} of a dimension of {size}", number.integer);
            return Err(Refusal::undefined(0, reason));
        };
        place += index * strides[*dimension];
    }
    Ok(place)
}

/// How slices of a tensor are indexed: the batch, the depth of an index, the size of a slice.
fn batches(
    indices: &Tensor,
    map: &[usize],
    slices: &Tensor,
    whole: &Tensor,
) -> Result<(usize, usize, usize)> {
    let depth = map.len();
    let mut leading: Vec<usize> = map.to_vec();
    leading.sort_unstable();
    let is_leading = leading.iter().copied().eq(0..depth) && depth <= whole.shape.len();
    let rest = whole.shape.get(depth..).unwrap_or_default();
    if !is_leading || indices.element.is_float() || slices.element != whole.element {
        return Err(Refusal::mismatch());
    }
    // The last dimension of the indices is the depth; with depth 1 it may be left out.
    let with_depth = indices.shape.strip_suffix(&[depth]);
    let without = (depth == 1).then_some(indices.shape.as_slice());
    let fits = |batch: &&[usize]| slices.shape.strip_prefix(*batch) == Some(rest);
    let Some(batch) = with_depth.filter(fits).or(without.filter(fits)) else {
        return Err(Refusal::mismatch());
    };
    let rows = count_of(batch).ok_or_else(Refusal::mismatch)?;
    Ok((rows, depth, count_of(rest).ok_or_else(Refusal::mismatch)?))
}

fn scatter(
    evaluator: &mut Evaluator<'_>,
    map: &[usize],
    body: &Region,
    inputs: &[Arc<Tensor>],
    outputs: &[Arc<Tensor>],
) -> Result<Vec<Tensor>> {
    let (updates, indices) = (&inputs[0], &inputs[1]);
    let mut result = (*outputs[0]).clone();
    let (rows, depth, size) = batches(indices, map, updates, &result)?;
    let mut combine = evaluator.callable(body, 2)?;
    evaluator.budget.take(updates.count() as u128 * combine.cost())?;
    let mut sums = HashMap::new();
    for row in 0..rows {
        let place = indexed(indices, row, depth, map, &result.shape)?;
        for at in 0..size {
            let (update, before) = (updates.get(row * size + at), result.get(place + at));
            let mut number = combine.call(&[update, before])?;
            let sum = sums.entry(place + at).or_insert_with(|| combine.growing(before));
            if let Some(sum) = sum {
                number = sum.add(update, number);
            }
            result.set(place + at, number);
        }
    }
    Ok(vec![result])
}

fn gather(
    evaluator: &mut Evaluator<'_>,
    map: &[usize],
    inputs: &[Arc<Tensor>],
    outputs: &[Arc<Tensor>],
) -> Result<Vec<Tensor>> {
    let (source, indices) = (&inputs[0], &inputs[1]);
    let mut result = (*outputs[0]).clone();
    let (rows, depth, size) = batches(indices, map, &result, source)?;
    evaluator.budget.take(result.count() as u128)?;
    for row in 0..rows {
        let place = indexed(indices, row, depth, map, &source.shape)?;
        (0..size).for_each(|at| result.set(row * size + at, source.get(place + at)));
    }
    Ok(vec![result])
}

/// Running results along a dimension. The second output is the start, and becomes the last one.
fn scan(
    evaluator: &mut Evaluator<'_>,
    (dimension, inclusive): (usize, bool),
    body: &Region,
    inputs: &[Arc<Tensor>],
    outputs: &[Arc<Tensor>],
) -> Result<Vec<Tensor>> {
    let input = &inputs[0];
    let (mut result, mut last) = ((*outputs[0]).clone(), (*outputs[1]).clone());
    if result.shape != input.shape || dimension >= input.shape.len() {
        return Err(Refusal::mismatch());
    }
    let (firsts, step, length) = rows(&input.shape, dimension);
    if last.count() != firsts.len() {
        return Err(Refusal::mismatch());
    }
    let mut combine = evaluator.callable(body, 2)?;
    evaluator.budget.take(input.count() as u128 * combine.cost())?;
    for (row, first) in firsts.into_iter().enumerate() {
        let mut carried = last.get(row);
        let mut total = carried;
        let mut sum = None;
        for place in 0..length {
            let at = first + place * step;
            if !inclusive {
                result.set(at, carried);
            }
            let term = input.get(at);
            carried = match (inclusive, place) {
                // The start takes part only in sums without the element itself.
                (true, 0) => term,
                _ => {
                    if sum.is_none() {
                        sum = combine.growing(carried);
                    }
                    let so_far = combine.call(&[carried, term])?;
                    sum.as_mut().map_or(so_far, |it| it.add(term, so_far))
                }
            };
            if inclusive {
                result.set(at, carried);
            }
            total = result.get(at);
        }
        // That without the last element, if the running results are without their own.
        last.set(row, total);
    }
    Ok(vec![result, last])
}

/// The best element of each row by a comparison, with its index. The first of equal ones stays.
fn arg_compare(
    evaluator: &mut Evaluator<'_>,
    dimension: usize,
    body: &Region,
    inputs: &[Arc<Tensor>],
    outputs: &[Arc<Tensor>],
) -> Result<Vec<Tensor>> {
    let input = &inputs[0];
    let (mut values, mut indices) = ((*outputs[0]).clone(), (*outputs[1]).clone());
    let mut kept = input.shape.clone();
    if dimension >= kept.len() || inputs.get(1).is_some_and(|it| it.shape != input.shape) {
        return Err(Refusal::mismatch());
    }
    kept.remove(dimension);
    if values.shape != kept || indices.shape != kept || values.element != input.element {
        return Err(Refusal::mismatch());
    }
    let mut compare = evaluator.callable(body, 2)?;
    evaluator.budget.take((input.count() as u128).saturating_mul(compare.cost()))?;
    let (firsts, step, length) = rows(&input.shape, dimension);
    for (row, first) in firsts.into_iter().enumerate() {
        let mut best = (values.get(row), indices.get(row));
        for place in 0..length {
            let at = first + place * step;
            let (candidate, index) = (input.get(at), index_of(inputs, at, place));
            let wins = compare.call(&[candidate, best.0])?;
            if wins.bound != 0.0 && evaluator.with_bounds {
                // Either may be the best one.
                let apart = (candidate.float - best.0.float).abs()
                    + candidate.integer.abs_diff(best.0.integer) as f64
                    + candidate.bound
                    + best.0.bound;
                let (value, index) = if wins.integer == 0 { best } else { (candidate, index) };
                best = (Number { bound: apart, ..value }, Number { bound: f64::INFINITY, ..index });
            } else if wins.integer != 0 {
                best = (candidate, index);
            }
        }
        values.set(row, best.0);
        indices.set(row, best.1);
    }
    Ok(vec![values, indices])
}

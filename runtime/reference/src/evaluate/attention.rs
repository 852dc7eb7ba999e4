//! Attention, one operation of `iree_linalg_ext`: `softmax(Q · Kᵀ · scale + mask) · V`.
//!
//! Values are those of its meaning. A bound holds for each way in which the compiler computes it:
//! sums in any order, a scale that is multiplied into the queries first, exponentials of base two,
//! weights that are rounded to the type of V, and rows whose maximum grows block by block, with
//! what was summed up scaled down each time.

use std::sync::Arc;

use crate::evaluate::budget::Budget;
use crate::formats::{epsilon, tiny};
use crate::lanes::float::{self, Pair};
use crate::refusal::{Refusal, Result};
use crate::values::{Number, Tensor, strides_of};
use mlir::{Element, Expression, Format, Map};
use mlir::{FloatBinary as B, FloatUnary as U};

/// The loops of an attention, by what they are for.
struct Loops {
    /// Those of a row of the scores: batches and queries.
    rows: Vec<usize>,
    /// Those that a score sums over.
    inner: Vec<usize>,
    /// Those over the keys, which the softmax and a result sum over.
    keys: Vec<usize>,
    /// Those over what a value has.
    columns: Vec<usize>,
    /// How often each turns.
    turns: Vec<usize>,
}

impl Loops {
    /// The loops of operands Q, K, V, perhaps a mask, and the result.
    fn of(maps: &[Map], tensors: &[&Tensor]) -> Result<Self> {
        let has_all = |map: &Map| map.dimensions == maps[0].dimensions;
        let axes: Option<Vec<Vec<usize>>> =
            maps.iter().map(|map| axes(map).filter(|_| has_all(map))).collect();
        let axes = axes.ok_or_else(|| Refusal::unsupported(0, "an index that is no loop"))?;
        let (query, key, value, mask, result) = match &axes[..] {
            [query, key, value, result] => (query, key, value, None, result),
            [query, key, value, mask, result] => (query, key, value, Some(mask), result),
            _ => return Err(Refusal::unsupported(0, "another number of operands")),
        };
        let shapes: Vec<Vec<Option<usize>>> =
            tensors.iter().map(|it| it.shape.iter().copied().map(Some).collect()).collect();
        let turns: Option<Vec<usize>> = mlir::linalg::turns(maps, &shapes).into_iter().collect();
        let turns = turns.ok_or_else(Refusal::mismatch)?;
        let fits = |axes: &Vec<usize>, tensor: &&Tensor| {
            axes.len() == tensor.shape.len()
                && axes.iter().zip(&tensor.shape).all(|(axis, size)| turns[*axis] == *size)
        };
        if !axes.iter().zip(tensors).all(|(axes, tensor)| fits(axes, tensor)) {
            return Err(Refusal::mismatch());
        }
        let mut found = Self { rows: vec![], inner: vec![], keys: vec![], columns: vec![], turns };
        for at in 0..found.turns.len() {
            let is_in = |axes: &Vec<usize>| axes.contains(&at);
            let group = match (is_in(result), is_in(query), is_in(key), is_in(value)) {
                (true, true, _, _) => &mut found.rows,
                (true, false, false, true) => &mut found.columns,
                (false, true, true, false) => &mut found.inner,
                (false, false, true, true) => &mut found.keys,
                _ => return Err(Refusal::unsupported(0, "another form of attention")),
            };
            group.push(at);
            if mask.is_some_and(is_in) && (found.inner.contains(&at) || found.columns.contains(&at))
            {
                return Err(Refusal::unsupported(0, "a mask of another form"));
            }
        }
        Ok(found)
    }

    fn count(&self, loops: &[usize]) -> usize {
        loops.iter().map(|at| self.turns[*at]).product()
    }

    /// Where a tensor with a map is read in each turn of some loops, the last one the fastest.
    fn places(&self, loops: &[usize], map: &Map, tensor: &Tensor) -> Vec<usize> {
        let (axes, strides) = (axes(map).unwrap_or_default(), strides_of(&tensor.shape));
        let step = |at: usize| {
            let own = axes.iter().zip(&strides).filter(|(axis, _)| **axis == at);
            own.map(|(_, stride)| *stride).sum::<usize>()
        };
        loops.iter().fold(vec![0], |places, at| {
            let step = step(*at);
            let turns = |first: &usize| (0..self.turns[*at]).map(|it| first + it * step).collect();
            places.iter().flat_map(|first| -> Vec<usize> { turns(first) }).collect()
        })
    }
}

/// The loop that each axis is; `None` if one is none.
fn axes(map: &Map) -> Option<Vec<usize>> {
    let axis = |it: &Expression| match it {
        Expression::Operand(at) if *at < map.dimensions => Some(*at),
        _ => None,
    };
    map.results.iter().map(axis).collect()
}

/// A sum of products with its bound, but for its own rounding, which is relative to `magnitude`.
#[derive(Default)]
struct Products {
    sum: f64,
    carried: f64,
    magnitude: f64,
}

impl Products {
    fn add(&mut self, a: Pair, b: Pair) {
        let product = a.0 * b.0;
        self.sum += product;
        self.magnitude += product.abs();
        self.carried += a.0.abs() * b.1 + b.0.abs() * a.1 + a.1 * b.1;
    }

    fn rounded(&self, relative: f64) -> Pair {
        (self.sum, self.carried + self.magnitude * relative)
    }
}

fn format_of(tensor: &Tensor) -> Result<Format> {
    match tensor.element {
        Element::Float(format) => Ok(format),
        _ => Err(Refusal::unsupported(0, "elements that are no floats")),
    }
}

fn pair(number: Number) -> Pair {
    (number.float, number.bound)
}

/// Evaluates an attention. `inputs` are Q, K, V and perhaps a mask; `maps` are theirs and that of
/// the result.
pub(super) fn attention(
    scale: Number,
    maps: &[Map],
    [inputs, outputs]: [&[Arc<Tensor>]; 2],
    budget: &mut Budget,
    with_bounds: bool,
) -> Result<Vec<Tensor>> {
    let (Some(output), [query, key, value, masks @ ..]) = (outputs.first(), inputs) else {
        return Err(Refusal::mismatch());
    };
    let mask = masks.first();
    let tensors: Vec<&Tensor> = inputs.iter().chain([output]).map(|it| &**it).collect();
    if tensors.len() != maps.len() {
        return Err(Refusal::mismatch());
    }
    let loops = Loops::of(maps, &tensors)?;
    let (format, of_values, of_results) =
        (format_of(query)?, format_of(value)?, format_of(output)?);
    // Scores and sums are of 32 bits, or more.
    let wide = if format == Format::F64 { Format::F64 } else { Format::F32 };
    let one = epsilon(wide);
    let [rows, keys] = [&loops.rows, &loops.keys].map(|it| loops.count(it));
    let [terms, columns] = [&loops.inner, &loops.columns].map(|it| loops.count(it));
    let steps = rows as u128 * keys as u128 * (terms as u128 + columns as u128 + 8);
    budget.take(steps.saturating_mul(3))?;
    let at = |of: &[usize], which: usize| loops.places(of, &maps[which], tensors[which]);
    let last = maps.len() - 1;
    let [query_rows, query_terms] = [&loops.rows, &loops.inner].map(|it| at(it, 0));
    let [key_rows, key_keys, key_terms] =
        [&loops.rows, &loops.keys, &loops.inner].map(|it| at(it, 1));
    let [value_rows, value_keys, value_columns] =
        [&loops.rows, &loops.keys, &loops.columns].map(|it| at(it, 2));
    let [result_rows, result_columns] = [&loops.rows, &loops.columns].map(|it| at(it, last));
    let [mask_rows, mask_keys] = [&loops.rows, &loops.keys].map(|it| at(it, 3.min(last)));
    // What is rounded in the type of the queries is their product with the scale.
    let rounding = (terms as f64 + 3.0) * one + 2.0 * epsilon(format);
    let score = |row: usize, key_at: usize| {
        let mut products = Products::default();
        for term in 0..terms {
            let q = query.get(query_rows[row] + query_terms[term]);
            let k = key.get(key_rows[row] + key_keys[key_at] + key_terms[term]);
            products.add(pair(q), pair(k));
        }
        let (sum, bound) = products.rounded(rounding);
        let (size, scaled) = (scale.float.abs(), sum * scale.float);
        let scaled = (scaled, bound * size + sum.abs() * scale.bound + tiny(format) * terms as f64);
        let Some(mask) = mask else { return scaled };
        let by = mask.get(mask_rows[row] + mask_keys[key_at]);
        if !mask.element.is_float() {
            return if by.integer & 1 == 1 { scaled } else { (f64::NEG_INFINITY, 0.0) };
        }
        let rounding = (scaled.0.abs() + by.float.abs()) * 3.0 * one;
        let bound = if by.float.is_finite() { scaled.1 + by.bound + rounding } else { 0.0 };
        (scaled.0 + by.float, bound)
    };
    let mut result = (**output).clone();
    for row in 0..rows {
        let scores: Vec<Pair> = (0..keys).map(|it| score(row, it)).collect();
        let (weights, sum) = exponentials(&scores, wide);
        let relative = (2.0 * keys as f64 + 6.0) * one + 2.0 * epsilon(of_values);
        for column in 0..columns {
            let mut products = Products::default();
            for (at, weight) in weights.iter().enumerate() {
                let place = value_rows[row] + value_keys[at] + value_columns[column];
                products.add(*weight, pair(value.get(place)));
            }
            let total = products.rounded(relative);
            let quotient = total.0 / sum.0;
            let bound = if !with_bounds {
                0.0
            } else if quotient.is_finite() {
                let divided = float::binary_bound(B::Divide, wide, quotient, total, sum);
                let own = quotient.abs() * (4.0 * one + epsilon(of_results));
                divided + own + tiny(of_results)
            } else if sum.0 == 0.0 && scores.iter().all(|it| *it == (f64::NEG_INFINITY, 0.0)) {
                // A row that is masked whole: zero divided by zero.
                0.0
            } else {
                f64::INFINITY
            };
            let place = result_rows[row] + result_columns[column];
            result.set(place, Number { float: quotient, integer: 0, bound });
        }
    }
    Ok(vec![result])
}

/// The exponentials of scores less the greatest one, and their sum.
fn exponentials(scores: &[Pair], format: Format) -> (Vec<Pair>, Pair) {
    let one = epsilon(format);
    let greatest = float::greatest_of(format, scores.iter().copied());
    if greatest.0 == f64::NEG_INFINITY {
        return (vec![(0.0, 0.0); scores.len()], (0.0, 0.0));
    }
    let mut sum: Pair = (0.0, 0.0);
    let weight = |score: &Pair| {
        if *score == (f64::NEG_INFINITY, 0.0) {
            return (0.0, 0.0);
        }
        let (value, mut bound) = float::difference(format, *score, greatest);
        // Of base two, both were multiplied by a logarithm.
        bound += (score.0.abs() + greatest.0.abs()) * 2.0 * one;
        let power = value.exp();
        let natural = float::unary_bound(U::Exp, format, power, (value, bound));
        let of_two = [value, bound].map(|it| it * std::f64::consts::LOG2_E);
        let of_two = float::unary_bound(U::Exp2, format, power, (of_two[0], of_two[1]));
        (power, natural.max(of_two) + power * 4.0 * one)
    };
    let weights: Vec<Pair> = scores.iter().map(weight).collect();
    for weight in &weights {
        sum = (sum.0 + weight.0, sum.1 + weight.1);
    }
    sum.1 += sum.0 * (2.0 * scores.len() as f64 + 4.0) * one;
    (weights, sum)
}

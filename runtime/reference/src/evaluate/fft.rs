//! A stage of a fast Fourier transform: butterflies of neighbours that are half a group apart.

use std::f64::consts::PI;
use std::sync::Arc;

use crate::evaluate::walk::Evaluator;
use crate::formats::epsilon;
use crate::lanes::float::{self, Pair};
use crate::refusal::{Refusal, Result};
use crate::values::{Number, Tensor};
use mlir::{Element, FloatBinary as B, FloatUnary as U, Format};

/// Stage `s` of a transform along the last dimension. In each group of 2^s elements, with `w` the
/// root of unity for the place in its first half, `(a, b)` becomes `(a + w b, a - w b)`.
pub(super) fn stage(
    evaluator: &mut Evaluator<'_>,
    stage: i64,
    roots: &[Arc<Tensor>],
    parts: &[Arc<Tensor>],
) -> Result<Vec<Tensor>> {
    let (mut real, mut imaginary) = ((*parts[0]).clone(), (*parts[1]).clone());
    let Element::Float(format) = real.element else { return Err(Refusal::mismatch()) };
    let length = real.shape.last().copied().unwrap_or_default();
    let group = u32::try_from(stage).ok().filter(|stage| (1..=40).contains(stage));
    let group = group.map(|stage| 1_usize << stage).filter(|it| length.is_multiple_of(*it));
    let Some(group) = group.filter(|_| length > 0) else { return Err(Refusal::mismatch()) };
    let half = group / 2;
    let is_same = real.shape == imaginary.shape && real.element == imaginary.element;
    if !is_same || roots.iter().any(|it| it.count() != half || it.element != real.element) {
        return Err(Refusal::mismatch());
    }
    evaluator.budget.take(real.count() as u128 * 10)?;
    let given = |tensor: &Tensor, at: usize| {
        let number = tensor.get(at);
        (number.float, number.bound)
    };
    let root = |at: usize| match roots {
        [real, imaginary] => [given(real, at), given(imaginary, at)],
        _ => root_of_unity(format, at, group),
    };
    let all: Vec<[Pair; 2]> = (0..half).map(root).collect();
    for first in (0..real.count()).step_by(group) {
        for (at, root) in all.iter().enumerate() {
            let (low, high) = (first + at, first + at + half);
            let a = [given(&real, low), given(&imaginary, low)];
            let b = [given(&real, high), given(&imaginary, high)];
            let moved = multiplied(format, *root, b);
            for (part, tensor) in [&mut real, &mut imaginary].into_iter().enumerate() {
                let sum = binary(B::Add, format, a[part], moved[part]);
                let difference = binary(B::Subtract, format, a[part], moved[part]);
                for (place, (float, bound)) in [(low, sum), (high, difference)] {
                    let bound = if evaluator.with_bounds { bound } else { 0.0 };
                    tensor.set(place, Number { float, integer: 0, bound });
                }
            }
        }
    }
    Ok(vec![real, imaginary])
}

/// The root for a place, as an implementation computes it in the format that is given none.
fn root_of_unity(format: Format, at: usize, group: usize) -> [Pair; 2] {
    let angle = -2.0 * PI * at as f64 / group as f64;
    // The quotient and the product are rounded.
    let angle = (angle, 3.0 * angle.abs() * epsilon(format));
    [U::Cos, U::Sin].map(|function| {
        let value = float::unary(function)(angle.0);
        (value, float::unary_bound(function, format, value, angle))
    })
}

/// A function of two floats, with its bound.
fn binary(function: B, format: Format, a: Pair, b: Pair) -> Pair {
    let value = float::binary(function)(a.0, b.0);
    (value, float::binary_bound(function, format, value, a, b))
}

/// The product of complex numbers.
fn multiplied(format: Format, a: [Pair; 2], b: [Pair; 2]) -> [Pair; 2] {
    let times = |a: Pair, b: Pair| binary(B::Multiply, format, a, b);
    let real = binary(B::Subtract, format, times(a[0], b[0]), times(a[1], b[1]));
    [real, binary(B::Add, format, times(a[0], b[1]), times(a[1], b[0]))]
}

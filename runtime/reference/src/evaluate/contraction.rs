//! [`Contraction`]: products that are added up, as matrix products and convolutions do. They are
//! most of what is evaluated, and simple: their operands are exact, and only magnitudes are needed
//! for their bounds.

use crate::formats::{epsilon, greatest, tiny};
use crate::lanes::LANES;
use mlir::Format;

/// Numbers, the first of some and the step between them.
type Strided<'v> = (&'v [f64], (i64, i64));

/// Sums of products in a format.
pub(super) struct Contraction {
    with_bounds: bool,
    epsilon: f64,
    tiny: f64,
    greatest: f64,
    products: Vec<f64>,
}

/// Where they are added: the sums, their bounds, and the magnitudes of all terms.
pub(super) struct Sums<'s> {
    pub(super) sums: &'s mut [f64],
    pub(super) bounds: &'s mut [f64],
    pub(super) magnitudes: &'s mut [f64],
    /// The place of the first, and the step.
    pub(super) to: (usize, usize),
}

impl Contraction {
    pub(super) fn new(format: Format, with_bounds: bool) -> Self {
        Self {
            with_bounds,
            epsilon: epsilon(format),
            tiny: tiny(format),
            greatest: greatest(format),
            products: vec![0.0; LANES],
        }
    }

    /// Adds a product for each lane. False: nothing was added, as one is not finite, or too large.
    pub(super) fn add(&mut self, terms: [Strided<'_>; 2], lanes: usize, sums: Sums<'_>) -> bool {
        let Sums { sums, bounds, magnitudes, to: (from, step) } = sums;
        let [a, b] = terms;
        let products = &mut self.products[..lanes];
        multiply(a, b, products);
        let mut most = 0.0_f64;
        for product in products.iter() {
            // NaN is not less, so it is kept.
            most = if product.abs() <= most { most } else { product.abs() };
        }
        let place = |lane: usize| from + lane * step;
        let mut largest = 0.0_f64;
        for lane in 0..lanes {
            let sum = sums[place(lane)].abs();
            largest = if sum <= largest { largest } else { sum };
        }
        // Far enough from the greatest number that no rounding leads there.
        let is_safe = most + largest <= self.greatest / 4.0;
        if !is_safe {
            return false;
        }
        for (lane, product) in products.iter().enumerate() {
            sums[place(lane)] += product;
        }
        if !self.with_bounds {
            return true;
        }
        for (lane, product) in products.iter().enumerate() {
            let magnitude = product.abs();
            let least = if magnitude == 0.0 { 0.0 } else { self.tiny };
            bounds[place(lane)] += magnitude * self.epsilon + least;
            magnitudes[place(lane)] += magnitude;
        }
        true
    }
}

fn multiply(a: Strided<'_>, b: Strided<'_>, products: &mut [f64]) {
    let lanes = products.len();
    let at = |(values, (from, step)): Strided<'_>, lane: usize| {
        values[from.wrapping_add(step.wrapping_mul(lane as i64)) as usize]
    };
    match (a.1.1, b.1.1) {
        (0, 1) | (1, 0) => {
            let (one, many) = if a.1.1 == 0 { (a, b) } else { (b, a) };
            let factor = at(one, 0);
            let first = many.1.0 as usize;
            let many = &many.0[first..first + lanes];
            products.iter_mut().zip(many).for_each(|(to, it)| *to = factor * it);
        }
        _ => {
            for (lane, product) in products.iter_mut().enumerate() {
                *product = at(a, lane) * at(b, lane);
            }
        }
    }
}

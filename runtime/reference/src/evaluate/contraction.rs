//! [`Contraction`]: products that are added up, as matrix products and convolutions do. They are
//! most of what is evaluated, and simple: their bounds need no more than magnitudes, and the bounds
//! of operands that have any. Products that may be exact are left to the general way, which knows.

use multiversion::multiversion;

use crate::evaluate::strided::{copy, place};
use crate::formats::{epsilon, greatest, tiny};
use crate::lanes::LANES;
use mlir::Format;

/// Bounds up to this are no whole numbers, unless they are zero. Where they are, the numbers may be
/// whole, too, and their products exact.
const BELOW_ONE: f64 = 1.0 - f64::EPSILON;

/// Some numbers of a tensor.
#[derive(Clone, Copy)]
pub(super) struct Factors<'v> {
    pub(super) values: &'v [f64],
    /// How far they may be away; empty if they are exact.
    pub(super) bounds: &'v [f64],
    /// The place of the first, and the step.
    pub(super) from: i64,
    pub(super) step: i64,
}

/// The same in some rounds of a loop: the step from round to round.
#[derive(Clone, Copy)]
pub(super) struct Rounds<'v> {
    pub(super) first: Factors<'v>,
    pub(super) step: i64,
    pub(super) count: usize,
}

/// Sums of products in a format.
pub(super) struct Contraction {
    with_bounds: bool,
    epsilon: f64,
    tiny: f64,
    greatest: f64,
    products: Vec<f64>,
    /// What the bounds of the factors add to the bound of each product.
    carried: Vec<f64>,
    /// The factors of each lane, and their bounds.
    lanes: [FactorLanes; 2],
}

/// A factor of each lane, with its bound.
struct FactorLanes {
    values: Vec<f64>,
    bounds: Vec<f64>,
}

impl FactorLanes {
    fn new() -> Self {
        Self { values: vec![0.0; LANES], bounds: vec![0.0; LANES] }
    }

    fn load(&mut self, factors: Factors<'_>, lanes: usize) {
        let Factors { values, bounds, from, step } = factors;
        copy(&mut self.values[..lanes], values, from, step);
        match bounds {
            [] => self.bounds[..lanes].fill(0.0),
            _ => copy(&mut self.bounds[..lanes], bounds, from, step),
        }
    }
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
            carried: vec![0.0; LANES],
            lanes: [FactorLanes::new(), FactorLanes::new()],
        }
    }

    /// Adds the products of many rounds at once, where neighbours of one factor are neighbours of
    /// the sum and the other factor is the same for all lanes. False: nothing was added, as it is
    /// not so, or a factor has bounds, or a number is not finite or too large.
    pub(super) fn sum(&mut self, factors: [Rounds<'_>; 2], lanes: usize, sums: Sums<'_>) -> bool {
        let [a, b] = factors;
        let (one, many) = if a.first.step == 0 { (a, b) } else { (b, a) };
        let Sums { sums, magnitudes, to: (from, step), .. } = sums;
        let are_lanes = one.first.step == 0 && many.first.step == 1 && step == 1;
        let are_exact = a.first.bounds.is_empty() && b.first.bounds.is_empty();
        if !(are_lanes && are_exact) {
            return false;
        }
        let places = from..from + lanes;
        let (sums, magnitudes) = (&mut sums[places.clone()], magnitudes.get_mut(places));
        let (so_far, sizes) = (&mut self.products[..lanes], &mut self.carried[..lanes]);
        so_far.copy_from_slice(sums);
        match &magnitudes {
            Some(magnitudes) => sizes.copy_from_slice(magnitudes),
            None => sizes.iter_mut().zip(&*sums).for_each(|(size, it)| *size = it.abs()),
        }
        add_rounds(one, many, so_far, sizes);
        // No term and no part of the sum was larger than this.
        if !are_within(self.greatest / 8.0, sizes) {
            return false;
        }
        sums.copy_from_slice(so_far);
        if let Some(magnitudes) = magnitudes {
            magnitudes.copy_from_slice(sizes);
        }
        true
    }

    /// Adds a product for each lane, and what its factors add to the bound. False: nothing was
    /// added, as one is not finite, or too large, or may be exact.
    pub(super) fn add(&mut self, [a, b]: [Factors<'_>; 2], lanes: usize, sums: Sums<'_>) -> bool {
        let Sums { sums, bounds, magnitudes, to } = sums;
        let (from, step) = to;
        let products = &mut self.products[..lanes];
        multiply(a, b, products);
        // Far enough from the greatest number that no rounding leads there.
        let limit = self.greatest / 8.0;
        let so_far = match step {
            1 => are_within(limit, &sums[from..from + lanes]),
            _ => (0..lanes).all(|lane| sums[from + lane * step].abs() <= limit),
        };
        if !(so_far && are_within(limit, products)) {
            return false;
        }
        let carries = self.with_bounds && !(a.bounds.is_empty() && b.bounds.is_empty());
        if carries && !self.carry(a, b, lanes) {
            return false;
        }
        let products = &self.products[..lanes];
        add_to(sums, to, products.iter().copied());
        if !self.with_bounds {
            return true;
        }
        add_to(magnitudes, to, products.iter().map(|it| it.abs()));
        if carries {
            add_to(bounds, to, self.carried[..lanes].iter().copied());
        }
        true
    }

    /// What the roundings of so many products add to the bound of their sum.
    pub(super) fn rounding(&self, magnitude: f64, rounds: f64) -> f64 {
        let least = if magnitude == 0.0 { 0.0 } else { self.tiny * rounds };
        magnitude * self.epsilon + least
    }

    /// Computes what the bounds of the factors add. False: a bound is infinite, or one or more, as
    /// those of whole numbers are; or all are zero and a product is not.
    fn carry(&mut self, a: Factors<'_>, b: Factors<'_>, lanes: usize) -> bool {
        let [first, second] = &mut self.lanes;
        first.load(a, lanes);
        second.load(b, lanes);
        let values = first.values.iter().zip(&second.values);
        let bounds = first.bounds.iter().zip(&second.bounds);
        let carried = &mut self.carried[..lanes];
        for ((carried, (a, b)), (of_a, of_b)) in carried.iter_mut().zip(values).zip(bounds) {
            *carried = a.abs() * of_b + b.abs() * of_a + of_a * of_b;
        }
        let may_be_exact = are_within(0.0, carried) && !are_within(0.0, &self.products[..lanes]);
        let are_fractions = are_within(BELOW_ONE, &first.bounds[..lanes])
            && are_within(BELOW_ONE, &second.bounds[..lanes]);
        are_within(self.greatest / 8.0, carried) && are_fractions && !may_be_exact
    }
}

/// Adds the products of all rounds, and their magnitudes. Each sum adds them in the same order,
/// however many lanes the processor takes at once.
#[multiversion(targets("x86_64+avx2"))]
fn add_rounds(one: Rounds<'_>, many: Rounds<'_>, sums: &mut [f64], sizes: &mut [f64]) {
    let at = |it: Rounds<'_>, round| place(it.first.from, it.step, round);
    let terms = |it| (one.first.values[at(one, it)], &many.first.values[at(many, it)..]);
    let mut rounds = 0..one.count;
    while rounds.len() >= 4 {
        let four: [usize; 4] = std::array::from_fn(|it| rounds.start + it);
        add_terms(four.map(terms), sums, sizes);
        rounds.start += 4;
    }
    rounds.for_each(|round| add_terms([terms(round)], sums, sizes));
}

/// Adds products, one after the other, and their magnitudes.
#[inline(always)]
fn add_terms<const N: usize>(terms: [(f64, &[f64]); N], sums: &mut [f64], sizes: &mut [f64]) {
    let terms = terms.map(|(factor, many)| (factor, &many[..sums.len()]));
    for (lane, (sum, size)) in sums.iter_mut().zip(sizes).enumerate() {
        for (factor, many) in &terms {
            let product = factor * many[lane];
            *sum += product;
            *size += product.abs();
        }
    }
}

/// Adds numbers to others, of which the first has this place, with this step.
fn add_to(values: &mut [f64], (from, step): (usize, usize), added: impl Iterator<Item = f64>) {
    match step {
        1 => values[from..].iter_mut().zip(added).for_each(|(to, it)| *to += it),
        _ => added.enumerate().for_each(|(lane, it)| values[from + lane * step] += it),
    }
}

/// Whether all are at most this far from zero. NaN is not.
fn are_within(limit: f64, values: &[f64]) -> bool {
    // Without a way out of the loop, several are compared at once.
    values.iter().fold(true, |all, it| all & (it.abs() <= limit))
}

fn multiply(a: Factors<'_>, b: Factors<'_>, products: &mut [f64]) {
    let lanes = products.len();
    let at = |it: Factors<'_>, lane: usize| it.values[place(it.from, it.step, lane)];
    match (a.step, b.step) {
        (0, 1) | (1, 0) => {
            let (one, many) = if a.step == 0 { (a, b) } else { (b, a) };
            let factor = at(one, 0);
            let many = &many.values[many.from as usize..][..lanes];
            products.iter_mut().zip(many).for_each(|(to, it)| *to = factor * it);
        }
        _ => {
            for (lane, product) in products.iter_mut().enumerate() {
                *product = at(a, lane) * at(b, lane);
            }
        }
    }
}

//! [`Contraction`]: products that are added up, as matrix products and convolutions do. They are
//! most of what is evaluated, and simple: their bounds need no more than magnitudes, and the bounds
//! of operands that have any. Products that may be exact are left to the general way, which knows.

use multiversion::multiversion;

use crate::evaluate::strided::{copy, place, put};
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

/// The same in some rounds of loops.
#[derive(Clone, Copy)]
pub(super) struct Rounds<'v> {
    pub(super) first: Factors<'v>,
    /// Where each round reads, from where the first one does.
    pub(super) offsets: &'v [i64],
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

    /// Adds the products of many rounds at once. False: nothing was added, as a factor has bounds,
    /// or a number is not finite or too large: then the rounds are added one by one.
    pub(super) fn sum(&mut self, factors: [Rounds<'_>; 2], lanes: usize, sums: Sums<'_>) -> bool {
        let [a, b] = factors;
        let Sums { sums, magnitudes, to: (from, step), .. } = sums;
        if !(a.first.bounds.is_empty() && b.first.bounds.is_empty()) {
            return false;
        }
        let (from, step) = (from as i64, step as i64);
        let (so_far, sizes) = (&mut self.products[..lanes], &mut self.carried[..lanes]);
        copy(so_far, sums, from, step);
        match magnitudes {
            [] => sizes.iter_mut().zip(&*so_far).for_each(|(size, it)| *size = it.abs()),
            _ => copy(sizes, magnitudes, from, step),
        }
        match (a.first.step, b.first.step) {
            (0, 1) => add_rounds(a, b, so_far, sizes),
            (1, 0) => add_rounds(b, a, so_far, sizes),
            _ => {
                let [first, second] = &mut self.lanes;
                let lanes = [&mut first.values[..lanes], &mut second.values[..lanes]];
                add_lanes([a, b], lanes, so_far, sizes);
            }
        }
        // No term and no part of the sum was larger than this.
        if !are_within(self.greatest / 8.0, sizes) {
            return false;
        }
        put(sums, so_far, from, step);
        if !magnitudes.is_empty() {
            put(magnitudes, sizes, from, step);
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

/// Adds the products of all rounds, and their magnitudes, where neighbours of one factor are
/// neighbours in memory and the other factor is the same for all lanes. Each sum adds them in the
/// same order, however many lanes the processor takes at once.
#[multiversion(targets("x86_64+avx2"))]
fn add_rounds(one: Rounds<'_>, many: Rounds<'_>, sums: &mut [f64], sizes: &mut [f64]) {
    let at = |it: &Rounds<'_>, offset: i64| it.first.from.wrapping_add(offset) as usize;
    let term = |of_one: i64, of_many: i64| {
        (one.first.values[at(&one, of_one)], &many.first.values[at(&many, of_many)..])
    };
    let (ones, last_ones) = one.offsets.as_chunks::<4>();
    let (manies, last_manies) = many.offsets.as_chunks::<4>();
    for (of_one, of_many) in ones.iter().zip(manies) {
        let four = std::array::from_fn(|it| term(of_one[it], of_many[it]));
        add_terms::<4>(four, sums, sizes);
    }
    for (of_one, of_many) in last_ones.iter().zip(last_manies) {
        add_terms([term(*of_one, *of_many)], sums, sizes);
    }
}

/// The same wherever the lanes of both factors are. They are copied there.
#[multiversion(targets("x86_64+avx2"))]
fn add_lanes(
    factors: [Rounds<'_>; 2],
    lanes: [&mut [f64]; 2],
    sums: &mut [f64],
    sizes: &mut [f64],
) {
    let [a, b] = factors;
    let [of_a, of_b] = lanes;
    let count = sums.len();
    let (of_a, of_b, sizes) = (&mut of_a[..count], &mut of_b[..count], &mut sizes[..count]);
    for (offset_a, offset_b) in a.offsets.iter().zip(b.offsets) {
        copy(of_a, a.first.values, a.first.from.wrapping_add(*offset_a), a.first.step);
        copy(of_b, b.first.values, b.first.from.wrapping_add(*offset_b), b.first.step);
        for lane in 0..count {
            let product = of_a[lane] * of_b[lane];
            sums[lane] += product;
            sizes[lane] += product.abs();
        }
    }
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

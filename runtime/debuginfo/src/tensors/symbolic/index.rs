//! Index arithmetic: polynomials over index variables and over sizes that are only known when the
//! program runs, and their quotients and remainders, as they come about when tensors are reshaped.
//!
//! An index is only ever compared where it is in range, so no size on its way is zero.

use std::sync::atomic::{AtomicU64, Ordering};

use super::terms::TermId;

/// The size of each variable's range, from 0.
pub(crate) type Ranges = [Index];

/// The most terms that a division takes apart.
const MOST_STEPS: usize = 200;
/// The most atoms of an index; a text may ask for more.
const MOST_ATOMS: usize = 4_000;
/// The most products that a multiplication makes.
const MOST_PRODUCTS: usize = 1_000;

/// Atoms that are multiplied, in their order.
type Product = Vec<Atom>;

/// `constant + Σ factor · product`, in a canonical order.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Index {
    pub(crate) constant: i64,
    /// Higher products come first.
    pub(crate) terms: Vec<(Product, i64)>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) enum Atom {
    /// A variable.
    Variable(u32),
    /// The size of a tensor.
    Size(TermId),
    /// A scalar that is computed.
    Value(TermId),
    /// Rounded down.
    Quotient(Box<Index>, Box<Index>),
    Remainder(Box<Index>, Box<Index>),
    /// An index where it is not negative and below a size: it is only read there.
    Guarded(Box<Index>, Box<Index>),
    /// One that has become too long. It is equal to no other, and to itself only by its number.
    Unknown(u64),
}

impl PartialOrd for Index {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Index {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.constant, &self.terms).cmp(&(other.constant, &other.terms))
    }
}

/// The order of products: longer ones come first, so that a division ends.
fn order(one: &Product, other: &Product) -> std::cmp::Ordering {
    other.len().cmp(&one.len()).then_with(|| one.cmp(other))
}

impl Index {
    pub(crate) fn constant(constant: i64) -> Self {
        Self { constant, terms: Vec::new() }
    }

    pub(crate) fn variable(variable: u32) -> Self {
        Self::atom(Atom::Variable(variable))
    }

    pub(crate) fn atom(atom: Atom) -> Self {
        Self { constant: 0, terms: vec![(vec![atom], 1)] }
    }

    fn as_atom(&self) -> Option<&Atom> {
        match (self.constant, self.terms.as_slice()) {
            (0, [(product, 1)]) if product.len() == 1 => product.first(),
            _ => None,
        }
    }

    /// Whether it is one variable.
    pub(crate) fn as_variable(&self) -> Option<u32> {
        match self.as_atom()? {
            Atom::Variable(variable) => Some(*variable),
            _ => None,
        }
    }

    /// Whether it is one size.
    pub(crate) fn as_size(&self) -> Option<TermId> {
        match self.as_atom()? {
            Atom::Size(term) => Some(*term),
            _ => None,
        }
    }

    /// Whether it is one scalar.
    pub(crate) fn as_value(&self) -> Option<TermId> {
        match self.as_atom()? {
            Atom::Size(term) | Atom::Value(term) => Some(*term),
            _ => None,
        }
    }

    pub(crate) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Whether it is the same wherever it is read: a number, or made of sizes.
    pub(crate) fn is_fixed(&self) -> bool {
        self.all_atoms(&mut |it| matches!(it, Atom::Size(_)))
    }

    /// Whether all its atoms, and those of the indices in them, are like that.
    pub(crate) fn all_atoms(&self, is_it: &mut dyn FnMut(&Atom) -> bool) -> bool {
        self.terms.iter().flat_map(|(product, _)| product).all(|atom| match atom {
            Atom::Quotient(inner, by) | Atom::Remainder(inner, by) | Atom::Guarded(inner, by) => {
                inner.all_atoms(is_it) && by.all_atoms(is_it)
            }
            _ => is_it(atom),
        })
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.add_all(other, 1);
        sum.join_divisions();
        sum.bounded()
    }

    /// One of which nothing is known.
    fn unknown() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self::atom(Atom::Unknown(NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// Itself, unless it has become too long.
    fn bounded(self) -> Self {
        let mut left = MOST_ATOMS;
        if self.fits(&mut left) { self } else { Self::unknown() }
    }

    fn fits(&self, left: &mut usize) -> bool {
        self.terms.iter().flat_map(|(product, _)| product).all(|atom| {
            *left = left.saturating_sub(1);
            *left > 0
                && match atom {
                    Atom::Quotient(inner, by)
                    | Atom::Remainder(inner, by)
                    | Atom::Guarded(inner, by) => inner.fits(left) && by.fits(left),
                    _ => true,
                }
        })
    }

    pub(crate) fn subtract(&self, other: &Self) -> Self {
        self.add(&other.times(-1))
    }

    fn add_all(&mut self, other: &Self, factor: i64) {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor));
        for (product, own) in &other.terms {
            self.add_term(product.clone(), own.wrapping_mul(factor));
        }
    }

    fn add_term(&mut self, product: Product, factor: i64) {
        if product.is_empty() {
            self.constant = self.constant.wrapping_add(factor);
            return;
        }
        match self.terms.binary_search_by(|(it, _)| order(it, &product)) {
            Ok(at) => {
                self.terms[at].1 = self.terms[at].1.wrapping_add(factor);
                if self.terms[at].1 == 0 {
                    self.terms.remove(at);
                }
            }
            Err(at) if factor != 0 => self.terms.insert(at, (product, factor)),
            Err(_) => {}
        }
    }

    /// `n · (e / n) + e mod n` is `e`.
    fn join_divisions(&mut self) {
        while let Some(joined) = self.joined() {
            *self = joined;
        }
    }

    fn joined(&self) -> Option<Self> {
        for (product, factor) in &self.terms {
            for (at, atom) in product.iter().enumerate() {
                let Atom::Remainder(inner, by) = atom else { continue };
                let mut others = product.clone();
                others.remove(at);
                let others = Self { constant: 0, terms: Vec::new() }.with(others, *factor);
                let quotient = Self::atom(Atom::Quotient(inner.clone(), by.clone()));
                let whole = quotient.multiply(by).multiply(&others);
                let has_all = whole.terms.iter().all(|it| self.terms.contains(it))
                    && (whole.constant == 0 || whole.constant == self.constant);
                if has_all {
                    let mut joined = self.clone();
                    joined.add_term(product.clone(), -factor);
                    joined.add_all(&whole, -1);
                    joined.add_all(&inner.multiply(&others), 1);
                    return Some(joined);
                }
            }
        }
        None
    }

    fn with(mut self, product: Product, factor: i64) -> Self {
        self.add_term(product, factor);
        self
    }

    pub(crate) fn times(&self, factor: i64) -> Self {
        if factor == 0 {
            return Self::default();
        }
        let terms =
            self.terms.iter().map(|(product, own)| (product.clone(), own.wrapping_mul(factor)));
        Self { constant: self.constant.wrapping_mul(factor), terms: terms.collect() }
    }

    pub(crate) fn multiply(&self, other: &Self) -> Self {
        match (self.as_constant(), other.as_constant()) {
            (Some(factor), _) => return other.times(factor),
            (_, Some(factor)) => return self.times(factor),
            _ => {}
        }
        if (self.terms.len() + 1).saturating_mul(other.terms.len() + 1) > MOST_PRODUCTS {
            return Self::unknown();
        }
        let mut found = Self::constant(self.constant.wrapping_mul(other.constant));
        let all = |it: &Self| {
            let constant = (it.constant != 0).then(|| (Product::new(), it.constant));
            it.terms.iter().cloned().chain(constant).collect::<Vec<_>>()
        };
        for (one, factor) in all(self) {
            for (other, other_factor) in all(other) {
                if one.is_empty() && other.is_empty() {
                    continue;
                }
                let mut product: Product = one.iter().chain(&other).cloned().collect();
                product.sort_unstable();
                found.add_term(product, factor.wrapping_mul(other_factor));
            }
        }
        found.join_divisions();
        found.bounded()
    }

    /// Whether it cannot be negative.
    pub(crate) fn is_natural(&self) -> bool {
        self.constant >= 0
            && self
                .terms
                .iter()
                .all(|(product, factor)| *factor > 0 && product.iter().all(Atom::is_natural))
    }

    /// Its parts: products of variables, with what each is multiplied by.
    fn by_variables(&self) -> Vec<(Product, Self)> {
        let mut found: Vec<(Product, Self)> = Vec::new();
        let constant = (self.constant != 0).then(|| (Product::new(), self.constant));
        for (product, factor) in self.terms.iter().cloned().chain(constant) {
            let (variables, sizes): (Product, Product) =
                product.into_iter().partition(Atom::has_variables);
            match found.iter_mut().find(|(it, _)| *it == variables) {
                Some((_, sum)) => sum.add_term(sizes, factor),
                None => found.push((variables, Self::default().with(sizes, factor))),
            }
        }
        found
    }

    /// The largest value, if all of its parts are at least 0.
    fn highest(&self, ranges: &Ranges) -> Option<Self> {
        let mut highest = Self::default();
        for (variables, factor) in self.by_variables() {
            if !factor.is_positive_in(ranges) {
                return None;
            }
            let mut most = factor;
            for atom in &variables {
                most = most.multiply(&atom.highest(ranges)?);
            }
            highest.add_all(&most, 1);
        }
        Some(highest)
    }

    /// Whether it is at least 0 where each range has an index.
    fn is_positive_in(&self, ranges: &Ranges) -> bool {
        self.is_at_least_zero()
            || ranges.iter().any(|range| {
                range.as_constant().is_none()
                    && self.exactly_by(range).is_some_and(|it| it.is_at_least_zero())
            })
    }

    /// Whether it is at least 0 and below another one.
    fn is_below(&self, other: &Self, ranges: &Ranges) -> bool {
        let Some(highest) = self.highest(ranges) else { return false };
        other.subtract(&highest).subtract(&Self::constant(1)).is_at_least_zero()
    }

    /// Whether it is at least 0, as every size is at least 1.
    fn is_at_least_zero(&self) -> bool {
        if self.is_natural() {
            return true;
        }
        // What is positive outweighs a negative constant.
        let least: i64 = self.terms.iter().fold(self.constant, |sum, it| sum.saturating_add(it.1));
        let is_size = |it: &Atom| matches!(it, Atom::Size(_));
        let is_it = |it: &(Product, i64)| it.1 > 0 && it.0.iter().all(is_size);
        least >= 0 && self.terms.iter().all(is_it)
    }

    /// Its multiples of another one, divided by it, and the rest, if that may not be below the
    /// other.
    fn split(&self, by: &Self, ranges: &Ranges) -> (Self, Option<Self>) {
        if by.as_constant().is_some_and(|it| it <= 0) {
            return (Self::default(), Some(self.clone()));
        }
        let (whole, rest) = self.divided(by);
        if rest.is_below(by, ranges) {
            return (whole, None);
        }
        // What cannot be divided may still be small on its own.
        if self.is_below(by, ranges) {
            return (Self::default(), None);
        }
        (whole, Some(rest))
    }

    /// `whole · by + rest`, with as little rest as can be.
    fn divided(&self, by: &Self) -> (Self, Self) {
        let (mut whole, mut rest) = (Self::default(), Self::default());
        let Some((lead, factor)) = by.terms.first() else {
            for (product, own) in &self.terms {
                match own % by.constant {
                    0 => whole.add_term(product.clone(), own / by.constant),
                    _ => rest.add_term(product.clone(), *own),
                }
            }
            whole.constant = self.constant.div_euclid(by.constant);
            rest.constant = self.constant.rem_euclid(by.constant);
            return (whole, rest);
        };
        let mut left = self.clone();
        rest.constant = std::mem::take(&mut left.constant);
        for _ in 0..MOST_STEPS {
            let Some((product, own)) = left.terms.first().cloned() else { break };
            match without(&product, lead).filter(|_| own % factor == 0) {
                Some(others) => {
                    let part = Self::default().with(others, own / factor);
                    left.add_all(&part.multiply(by), -1);
                    whole.add_all(&part, 1);
                }
                None => {
                    left.add_term(product.clone(), -own);
                    rest.add_term(product, own);
                }
            }
        }
        rest.add_all(&left, 1);
        (whole, rest)
    }

    /// What it is a multiple of another one by.
    pub(crate) fn exactly_by(&self, by: &Self) -> Option<Self> {
        if by.as_constant().is_some_and(|it| it <= 0) {
            return None;
        }
        let (whole, rest) = self.divided(by);
        (rest.as_constant() == Some(0)).then_some(whole)
    }

    /// The quotient by a positive number, rounded down.
    pub(crate) fn quotient(&self, by: &Self, ranges: &Ranges) -> Self {
        if by.as_constant() == Some(1) {
            return self.clone();
        }
        let (mut found, rest) = self.split(by, ranges);
        if let Some(rest) = rest {
            found.add_all(&Self::atom(Atom::Quotient(Box::new(rest), Box::new(by.clone()))), 1);
        }
        found.join_divisions();
        found.bounded()
    }

    /// The remainder of the division by a positive number.
    pub(crate) fn remainder(&self, by: &Self, ranges: &Ranges) -> Self {
        if by.as_constant() == Some(1) {
            return Self::default();
        }
        let (whole, rest) = self.split(by, ranges);
        match rest {
            Some(rest) => {
                Self::atom(Atom::Remainder(Box::new(rest), Box::new(by.clone()))).bounded()
            }
            None => self.subtract(&whole.multiply(by)),
        }
    }

    /// The index itself where it is known to be below a size.
    pub(crate) fn guarded(&self, size: &Self, ranges: &Ranges) -> Self {
        match self.is_below(size, ranges) {
            true => self.clone(),
            false => {
                Self::atom(Atom::Guarded(Box::new(self.clone()), Box::new(size.clone()))).bounded()
            }
        }
    }

    /// Replaces sizes.
    pub(crate) fn with_sizes(&self, size: &dyn Fn(TermId) -> Option<Index>) -> Self {
        let mut leaf = |atom: &Atom| match atom {
            Atom::Size(term) => size(*term),
            _ => None,
        };
        self.mapped(&mut leaf, &[])
    }

    /// Replaces variables and scalars.
    pub(crate) fn replace(
        &self,
        variables: &[Index],
        value: &mut dyn FnMut(TermId) -> TermId,
        ranges: &Ranges,
    ) -> Self {
        let mut leaf = |atom: &Atom| match atom {
            Atom::Variable(variable) => variables.get(*variable as usize).cloned(),
            Atom::Value(term) => Some(Self::atom(Atom::Value(value(*term)))),
            _ => None,
        };
        self.mapped(&mut leaf, ranges)
    }

    /// Replaces atoms that have no index inside; `None` leaves one as it is.
    fn mapped(&self, leaf: &mut dyn FnMut(&Atom) -> Option<Self>, ranges: &Ranges) -> Self {
        let mut sum = Self::constant(self.constant);
        for (product, factor) in &self.terms {
            let mut part = Self::constant(*factor);
            for atom in product {
                let replaced = match atom {
                    Atom::Quotient(inner, by) => {
                        let by = by.mapped(leaf, ranges);
                        Some(inner.mapped(leaf, ranges).quotient(&by, ranges))
                    }
                    Atom::Remainder(inner, by) => {
                        let by = by.mapped(leaf, ranges);
                        Some(inner.mapped(leaf, ranges).remainder(&by, ranges))
                    }
                    Atom::Guarded(inner, size) => {
                        let size = size.mapped(leaf, ranges);
                        Some(inner.mapped(leaf, ranges).guarded(&size, ranges))
                    }
                    _ => leaf(atom),
                };
                part = part.multiply(&replaced.unwrap_or_else(|| Self::atom(atom.clone())));
            }
            sum.add_all(&part, 1);
        }
        sum.join_divisions();
        sum
    }
}

impl Atom {
    /// Whether it depends on variables, or on scalars that may.
    fn has_variables(&self) -> bool {
        match self {
            Self::Variable(_) | Self::Value(_) | Self::Unknown(_) => true,
            Self::Size(_) => false,
            Self::Quotient(inner, by) | Self::Remainder(inner, by) | Self::Guarded(inner, by) => {
                let mut is_size = |it: &Self| !it.has_variables();
                !inner.all_atoms(&mut is_size) || !by.all_atoms(&mut is_size)
            }
        }
    }

    fn is_natural(&self) -> bool {
        match self {
            Self::Variable(_) | Self::Size(_) | Self::Remainder(..) | Self::Guarded(..) => true,
            Self::Value(_) | Self::Unknown(_) => false,
            // A quotient of sizes is a size.
            Self::Quotient(inner, _) => !self.has_variables() || inner.is_natural(),
        }
    }

    fn highest(&self, ranges: &Ranges) -> Option<Index> {
        let one = Index::constant(1);
        match self {
            Self::Variable(variable) => Some(ranges.get(*variable as usize)?.subtract(&one)),
            Self::Size(_) => Some(Index::atom(self.clone())),
            Self::Value(_) | Self::Unknown(_) => None,
            Self::Quotient(inner, by) => Some(inner.highest(ranges)?.quotient(by, ranges)),
            Self::Remainder(_, by) | Self::Guarded(_, by) => Some(by.subtract(&one)),
        }
    }
}

/// The atoms of a product without those of another.
fn without(product: &Product, other: &Product) -> Option<Product> {
    let mut left = product.clone();
    for atom in other {
        let at = left.iter().position(|it| it == atom)?;
        left.remove(at);
    }
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_and_remainders_are_taken_apart() {
        let by = Index::constant;
        let ranges = [by(5), by(8)];
        let flat = Index::variable(0).times(8).add(&Index::variable(1));
        assert_eq!(flat.quotient(&by(8), &ranges), Index::variable(0));
        assert_eq!(flat.remainder(&by(8), &ranges), Index::variable(1));
        let rest = flat.remainder(&by(6), &ranges);
        assert_eq!(rest.add(&flat.quotient(&by(6), &ranges).times(6)), flat);
        assert_eq!(rest.as_variable(), None);
        // A size with several parts: (a + 2).
        let padded = Index::atom(Atom::Size(TermId(0))).add(&by(2));
        let ranges = [by(5), padded.clone()];
        let flat = Index::variable(0).multiply(&padded).add(&Index::variable(1));
        assert_eq!(flat.quotient(&padded, &ranges), Index::variable(0));
        assert_eq!(flat.remainder(&padded, &ranges), Index::variable(1));
        // One that would become too long is equal to nothing.
        let long = (0..40).fold(Index::variable(0), |it, _| it.multiply(&it).add(&it));
        let again = (0..40).fold(Index::variable(0), |it, _| it.multiply(&it).add(&it));
        assert_ne!(long, again);
        // Its last index but one is not below it.
        assert_eq!(Index::variable(1).add(&by(1)).quotient(&padded, &ranges).as_constant(), None);
    }
}

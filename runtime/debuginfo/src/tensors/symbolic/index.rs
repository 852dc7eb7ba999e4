//! Index arithmetic: sums of variables with factors, and their quotients and remainders, as they
//! come about when tensors are reshaped.

use super::terms::TermId;

/// The size of each variable's range, from 0; `None` if it is only known when the program runs.
pub(crate) type Ranges = [Option<i64>];

/// `constant + Σ factor · atom`, in a canonical order.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Index {
    pub(crate) constant: i64,
    pub(crate) terms: Vec<(Atom, i64)>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) enum Atom {
    /// A variable.
    Variable(u32),
    /// A scalar that is computed.
    Value(TermId),
    Quotient(Box<Index>, i64),
    Remainder(Box<Index>, i64),
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

impl Index {
    pub(crate) fn constant(constant: i64) -> Self {
        Self { constant, terms: Vec::new() }
    }

    pub(crate) fn variable(variable: u32) -> Self {
        Self::atom(Atom::Variable(variable))
    }

    pub(crate) fn atom(atom: Atom) -> Self {
        Self { constant: 0, terms: vec![(atom, 1)] }
    }

    /// Whether it is one variable.
    pub(crate) fn as_variable(&self) -> Option<u32> {
        match (self.constant, self.terms.as_slice()) {
            (0, [(Atom::Variable(variable), 1)]) => Some(*variable),
            _ => None,
        }
    }

    pub(crate) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.constant = sum.constant.wrapping_add(other.constant);
        for (atom, factor) in &other.terms {
            sum.add_term(atom.clone(), *factor);
        }
        sum.join_divisions();
        sum
    }

    fn add_term(&mut self, atom: Atom, factor: i64) {
        match self.terms.binary_search_by(|(it, _)| it.cmp(&atom)) {
            Ok(at) => {
                self.terms[at].1 = self.terms[at].1.wrapping_add(factor);
                if self.terms[at].1 == 0 {
                    self.terms.remove(at);
                }
            }
            Err(at) if factor != 0 => self.terms.insert(at, (atom, factor)),
            Err(_) => {}
        }
    }

    /// `n · (e / n) + e mod n` is `e`.
    fn join_divisions(&mut self) {
        while let Some((whole, by, factor)) = self.terms.iter().find_map(|(atom, factor)| {
            let Atom::Remainder(inner, by) = atom else { return None };
            let quotient = Atom::Quotient(inner.clone(), *by);
            let wanted = factor.checked_mul(*by)?;
            let has = self.terms.iter().any(|(it, f)| *it == quotient && *f == wanted);
            has.then(|| (inner.clone(), *by, *factor))
        }) {
            self.add_term(Atom::Remainder(whole.clone(), by), -factor);
            self.add_term(Atom::Quotient(whole.clone(), by), -factor.wrapping_mul(by));
            let whole = whole.times(factor);
            self.constant = self.constant.wrapping_add(whole.constant);
            for (atom, factor) in whole.terms {
                self.add_term(atom, factor);
            }
        }
    }

    pub(crate) fn times(&self, factor: i64) -> Self {
        if factor == 0 {
            return Self::default();
        }
        let terms = self.terms.iter().map(|(atom, own)| (atom.clone(), own.wrapping_mul(factor)));
        Self { constant: self.constant.wrapping_mul(factor), terms: terms.collect() }
    }

    /// The largest value, if all of its parts are at least 0.
    fn highest(&self, ranges: &Ranges) -> Option<i64> {
        let mut highest = self.constant;
        if highest < 0 {
            return None;
        }
        for (atom, factor) in &self.terms {
            if *factor < 0 {
                return None;
            }
            let most = match atom {
                Atom::Variable(variable) => {
                    ranges.get(*variable as usize).copied().flatten()?.checked_sub(1)?
                }
                Atom::Value(_) => return None,
                Atom::Quotient(inner, by) => inner.highest(ranges)?.checked_div(*by)?,
                Atom::Remainder(_, by) => by - 1,
            };
            highest = highest.checked_add(most.checked_mul(*factor)?)?;
        }
        Some(highest)
    }

    /// Its multiples of a number, divided by it, and the rest, if that is below the number.
    fn split(&self, by: i64, ranges: &Ranges) -> Option<(Self, Self)> {
        let is_multiple = |factor: i64| factor % by == 0;
        let (mut whole, mut rest) = (Self::default(), Self::default());
        for (atom, factor) in &self.terms {
            if is_multiple(*factor) {
                whole.terms.push((atom.clone(), factor / by));
            } else {
                rest.terms.push((atom.clone(), *factor));
            }
        }
        whole.constant = self.constant.div_euclid(by);
        rest.constant = self.constant.rem_euclid(by);
        (rest.highest(ranges)? < by).then_some((whole, rest))
    }

    /// The quotient by a positive number, rounded down.
    pub(crate) fn quotient(&self, by: i64, ranges: &Ranges) -> Self {
        if by == 1 {
            return self.clone();
        }
        match self.split(by, ranges) {
            Some((mut whole, _)) => {
                whole.join_divisions();
                whole
            }
            None => Self::atom(Atom::Quotient(Box::new(self.clone()), by)),
        }
    }

    /// The remainder of the division by a positive number.
    pub(crate) fn remainder(&self, by: i64, ranges: &Ranges) -> Self {
        if by == 1 {
            return Self::default();
        }
        match self.split(by, ranges) {
            Some((_, rest)) => rest,
            None => Self::atom(Atom::Remainder(Box::new(self.clone()), by)),
        }
    }

    /// Replaces variables and scalars.
    pub(crate) fn replace(
        &self,
        variables: &[Index],
        value: &mut dyn FnMut(TermId) -> TermId,
        ranges: &Ranges,
    ) -> Self {
        let mut sum = Self::constant(self.constant);
        for (atom, factor) in &self.terms {
            let replaced = match atom {
                Atom::Variable(variable) => match variables.get(*variable as usize) {
                    Some(index) => index.clone(),
                    None => Self::variable(*variable),
                },
                Atom::Value(term) => Self::atom(Atom::Value(value(*term))),
                Atom::Quotient(inner, by) => {
                    inner.replace(variables, value, ranges).quotient(*by, ranges)
                }
                Atom::Remainder(inner, by) => {
                    inner.replace(variables, value, ranges).remainder(*by, ranges)
                }
            };
            sum = sum.add(&replaced.times(*factor));
        }
        sum
    }
}

/// The index of an element in another shape of the same elements. `None` if the sizes that are
/// only known when the program runs do not allow it.
pub(crate) fn reshaped(
    index: &[Index],
    from: &[Option<i64>],
    to: &[Option<i64>],
    ranges: &Ranges,
) -> Option<Vec<Index>> {
    let mut found = vec![Index::default(); to.len()];
    // Sizes that are unknown on both sides stay as they are, and what lies between them, too.
    let unknown = |shape: &[Option<i64>]| -> Vec<usize> {
        (0..shape.len()).filter(|at| shape[*at].is_none()).collect()
    };
    let (one, other) = (unknown(from), unknown(to));
    let parts = |shape: &[Option<i64>], unknown: &[usize]| -> Vec<(usize, usize)> {
        let starts = std::iter::once(0).chain(unknown.iter().map(|it| it + 1));
        starts.zip(unknown.iter().copied().chain([shape.len()])).collect()
    };
    let is_same = |((a, b), (c, d)): (&(usize, usize), &(usize, usize))| {
        product(&from[*a..*b]) == product(&to[*c..*d])
    };
    let (ours, theirs) = (parts(from, &one), parts(to, &other));
    if ours.len() == theirs.len() && ours.iter().zip(&theirs).all(is_same) {
        for (one, other) in one.iter().zip(&other) {
            found[*other] = index[*one].clone();
        }
        for ((a, b), (c, d)) in ours.into_iter().zip(theirs) {
            regroup(&index[a..b], &from[a..b], &to[c..d], ranges, &mut found[c..d])?;
        }
    } else {
        regroup(index, from, to, ranges, &mut found)?;
    }
    Some(found)
}

/// Writes the index of an element in another shape. Both shapes are cut into groups of equal
/// products, beginning at the end, so that an unknown size only matters in its own group.
fn regroup(
    index: &[Index],
    from: &[Option<i64>],
    to: &[Option<i64>],
    ranges: &Ranges,
    found: &mut [Index],
) -> Option<()> {
    let (mut one, mut other) = (from.len(), to.len());
    while one > 0 || other > 0 {
        if one > 0 && from[one - 1] == Some(1) {
            one -= 1;
            continue;
        }
        if other > 0 && to[other - 1] == Some(1) {
            other -= 1;
            continue;
        }
        let (first, second) = group(&from[..one], &to[..other])?;
        // The element's position in the group.
        let mut position = Index::default();
        let mut stride = 1_i64;
        for at in (one - first..one).rev() {
            position = position.add(&index[at].times(stride));
            stride = stride.checked_mul(from[at].unwrap_or(1))?;
        }
        for at in (other - second..other).rev() {
            found[at] = match to[at] {
                Some(size) if at > other - second => {
                    let rest = position.remainder(size, ranges);
                    position = position.quotient(size, ranges);
                    rest
                }
                _ => position.clone(),
            };
        }
        one -= first;
        other -= second;
    }
    Some(())
}

fn product(sizes: &[Option<i64>]) -> Option<i64> {
    sizes.iter().try_fold(1_i64, |product, size| product.checked_mul((*size)?))
}

/// How many of the last sizes of two shapes have the same product.
fn group(from: &[Option<i64>], to: &[Option<i64>]) -> Option<(usize, usize)> {
    let (mut first, mut second) = (1, 1);
    loop {
        let one = from.get(from.len().checked_sub(first)?..)?;
        let other = to.get(to.len().checked_sub(second)?..)?;
        match (product(one), product(other)) {
            (Some(one), Some(other)) if one == other => return Some((first, second)),
            (Some(one), Some(other)) if one < other => first += 1,
            (Some(_), Some(_)) => second += 1,
            // All that is left on both sides; unknown sizes may only come first.
            _ => {
                let is_first = |sizes: &[Option<i64>]| sizes[1..].iter().all(Option::is_some);
                return (is_first(from) && is_first(to)).then_some((from.len(), to.len()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(count: u32) -> Vec<Index> {
        (0..count).map(Index::variable).collect()
    }

    #[test]
    fn an_index_survives_a_reshape_and_back() {
        let shapes: [&[i64]; 5] = [&[4, 6], &[24], &[1, 4, 1, 6], &[2, 2, 2, 3], &[8, 3]];
        for (from, to) in shapes.iter().flat_map(|from| shapes.map(|to| (*from, to))) {
            let sizes = |shape: &[i64]| shape.iter().map(|it| Some(*it)).collect::<Vec<_>>();
            let (from, to) = (sizes(from), sizes(to));
            let own: Vec<Index> = all(from.len() as u32)
                .into_iter()
                .zip(&from)
                .map(|(it, size)| if *size == Some(1) { Index::default() } else { it })
                .collect();
            let there = reshaped(&own, &from, &to, &from).unwrap();
            assert_eq!(reshaped(&there, &to, &from, &from).unwrap(), own, "{from:?} {to:?}");
        }
    }

    #[test]
    fn unknown_sizes_stay_in_their_order() {
        let from = [Some(1), Some(4), None, None];
        let moved = reshaped(&all(4), &from, &[Some(4), None, None], &from).unwrap();
        assert_eq!(moved, [1, 2, 3].map(Index::variable));
        assert_eq!(reshaped(&all(2), &[None, Some(4)], &[Some(4), None], &[None, Some(4)]), None);
        assert_eq!(reshaped(&all(2), &[None, None], &[None], &[None, None]), None);
    }

    #[test]
    fn quotients_and_remainders_are_taken_apart() {
        let ranges = [Some(5), Some(8)];
        let flat = Index::variable(0).times(8).add(&Index::variable(1));
        assert_eq!(flat.quotient(8, &ranges), Index::variable(0));
        assert_eq!(flat.remainder(8, &ranges), Index::variable(1));
        let rest = flat.remainder(6, &ranges);
        assert_eq!(rest.add(&flat.quotient(6, &ranges).times(6)), flat);
        assert_eq!(rest.as_variable(), None);
    }
}

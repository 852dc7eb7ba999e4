//! The indices of a tensor whose elements have another shape.

use super::index::{Index, Ranges};

/// The index of an element in another shape of the same elements. `None` if their sizes are not
/// known to allow it.
pub(crate) fn reshaped(
    index: &[Index],
    from: &[Index],
    to: &[Index],
    ranges: &Ranges,
) -> Option<Vec<Index>> {
    let mut found = vec![Index::default(); to.len()];
    // Both shapes are cut into groups of equal products, beginning at the end.
    let (mut one, mut other) = (from.len(), to.len());
    let is_one = |size: &Index| size.as_constant() == Some(1);
    while one > 0 || other > 0 {
        if one > 0 && is_one(&from[one - 1]) {
            one -= 1;
            continue;
        }
        if other > 0 && is_one(&to[other - 1]) {
            other -= 1;
            continue;
        }
        let (first, second) = group(&from[..one], &to[..other])?;
        // The element's position in the group.
        let mut position = Index::default();
        let mut stride = Index::constant(1);
        for at in (one - first..one).rev() {
            position = position.add(&index.get(at)?.multiply(&stride));
            stride = stride.multiply(&from[at]);
        }
        for at in (other - second..other).rev() {
            found[at] = if at > other - second {
                let rest = position.remainder(&to[at], ranges);
                position = position.quotient(&to[at], ranges);
                rest
            } else {
                position.clone()
            };
        }
        one -= first;
        other -= second;
    }
    Some(found)
}

/// The number of elements of a shape.
pub(crate) fn count(sizes: &[Index]) -> Index {
    sizes.iter().fold(Index::constant(1), |product, size| product.multiply(size))
}

/// How many of the last sizes of two shapes have the same product: as few as can be.
fn group(from: &[Index], to: &[Index]) -> Option<(usize, usize)> {
    let tails = |sizes: &[Index]| -> Vec<Index> {
        (1..=sizes.len()).map(|it| count(&sizes[sizes.len() - it..])).collect()
    };
    let (ours, theirs) = (tails(from), tails(to));
    let pairs = (0..ours.len()).flat_map(|one| (0..theirs.len()).map(move |other| (one, other)));
    let equal = pairs.filter(|(one, other)| ours[*one] == theirs[*other]);
    let (one, other) = equal.min_by_key(|(one, other)| one + other)?;
    Some((one + 1, other + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensors::symbolic::index::Atom;
    use crate::tensors::symbolic::terms::TermId;

    fn all(count: u32) -> Vec<Index> {
        (0..count).map(Index::variable).collect()
    }

    /// Sizes: numbers, or letters for those that are only known when the program runs.
    fn sizes(text: &str) -> Vec<Index> {
        let size = |it: &str| match it.parse() {
            Ok(number) => Index::constant(number),
            Err(_) => Index::atom(Atom::Size(TermId(u32::from(it.as_bytes()[0])))),
        };
        text.split(' ')
            .map(|product| count(&product.split('*').map(size).collect::<Vec<_>>()))
            .collect()
    }

    #[test]
    fn an_index_survives_a_reshape_and_back() {
        let groups: [&[&str]; 3] = [
            &["4 6", "24", "1 4 1 6", "2 2 2 3", "8 3"],
            &["a 8 b", "a*8 b", "8*a*b", "a 4 2 b", "a 4 2*b", "a 8*b"],
            &["a b c", "a*b*c", "a*b c", "1 a b*c"],
        ];
        for (from, to) in groups
            .iter()
            .flat_map(|it| it.iter().flat_map(|from| it.iter().map(move |to| (*from, *to))))
        {
            let (from, to) = (sizes(from), sizes(to));
            let own: Vec<Index> = all(from.len() as u32)
                .into_iter()
                .zip(&from)
                .map(|(it, size)| if size.as_constant() == Some(1) { Index::default() } else { it })
                .collect();
            let there = reshaped(&own, &from, &to, &from).unwrap();
            assert_eq!(reshaped(&there, &to, &from, &from).unwrap(), own, "{from:?} {to:?}");
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        let (one, other) = (sizes("a 4"), sizes("4 b"));
        assert_eq!(reshaped(&all(2), &one, &other, &one), None);
        let (one, other) = (sizes("a b"), sizes("a"));
        assert_eq!(reshaped(&all(2), &one, &other, &one), None);
    }
}

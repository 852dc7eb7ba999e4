//! Which tensors of two programs are the same.
//!
//! 1. By their place, if both programs have the same dispatches, one by one.
//! 2. Else by the names that the source gives them, which are proven.
//! 3. What is left, by a longest common sequence of dispatches with the same text, and where
//!    equally many dispatches with the same shapes lie between two that belong together, by their
//!    place there. Neither is a proof: the code that compares these asks whether both read the same
//!    bytes.

use std::collections::{HashMap, HashSet};

use debug::DispatchEntry;

/// A tensor that a dispatch writes: the index of the dispatch, and of its operand.
pub(crate) type Place = (usize, usize);

/// The most pairs of dispatches that are looked at for a common sequence.
const MOST_CELLS: usize = 1 << 24;

/// The tensors of both programs that are compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alignment {
    /// Whether both have the same dispatches, one by one.
    pub(crate) is_by_place: bool,
    /// For each side: the pair that a tensor belongs to.
    pairs: [HashMap<Place, usize>; 2],
    /// How many pairs there are.
    count: usize,
    /// The pairs that are not proven to be of the same tensor.
    unproven: HashSet<usize>,
    /// For each side: the names of what only it has.
    pub(crate) only: [Vec<String>; 2],
}

/// A program's dispatches that can run, in the order in which it records them, and what each is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed<'l> {
    pub(crate) dispatches: &'l [DispatchEntry],
    /// A text that two dispatches have that compute the same; none if that is not known.
    pub(crate) keys: &'l [Option<String>],
}

impl Alignment {
    /// Aligns the dispatches of two programs.
    pub(crate) fn of(a: Listed<'_>, b: Listed<'_>) -> Self {
        let (listed, other) = (a.dispatches, b.dispatches);
        let by_place =
            listed.len() == other.len() && listed.iter().zip(other).all(|(a, b)| is_alike(a, b));
        if by_place && !is_crossed(listed, other) {
            return Self::by_place(listed, other);
        }
        let mut aligned = Self::default();
        let named = [named(listed), named(other)];
        aligned.add_named(&named);
        aligned.add_by_text([a, b]);
        for (side, only) in named.into_iter().enumerate() {
            let left = only.into_iter().filter(|(_, place)| aligned.pair(side, *place).is_none());
            aligned.only[side] = left.map(|(name, _)| name).collect();
        }
        // A name that both have was not aligned for another reason.
        let [a, b] = &mut aligned.only;
        let both: HashSet<String> = a.iter().filter(|it| b.contains(it)).cloned().collect();
        a.retain(|it| !both.contains(it));
        b.retain(|it| !both.contains(it));
        aligned
    }

    /// The pair that a tensor of a side belongs to.
    pub(crate) fn pair(&self, side: usize, place: Place) -> Option<usize> {
        self.pairs[side].get(&place).copied()
    }

    /// Whether the tensors of a pair are known to be the same; otherwise only their dispatches are
    /// alike.
    pub(crate) fn is_proven(&self, pair: usize) -> bool {
        !self.unproven.contains(&pair)
    }

    /// How many pairs are not proven.
    pub(crate) fn unproven(&self) -> usize {
        self.unproven.len()
    }

    fn add(&mut self, a: Place, b: Place) -> usize {
        let pair = self.count;
        self.count += 1;
        self.pairs[0].insert(a, pair);
        self.pairs[1].insert(b, pair);
        pair
    }

    fn by_place(a: &[DispatchEntry], b: &[DispatchEntry]) -> Self {
        let mut aligned = Self { is_by_place: true, ..Self::default() };
        for (a, b) in a.iter().zip(b) {
            for operand in written(a) {
                aligned.add((a.index, operand), (b.index, operand));
            }
        }
        aligned
    }

    fn add_named(&mut self, [a, b]: &[Vec<(String, Place)>; 2]) {
        let mut others: HashMap<&str, Place> = HashMap::new();
        for (name, place) in b {
            others.entry(name).or_insert(*place);
        }
        for (name, place) in a {
            if let Some(other) = others.remove(name.as_str()) {
                self.add(*place, other);
            }
        }
    }

    /// Aligns what has no name, between what has.
    fn add_by_text(&mut self, [a, b]: [Listed<'_>; 2]) {
        let matched = self.common(a, b);
        let ends = [(a.dispatches.len(), b.dispatches.len())];
        let (mut from_a, mut from_b) = (0, 0);
        for (to_a, to_b) in matched.into_iter().chain(ends) {
            let gap = [&a.dispatches[from_a..to_a], &b.dispatches[from_b..to_b]];
            if gap[0].len() == gap[1].len()
                && gap[0].iter().zip(gap[1]).all(|(a, b)| is_alike(a, b))
            {
                gap[0].iter().zip(gap[1]).for_each(|(a, b)| self.add_unproven(a, b));
            }
            if let (Some(a), Some(b)) = (a.dispatches.get(to_a), b.dispatches.get(to_b)) {
                self.add_unproven(a, b);
            }
            (from_a, from_b) = (to_a + 1, to_b + 1);
        }
    }

    /// Aligns the tensors of two dispatches that are alike and that no name has aligned.
    fn add_unproven(&mut self, a: &DispatchEntry, b: &DispatchEntry) {
        if !is_alike(a, b) {
            return;
        }
        for operand in written(a) {
            let places = [(a.index, operand), (b.index, operand)];
            if self.pair(0, places[0]).is_none() && self.pair(1, places[1]).is_none() {
                let pair = self.add(places[0], places[1]);
                self.unproven.insert(pair);
            }
        }
    }

    /// The longest sequence of dispatches that both have, by their places in the lists. What names
    /// have aligned belongs to it or not as they say.
    fn common(&self, a: Listed<'_>, b: Listed<'_>) -> Vec<(usize, usize)> {
        let (rows, columns) = (a.dispatches.len(), b.dispatches.len());
        if rows.saturating_mul(columns) > MOST_CELLS {
            return Vec::new();
        }
        let pairs_of = |side: usize, dispatch: &DispatchEntry| -> Vec<usize> {
            written(dispatch).filter_map(|it| self.pair(side, (dispatch.index, it))).collect()
        };
        let a_pairs: Vec<_> = a.dispatches.iter().map(|it| pairs_of(0, it)).collect();
        let b_pairs: Vec<_> = b.dispatches.iter().map(|it| pairs_of(1, it)).collect();
        let fits = |i: usize, j: usize| match (&a_pairs[i][..], &b_pairs[j][..]) {
            ([], []) => {
                a.keys[i].is_some()
                    && a.keys[i] == b.keys[j]
                    && is_alike(&a.dispatches[i], &b.dispatches[j])
            }
            (a, b) => a.iter().any(|it| b.contains(it)),
        };
        let mut lengths = vec![0_u32; (rows + 1) * (columns + 1)];
        let at = |i: usize, j: usize| i * (columns + 1) + j;
        for i in (0..rows).rev() {
            for j in (0..columns).rev() {
                lengths[at(i, j)] = match fits(i, j) {
                    true => lengths[at(i + 1, j + 1)] + 1,
                    false => lengths[at(i + 1, j)].max(lengths[at(i, j + 1)]),
                };
            }
        }
        let (mut i, mut j, mut found) = (0, 0, Vec::new());
        while i < rows && j < columns {
            if fits(i, j) {
                found.push((i, j));
                (i, j) = (i + 1, j + 1);
            } else if lengths[at(i + 1, j)] >= lengths[at(i, j + 1)] {
                i += 1;
            } else {
                j += 1;
            }
        }
        found
    }
}

/// The operands that a dispatch writes.
fn written(dispatch: &DispatchEntry) -> impl Iterator<Item = usize> {
    let operands = dispatch.operands.iter().enumerate();
    operands.filter(|(_, it)| it.is_written).map(|(index, _)| index)
}

/// Whether two dispatches work on tensors of the same types.
fn is_alike(a: &DispatchEntry, b: &DispatchEntry) -> bool {
    let same = a.operands.iter().zip(&b.operands).all(|(a, b)| {
        (&a.tensor_type, a.is_read, a.is_written) == (&b.tensor_type, b.is_read, b.is_written)
    });
    same && a.operands.len() == b.operands.len() && !a.operands.is_empty()
}

/// Whether some tensor of one program has another place in the other one.
fn is_crossed(a: &[DispatchEntry], b: &[DispatchEntry]) -> bool {
    let place = |dispatches: &[DispatchEntry]| {
        let at: HashMap<usize, usize> =
            dispatches.iter().enumerate().map(|(place, it)| (it.index, place)).collect();
        let named = named(dispatches).into_iter();
        named
            .map(|(name, (index, operand))| (name, (at[&index], operand)))
            .collect::<HashMap<_, _>>()
    };
    let (a, b) = (place(a), place(b));
    a.iter().any(|(name, place)| b.get(name).is_some_and(|other| other != place))
}

/// The tensors that are written and have names, in order, with the framework's name if there is
/// one: that one does not depend on how a compiler prints the source.
fn named(dispatches: &[DispatchEntry]) -> Vec<(String, Place)> {
    let mut found = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for dispatch in dispatches {
        for operand in written(dispatch) {
            let it = &dispatch.operands[operand];
            let Some(name) = it.node.as_ref().or(it.name.as_ref()) else { continue };
            // A name may come again in another function.
            let times = seen.entry(name.clone()).or_default();
            *times += 1;
            let name = if *times == 1 { name.clone() } else { format!("{name} #{times}") };
            found.push((name, (dispatch.index, operand)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use debug::DispatchEntryOperand;

    use super::*;

    fn dispatch(index: usize, written: &[(&str, &str)]) -> DispatchEntry {
        let operand = |(name, ty): &(&str, &str)| DispatchEntryOperand {
            name: (!name.is_empty()).then(|| (*name).to_owned()),
            node: None,
            tensor_type: (*ty).to_owned(),
            is_read: false,
            is_written: true,
        };
        DispatchEntry {
            index,
            name: None,
            source: None,
            operands: written.iter().map(operand).collect(),
            runs: None,
            current: None,
            can_run: true,
        }
    }

    fn of(a: &[DispatchEntry], b: &[DispatchEntry]) -> Alignment {
        let keys = vec![None; a.len().max(b.len())];
        Alignment::of(
            Listed { dispatches: a, keys: &keys[..a.len()] },
            Listed { dispatches: b, keys: &keys[..b.len()] },
        )
    }

    /// Aligns dispatches without names, each a letter that is its text.
    fn by_text(a: &str, b: &str) -> Vec<(usize, usize)> {
        let list = |texts: &str| -> (Vec<DispatchEntry>, Vec<Option<String>>) {
            let texts = texts.chars().enumerate();
            texts.map(|(at, it)| (dispatch(at, &[("", "4xf32")]), Some(it.to_string()))).unzip()
        };
        let ((a, a_keys), (b, b_keys)) = (list(a), list(b));
        let aligned = Alignment::of(
            Listed { dispatches: &a, keys: &a_keys },
            Listed { dispatches: &b, keys: &b_keys },
        );
        let pairs = (0..a.len()).filter_map(|at| {
            let pair = aligned.pair(0, (at, 0))?;
            assert!(aligned.is_by_place || !aligned.is_proven(pair));
            (0..b.len()).find(|it| aligned.pair(1, (*it, 0)) == Some(pair)).map(|it| (at, it))
        });
        pairs.collect()
    }

    #[test]
    fn the_same_dispatches_are_aligned_by_place() {
        let a = [dispatch(0, &[("%1", "4xf32")]), dispatch(1, &[("%2", "4xf32")])];
        let b = [dispatch(3, &[("%x", "4xf32")]), dispatch(5, &[("%y", "4xf32")])];
        let aligned = of(&a, &b);
        assert!(aligned.is_by_place);
        assert_eq!(aligned.pair(0, (1, 0)), aligned.pair(1, (5, 0)));
        assert_ne!(aligned.pair(0, (1, 0)), aligned.pair(1, (3, 0)));
    }

    #[test]
    fn others_are_aligned_by_name() {
        let a = [dispatch(0, &[("%1", "4xf32")]), dispatch(1, &[("%2", "4xf32")])];
        let crossed = [dispatch(0, &[("%2", "4xf32")]), dispatch(1, &[("%1", "4xf32")])];
        let aligned = of(&a, &crossed);
        assert!(!aligned.is_by_place);
        assert_eq!(aligned.pair(0, (0, 0)), aligned.pair(1, (1, 0)));
        let fused = [dispatch(0, &[("%2", "4xf32")])];
        let aligned = of(&a, &fused);
        assert_eq!(aligned.pair(0, (1, 0)), aligned.pair(1, (0, 0)));
        assert!(aligned.pair(1, (0, 0)).is_some_and(|pair| aligned.is_proven(pair)));
        assert!(aligned.pair(0, (0, 0)).is_none());
        assert_eq!(aligned.only, [vec!["%1".to_owned()], Vec::new()]);
    }

    #[test]
    fn what_has_no_name_is_aligned_by_its_text() {
        // One dispatch more, one less, another one in its place, and others altogether.
        assert_eq!(by_text("abcd", "abxcd"), [(0, 0), (1, 1), (2, 3), (3, 4)]);
        assert_eq!(by_text("abcd", "acd"), [(0, 0), (2, 1), (3, 2)]);
        assert_eq!(by_text("abcde", "axcd"), [(0, 0), (1, 1), (2, 2), (3, 3)]);
        assert_eq!(by_text("ab", "xyz"), []);
    }

    #[test]
    fn names_outweigh_texts() {
        let a = [dispatch(0, &[("%1", "4xf32")]), dispatch(1, &[("", "4xf32")])];
        let b = [
            dispatch(0, &[("", "4xf32")]),
            dispatch(1, &[("%1", "4xf32")]),
            dispatch(2, &[("", "4xf32")]),
        ];
        let keys: Vec<_> = ["t", "t", "t"].map(|it| Some(it.to_owned())).into();
        let aligned = Alignment::of(
            Listed { dispatches: &a, keys: &keys[..2] },
            Listed { dispatches: &b, keys: &keys },
        );
        assert_eq!(aligned.pair(0, (0, 0)), aligned.pair(1, (1, 0)));
        assert_eq!(aligned.pair(0, (1, 0)), aligned.pair(1, (2, 0)));
        assert_eq!((aligned.pair(1, (0, 0)), aligned.unproven()), (None, 1));
    }
}

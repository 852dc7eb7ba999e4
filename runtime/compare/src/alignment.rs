//! Which tensors of two programs are the same: by their place if both have the same dispatches,
//! else by the names that the source gives them.

use std::collections::{HashMap, HashSet};

use debug::DispatchEntry;

/// A tensor that a dispatch writes: the index of the dispatch, and of its operand.
pub(crate) type Place = (usize, usize);

/// The tensors of both programs that are compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alignment {
    /// Whether both have the same dispatches, one by one.
    pub(crate) is_by_place: bool,
    /// For each side: the pair that a tensor belongs to.
    pairs: [HashMap<Place, usize>; 2],
    /// For each side: the names of what only it has.
    pub(crate) only: [Vec<String>; 2],
}

impl Alignment {
    /// Aligns the dispatches of two programs.
    pub(crate) fn of(a: &[DispatchEntry], b: &[DispatchEntry]) -> Self {
        let by_place = a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_alike(a, b));
        if by_place && !is_crossed(a, b) { Self::by_place(a) } else { Self::by_name(a, b) }
    }

    /// The pair that a tensor of a side belongs to.
    pub(crate) fn pair(&self, side: usize, place: Place) -> Option<usize> {
        self.pairs[side].get(&place).copied()
    }

    fn by_place(dispatches: &[DispatchEntry]) -> Self {
        let places = dispatches.iter().flat_map(|dispatch| {
            let written = dispatch.operands.iter().enumerate().filter(|(_, it)| it.is_written);
            written.map(|(operand, _)| (dispatch.index, operand))
        });
        let pairs: HashMap<Place, usize> =
            places.enumerate().map(|(pair, place)| (place, pair)).collect();
        Self { is_by_place: true, pairs: [pairs.clone(), pairs], only: Default::default() }
    }

    fn by_name(a: &[DispatchEntry], b: &[DispatchEntry]) -> Self {
        let mut aligned = Self::default();
        let (a, b) = (named(a), named(b));
        let mut taken: HashSet<Place> = HashSet::new();
        for (name, place) in &a {
            let same = b.iter().find(|(other, place)| other == name && !taken.contains(place));
            let Some((_, other)) = same else {
                aligned.only[0].push(name.clone());
                continue;
            };
            let pair = aligned.pairs[0].len();
            taken.insert(*other);
            aligned.pairs[0].insert(*place, pair);
            aligned.pairs[1].insert(*other, pair);
        }
        let rest = b.into_iter().filter(|(_, place)| !taken.contains(place));
        aligned.only[1].extend(rest.map(|(name, _)| name));
        aligned
    }
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
    let (a, b) = (named(a), named(b));
    let elsewhere: HashMap<&str, Place> =
        b.iter().map(|(name, place)| (name.as_str(), *place)).collect();
    a.iter().any(|(name, place)| elsewhere.get(name.as_str()).is_some_and(|other| other != place))
}

/// The tensors that are written and have names, in order, with the framework's name if there is
/// one: that one does not depend on how a compiler prints the source.
fn named(dispatches: &[DispatchEntry]) -> Vec<(String, Place)> {
    let mut found = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for dispatch in dispatches {
        for (operand, it) in dispatch.operands.iter().enumerate().filter(|(_, it)| it.is_written) {
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
            name: Some((*name).to_owned()),
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
        }
    }

    #[test]
    fn the_same_dispatches_are_aligned_by_place() {
        let a = [dispatch(0, &[("%1", "4xf32")]), dispatch(1, &[("%2", "4xf32")])];
        let b = [dispatch(0, &[("%x", "4xf32")]), dispatch(1, &[("%y", "4xf32")])];
        let aligned = Alignment::of(&a, &b);
        assert!(aligned.is_by_place);
        assert_eq!(aligned.pair(0, (1, 0)), aligned.pair(1, (1, 0)));
        assert_ne!(aligned.pair(0, (1, 0)), aligned.pair(1, (0, 0)));
    }

    #[test]
    fn others_are_aligned_by_name() {
        let a = [dispatch(0, &[("%1", "4xf32")]), dispatch(1, &[("%2", "4xf32")])];
        let crossed = [dispatch(0, &[("%2", "4xf32")]), dispatch(1, &[("%1", "4xf32")])];
        let aligned = Alignment::of(&a, &crossed);
        assert!(!aligned.is_by_place);
        assert_eq!(aligned.pair(0, (0, 0)), aligned.pair(1, (1, 0)));
        let fused = [dispatch(0, &[("%2", "4xf32")])];
        let aligned = Alignment::of(&a, &fused);
        assert_eq!(aligned.pair(0, (1, 0)), aligned.pair(1, (0, 0)));
        assert!(aligned.pair(1, (0, 0)).is_some() && aligned.pair(0, (0, 0)).is_none());
        assert_eq!(aligned.only, [vec!["%1".to_owned()], Vec::new()]);
    }
}

//! Dispatches in the order in which a module records them.
//!
//! The compiler may record dispatches that do not depend on each other in another order than the
//! program of tensors has them. What may run before what is asked by the order of operations
//! everywhere, so the program takes over the order of the module. The ends of a run that agree stay
//! as they are. Between them, each recording must fit one dispatch only, by export and place: which
//! of two equal ones it is, nothing tells.

use std::collections::{BTreeMap, HashMap, HashSet};

use vmfb::FunctionOrdinal;

use super::alignment::{RecordedDispatch, Written, agrees};
use super::program::{TensorOperation, TensorOperationId, TensorProgram};

/// For each dispatch that moves, the place that it takes, both in one function.
type Moves = Vec<(TensorOperationId, TensorOperationId)>;

impl TensorProgram {
    /// Puts dispatches in the order of their recordings, and says whether any has moved. The
    /// recordings may be in any order.
    pub fn arrange(&mut self, recordings: &[RecordedDispatch]) -> bool {
        let moves = self.moves(recordings);
        if moves.is_empty() {
            return self.reorder_rows(recordings);
        }
        let taken: HashMap<TensorOperationId, TensorOperation> = moves
            .iter()
            .filter_map(|(from, _)| Some((*from, self.operation(*from)?.clone())))
            .collect();
        for (from, to) in &moves {
            let Some(operation) = taken.get(from) else { continue };
            let Some(function) = self.functions.get_mut(to.function) else { continue };
            for result in &operation.results {
                if let Some(value) = function.values.get_mut(result.0 as usize) {
                    value.made_by = Some(*to);
                }
            }
            if let Some(place) = function.operations.get_mut(to.index) {
                *place = operation.clone();
            }
        }
        !moves.is_empty()
    }

    /// The recordings of dispatches that the program has, by function and in their order, and how
    /// many variants each dispatch has.
    fn runs<'r>(
        &self,
        recordings: &'r [RecordedDispatch],
    ) -> Option<(Vec<Vec<&'r RecordedDispatch>>, usize)> {
        let exports: HashSet<&str> = self.dispatches().filter_map(|(_, it)| it.export()).collect();
        let is_own =
            |it: &&RecordedDispatch| it.export.as_deref().is_some_and(|it| exports.contains(it));
        let own: Vec<&RecordedDispatch> = recordings.iter().filter(is_own).collect();
        let written = self.dispatches().count();
        if written == 0 || !own.len().is_multiple_of(written) {
            return None;
        }
        let variants = (own.len() / written).max(1);
        let mut runs: BTreeMap<FunctionOrdinal, Vec<&RecordedDispatch>> = BTreeMap::new();
        for it in own {
            runs.entry(it.function).or_default().push(it);
        }
        for run in runs.values_mut() {
            run.sort_by_key(|it| it.offset);
        }
        Some((runs.into_values().collect(), variants))
    }

    /// Puts loops and branches in the order of their recordings, too. See [`super::reordering`].
    fn reorder_rows(&mut self, recordings: &[RecordedDispatch]) -> bool {
        let Some((runs, variants)) = self.runs(recordings) else { return false };
        let mut has_moved = false;
        for run in runs {
            let groups: Vec<&[&RecordedDispatch]> = run.chunks(variants).collect();
            let written: Vec<Written<'_>> = self.dispatches().collect();
            let Some(row) = only(rows_of(&written, &groups).into_iter()) else { continue };
            let row: Vec<TensorOperationId> = row.iter().map(|(id, _)| *id).collect();
            has_moved |= self.reorder(&row, &groups).is_some();
        }
        has_moved
    }

    fn moves(&self, recordings: &[RecordedDispatch]) -> Moves {
        let written: Vec<Written<'_>> = self.dispatches().collect();
        let Some((runs, variants)) = self.runs(recordings) else { return Moves::new() };
        let mut moves = Moves::new();
        for run in runs {
            let groups: Vec<&[&RecordedDispatch]> = run.chunks(variants).collect();
            let rows = rows_of(&written, &groups).into_iter();
            let found = only(rows.filter_map(|row| moves_of_row(row, &groups)));
            moves.extend(found.unwrap_or_default());
        }
        let places: HashSet<TensorOperationId> = moves.iter().map(|(_, to)| *to).collect();
        if places.len() == moves.len() { moves } else { Moves::new() }
    }
}

/// The rows of dispatches that have those of a run of recordings in another order; none if a row
/// has them in theirs.
fn rows_of<'w, 'p>(
    written: &'w [Written<'p>],
    groups: &[&[&RecordedDispatch]],
) -> Vec<&'w [Written<'p>]> {
    let rows = || written.windows(groups.len().max(1));
    let in_order =
        |row: &[Written<'_>]| row.iter().zip(groups).all(|(it, group)| agrees(it, group));
    if rows().any(in_order) {
        return Vec::new();
    }
    let exports = |of: &mut dyn Iterator<Item = Option<String>>| -> Vec<Option<String>> {
        let mut exports: Vec<_> = of.collect();
        exports.sort_unstable();
        exports
    };
    let recorded =
        exports(&mut groups.iter().map(|it| it.first().and_then(|it| it.export.clone())));
    let found = rows().filter(|row| {
        exports(&mut row.iter().map(|(_, it)| it.export().map(str::to_owned))) == recorded
    });
    found.collect()
}

/// The only one; of several, nothing tells which it is.
fn only<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    found.next().filter(|_| found.next().is_none())
}

/// How the dispatches of a row have to move.
fn moves_of_row(row: &[Written<'_>], groups: &[&[&RecordedDispatch]]) -> Option<Moves> {
    let same = |it: &(&Written<'_>, &&[&RecordedDispatch])| agrees(it.0, it.1);
    let first = row.iter().zip(groups).take_while(same).count();
    let last = row.len() - row.iter().zip(groups).rev().take_while(same).count();
    let (row, groups) = (row.get(first..last)?, groups.get(first..last)?);
    let mut moves = Moves::new();
    for ((to, place), group) in row.iter().zip(groups) {
        let mut fitting = row.iter().filter(|it| agrees(it, group));
        let (Some((from, dispatch)), None) = (fitting.next(), fitting.next()) else { return None };
        if from.function != to.function || dispatch.region != place.region {
            return None;
        }
        moves.push((*from, *to));
    }
    let moving: HashSet<TensorOperationId> = moves.iter().map(|(from, _)| *from).collect();
    (moving.len() == moves.len()).then_some(moves)
}

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

    fn moves(&self, recordings: &[RecordedDispatch]) -> Moves {
        let exports: HashSet<&str> = self.dispatches().filter_map(|(_, it)| it.export()).collect();
        let is_own =
            |it: &&RecordedDispatch| it.export.as_deref().is_some_and(|it| exports.contains(it));
        let own: Vec<&RecordedDispatch> = recordings.iter().filter(is_own).collect();
        let written: Vec<Written<'_>> = self.dispatches().collect();
        if written.is_empty() || !own.len().is_multiple_of(written.len()) {
            return Moves::new();
        }
        let variants = own.len() / written.len();
        let mut runs: BTreeMap<FunctionOrdinal, Vec<&RecordedDispatch>> = BTreeMap::new();
        for it in own {
            runs.entry(it.function).or_default().push(it);
        }
        let mut moves = Moves::new();
        for mut run in runs.into_values() {
            run.sort_by_key(|it| it.offset);
            let groups: Vec<&[&RecordedDispatch]> = run.chunks(variants.max(1)).collect();
            moves.extend(moves_of_run(&written, &groups));
        }
        let places: HashSet<TensorOperationId> = moves.iter().map(|(_, to)| *to).collect();
        if places.len() == moves.len() { moves } else { Moves::new() }
    }
}

/// How dispatches have to move so that a run of recordings stands for a row of them; none if there
/// is such a row.
fn moves_of_run(written: &[Written<'_>], groups: &[&[&RecordedDispatch]]) -> Moves {
    let rows = || written.windows(groups.len().max(1));
    let in_order =
        |row: &[Written<'_>]| row.iter().zip(groups).all(|(it, group)| agrees(it, group));
    if rows().any(in_order) {
        return Moves::new();
    }
    let exports = |of: &mut dyn Iterator<Item = Option<String>>| -> Vec<Option<String>> {
        let mut exports: Vec<_> = of.collect();
        exports.sort_unstable();
        exports
    };
    let recorded =
        exports(&mut groups.iter().map(|it| it.first().and_then(|it| it.export.clone())));
    let mut found = rows().filter_map(|row| {
        let own = exports(&mut row.iter().map(|(_, it)| it.export().map(str::to_owned)));
        if own == recorded { moves_of_row(row, groups) } else { None }
    });
    // In several rows, nothing tells which it is.
    match (found.next(), found.next()) {
        (Some(moves), None) => moves,
        _ => Moves::new(),
    }
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

//! Loops, branches and dispatches beside each other, in the order in which a module records them.
//!
//! The compiler may record a dispatch before a loop that the program of tensors has before it, if
//! it does not depend on the loop. [`super::arrangement`] lets dispatches of one region trade
//! places. Here whole *segments* move: an operation of a region with all that is inside it. A
//! segment takes along what it needs, and never moves before a dispatch that it needs.

use std::collections::{BTreeSet, HashMap};

use super::alignment::{RecordedDispatch, Written, agrees};
use super::program::{RegionId, TensorFunction, TensorOperationId, TensorProgram};

impl TensorProgram {
    /// Puts the segments of a row of dispatches in the order of its recordings. `None` if more than
    /// one dispatch fits a recording, or one depends on what is recorded after it.
    pub(super) fn reorder(
        &mut self,
        row: &[TensorOperationId],
        groups: &[&[&RecordedDispatch]],
    ) -> Option<()> {
        let number = row.first()?.function;
        let is_own = |id: &TensorOperationId| id.function == number;
        let order = row.iter().all(is_own).then(|| self.recorded_order(row, groups)).flatten()?;
        let function = self.functions.get(number)?;
        let region = common_region(function, &order)?;
        let segments = Segments::of(function, region);
        let moved = segments.order(function, &order)?;
        self.functions.get_mut(number)?.permute(number, &moved);
        Some(())
    }

    /// The dispatches of a row in the order in which they are recorded.
    fn recorded_order(
        &self,
        row: &[TensorOperationId],
        groups: &[&[&RecordedDispatch]],
    ) -> Option<Vec<usize>> {
        let written: Vec<Written<'_>> =
            row.iter().filter_map(|id| Some((*id, self.operation(*id)?))).collect();
        let order = groups.iter().map(|group| {
            let mut fitting = written.iter().filter(|it| agrees(it, group));
            match (fitting.next(), fitting.next()) {
                (Some((id, _)), None) => Some(id.index),
                _ => None,
            }
        });
        let order: Vec<usize> = order.collect::<Option<_>>()?;
        let each: BTreeSet<usize> = order.iter().copied().collect();
        (each.len() == row.len()).then_some(order)
    }
}

/// The region around an operation's region, and its operation there.
fn outwards(function: &TensorFunction, region: RegionId) -> Option<(RegionId, usize)> {
    let known = function.region(region)?;
    Some((known.parent?, known.operation?.index))
}

/// The regions around an operation, innermost first.
fn regions_around(function: &TensorFunction, operation: usize) -> Vec<RegionId> {
    let own = function.operations.get(operation).map(|it| it.region);
    std::iter::successors(own, |region| Some(outwards(function, *region)?.0)).collect()
}

/// The innermost region that has all of some operations.
fn common_region(function: &TensorFunction, operations: &[usize]) -> Option<RegionId> {
    let (first, rest) = operations.split_first()?;
    let others: Vec<Vec<RegionId>> = rest.iter().map(|it| regions_around(function, *it)).collect();
    let mut around = regions_around(function, *first).into_iter();
    around.find(|region| others.iter().all(|it| it.contains(region)))
}

/// The operations of a region, each with what is inside it.
struct Segments {
    region: RegionId,
    /// The first operations, in the order of the text.
    starts: Vec<usize>,
    /// Where the last one ends.
    end: usize,
}

impl Segments {
    fn of(function: &TensorFunction, region: RegionId) -> Self {
        let count = function.operations.len();
        let own = |index: &usize| function.operations[*index].region == region;
        let starts: Vec<usize> = (0..count).filter(own).collect();
        let is_inside = |index: &usize| regions_around(function, *index).contains(&region);
        let end = (0..count).rev().find(is_inside).map_or(0, |last| last + 1);
        Self { region, starts, end }
    }

    /// The segment that an operation is in.
    fn containing(&self, function: &TensorFunction, operation: usize) -> Option<usize> {
        let is_in = regions_around(function, operation).contains(&self.region);
        let after = self.starts.partition_point(|start| *start <= operation);
        after.checked_sub(1).filter(|_| is_in)
    }

    fn operations(&self, segment: usize) -> std::ops::Range<usize> {
        self.starts[segment]..self.starts.get(segment + 1).copied().unwrap_or(self.end)
    }

    /// All operations of the function, by where they are now, in the order that has these
    /// dispatches one after the other.
    fn order(&self, function: &TensorFunction, dispatches: &[usize]) -> Option<Vec<usize>> {
        let mut wanted: Vec<usize> = Vec::new();
        let mut last = 0;
        for dispatch in dispatches {
            let segment = self.containing(function, *dispatch)?;
            if wanted.last() == Some(&segment) {
                // Inside of a segment nothing moves.
                (last < *dispatch).then_some(())?;
            } else if wanted.contains(&segment) {
                return None;
            } else {
                wanted.push(segment);
            }
            last = *dispatch;
        }
        let (first, past) = (*wanted.iter().min()?, *wanted.iter().max()? + 1);
        let mut placed: Vec<usize> = Vec::new();
        for segment in &wanted {
            let mut needed = BTreeSet::new();
            self.needs(function, *segment, first..past, &mut needed);
            needed.retain(|it| !placed.contains(it) && it != segment);
            if needed.iter().any(|it| wanted.contains(it)) {
                return None;
            }
            placed.extend(needed);
            placed.push(*segment);
        }
        let rest: Vec<usize> = (first..past).filter(|it| !placed.contains(it)).collect();
        let segments = (0..first).chain(placed).chain(rest).chain(past..self.starts.len());
        let inside: Vec<usize> = segments.flat_map(|it| self.operations(it)).collect();
        let begin = *self.starts.first()?;
        let all = (0..begin).chain(inside).chain(self.end..function.operations.len());
        Some(all.collect())
    }

    /// The segments in a range that a segment uses, with what those use.
    fn needs(
        &self,
        function: &TensorFunction,
        segment: usize,
        range: std::ops::Range<usize>,
        found: &mut BTreeSet<usize>,
    ) {
        let mut pending = vec![segment];
        while let Some(next) = pending.pop() {
            let operands = self.operations(next).flat_map(|it| &function.operations[it].operands);
            let made_by = operands.filter_map(|it| function.value(*it).made_by);
            for maker in made_by {
                let Some(needed) = self.containing(function, maker.index) else { continue };
                if needed != next && range.contains(&needed) && found.insert(needed) {
                    pending.push(needed);
                }
            }
        }
    }
}

impl TensorFunction {
    /// Gives the operations another order: by where they are now.
    fn permute(&mut self, number: usize, order: &[usize]) {
        if order.len() != self.operations.len() {
            return;
        }
        let places: HashMap<usize, usize> =
            order.iter().enumerate().map(|(to, from)| (*from, to)).collect();
        let moved = |id: TensorOperationId| match places.get(&id.index) {
            Some(index) if id.function == number => TensorOperationId { index: *index, ..id },
            _ => id,
        };
        self.operations = order.iter().map(|from| self.operations[*from].clone()).collect();
        for value in &mut self.values {
            value.made_by = value.made_by.map(moved);
        }
        for region in &mut self.regions {
            region.operation = region.operation.map(moved);
        }
        for told in self.told.values_mut().flatten() {
            told.claim = told.claim.map(|(id, assumes)| (moved(id), assumes));
            told.refuted = told.refuted.iter().copied().map(moved).collect();
        }
    }
}

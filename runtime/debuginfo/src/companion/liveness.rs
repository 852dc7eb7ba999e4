//! The liveness of values, as ranges of operations.
//!
//! The text repeats the list of all live names at every operation, and neighbouring lists hardly
//! differ. One range for each run of operations that list a name keeps memory in proportion to the
//! changes.

use std::ops::Range;

use super::model::{CompanionFunction, Definition, LiveRange, Value, ValueId};

/// Collects the ranges of one name while the operations are read in order.
#[derive(Default)]
pub(super) struct LiveTracker {
    /// The finished ranges, each with how often its operations list the name.
    stretches: Vec<(Range<u32>, u32)>,
    operation: u32,
    count: u32,
}

impl LiveTracker {
    /// Notes that the list of `operation` has the name.
    pub(super) fn seen(&mut self, operation: u32) {
        if self.count > 0 && self.operation == operation {
            self.count = self.count.saturating_add(1);
            return;
        }
        self.flush();
        self.operation = operation;
        self.count = 1;
    }

    fn flush(&mut self) {
        if self.count == 0 {
            return;
        }
        let next = self.operation.saturating_add(1);
        match self.stretches.last_mut() {
            Some((range, count)) if range.end == self.operation && *count == self.count => {
                range.end = next;
            }
            _ => self.stretches.push((self.operation..next, self.count)),
        }
    }

    /// The ranges of a name that stands for `results` values.
    pub(super) fn finish(mut self, results: u32) -> Vec<LiveRange> {
        self.flush();
        self.stretches
            .into_iter()
            .map(|(operations, count)| LiveRange { operations, is_certain: count >= results })
            .collect()
    }
}

impl CompanionFunction {
    /// The values that can be read while the program is stopped *before* an operation: the values
    /// alive during it, without its own results, which do not exist yet. Operands are always alive.
    pub(crate) fn live_before(&self, operation: usize) -> impl Iterator<Item = &Value> {
        let index = u32::try_from(operation).unwrap_or(u32::MAX);
        let mut read: Vec<ValueId> = self
            .operations
            .get(operation)
            .into_iter()
            .flat_map(|operation| self.operands(operation))
            .collect();
        read.sort_unstable();
        self.values.iter().zip(0..).filter_map(move |(value, id)| {
            let is_read = || read.binary_search(&ValueId(id)).is_ok();
            let is_there = !is_own_result(value, index) && (is_live(value, index) || is_read());
            is_there.then_some(value)
        })
    }
}

/// Whether a value is alive during an operation.
fn is_live(value: &Value, operation: u32) -> bool {
    let after = value.live.partition_point(|range| range.operations.end <= operation);
    value.live.get(after).is_some_and(|range| {
        range.operations.contains(&operation)
            && (range.is_certain || value.last_use.is_some_and(|last| last >= operation))
    })
}

/// Whether a value is a result of the operation itself, which lists it as alive.
fn is_own_result(value: &Value, operation: u32) -> bool {
    matches!(value.definition, Definition::Result { operation: own, .. } if own == operation)
}

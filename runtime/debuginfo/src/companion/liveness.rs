//! When values are alive, kept as ranges of operations.
//!
//! The text repeats the list of all live names at every operation; neighbours hardly differ. A
//! range for each stretch in which a name stays in the list keeps memory in proportion to the
//! changes.

use std::ops::Range;

use super::model::{CompanionFunction, Definition, LiveRange, Value, ValueId};

/// Collects the stretches of one name while the operations are read in order.
#[derive(Default)]
pub(super) struct LiveTracker {
    /// Finished stretches, with how often each operation listed the name.
    stretches: Vec<(Range<u32>, u32)>,
    operation: u32,
    count: u32,
}

impl LiveTracker {
    /// The name is in the list of `operation`.
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

    /// The stretches of a name that stands for `results` values.
    pub(super) fn finish(mut self, results: u32) -> Vec<LiveRange> {
        self.flush();
        self.stretches
            .into_iter()
            .map(|(operations, count)| LiveRange { operations, is_certain: count >= results })
            .collect()
    }
}

impl CompanionFunction {
    /// The values that can be read while the machine stands *before* an operation: those alive
    /// during it, but not its own results, which do not exist yet. An operand is alive by
    /// definition.
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
            let is_own_result =
                matches!(value.definition, Definition::Result { operation, .. } if operation == index);
            let is_live = !is_own_result && (is_live(value, index) || read.binary_search(&ValueId(id)).is_ok());
            is_live.then_some(value)
        })
    }
}

/// Whether a value is alive during an operation.
fn is_live(value: &Value, operation: u32) -> bool {
    let after = value.live.partition_point(|range| range.operations.end <= operation);
    value.live.get(after).is_some_and(|range| {
        range.operations.contains(&operation)
            && (range.is_certain || value.last_use.is_some_and(|last| last >= operation))
            && !is_later_result(value, operation)
    })
}

/// An operation lists its own results as alive, and so does none before it in the same stretch.
fn is_later_result(value: &Value, operation: u32) -> bool {
    matches!(value.definition, Definition::Result { operation: own, .. } if own == operation)
}

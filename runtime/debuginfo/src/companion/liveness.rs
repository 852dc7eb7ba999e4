//! When values are alive, kept as ranges of operations.
//!
//! The text repeats the list of all live names at every operation; neighbours hardly differ. A
//! range for each stretch in which a name stays in the list keeps memory in proportion to the
//! changes.

use std::ops::Range;

use super::{Definition, Value};

/// A stretch of operations, in layout order, during which a value is alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveRange {
    /// The operations.
    pub operations: Range<u32>,
    /// Whether this value is meant, or one of the several results that share its name in the list.
    /// (`%7:2` stands for either result of one operation; it is listed once for each that is
    /// alive.)
    pub is_certain: bool,
}

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

/// Whether a value is alive during an operation.
pub(super) fn is_live(value: &Value, operation: u32) -> bool {
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

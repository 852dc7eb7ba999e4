//! The command buffers of a profile, and the operations in them. What is known of a command is its
//! place in its buffer, so each time that a buffer is executed counts as a buffer of its own: it
//! begins where the places do not go on.

use crate::bytes::Bytes;
use crate::layout::{
    COMMAND_BUFFER_ROW, COMMAND_OPERATION_ROW, COPY_OPERATION, DISPATCH_OPERATION, FILL_OPERATION,
    NONE, UPDATE_OPERATION,
};
use crate::model::{Profile, Span, Work};

/// It may be executed once, and is told with what is in it.
const MODE: u64 = 129;

/// Transfers and dispatches.
const CATEGORIES: u64 = 3;

/// The number of each span's command buffer, from 1; 0 for one of none.
pub(crate) fn numbers(spans: &[Span]) -> Vec<u64> {
    let (mut number, mut last) = (0, None);
    let numbers = spans.iter().map(|span| {
        let Some(index) = span.command_index else { return 0 };
        if last.is_none_or(|last| index <= last) {
            number += 1;
        }
        last = Some(index);
        number
    });
    numbers.collect()
}

/// The rows of command buffers.
pub(crate) fn rows(numbers: &[u64]) -> Bytes {
    let mut rows = Bytes::default();
    for number in 1..=numbers.iter().copied().max().unwrap_or_default() {
        rows.all(&[COMMAND_BUFFER_ROW, 0]);
        [number, MODE, CATEGORIES, u64::MAX].into_iter().for_each(|it| rows.u64(it));
        // Device 0, and room.
        rows.all(&[0, 0]);
    }
    rows
}

impl Profile {
    /// The rows of what is in the command buffers.
    pub(crate) fn operations(&self, buffers: &[u64]) -> Bytes {
        let mut rows = Bytes::default();
        for (span, buffer) in self.spans.iter().zip(buffers) {
            if let Some(index) = span.command_index {
                self.operation(&mut rows, span, index, *buffer);
            }
        }
        rows
    }

    fn operation(&self, rows: &mut Bytes, span: &Span, index: u32, buffer: u64) {
        let (kind, executable, ordinal, count, bytes) = match span.work {
            Work::Dispatch { executable, ordinal, workgroup_count } => {
                (DISPATCH_OPERATION, executable, ordinal, workgroup_count, 0)
            }
            Work::Copy { bytes } => (COPY_OPERATION, 0, NONE, [0; 3], bytes),
            Work::Fill { bytes } => (FILL_OPERATION, 0, NONE, [0; 3], bytes),
            Work::Update { bytes } => (UPDATE_OPERATION, 0, NONE, [0; 3], bytes),
        };
        let function = self.function(executable, ordinal);
        rows.all(&[COMMAND_OPERATION_ROW, kind, 0, index]);
        rows.u64(buffer);
        // It is in no block.
        rows.all(&[NONE, NONE]);
        rows.u64(executable);
        rows.all(&[ordinal, function.map(|it| it.bindings).unwrap_or_default()]);
        rows.all(&count);
        rows.all(&function.map(|it| it.workgroup_size).unwrap_or_default());
        // Where it reads and writes is not told, only how much.
        [0, 0, bytes].into_iter().for_each(|it| rows.u64(it));
        // Slots of the source and of the target, blocks to go on with, and room.
        rows.all(&[NONE, NONE, NONE, NONE, 0, 0]);
    }
}

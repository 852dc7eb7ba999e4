//! Writing a profile: one session of one device with one queue.

use crate::bytes::{Bytes, length};
use crate::command_buffers;
use crate::layout::{
    CHUNK, COMMAND_BUFFERS, COMMAND_OPERATIONS, COPY, DEVICE_ROW, DEVICES, DISPATCH,
    EXECUTABLE_ROW, EXECUTABLES, FILE_HEADER, FILL, FUNCTION_ROW, FUNCTIONS, HOST_EVENT_ROW,
    HOST_EVENTS, MAGIC, MAJOR, MINOR, NONE, OF_COMMAND_BUFFER, QUEUE_ROW, QUEUES, SESSION,
    SESSION_BEGIN, SESSION_END, UPDATE,
};
use crate::model::{Profile, Span, Work};

impl Profile {
    /// The file, as `iree-profile` of 3.13 takes it.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut file = Bytes::default();
        file.u32(MAGIC);
        file.u16(MAJOR);
        file.u16(MINOR);
        file.u32(FILE_HEADER);
        file.u32(0);
        file.u64(0);
        let name = self.device.as_str();
        file.record(SESSION_BEGIN, SESSION, name, &[]);
        file.record(CHUNK, DEVICES, name, &devices().0);
        file.record(CHUNK, QUEUES, name, &queues().0);
        file.record(CHUNK, EXECUTABLES, name, &self.executables().0);
        file.record(CHUNK, FUNCTIONS, name, &self.functions().0);
        let buffers = command_buffers::numbers(&self.spans);
        file.record(CHUNK, COMMAND_BUFFERS, name, &command_buffers::rows(&buffers).0);
        file.record(CHUNK, COMMAND_OPERATIONS, name, &self.operations(&buffers).0);
        file.record(CHUNK, HOST_EVENTS, name, &self.events(&buffers).0);
        file.record(SESSION_END, SESSION, name, &[]);
        let whole = file.0.len() as u64;
        if let Some(slot) = file.0.get_mut(16..24) {
            slot.copy_from_slice(&whole.to_le_bytes());
        }
        file.0
    }

    fn executables(&self) -> Bytes {
        let mut counts = std::collections::BTreeMap::<u64, u32>::new();
        for function in &self.functions {
            *counts.entry(function.executable).or_default() += 1;
        }
        let mut rows = Bytes::default();
        for (executable, count) in counts {
            rows.all(&[EXECUTABLE_ROW, 0]);
            rows.u64(executable);
            rows.all(&[count, 0]);
            // The hash of its code is not told.
            [0; 2].into_iter().for_each(|it| rows.u64(it));
        }
        rows
    }

    fn functions(&self) -> Bytes {
        let mut rows = Bytes::default();
        for function in &self.functions {
            let name = function.name.as_bytes();
            rows.all(&[FUNCTION_ROW.saturating_add(length(name.len())), 0]);
            rows.u64(function.executable);
            rows.all(&[function.ordinal, function.constants, function.bindings, 0]);
            rows.all(&function.workgroup_size);
            rows.u32(length(name.len()));
            [0; 2].into_iter().for_each(|it| rows.u64(it));
            rows.0.extend(name);
        }
        rows
    }

    fn events(&self, buffers: &[u64]) -> Bytes {
        let mut rows = Bytes::default();
        for ((number, span), buffer) in (1_u64..).zip(&self.spans).zip(buffers) {
            event(&mut rows, number, span, *buffer, self);
        }
        rows
    }
}

fn devices() -> Bytes {
    let mut row = Bytes::default();
    // No flags, device 0, one queue, no UUID.
    row.all(&[DEVICE_ROW, 0, 0, 1, 0, 0, 0, 0]);
    row
}

fn queues() -> Bytes {
    let mut row = Bytes::default();
    // Queue 0 of device 0, stream 0.
    row.all(&[QUEUE_ROW, 0, 0, 0]);
    row.u64(0);
    row
}

fn event(rows: &mut Bytes, number: u64, span: &Span, buffer: u64, profile: &Profile) {
    let (kind, executable, ordinal, count, bytes) = match span.work {
        Work::Dispatch { executable, ordinal, workgroup_count } => {
            (DISPATCH, executable, ordinal, workgroup_count, 0)
        }
        Work::Copy { bytes } => (COPY, 0, NONE, [0; 3], bytes),
        Work::Fill { bytes } => (FILL, 0, NONE, [0; 3], bytes),
        Work::Update { bytes } => (UPDATE, 0, NONE, [0; 3], bytes),
    };
    let of = profile.function(executable, ordinal);
    let flags = if buffer == 0 { 0 } else { OF_COMMAND_BUFFER };
    // The last is the status: it has ended well.
    rows.all(&[HOST_EVENT_ROW, kind, flags, 0]);
    rows.u64(number);
    // The submission and the command buffer, which is told to have run once.
    rows.u64(buffer);
    rows.u64(buffer);
    rows.u64(executable);
    // Allocation and stream.
    rows.u64(0);
    rows.u64(0);
    rows.all(&[0, 0, span.command_index.unwrap_or(NONE), ordinal]);
    rows.all(&count);
    rows.all(&of.map(|it| it.workgroup_size).unwrap_or_default());
    rows.u64(span.start.cast_unsigned());
    rows.u64(span.end.cast_unsigned());
    rows.u64(bytes);
    // Tiles are not counted.
    rows.u64(0);
    rows.u64(0);
    rows.all(&[1, 0]);
}

//! Bytes in the making: numbers, and the records of the format.

use crate::layout::{NONE, PREFIX, RECORD_HEADER};

const SESSION_ID: u64 = 1;

/// Bytes in the making.
#[derive(Default)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Bytes {
    pub(crate) fn u16(&mut self, number: u16) {
        self.0.extend(number.to_le_bytes());
    }

    pub(crate) fn u32(&mut self, number: u32) {
        self.0.extend(number.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    pub(crate) fn all(&mut self, numbers: &[u32]) {
        numbers.iter().for_each(|number| self.u32(*number));
    }

    /// A record with its rows.
    pub(crate) fn record(&mut self, kind: u16, content: &str, name: &str, payload: &[u8]) {
        let content = format!("{PREFIX}{content}");
        let strings = content.len() + name.len();
        self.u64(u64::from(RECORD_HEADER) + (strings + payload.len()) as u64);
        self.u64(payload.len() as u64);
        self.u64(SESSION_ID);
        // Stream, event, executable, command buffer: rows say them.
        [0; 4].into_iter().for_each(|it| self.u64(it));
        self.u32(RECORD_HEADER);
        self.u32(length(content.len()));
        self.u32(length(name.len()));
        // Device and queue, of which rows say the ordinals too, and room.
        self.all(&[NONE, NONE, 0]);
        // Flags, dropped records, status, type, flags.
        self.u64(0);
        self.u64(0);
        self.u32(0);
        self.u16(kind);
        self.u16(0);
        self.0.extend(content.as_bytes());
        self.0.extend(name.as_bytes());
        self.0.extend(payload);
    }
}

/// Lengths of names and rows fit.
pub(crate) fn length(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}

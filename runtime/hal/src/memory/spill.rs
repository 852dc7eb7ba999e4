//! A file for bytes that take too much memory: a ring, from which the oldest are dropped.
//!
//! ```text
//!   file     |‥‥‥‥[ 7 ][ 8 ][ 9 ]‥‥‥‥‥|      positions only grow; a position modulo the size of
//!                  ^ begin         ^ end      the ring is a place in the file
//! ```
//! The file has no name: it is gone when the process is.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Bytes in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Spilled {
    position: u64,
    pub(super) length: usize,
}

/// The file. It is made when it is first needed. Without a limit set, it takes nothing.
#[derive(Debug, Default)]
pub(super) struct Spill {
    file: Option<File>,
    most: u64,
    begin: u64,
    end: u64,
    has_failed: bool,
}

impl Spill {
    /// A file of at most this many bytes.
    pub(super) fn new(most: u64) -> Self {
        Self { file: None, most, begin: 0, end: 0, has_failed: false }
    }

    /// How many bytes are in it.
    pub(super) fn used(&self) -> u64 {
        self.end - self.begin
    }

    /// Adds bytes. `None`: they do not fit, or the disk is full.
    pub(super) fn add(&mut self, bytes: &[u8]) -> Option<Spilled> {
        let length = bytes.len() as u64;
        if self.has_failed || length > self.most - self.used() {
            return None;
        }
        let spilled = Spilled { position: self.end, length: bytes.len() };
        let (most, position) = (self.most, self.end);
        let written = self.open().and_then(|file| {
            pieces(position, bytes.len(), most).try_for_each(|(place, range)| {
                file.seek(SeekFrom::Start(place))?;
                file.write_all(&bytes[range])
            })
        });
        if written.is_err() {
            // What is there already stays.
            self.has_failed = true;
            return None;
        }
        self.end += length;
        Some(spilled)
    }

    /// The bytes, which were added and are not dropped.
    pub(super) fn read(&mut self, spilled: Spilled) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; spilled.length];
        let most = self.most;
        let file = self.open()?;
        for (place, range) in pieces(spilled.position, spilled.length, most) {
            file.seek(SeekFrom::Start(place))?;
            file.read_exact(&mut bytes[range])?;
        }
        Ok(bytes)
    }

    /// Drops the bytes that were added last.
    pub(super) fn drop_last(&mut self, spilled: Spilled) {
        self.end = self.end.min(spilled.position);
        self.begin = self.begin.min(self.end);
    }

    /// Drops the bytes that were added first.
    pub(super) fn drop_first(&mut self, spilled: Spilled) {
        self.begin = (spilled.position + spilled.length as u64).min(self.end);
    }

    fn open(&mut self) -> io::Result<&mut File> {
        match &mut self.file {
            Some(file) => Ok(file),
            none => Ok(none.insert(tempfile::tempfile()?)),
        }
    }
}

/// The places in the file of some bytes, and the range of each part.
fn pieces(
    position: u64,
    length: usize,
    most: u64,
) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
    let place = position.checked_rem(most).unwrap_or(0);
    let first = usize::try_from(most - place).unwrap_or(usize::MAX).min(length);
    [(place, 0..first), (0, first..length)].into_iter().filter(|(_, range)| !range.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_also_around_the_end_of_the_ring() {
        let mut spill = Spill::new(100);
        let mut there = std::collections::VecDeque::new();
        for round in 0..200_u8 {
            let bytes = vec![round; 7 + usize::from(round % 23)];
            while spill.used() as usize + bytes.len() > 100 {
                assert!(spill.add(&bytes).is_none());
                let (first, _) = there.pop_front().expect("something is there");
                spill.drop_first(first);
            }
            there.push_back((spill.add(&bytes).expect("it fits"), bytes));
            if round % 5 == 4 {
                let (last, bytes) = there.pop_back().expect("it was added");
                assert_eq!(spill.read(last).expect("a file"), bytes);
                spill.drop_last(last);
            }
            for (place, bytes) in &there {
                assert_eq!(spill.read(*place).expect("a file"), *bytes);
            }
            assert_eq!(spill.used() as usize, there.iter().map(|it| it.1.len()).sum::<usize>());
        }
    }
}

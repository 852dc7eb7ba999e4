//! Reads the tables of untrusted archives. Every number and range is checked against the file
//! before it is used, and an error names the offset in the file. The bytes that are returned are in
//! memory, or a copy of the file's.

use std::borrow::Cow;
use std::ops::Range;

use vm::Status;
use vmfb::FileBytes;

/// A position in a file, from which little-endian fields are read in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'f> {
    file: &'f FileBytes,
    at: usize,
}

impl<'f> Reader<'f> {
    /// A reader that starts at `offset`. After the end of the file, every read fails.
    pub(super) fn new(file: &'f FileBytes, offset: u64) -> Self {
        Self { file, at: usize::try_from(offset).unwrap_or(usize::MAX) }
    }

    /// The offset of the next field.
    pub(super) fn offset(&self) -> u64 {
        self.at as u64
    }

    /// The next `length` bytes.
    pub(super) fn bytes(&mut self, length: u64, what: &str) -> Result<Cow<'f, [u8]>, Status> {
        let range = range_within(self.file, self.at as u64, length, what)?;
        self.at = range.end;
        self.file.get(range).ok_or_else(|| {
            Status::out_of_range(format!("{what} is not in the file any more; it has changed"))
        })
    }

    /// Skips the next `length` bytes.
    pub(super) fn skip(&mut self, length: u64, what: &str) -> Result<(), Status> {
        self.at = range_within(self.file, self.at as u64, length, what)?.end;
        Ok(())
    }

    /// The next byte.
    pub(super) fn u8(&mut self, what: &str) -> Result<u8, Status> {
        Ok(self.array::<1>(what)?[0])
    }

    /// The next two bytes as a number.
    pub(super) fn u16(&mut self, what: &str) -> Result<u16, Status> {
        self.array(what).map(u16::from_le_bytes)
    }

    /// The next four bytes as a number.
    pub(super) fn u32(&mut self, what: &str) -> Result<u32, Status> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// The next eight bytes as a number.
    pub(super) fn u64(&mut self, what: &str) -> Result<u64, Status> {
        self.array(what).map(u64::from_le_bytes)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Status> {
        let mut array = [0; N];
        array.copy_from_slice(&self.bytes(N as u64, what)?);
        Ok(array)
    }
}

/// The range of `length` bytes from `offset`, if `file` has it.
pub(super) fn range_within(
    file: &FileBytes,
    offset: u64,
    length: u64,
    what: &str,
) -> Result<Range<usize>, Status> {
    let size = file.len() as u64;
    if offset > size || length > size - offset {
        return Err(Status::out_of_range(format!(
            "{what} at offset {offset} needs {length} bytes, and the file has {size}; it is cut short or \
             damaged"
        )));
    }
    // Both are at most the file's length, which is a `usize`.
    Ok(offset as usize..(offset + length) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_behind_the_end_is_read() {
        let file = FileBytes::from(vec![1, 0, 2, 0, 0, 0]);
        let mut reader = Reader::new(&file, 0);
        assert_eq!(reader.u16("a"), Ok(1));
        assert_eq!(reader.u32("b"), Ok(2));
        assert_eq!(
            reader.u8("the end").unwrap_err().to_string(),
            "OUT_OF_RANGE; the end at offset 6 needs 1 bytes, and the file has 6; it is cut short or damaged"
        );
        assert!(Reader::new(&file, u64::MAX).u8("far").is_err());
        assert!(range_within(&file, 1, u64::MAX, "long").is_err());
        assert_eq!(range_within(&file, 6, 0, "nothing"), Ok(6..6));
    }
}

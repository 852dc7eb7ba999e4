//! FlatBuffers of executables, read field by field: offsets that lead out of the bytes are errors.
//!
//! A table begins with the distance to its vtable, which has the offset of each field (FlatBuffers'
//! "internals"). Only what executables need is here: tables, vectors, texts and numbers.

use std::cell::Cell;

use vm::Status;

/// How much may still be read, in bytes: parts that many others refer to are read for each of them,
/// and a small file may refer to one part millions of times.
#[derive(Debug)]
pub(super) struct Budget(Cell<usize>);

impl Budget {
    /// What a sound file of this length takes, many times over.
    pub(super) fn of(length: usize) -> Self {
        Self(Cell::new(length.saturating_mul(8).saturating_add(1 << 16)))
    }

    /// Takes bytes.
    ///
    /// # Errors
    /// There are not so many left.
    pub(super) fn spend(&self, bytes: usize) -> Result<(), Status> {
        let left = self.0.get().checked_sub(bytes).ok_or_else(|| {
            Status::invalid_argument(
                "the executable is damaged: it refers to its parts far more often than it is long",
            )
        })?;
        self.0.set(left);
        Ok(())
    }
}

/// A table, or the end of one: fields that it does not have are absent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    budget: &'a Budget,
    position: usize,
    fields: &'a [u8],
}

/// A vector: the position of its first element, and how many there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vector<'a> {
    bytes: &'a [u8],
    first: usize,
    length: usize,
}

/// What is wrong with bytes that are not a FlatBuffer.
pub(super) fn damaged(at: usize) -> Status {
    Status::invalid_argument(format!("the executable is damaged: an offset at byte {at} leads out"))
}

fn word(bytes: &[u8], at: usize) -> Result<u32, Status> {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
    word.map(|word| u32::from_le_bytes(*word)).ok_or_else(|| damaged(at))
}

/// Follows the offset at a position.
fn follow(bytes: &[u8], at: usize) -> Result<usize, Status> {
    let to = at.checked_add(word(bytes, at)? as usize);
    to.filter(|to| *to < bytes.len()).ok_or_else(|| damaged(at))
}

impl<'a> Table<'a> {
    /// The root of a FlatBuffer.
    ///
    /// # Errors
    /// The bytes are too short, or an offset leads out of them.
    pub(super) fn root(bytes: &'a [u8], budget: &'a Budget) -> Result<Self, Status> {
        Self::at(bytes, budget, follow(bytes, 0)?)
    }

    fn at(bytes: &'a [u8], budget: &'a Budget, position: usize) -> Result<Self, Status> {
        let distance = word(bytes, position)?.cast_signed();
        let vtable = i64::try_from(position).ok().map(|it| it - i64::from(distance));
        let vtable = vtable.and_then(|it| usize::try_from(it).ok());
        let rest = vtable.and_then(|it| bytes.get(it..)).ok_or_else(|| damaged(position))?;
        let length = rest.first_chunk::<2>().map(|it| usize::from(u16::from_le_bytes(*it)));
        // The lengths of the vtable and of the table come first.
        let fields = length.and_then(|length| rest.get(4..length));
        Ok(Self { bytes, budget, position, fields: fields.ok_or_else(|| damaged(position))? })
    }

    /// The position of a field; `None` if the table does not have it.
    fn field(&self, index: usize) -> Option<usize> {
        let offset = *self.fields.as_chunks::<2>().0.get(index)?;
        let offset = usize::from(u16::from_le_bytes(offset));
        (offset != 0).then(|| self.position + offset)
    }

    /// A 32-bit number; `default` if it is absent.
    pub(super) fn number(&self, index: usize, default: u32) -> Result<u32, Status> {
        self.field(index).map_or(Ok(default), |at| word(self.bytes, at))
    }

    /// An 8-bit number; 0 if it is absent.
    pub(super) fn byte(&self, index: usize) -> Result<u8, Status> {
        let at = self.field(index);
        at.map_or(Ok(0), |at| self.bytes.get(at).copied().ok_or_else(|| damaged(at)))
    }

    /// A structure of 32-bit numbers; `None` if it is absent.
    pub(super) fn structure<const N: usize>(
        &self,
        index: usize,
    ) -> Result<Option<[u32; N]>, Status> {
        let Some(at) = self.field(index) else { return Ok(None) };
        let mut numbers = [0; N];
        for (element, number) in numbers.iter_mut().enumerate() {
            *number = word(self.bytes, at + 4 * element)?;
        }
        Ok(Some(numbers))
    }

    /// A table in this one.
    pub(super) fn table(&self, index: usize) -> Result<Option<Self>, Status> {
        let at = self.field(index);
        at.map(|at| Self::at(self.bytes, self.budget, follow(self.bytes, at)?)).transpose()
    }

    /// A vector of elements of `size` bytes; an empty one if it is absent.
    pub(super) fn vector(&self, index: usize, size: usize) -> Result<Vector<'a>, Status> {
        let bytes = self.bytes;
        let Some(field) = self.field(index) else {
            return Ok(Vector { bytes, first: 0, length: 0 });
        };
        let at = follow(bytes, field)?;
        let (first, length) = (at + 4, word(bytes, at)? as usize);
        let end = length.checked_mul(size).and_then(|size| first.checked_add(size));
        if end.is_none_or(|end| end > bytes.len()) {
            return Err(damaged(field));
        }
        self.budget.spend(length * size)?;
        Ok(Vector { bytes, first, length })
    }

    /// The bytes of a text, or of a vector of bytes.
    pub(super) fn bytes(&self, index: usize) -> Result<&'a [u8], Status> {
        let Vector { bytes, first, length } = self.vector(index, 1)?;
        bytes.get(first..first + length).ok_or_else(|| damaged(first))
    }

    /// A text; empty if it is absent.
    pub(super) fn text(&self, index: usize) -> Result<String, Status> {
        Ok(String::from_utf8_lossy(self.bytes(index)?).into_owned())
    }

    /// A vector of tables.
    pub(super) fn tables(&self, index: usize) -> Result<Vec<Self>, Status> {
        let Vector { bytes, first, length } = self.vector(index, 4)?;
        let positions = (0..length).map(|element| first + 4 * element);
        positions.map(|at| Self::at(bytes, self.budget, follow(bytes, at)?)).collect()
    }

    /// How many 64-bit numbers a vector has.
    pub(super) fn count_of_words64(&self, index: usize) -> Result<usize, Status> {
        Ok(self.vector(index, 8)?.length)
    }

    /// A vector of 32-bit numbers.
    pub(super) fn numbers(&self, index: usize) -> Result<Vec<u32>, Status> {
        self.words(index, 1)
    }

    /// A vector of structures of `words` 32-bit numbers, one after another.
    pub(super) fn words(&self, index: usize, words: usize) -> Result<Vec<u32>, Status> {
        let Vector { bytes, first, length } = self.vector(index, 4 * words)?;
        let bytes = bytes.get(first..first + 4 * words * length).ok_or_else(|| damaged(first))?;
        Ok(bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with a number in field 0 and a vector of three words in field 2.
    const SMALL: &[u8] = &[
        16, 0, 0, 0, // the root is at 16
        10, 0, 12, 0, 4, 0, 0, 0, 8, 0, 0, 0, // the vtable at 4: fields at 4, absent, 8
        12, 0, 0, 0, // the table: its vtable is 12 bytes before it
        7, 0, 0, 0, // the number
        4, 0, 0, 0, // the vector is 4 bytes on
        3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0,
    ];

    #[test]
    fn fields_are_found_or_absent() {
        let budget = Budget::of(SMALL.len());
        let root = Table::root(SMALL, &budget).unwrap();
        assert_eq!(root.number(0, 9).unwrap(), 7);
        assert_eq!(root.number(1, 9).unwrap(), 9);
        assert_eq!(root.number(5, 9).unwrap(), 9);
        assert_eq!(root.numbers(2).unwrap(), [1, 2, 3]);
        assert!(root.table(1).unwrap().is_none());
        assert_eq!(root.text(1).unwrap(), "");
    }

    #[test]
    fn damaged_bytes_are_errors() {
        for at in 0..SMALL.len() {
            for value in [0, 1, 0x7F, 0xFF] {
                let mut bytes = SMALL.to_vec();
                bytes[at] = value;
                // Whatever is read, nothing outside of the bytes is.
                let budget = Budget::of(bytes.len());
                if let Ok(root) = Table::root(&bytes, &budget) {
                    let _ = (root.number(0, 0), root.numbers(2), root.tables(2), root.table(2));
                }
            }
            let budget = Budget::of(at);
            let _ = Table::root(&SMALL[..at], &budget).map(|root| root.numbers(2));
        }
        let budget = Budget::of(0);
        assert!(Table::root(&[], &budget).is_err());
        assert!(Table::root(&[200, 0, 0, 0], &budget).is_err());
    }

    #[test]
    fn a_part_is_not_read_again_and_again() {
        let budget = Budget::of(SMALL.len());
        let root = Table::root(SMALL, &budget).unwrap();
        let reads = (0..1_000_000).take_while(|_| root.numbers(2).is_ok()).count();
        assert!((1..10_000).contains(&reads), "{reads}");
    }
}

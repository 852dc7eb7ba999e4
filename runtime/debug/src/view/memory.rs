//! Memory of the program, byte by byte, for memory views.

use std::sync::Arc;

use vm::Buffer;

use super::variable::{Children, Node};

/// The memory that holds a value. Offsets count from the start of the value.
#[derive(Clone, Debug)]
pub struct Memory {
    buffer: Arc<Buffer>,
    start: usize,
}

/// Why memory of the program is not written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotWritten {
    /// It was released, or the program has gone back to before it was made.
    #[error("the program does not have this memory now")]
    NotThere,
    /// The offset is before the first byte.
    #[error("there is no byte {0}")]
    NoByte(i64),
    /// It does not have the range, or is read-only.
    #[error(transparent)]
    Memory(#[from] vm::Status),
}

impl Memory {
    /// The memory that an expandable value shows, if any.
    #[must_use]
    pub fn of(children: &Children) -> Option<Self> {
        match &children.node {
            Node::Buffer(buffer, _) => Some(Self { buffer: Arc::clone(buffer), start: 0 }),
            Node::Tensor(tensor) => {
                let (buffer, start) = tensor.memory_from();
                Some(Self { buffer: Arc::clone(buffer), start })
            }
            Node::Scope(..) | Node::Passed(_) | Node::List(_) | Node::ListPart(..) => None,
        }
    }

    /// The buffer that it is part of, and its start in there.
    pub(crate) fn place(&self) -> (&Arc<Buffer>, usize) {
        (&self.buffer, self.start)
    }

    /// The offset of an address in this memory, if the address is inside.
    pub(crate) fn offset_of(&self, address: usize) -> Option<usize> {
        let begin = (self.buffer.address() as usize).wrapping_add(self.start);
        address.checked_sub(begin).filter(|offset| *offset < self.len())
    }

    /// Identifies the memory as long as it lives: the same value has the same reference at the next
    /// stop.
    #[must_use]
    pub fn reference(&self) -> String {
        format!("{:#x}", (self.buffer.address() as usize).wrapping_add(self.start))
    }

    /// Whether the program has the memory at this moment: it has not released it, and has not gone
    /// back to before it was made.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.buffer.is_there()
    }

    /// How many bytes there are from the start of the value.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buffer.len().saturating_sub(self.start)
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads `count` bytes from an offset, which may be negative. Returns how many of them come
    /// before the first byte of the buffer, and the bytes that exist.
    #[must_use]
    pub fn read(&self, offset: i64, count: usize) -> (usize, Vec<u8>) {
        let from = self.start as i128 + i128::from(offset);
        let missing = usize::try_from(-from.min(0)).unwrap_or(usize::MAX).min(count);
        let from = usize::try_from(from.max(0)).unwrap_or(usize::MAX);
        (missing, self.buffer.read(from, count - missing))
    }

    /// Writes bytes at an offset.
    ///
    /// # Errors
    /// The memory does not have the range, or is read-only.
    pub(crate) fn write(&self, offset: i64, bytes: &[u8]) -> Result<(), NotWritten> {
        if !self.is_there() {
            return Err(NotWritten::NotThere);
        }
        let from = usize::try_from(self.start as i128 + i128::from(offset));
        let from = from.map_err(|_| NotWritten::NoByte(offset))?;
        Ok(self.buffer.write(from, bytes)?)
    }
}

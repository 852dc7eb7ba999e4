//! Memory of the program, byte by byte: what memory views read and write.

use std::sync::Arc;

use vm::Buffer;

use super::variable::{Children, Node};

/// The bytes behind a value. Offsets count from where the value begins.
#[derive(Clone, Debug)]
pub struct Memory {
    buffer: Arc<Buffer>,
    start: usize,
}

impl Memory {
    /// The memory that something expandable shows, if it shows any.
    #[must_use]
    pub fn of(children: &Children) -> Option<Self> {
        match &children.node {
            Node::Buffer(buffer, _) => Some(Self { buffer: Arc::clone(buffer), start: 0 }),
            Node::Tensor(tensor) => {
                let (buffer, start) = tensor.memory_from();
                Some(Self { buffer: Arc::clone(buffer), start })
            }
            Node::Scope(..) | Node::List(_) | Node::ListPart(..) => None,
        }
    }

    /// The buffer that it is part of, and where in it.
    pub(crate) fn place(&self) -> (&Arc<Buffer>, usize) {
        (&self.buffer, self.start)
    }

    /// How far into the memory an address leads, if it is one of its bytes.
    pub(crate) fn offset_of(&self, address: usize) -> Option<usize> {
        let begin = (self.buffer.address() as usize).wrapping_add(self.start);
        address.checked_sub(begin).filter(|offset| *offset < self.len())
    }

    /// Names the memory for as long as it lives: the same value has the same one at the next stop.
    #[must_use]
    pub fn reference(&self) -> String {
        format!("{:#x}", (self.buffer.address() as usize).wrapping_add(self.start))
    }

    /// How many bytes there are from where the value begins.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buffer.len().saturating_sub(self.start)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As many of `count` bytes as there are from an offset on, which may be negative; and how many
    /// come before the first byte that there is.
    #[must_use]
    pub fn read(&self, offset: i64, count: usize) -> (usize, Vec<u8>) {
        let from = self.start as i128 + i128::from(offset);
        let missing = usize::try_from(-from.min(0)).unwrap_or(usize::MAX).min(count);
        let from = usize::try_from(from.max(0)).unwrap_or(usize::MAX);
        (missing, self.buffer.read(from, count - missing))
    }

    /// Changes bytes from an offset on.
    ///
    /// # Errors
    /// The memory does not have the range or may not be written.
    pub fn write(&self, offset: i64, bytes: &[u8]) -> Result<(), String> {
        let from = usize::try_from(self.start as i128 + i128::from(offset));
        let from = from.map_err(|_| format!("there is no byte {offset}"))?;
        self.buffer.write(from, bytes).map_err(|status| status.to_string())
    }
}

//! `!vm.buffer`: bytes with access rights, possibly a part of a file or of another buffer.

use vmfb::FileBytes;

/// What a program may do with a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Rodata: stores fail with `PERMISSION_DENIED`.
    ReadOnly,
    /// Everything else.
    ReadWrite,
}

/// A buffer of guest memory.
#[derive(Debug)]
pub struct Buffer {
    access: Access,
    bytes: FileBytes,
}

impl Buffer {
    /// Bytes in the buffer.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a program may do with it.
    #[must_use]
    pub fn access(&self) -> Access {
        self.access
    }

    /// A copy of the bytes from `offset`, as many of `length` as there are.
    #[must_use]
    pub fn read(&self, offset: usize, length: usize) -> Vec<u8> {
        let rest = self.bytes.get(offset..).unwrap_or(&[]);
        rest[..length.min(rest.len())].to_vec()
    }
}

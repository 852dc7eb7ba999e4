//! What a user has written into memory: a dispatch that runs again gets it again.

use std::ops::Range;

use crate::tensor::{Number, TensorView, ViewError};
use crate::view::memory::{Memory, NotWritten};

/// A write into memory by hand.
#[derive(Clone, Debug)]
pub(crate) enum HandWrite {
    /// All elements of a tensor, as their bytes.
    All(TensorView, Vec<u8>),
    /// One element, which may share a byte with others.
    Element(TensorView, Number),
    /// Bytes from an offset on.
    Bytes(Memory, i64, Vec<u8>),
}

/// Why it cannot be done again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotWrittenAgain {
    #[error(transparent)]
    Tensor(#[from] ViewError),
    #[error(transparent)]
    Memory(#[from] NotWritten),
}

impl HandWrite {
    /// The addresses of what it writes, to whole bytes.
    pub(crate) fn addresses(&self) -> Range<usize> {
        match self {
            Self::All(tensor, _) | Self::Element(tensor, _) => tensor.addresses(),
            Self::Bytes(memory, offset, bytes) => {
                let (buffer, first) = memory.place();
                let start = buffer.address() as usize + first;
                let start = start.saturating_add_signed(isize::try_from(*offset).unwrap_or(0));
                start..start + bytes.len()
            }
        }
    }

    /// Writes the same once more.
    ///
    /// # Errors
    /// The memory cannot be written any more.
    pub(crate) fn again(&self) -> Result<(), NotWrittenAgain> {
        match self {
            Self::All(tensor, bytes) => tensor.set_all(bytes)?,
            Self::Element(tensor, number) => tensor.set_scalar(*number)?,
            Self::Bytes(memory, offset, bytes) => memory.write(*offset, bytes)?,
        }
        Ok(())
    }
}

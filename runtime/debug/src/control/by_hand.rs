//! What a user has changed: a dispatch that runs again gets again what was written into its memory,
//! and a line of time begins with the same changes each time.

use std::ops::Range;

use crate::expression::{Datum, Place};
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

/// A change of a value, which can be made again at the same moment.
#[derive(Clone, Debug)]
pub(crate) struct HandChange {
    pub(crate) what: Changed,
    /// The same for the user: `%x[0] = 1`.
    pub(crate) text: String,
}

/// What is changed, and to what.
#[derive(Clone, Debug)]
pub(crate) enum Changed {
    Memory(HandWrite),
    /// A register, a global or an element of a list.
    Value(Place, Datum),
}

impl HandChange {
    /// What it writes into memory, if it does.
    pub(crate) fn write(&self) -> Option<&HandWrite> {
        match &self.what {
            Changed::Memory(write) => Some(write),
            Changed::Value(..) => None,
        }
    }

    /// About how many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        let bytes = match &self.what {
            Changed::Memory(HandWrite::All(_, bytes) | HandWrite::Bytes(_, _, bytes)) => {
                bytes.len()
            }
            Changed::Memory(HandWrite::Element(..)) | Changed::Value(..) => 0,
        };
        size_of::<Self>() + self.text.len() + bytes
    }
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

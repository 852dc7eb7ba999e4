//! How much memory the tables of a module may take.
//!
//! Tables of a FlatBuffer may be shared: thousands of imports can have one name of a megabyte. What
//! is copied out counts each time, as it is printed and compared each time too, and may be a small
//! multiple of the FlatBuffer. Compilers share hardly anything, so that theirs stay far below.

use flatbuffers::VerifierOptions;

/// What may be copied for each byte of the FlatBuffer.
const FACTOR: usize = 16;

/// What may be copied of any module.
const BASE: usize = 1 << 20;

/// Bytes that may still be copied.
pub(crate) struct Budget {
    left: usize,
}

impl Budget {
    /// That of a FlatBuffer of so many bytes.
    pub(crate) fn of(length: usize) -> Self {
        Self { left: Self::allowed(length) }
    }

    /// What may be copied of a FlatBuffer of so many bytes.
    pub(crate) fn allowed(length: usize) -> usize {
        BASE.saturating_add(length.saturating_mul(FACTOR))
    }

    /// Takes bytes from what is left; whether there are so many.
    #[must_use]
    pub(crate) fn spend(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }
}

/// What the verifier of a FlatBuffer of so many bytes allows. Tables and strings count each time
/// that they are shared, as they will take memory each time; the depth of a module's tables is
/// small.
pub(crate) fn flatbuffer_verifier(length: usize) -> VerifierOptions {
    VerifierOptions {
        max_depth: 64,
        max_tables: length,
        max_apparent_size: Budget::allowed(length),
        ignore_missing_null_terminator: false,
    }
}

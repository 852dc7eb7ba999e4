//! How much memory the tables of a module may take.
//!
//! Tables of a FlatBuffer may be shared: thousands of imports can have the same name of a megabyte.
//! Each copy counts, as it is also printed and compared each time; together they may be a small
//! multiple of the FlatBuffer. Compilers share hardly anything, so their modules stay far below.

use flatbuffers::VerifierOptions;

/// The bytes that may be copied per byte of the FlatBuffer.
const FACTOR: usize = 16;

/// The bytes that may be copied from any module.
const BASE: usize = 1 << 20;

/// Bytes that may still be copied.
pub(crate) struct Budget {
    left: usize,
}

impl Budget {
    /// The budget for a FlatBuffer of `length` bytes.
    pub(crate) fn of(length: usize) -> Self {
        Self { left: Self::allowed(length) }
    }

    /// The bytes that may be copied from a FlatBuffer of `length` bytes.
    pub(crate) fn allowed(length: usize) -> usize {
        BASE.saturating_add(length.saturating_mul(FACTOR))
    }

    /// Takes bytes from the budget; returns whether it had so many.
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

/// The limits of the FlatBuffer verifier for `length` bytes. Shared tables and strings count each
/// time, as each takes memory; a module's tables are not deeply nested.
pub(crate) fn flatbuffer_verifier(length: usize) -> VerifierOptions {
    VerifierOptions {
        max_depth: 64,
        max_tables: length,
        max_apparent_size: Budget::allowed(length),
        ignore_missing_null_terminator: false,
    }
}

//! Why a module cannot be written.

/// Why a module cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The FlatBuffer would pass the limit of its format.
    #[error(
        "the module's tables, bytecode and embedded rodata take {size} bytes; a FlatBuffer holds \
         less than 2 GiB"
    )]
    TooLarge {
        /// Their approximate size in bytes.
        size: usize,
    },
    /// A table has an entry whose number its field cannot hold.
    #[error("{what} {number} does not fit its field in the module")]
    OutOfRange {
        /// What kind of number.
        what: &'static str,
        /// The number.
        number: usize,
    },
}

/// A number in one of the schema's signed fields.
pub(super) fn signed(what: &'static str, number: usize) -> Result<i32, BuildError> {
    i32::try_from(number).map_err(|_| BuildError::OutOfRange { what, number })
}

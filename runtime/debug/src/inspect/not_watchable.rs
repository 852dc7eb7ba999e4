//! Why data cannot be watched.

use crate::expression::ExpressionError;

/// Why what an expression or an address names cannot be watched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotWatchable {
    /// It is no expression, or has no value.
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    /// It stays nowhere.
    #[error("{name} is computed; a register, a global, an element or memory can be watched")]
    Computed {
        /// The expression.
        name: String,
    },
    /// It stays in place, and not in memory that could be counted in bytes.
    #[error("{name} is not in memory; without a number of bytes it is watched as a whole")]
    NotInMemory {
        /// The expression.
        name: String,
    },
    /// No bytes, or more than the memory has.
    #[error("{count} bytes cannot be watched; there are {left} from there on")]
    Bytes {
        /// How many were asked for.
        count: usize,
        /// How many there are.
        left: usize,
    },
    /// So many that comparing them would take too long.
    #[error("{length} bytes are too many to watch, more than {most}; take a slice")]
    TooManyBytes {
        /// How many there are.
        length: usize,
        /// How many are watched at most.
        most: usize,
    },
    /// A slice of too many parts.
    #[error("a slice with more than {most} gaps cannot be watched; take a smaller one")]
    Gaps {
        /// How many gaps it may have.
        most: usize,
    },
    /// The stack does not have the frame.
    #[error("there is no such frame")]
    NoFrame,
    /// The frame is not one of bytecode.
    #[error("native code has no registers")]
    Native,
    /// The address is beyond all memory.
    #[error("there is no such memory")]
    NoMemory,
}

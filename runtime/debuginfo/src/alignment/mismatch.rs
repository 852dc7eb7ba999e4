//! [`Mismatch`]: why a function of a companion does not fit the module.

use std::fmt;

use vmfb::BytecodeOffset;

/// Why a companion does not fit a function of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The companion has no function of this ordinal.
    Missing,
    /// The function is exported under another name.
    Name {
        /// In the companion.
        companion: String,
        /// In the module.
        module: String,
    },
    /// The numbers of operations and instructions differ.
    Count {
        /// In the companion.
        operations: usize,
        /// In the module.
        instructions: usize,
    },
    /// An operation and its instruction have different mnemonics.
    Mnemonic {
        /// Where.
        offset: BytecodeOffset,
        /// In the companion.
        operation: String,
        /// In the module.
        instruction: String,
    },
    /// An operation and its instruction write different registers.
    Register {
        /// Where.
        offset: BytecodeOffset,
        /// In the companion.
        companion: String,
        /// In the module.
        module: String,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "the companion lacks this function"),
            Self::Name { companion, module } => {
                write!(f, "the companion has @{companion} where the module exports @{module}")
            }
            Self::Count { operations, instructions } => {
                write!(
                    f,
                    "the companion has {operations} operations, the module {instructions} instructions"
                )
            }
            Self::Mnemonic { offset, operation, instruction } => {
                write!(f, "at {offset} the companion has {operation}, the module {instruction}")
            }
            Self::Register { offset, companion, module } => {
                write!(f, "at {offset} the companion writes {companion}, the module {module}")
            }
        }
    }
}

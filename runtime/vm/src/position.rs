//! What is where in a context, by number: modules, functions, instructions.

use std::fmt;

use vmfb::{BytecodeOffset, FunctionOrdinal};

/// A module's place in its context, in the order of registration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ModuleIndex(pub u32);

impl ModuleIndex {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A function of a context. For native modules the ordinal is the order of declaration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctionId {
    /// The module.
    pub module: ModuleIndex,
    /// The function in that module.
    pub function: FunctionOrdinal,
}

impl fmt::Display for FunctionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.module.0, self.function.0)
    }
}

/// An instruction of a context.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Position {
    /// The function.
    pub function: FunctionId,
    /// The instruction in that function.
    pub offset: BytecodeOffset,
}

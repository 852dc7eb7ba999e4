//! The numbers by which a module's parts are addressed, each with its own type so that they cannot
//! be mixed up.
//!
//! An ordinal is an index into one table of one module. Offsets are in bytes. The register encoding
//! (bank and move bits) is here too, because all other files use it.

use std::fmt;

macro_rules! ordinals {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub struct $name(pub u32);

        impl $name {
            /// The ordinal as a table index.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The ordinal of the table entry at `index`. Tables of a module that was loaded have
            /// fewer than 2^32 entries.
            #[must_use]
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).unwrap_or(u32::MAX))
            }
        }
    )*};
}

ordinals! {
    /// Index into a module's own functions (`function_descriptors`), internal and exported alike.
    FunctionOrdinal;
    /// Index into a module's imports.
    ImportOrdinal;
    /// Index into a module's exports.
    ExportOrdinal;
    /// Index into a module's type table.
    TypeOrdinal;
    /// Index into a module's rodata segments.
    RodataOrdinal;
}

/// Bytes from the start of a function's bytecode: the identity of an instruction everywhere
/// outside the interpreter (breakpoints, stacks, source maps). Printed as IREE prints it, eight
/// upper-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct BytecodeOffset(pub u32);

impl BytecodeOffset {
    /// The offset as an index into the function's bytes.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for BytecodeOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08X}", self.0)
    }
}

/// The target of a call: a function of the same module, or one of its imports.
///
/// In bytecode, bit 31 of a function ordinal marks an import.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Callee {
    /// A function of the same module.
    Internal(FunctionOrdinal),
    /// An import of the module.
    Import(ImportOrdinal),
}

impl Callee {
    const IMPORT_BIT: u32 = 0x8000_0000;

    /// Reads the bytecode form.
    #[must_use]
    pub fn from_bits(bits: u32) -> Self {
        if bits & Self::IMPORT_BIT == 0 {
            Self::Internal(FunctionOrdinal(bits))
        } else {
            Self::Import(ImportOrdinal(bits & !Self::IMPORT_BIT))
        }
    }

    /// The bytecode form.
    #[must_use]
    pub fn to_bits(self) -> u32 {
        match self {
            Self::Internal(ordinal) => ordinal.0,
            Self::Import(ordinal) => ordinal.0 | Self::IMPORT_BIT,
        }
    }
}

/// A register as bytecode encodes it.
///
/// ```text
///   15   14   13                0
/// +----+----+------------------+
/// | 0  |      i32 ordinal      |   bit 15 clear: 15 bits; an i64 or f64 takes this and the next
/// +----+----+------------------+
/// | 1  |move|   ref ordinal    |   bit 15 set: 14 bits; with bit 14 the register gives up its ref
/// +----+----+------------------+
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Register(pub u16);

impl Register {
    /// Marks the ref bank.
    pub const REF_BIT: u16 = 0x8000;
    /// Marks a ref that is moved out of (or into) its register instead of being retained.
    pub const MOVE_BIT: u16 = 0x4000;
    /// The most i32 registers a function may have.
    pub const MAX_I32: u16 = 0x7FFF;
    /// The most ref registers a function may have.
    pub const MAX_REF: u16 = 0x3FFF;

    /// Whether the register is in the ref bank.
    #[must_use]
    pub fn is_ref(self) -> bool {
        self.0 & Self::REF_BIT != 0
    }

    /// Whether the register is a ref with the move bit.
    #[must_use]
    pub fn is_move(self) -> bool {
        self.is_ref() && self.0 & Self::MOVE_BIT != 0
    }

    /// The index within its bank.
    #[must_use]
    pub fn ordinal(self) -> u16 {
        if self.is_ref() { self.0 & Self::MAX_REF } else { self.0 }
    }
}

//! What an instruction consists of: register banks, kinds of fields, opcode spaces.

/// A register bank, or rather an instruction's view of it: i32, i64, f32 and f64 are views of
/// the same 32-bit registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Bank {
    /// One 32-bit register, an integer.
    I32,
    /// An aligned pair of 32-bit registers, an integer.
    I64,
    /// One 32-bit register, a float.
    F32,
    /// An aligned pair of 32-bit registers, a float.
    F64,
    /// A ref register, used without the move bit.
    Ref,
    /// A ref register that may carry the move bit.
    RefMove,
    /// Any register of either bank; the callee's signature tells its type.
    Any,
}

/// The kind of an instruction's field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum FieldKind {
    /// A register that is read.
    Read(Bank),
    /// A register that is written.
    Write(Bank),
    /// A counted list of registers that are read.
    Reads(Bank),
    /// A counted list of registers that are written.
    Writes(Bank),
    /// A constant of the bank's type.
    Immediate(Bank),
    /// A global: byte offset into the module's rwdata, or ordinal of a ref global.
    Global,
    /// A type ordinal.
    Type,
    /// A rodata segment's ordinal.
    Rodata,
    /// A function of the module or an import.
    Function,
    /// Text in the bytecode itself.
    String,
    /// The block that control continues in.
    Target,
    /// Register copies made on the way to the preceding target.
    Remap,
    /// A counted list of targets, each with its remap list (`br_table`).
    Cases,
}

/// One field of an instruction, in encoding order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// The name in IREE's ISA.
    pub name: &'static str,
    /// Its kind, which determines its encoding.
    pub kind: FieldKind,
}

/// Which of the three opcode spaces an instruction is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum OpcodeSet {
    /// No prefix byte.
    Core,
    /// Prefix 0xE0; needs feature `EXT_F32`.
    ExtF32,
    /// Prefix 0xE1; needs feature `EXT_F64`.
    ExtF64,
}

impl OpcodeSet {
    /// The byte that comes before the opcode.
    #[must_use]
    pub fn prefix(self) -> Option<u8> {
        match self {
            Self::Core => None,
            Self::ExtF32 => Some(0xE0),
            Self::ExtF64 => Some(0xE1),
        }
    }

    /// The set that a prefix byte selects.
    #[must_use]
    pub(crate) fn from_prefix(byte: u8) -> Option<Self> {
        match byte {
            0xE0 => Some(Self::ExtF32),
            0xE1 => Some(Self::ExtF64),
            _ => None,
        }
    }
}

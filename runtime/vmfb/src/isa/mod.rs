//! The instruction set as data: what [`table`] declares, everything else derives.
//!
//! To add an instruction, add a row to `table.rs`; the decoder, the printer, the assembler and the
//! verifier then know it, and the interpreter's translation fails to compile until it has a
//! meaning. The table is checked against IREE's own `isa.json` by a test in `tests/`.
//!
//! How each kind of field is encoded is in [`crate::decode`].

mod meaning;
pub(crate) mod syntax;
mod table;

pub use table::Op;

/// A register bank, or rather how an instruction looks at one: i32, i64, f32 and f64 are views of
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
    /// Any register of either bank; the callee's signature says how it is looked at.
    Any,
}

/// What a field of an instruction is.
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
    /// Register copies made on the way to the target before it.
    Remap,
    /// A counted list of targets, each with its remap list (`br_table`).
    Cases,
}

/// One field of an instruction, in encoding order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// The name that IREE's ISA gives it.
    pub name: &'static str,
    /// What it is and how it is encoded.
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
    pub fn from_prefix(byte: u8) -> Option<Self> {
        match byte {
            0xE0 => Some(Self::ExtF32),
            0xE1 => Some(Self::ExtF64),
            _ => None,
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The instruction.
    pub op: Op,
    /// Its opcode space.
    pub set: OpcodeSet,
    /// The byte within the space.
    pub opcode: u8,
    /// The name without `vm.`, as `.vmasm` has it.
    pub mnemonic: &'static str,
    /// Its fields in encoding order.
    pub fields: &'static [Field],
    /// Whether it is a terminator.
    pub ends_block: bool,
    /// The first bytecode major version that has it; 14 stands for "or before".
    pub since: u16,
}

impl Op {
    /// The row of this instruction.
    #[must_use]
    pub fn info(self) -> &'static OpInfo {
        &table::TABLE[self as usize]
    }

    /// The name without `vm.`.
    #[must_use]
    pub fn mnemonic(self) -> &'static str {
        self.info().mnemonic
    }

    /// All instructions, in table order.
    pub fn all() -> impl Iterator<Item = Op> {
        table::TABLE.iter().map(|row| row.op)
    }

    /// The instruction with this opcode, if there is one.
    #[must_use]
    pub fn from_opcode(set: OpcodeSet, opcode: u8) -> Option<Op> {
        table::BY_OPCODE[set as usize][opcode as usize]
    }

    /// The instruction with this mnemonic (without `vm.`), if there is one.
    #[must_use]
    pub fn from_mnemonic(mnemonic: &str) -> Option<Op> {
        table::TABLE.iter().find(|row| row.mnemonic == mnemonic).map(|row| row.op)
    }

    /// Whether the instruction is a terminator: it ends its block, and the next instruction begins
    /// another.
    #[must_use]
    pub fn is_terminator(self) -> bool {
        self.info().ends_block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_enum_order_and_opcodes_lead_back_to_them() {
        for (index, row) in table::TABLE.iter().enumerate() {
            assert_eq!(row.op as usize, index, "{}", row.mnemonic);
            assert_eq!(Op::from_opcode(row.set, row.opcode), Some(row.op));
            assert_eq!(Op::from_mnemonic(row.mnemonic), Some(row.op));
        }
    }

    #[test]
    fn instructions_with_a_target_end_their_block() {
        for row in table::TABLE {
            let has_target = row.fields.iter().any(|field| field.kind == FieldKind::Target);
            let leaves = matches!(row.op, Op::Return | Op::Fail);
            assert_eq!(row.ends_block, has_target || leaves, "{}", row.mnemonic);
        }
    }
}

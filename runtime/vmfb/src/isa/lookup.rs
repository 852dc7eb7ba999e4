//! Finding instructions: by opcode, by mnemonic, all of them.

use super::fields::OpcodeSet;
use super::table::{self, Op, OpInfo};

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
    pub(crate) fn from_opcode(set: OpcodeSet, opcode: u8) -> Option<Op> {
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
    use crate::isa::FieldKind;

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

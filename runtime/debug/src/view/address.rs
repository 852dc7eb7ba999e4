//! Addresses of instructions as single numbers.
//!
//! [`vm::Position`] is the debugger's own identity of an instruction. Clients that need one number
//! (disassembly views sort and subtract addresses) get a [`LinearAddress`]: the bytecode blocks of
//! all modules, laid out far apart in one space in which neighbouring instructions are neighbours.

use std::fmt;

use vm::{ModuleIndex, Position};
use vmfb::Module;

/// A position in the one space that holds all bytecode. Printed as `0x` and hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinearAddress(pub u64);

/// A module's bytecode is smaller than this (its length has 31 bits), so modules never overlap.
const MODULE_STRIDE: u64 = 1 << 32;

impl LinearAddress {
    /// The address of an instruction of `module`, which is the position's module.
    #[must_use]
    pub fn of(position: Position, module: &Module) -> LinearAddress {
        let function = module.function(position.function.function);
        let start = function.map_or(0, |function| function.bytecode.start);
        Self::at(position.function.module, start + position.offset.index())
    }

    /// The address of a byte of a module's bytecode block.
    #[must_use]
    pub fn at(module: ModuleIndex, byte: usize) -> LinearAddress {
        LinearAddress((u64::from(module.0) + 1) * MODULE_STRIDE + byte as u64)
    }

    /// The module that contains the address, and the byte within its bytecode.
    #[must_use]
    pub fn split(self) -> Option<(ModuleIndex, usize)> {
        let module = u32::try_from((self.0 / MODULE_STRIDE).checked_sub(1)?).ok()?;
        Some((ModuleIndex(module), (self.0 % MODULE_STRIDE) as usize))
    }

    /// Reads the printed form, or decimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        }
        .map(Self)
    }
}

impl fmt::Display for LinearAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_addresses_print_and_parse() {
        let address = LinearAddress::at(ModuleIndex(1), 0x16);
        assert_eq!(address.to_string(), "0x200000016");
        assert_eq!(LinearAddress::parse("0x200000016"), Some(address));
        assert_eq!(LinearAddress::parse("8589934614"), Some(address));
        assert_eq!(address.split(), Some((ModuleIndex(1), 0x16)));
        assert_eq!(LinearAddress(3).split(), None);
        assert_eq!(LinearAddress::parse("main"), None);
    }
}

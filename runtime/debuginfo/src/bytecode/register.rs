//! [`RegisterSlot`]: a register, or a pair, with the type of the value that it holds.

use std::fmt;

/// A register, or a pair of them, that holds one typed value. The number is the ordinal within its
/// bank; a 64-bit value takes that register and the next one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum RegisterSlot {
    /// A 32-bit integer.
    I32(u16),
    /// A 64-bit integer.
    I64(u16),
    /// A 32-bit float, in the bank of integers.
    F32(u16),
    /// A 64-bit float, in the bank of integers.
    F64(u16),
    /// A reference to an object.
    Ref(u16),
}

impl RegisterSlot {
    /// The ordinal of the first register within its bank.
    #[must_use]
    pub fn ordinal(self) -> u16 {
        match self {
            Self::I32(ordinal)
            | Self::I64(ordinal)
            | Self::F32(ordinal)
            | Self::F64(ordinal)
            | Self::Ref(ordinal) => ordinal,
        }
    }

    /// Whether the value is a reference.
    #[must_use]
    pub fn is_ref(self) -> bool {
        matches!(self, Self::Ref(_))
    }

    /// Whether the value takes two registers.
    #[must_use]
    pub fn is_pair(self) -> bool {
        matches!(self, Self::I64(_) | Self::F64(_))
    }

    /// The same register as a float, if the MLIR type is one of that width.
    #[must_use]
    pub(crate) fn with_type(self, mlir_type: &str) -> Self {
        match (self, mlir_type) {
            (Self::I32(ordinal), "f32") => Self::F32(ordinal),
            (Self::I64(ordinal), "f64") => Self::F64(ordinal),
            (slot, _) => slot,
        }
    }

    /// The MLIR type of the value.
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Self::I32(_) => "i32",
            Self::I64(_) => "i64",
            Self::F32(_) => "f32",
            Self::F64(_) => "f64",
            Self::Ref(_) => "!vm.ref<?>",
        }
    }

    /// Parses the compiler's notation: `i3`, `i6+7` for a pair, `r2`, and `R2` for a moved ref.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (bank, ordinals) = text.split_at_checked(1)?;
        match (bank, ordinals.split_once('+')) {
            ("r" | "R", None) => Some(Self::Ref(ordinals.parse().ok()?)),
            ("i", None) => Some(Self::I32(ordinals.parse().ok()?)),
            ("i", Some((low, high))) => {
                let low: u16 = low.parse().ok()?;
                let high: u16 = high.parse().ok()?;
                (low.checked_add(1) == Some(high)).then_some(Self::I64(low))
            }
            _ => None,
        }
    }
}

/// The notation of disassemblies: `%i3`, `%i6:7`, `%r2`.
impl fmt::Display for RegisterSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ordinal = self.ordinal();
        match self {
            Self::Ref(_) => write!(f, "%r{ordinal}"),
            _ if self.is_pair() => write!(f, "%i{ordinal}:{}", u32::from(ordinal) + 1),
            _ => write!(f, "%i{ordinal}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiler_notation() {
        assert_eq!(RegisterSlot::parse("i6+7"), Some(RegisterSlot::I64(6)));
        assert_eq!(RegisterSlot::parse("i12"), Some(RegisterSlot::I32(12)));
        assert_eq!(RegisterSlot::parse("R3"), Some(RegisterSlot::Ref(3)));
        for wrong in ["", "i", "i6+8", "x1", "i70000", "é1"] {
            assert_eq!(RegisterSlot::parse(wrong), None, "{wrong}");
        }
        assert_eq!(RegisterSlot::F64(6).to_string(), "%i6:7");
    }
}

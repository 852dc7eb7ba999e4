//! Bytes to instructions.
//!
//! Encoding of the fields, all little-endian, relative to the function's first byte:
//!
//! ```text
//! register                    u16 (see `Register`)
//! immediate                   4 or 8 bytes of the bank's type
//! global, type, rodata,
//! function, target            u32
//! string                      u16 length, bytes
//! register list               align 2, u16 count, count × u16
//! remap list                  align 2, u16 count, count × (u16 source, u16 target)
//! cases                       u16 count, count × (target, remap list)
//! ```
//!
//! The decoder checks only lengths; [`crate::verify`] checks what the numbers refer to. Lists
//! borrow the bytecode.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::isa::{Bank, Field, FieldKind, Op, OpcodeSet};
use crate::ordinals::{BytecodeOffset, Callee, Register, RodataOrdinal, TypeOrdinal};

/// Why bytes are not an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The function's bytes end within an instruction.
    #[error("at {at}: the instruction is cut short by the end of the function")]
    Truncated {
        /// Where the instruction starts.
        at: BytecodeOffset,
    },
    /// No instruction has this opcode.
    #[error(
        "at {at}: unknown opcode {}{opcode:02X}",
        prefix.map(|byte| format!("{byte:02X} ")).unwrap_or_default()
    )]
    UnknownOpcode {
        /// Where the instruction starts.
        at: BytecodeOffset,
        /// The byte that selected the opcode space, if any.
        prefix: Option<u8>,
        /// The byte that is no opcode.
        opcode: u8,
    },
}

/// A constant in the bytecode. Floats are kept as bits, so that NaN payloads survive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Immediate {
    /// `const.i32`
    I32(i32),
    /// `const.i64`
    I64(i64),
    /// `const.f32`, as bits.
    F32(u32),
    /// `const.f64`, as bits.
    F64(u64),
}

impl Immediate {
    /// The bank of the constant.
    #[must_use]
    pub fn bank(self) -> Bank {
        match self {
            Self::I32(_) => Bank::I32,
            Self::I64(_) => Bank::I64,
            Self::F32(_) => Bank::F32,
            Self::F64(_) => Bank::F64,
        }
    }
}

/// A counted list of registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterList<'a>(&'a [u8]);

impl<'a> RegisterList<'a> {
    /// The number of registers.
    #[must_use]
    pub fn len(self) -> usize {
        self.0.len() / 2
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The registers in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Register> + 'a {
        self.0.chunks_exact(2).map(|pair| Register(u16::from_le_bytes([pair[0], pair[1]])))
    }

    /// The list as bare numbers: the segment sizes of a variadic call use this form.
    pub fn iter_u16(self) -> impl ExactSizeIterator<Item = u16> + 'a {
        self.iter().map(|register| register.0)
    }
}

/// A counted list of register copies, made in order on the way into a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RemapList<'a>(&'a [u8]);

impl<'a> RemapList<'a> {
    /// The number of copies.
    #[must_use]
    pub fn len(self) -> usize {
        self.0.len() / 4
    }

    /// Whether there is nothing to copy.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The copies as (source, target).
    pub fn iter(self) -> impl ExactSizeIterator<Item = (Register, Register)> + 'a {
        self.0.chunks_exact(4).map(|quad| {
            (
                Register(u16::from_le_bytes([quad[0], quad[1]])),
                Register(u16::from_le_bytes([quad[2], quad[3]])),
            )
        })
    }
}

/// The value of one field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operand<'a> {
    /// For `Read` and `Write`.
    Register(Register),
    /// For `Reads` and `Writes`.
    Registers(RegisterList<'a>),
    /// For `Immediate`.
    Immediate(Immediate),
    /// For `Global`.
    Global(u32),
    /// For `Type`.
    Type(TypeOrdinal),
    /// For `Rodata`.
    Rodata(RodataOrdinal),
    /// For `Function`.
    Function(Callee),
    /// For `String`: the bytes, by habit UTF-8.
    String(&'a [u8]),
    /// For `Target`: where the block marker of the target is.
    Target(BytecodeOffset),
    /// For `Remap`.
    Remap(RemapList<'a>),
    /// For `Cases`.
    Cases(Vec<(BytecodeOffset, RemapList<'a>)>),
}

impl Operand<'_> {
    /// The text of a string operand, with bytes that are not UTF-8 replaced.
    #[must_use]
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        match self {
            Operand::String(bytes) => Some(String::from_utf8_lossy(bytes)),
            _ => None,
        }
    }
}

/// A decoded instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction<'a> {
    /// The instruction's operation.
    pub op: Op,
    /// The offset of its first byte: the prefix, if it has one.
    pub offset: BytecodeOffset,
    /// Where the next instruction starts.
    pub end: BytecodeOffset,
    /// The values of its fields, in the order of `op.info().fields`.
    pub operands: SmallVec<[Operand<'a>; 6]>,
}

/// One use of a register by an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterUse {
    /// Which register.
    pub register: Register,
    /// The type that the instruction uses it as; `Any` if only a signature tells.
    pub bank: Bank,
    /// Whether the instruction writes it; otherwise it reads it.
    pub is_write: bool,
}

impl<'a> Instruction<'a> {
    /// Fields beside their values.
    pub fn fields(&self) -> impl Iterator<Item = (&'static Field, &Operand<'a>)> {
        self.op.info().fields.iter().zip(&self.operands)
    }

    /// Every register that the instruction reads or writes, in encoding order, except the copies of
    /// remap lists. Segment sizes are numbers, so they are not included either.
    pub fn register_uses(&self) -> impl Iterator<Item = RegisterUse> + '_ {
        self.fields().filter(|(field, _)| field.name != "segment_sizes").flat_map(
            |(field, operand)| {
                let (bank, is_write) = match field.kind {
                    FieldKind::Read(bank) | FieldKind::Reads(bank) => (bank, false),
                    FieldKind::Write(bank) | FieldKind::Writes(bank) => (bank, true),
                    _ => (Bank::Any, false),
                };
                let registers: SmallVec<[Register; 4]> = match operand {
                    Operand::Register(register) => SmallVec::from_slice(&[*register]),
                    Operand::Registers(list) => list.iter().collect(),
                    _ => SmallVec::new(),
                };
                registers.into_iter().map(move |register| RegisterUse { register, bank, is_write })
            },
        )
    }

    /// The blocks that control may continue in, with the copies made on the way, in encoding order.
    pub fn successors(&self) -> Vec<(BytecodeOffset, RemapList<'a>)> {
        let mut successors = Vec::new();
        for operand in &self.operands {
            match operand {
                Operand::Target(target) => successors.push((*target, RemapList(&[]))),
                Operand::Remap(remap) => {
                    if let Some(last) = successors.last_mut() {
                        last.1 = *remap;
                    }
                }
                Operand::Cases(cases) => successors.extend(cases.iter().copied()),
                _ => {}
            }
        }
        successors
    }
}

/// Decodes the instruction at `at`.
///
/// # Errors
/// The bytes end too early, or the opcode does not exist.
pub fn decode(code: &[u8], at: BytecodeOffset) -> Result<Instruction<'_>, DecodeError> {
    let mut reader = OperandReader { code, position: at.index(), at };
    let first = reader.u8()?;
    let (set, opcode) = match OpcodeSet::from_prefix(first) {
        Some(set) => (set, reader.u8()?),
        None => (OpcodeSet::Core, first),
    };
    let op = Op::from_opcode(set, opcode).ok_or(DecodeError::UnknownOpcode {
        at,
        prefix: set.prefix(),
        opcode,
    })?;
    let mut operands = SmallVec::new();
    for field in op.info().fields {
        operands.push(reader.operand(field.kind)?);
    }
    let end = u32::try_from(reader.position).map_err(|_| DecodeError::Truncated { at })?;
    Ok(Instruction { op, offset: at, end: BytecodeOffset(end), operands })
}

/// The instructions of a function, first to last. Ends after the first error.
pub fn instructions(code: &[u8]) -> impl Iterator<Item = Result<Instruction<'_>, DecodeError>> {
    let mut next = Some(BytecodeOffset(0));
    std::iter::from_fn(move || {
        let at = next.filter(|at| at.index() < code.len())?;
        let instruction = decode(code, at);
        next = instruction.as_ref().ok().map(|instruction| instruction.end);
        Some(instruction)
    })
}

struct OperandReader<'a> {
    code: &'a [u8],
    position: usize,
    at: BytecodeOffset,
}

impl<'a> OperandReader<'a> {
    fn bytes(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        let rest = self.code.get(self.position..).unwrap_or(&[]);
        let bytes = rest.get(..length).ok_or(DecodeError::Truncated { at: self.at })?;
        self.position += length;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N)?);
        Ok(array)
    }

    fn u8(&mut self) -> Result<u8, DecodeError> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Result<u16, DecodeError> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, DecodeError> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, DecodeError> {
        self.array().map(u64::from_le_bytes)
    }

    fn counted(&mut self, element_size: usize) -> Result<&'a [u8], DecodeError> {
        self.position += self.position & 1;
        let count = self.u16()?;
        self.bytes(usize::from(count) * element_size)
    }

    fn target(&mut self) -> Result<BytecodeOffset, DecodeError> {
        self.u32().map(BytecodeOffset)
    }

    fn operand(&mut self, kind: FieldKind) -> Result<Operand<'a>, DecodeError> {
        Ok(match kind {
            FieldKind::Read(_) | FieldKind::Write(_) => Operand::Register(Register(self.u16()?)),
            FieldKind::Reads(_) | FieldKind::Writes(_) => {
                Operand::Registers(RegisterList(self.counted(2)?))
            }
            FieldKind::Immediate(bank) => Operand::Immediate(match bank {
                Bank::I64 => Immediate::I64(self.u64()?.cast_signed()),
                Bank::F32 => Immediate::F32(self.u32()?),
                Bank::F64 => Immediate::F64(self.u64()?),
                _ => Immediate::I32(self.u32()?.cast_signed()),
            }),
            FieldKind::Global => Operand::Global(self.u32()?),
            FieldKind::Type => Operand::Type(TypeOrdinal(self.u32()?)),
            FieldKind::Rodata => Operand::Rodata(RodataOrdinal(self.u32()?)),
            FieldKind::Function => Operand::Function(Callee::from_bits(self.u32()?)),
            FieldKind::String => {
                let length = self.u16()?;
                Operand::String(self.bytes(usize::from(length))?)
            }
            FieldKind::Target => Operand::Target(self.target()?),
            FieldKind::Remap => Operand::Remap(RemapList(self.counted(4)?)),
            FieldKind::Cases => {
                let count = self.u16()?;
                let mut cases = Vec::new();
                for _ in 0..count {
                    cases.push((self.target()?, RemapList(self.counted(4)?)));
                }
                Operand::Cases(cases)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_with_two_copies() {
        let code = [0x56, 0x2A, 0, 0, 0, 0xEE, 2, 0, 1, 0, 2, 0, 3, 0x80, 4, 0xC0];
        let branch = decode(&code, BytecodeOffset(0)).unwrap();
        assert_eq!(branch.op, Op::Branch);
        assert_eq!(branch.end, BytecodeOffset(16));
        let [(target, remap)] = branch.successors()[..] else { panic!("one successor") };
        assert_eq!(target, BytecodeOffset(0x2A));
        assert_eq!(
            remap.iter().collect::<Vec<_>>(),
            [(Register(1), Register(2)), (Register(0x8003), Register(0xC004))]
        );
    }

    #[test]
    fn cut_short_at_every_length() {
        let code = [0x0D, 1, 2, 3, 4, 5, 0];
        for length in 1..code.len() {
            assert_eq!(
                decode(&code[..length], BytecodeOffset(0)),
                Err(DecodeError::Truncated { at: BytecodeOffset(0) })
            );
        }
        assert!(decode(&code, BytecodeOffset(0)).is_ok());
    }

    #[test]
    fn unknown_opcodes_are_named() {
        let error = decode(&[0xE0, 0xFF], BytecodeOffset(0)).unwrap_err();
        assert_eq!(error.to_string(), "at 00000000: unknown opcode E0 FF");
        let error = decode(&[0xDF], BytecodeOffset(0)).unwrap_err();
        assert_eq!(error.to_string(), "at 00000000: unknown opcode DF");
    }
}

//! Instructions to bytes: the inverse of [`mod@crate::decode`], driven by the same rows of the
//! table.
//!
//! Offsets within the function matter, because counted lists are aligned to two bytes from its
//! start. So the encoder appends to the bytes of one function.

use smallvec::SmallVec;

use crate::decode::{Immediate, Instruction, Operand};
use crate::isa::{FieldKind, Op, OpInfo};
use crate::ordinals::{BytecodeOffset, Callee, Register, RodataOrdinal, TypeOrdinal};

/// Register copies made on the way into a block, as (source, target).
pub type Remap = Vec<(Register, Register)>;

/// The owned value of one field; decoded bytes borrow an [`Operand`] instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// For `Read` and `Write`.
    Register(Register),
    /// For `Reads` and `Writes`, including the segment sizes of variadic calls.
    Registers(Vec<Register>),
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
    /// For `String`.
    String(Vec<u8>),
    /// For `Target`.
    Target(BytecodeOffset),
    /// For `Remap`.
    Remap(Remap),
    /// For `Cases`.
    Cases(Vec<(BytecodeOffset, Remap)>),
}

/// The values of an instruction's fields, in the order of the table.
pub type Values = SmallVec<[Value; 6]>;

impl From<&Operand<'_>> for Value {
    fn from(operand: &Operand<'_>) -> Self {
        match operand {
            Operand::Register(register) => Self::Register(*register),
            Operand::Registers(list) => Self::Registers(list.iter().collect()),
            Operand::Immediate(immediate) => Self::Immediate(*immediate),
            Operand::Global(global) => Self::Global(*global),
            Operand::Type(ordinal) => Self::Type(*ordinal),
            Operand::Rodata(ordinal) => Self::Rodata(*ordinal),
            Operand::Function(callee) => Self::Function(*callee),
            Operand::String(bytes) => Self::String(bytes.to_vec()),
            Operand::Target(offset) => Self::Target(*offset),
            Operand::Remap(remap) => Self::Remap(remap.iter().collect()),
            Operand::Cases(cases) => Self::Cases(
                cases.iter().map(|(target, remap)| (*target, remap.iter().collect())).collect(),
            ),
        }
    }
}

/// The values of a decoded instruction's fields.
#[must_use]
pub fn values(instruction: &Instruction<'_>) -> Values {
    instruction.operands.iter().map(Value::from).collect()
}

/// Why values are not an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The values do not match the instruction's fields.
    #[error("vm.{}: its operands do not fit its fields", op.mnemonic())]
    Mismatch {
        /// The instruction.
        op: Op,
    },
    /// A list, string or table of cases has more entries than its 16-bit count can hold.
    #[error("vm.{}: {length} is too long for field {field}; the most is 65535", op.mnemonic())]
    TooLong {
        /// The instruction.
        op: Op,
        /// The field's name.
        field: &'static str,
        /// The number of entries.
        length: usize,
    },
}

/// Appends an instruction to the bytes of a function.
///
/// # Errors
/// The values do not fit the instruction's fields. Bytes appended until then stay.
pub fn encode(code: &mut Vec<u8>, op: Op, values: &[Value]) -> Result<(), EncodeError> {
    let info = op.info();
    if values.len() != info.fields.len() {
        return Err(EncodeError::Mismatch { op });
    }
    code.extend(info.set.prefix());
    code.push(info.opcode);
    for (index, value) in values.iter().enumerate() {
        Writer { code, info, index }.value(value)?;
    }
    Ok(())
}

/// The bytes of a function whose targets are block indices; its `block` instructions mark the
/// blocks.
///
/// # Errors
/// The values of an instruction do not fit its fields, or a target has no block.
pub fn encode_function(instructions: &[(Op, Vec<Value>)]) -> Result<Vec<u8>, EncodeError> {
    // Targets have a fixed width, so a first pass finds where blocks begin.
    let mut code = Vec::new();
    let mut blocks = Vec::new();
    for (op, values) in instructions {
        if *op == Op::Block {
            blocks.push(BytecodeOffset(code.len() as u32));
        }
        encode(&mut code, *op, values)?;
    }
    code.clear();
    for (op, values) in instructions {
        let block = |target: BytecodeOffset| {
            blocks.get(target.index()).copied().ok_or(EncodeError::Mismatch { op: *op })
        };
        let mut placed = values.clone();
        for value in &mut placed {
            match value {
                Value::Target(target) => *target = block(*target)?,
                Value::Cases(cases) => {
                    for (target, _) in cases {
                        *target = block(*target)?;
                    }
                }
                _ => {}
            }
        }
        encode(&mut code, *op, &placed)?;
    }
    Ok(code)
}

struct Writer<'c> {
    code: &'c mut Vec<u8>,
    info: &'static OpInfo,
    index: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value) -> Result<(), EncodeError> {
        match (self.info.fields[self.index].kind, value) {
            (FieldKind::Read(_) | FieldKind::Write(_), Value::Register(register)) => {
                self.u16(register.0);
            }
            (FieldKind::Reads(_) | FieldKind::Writes(_), Value::Registers(list)) => {
                self.align();
                self.count(list.len())?;
                list.iter().for_each(|register| self.u16(register.0));
            }
            (FieldKind::Immediate(bank), Value::Immediate(immediate))
                if bank == immediate.bank() =>
            {
                self.immediate(*immediate);
            }
            (FieldKind::Global, Value::Global(global)) => self.u32(*global),
            (FieldKind::Type, Value::Type(ordinal)) => self.u32(ordinal.0),
            (FieldKind::Rodata, Value::Rodata(ordinal)) => self.u32(ordinal.0),
            (FieldKind::Function, Value::Function(callee)) => self.u32(callee.to_bits()),
            (FieldKind::String, Value::String(bytes)) => {
                self.count(bytes.len())?;
                self.code.extend(bytes);
            }
            (FieldKind::Target, Value::Target(offset)) => self.u32(offset.0),
            (FieldKind::Remap, Value::Remap(remap)) => self.remap(remap)?,
            (FieldKind::Cases, Value::Cases(cases)) => {
                self.count(cases.len())?;
                for (target, remap) in cases {
                    self.u32(target.0);
                    self.remap(remap)?;
                }
            }
            _ => return Err(EncodeError::Mismatch { op: self.info.op }),
        }
        Ok(())
    }

    fn immediate(&mut self, immediate: Immediate) {
        match immediate {
            Immediate::I32(value) => self.u32(value.cast_unsigned()),
            Immediate::F32(bits) => self.u32(bits),
            Immediate::I64(value) => self.u64(value.cast_unsigned()),
            Immediate::F64(bits) => self.u64(bits),
        }
    }

    fn remap(&mut self, remap: &Remap) -> Result<(), EncodeError> {
        self.align();
        self.count(remap.len())?;
        for (source, target) in remap {
            self.u16(source.0);
            self.u16(target.0);
        }
        Ok(())
    }

    /// Counted lists of registers begin at an even offset; the byte skipped is zero.
    fn align(&mut self) {
        if !self.code.len().is_multiple_of(2) {
            self.code.push(0);
        }
    }

    fn count(&mut self, length: usize) -> Result<(), EncodeError> {
        let count = u16::try_from(length).map_err(|_| EncodeError::TooLong {
            op: self.info.op,
            field: self.info.fields[self.index].name,
            length,
        })?;
        self.u16(count);
        Ok(())
    }

    fn u16(&mut self, value: u16) {
        self.code.extend(value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.code.extend(value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.code.extend(value.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::decode::decode;
    use crate::isa::Bank;

    fn registers() -> impl Strategy<Value = Vec<Register>> {
        proptest::collection::vec(any::<u16>().prop_map(Register), 0..5)
    }

    fn remap() -> impl Strategy<Value = Remap> {
        let copy = (any::<u16>(), any::<u16>()).prop_map(|(a, b)| (Register(a), Register(b)));
        proptest::collection::vec(copy, 0..4)
    }

    fn target() -> impl Strategy<Value = BytecodeOffset> {
        any::<u32>().prop_map(BytecodeOffset)
    }

    fn value(kind: FieldKind) -> BoxedStrategy<Value> {
        match kind {
            FieldKind::Read(_) | FieldKind::Write(_) => {
                any::<u16>().prop_map(|bits| Value::Register(Register(bits))).boxed()
            }
            FieldKind::Reads(_) | FieldKind::Writes(_) => {
                registers().prop_map(Value::Registers).boxed()
            }
            FieldKind::Immediate(bank) => any::<u64>()
                .prop_map(move |bits| {
                    Value::Immediate(match bank {
                        Bank::I64 => Immediate::I64(bits.cast_signed()),
                        Bank::F32 => Immediate::F32(bits as u32),
                        Bank::F64 => Immediate::F64(bits),
                        _ => Immediate::I32((bits as u32).cast_signed()),
                    })
                })
                .boxed(),
            FieldKind::Global => any::<u32>().prop_map(Value::Global).boxed(),
            FieldKind::Type => any::<u32>().prop_map(|it| Value::Type(TypeOrdinal(it))).boxed(),
            FieldKind::Rodata => {
                any::<u32>().prop_map(|it| Value::Rodata(RodataOrdinal(it))).boxed()
            }
            FieldKind::Function => {
                any::<u32>().prop_map(|it| Value::Function(Callee::from_bits(it))).boxed()
            }
            FieldKind::String => {
                proptest::collection::vec(any::<u8>(), 0..9).prop_map(Value::String).boxed()
            }
            FieldKind::Target => target().prop_map(Value::Target).boxed(),
            FieldKind::Remap => remap().prop_map(Value::Remap).boxed(),
            FieldKind::Cases => {
                proptest::collection::vec((target(), remap()), 0..4).prop_map(Value::Cases).boxed()
            }
        }
    }

    fn instruction() -> impl Strategy<Value = (Op, Vec<Value>)> {
        let ops: Vec<Op> = Op::all().collect();
        proptest::sample::select(ops).prop_flat_map(|op| {
            let fields: Vec<_> = op.info().fields.iter().map(|field| value(field.kind)).collect();
            (Just(op), fields)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn decoding_gives_back_what_was_encoded(
            before in 0_usize..4,
            (op, values) in instruction(),
        ) {
            let mut code = vec![0; before];
            encode(&mut code, op, &values).unwrap();
            let at = BytecodeOffset(u32::try_from(before).unwrap());
            let decoded = decode(&code, at).unwrap();
            prop_assert_eq!(decoded.op, op);
            prop_assert_eq!(decoded.end.index(), code.len());
            prop_assert_eq!(super::values(&decoded).to_vec(), values);
        }
    }

    #[test]
    fn lists_that_cannot_be_counted_are_refused() {
        let mut code = Vec::new();
        let error = encode(&mut code, Op::Return, &[Value::Registers(vec![Register(0); 65536])]);
        assert_eq!(
            error.unwrap_err().to_string(),
            "vm.return: 65536 is too long for field operands; the most is 65535"
        );
    }

    #[test]
    fn values_of_another_shape_are_refused() {
        let mut code = Vec::new();
        let error = EncodeError::Mismatch { op: Op::ConstI32 };
        let wide = Value::Immediate(Immediate::I64(1));
        let result = Value::Register(Register(0));
        assert_eq!(encode(&mut code, Op::ConstI32, &[]), Err(error.clone()));
        assert_eq!(encode(&mut code, Op::ConstI32, &[wide, result]), Err(error));
    }
}

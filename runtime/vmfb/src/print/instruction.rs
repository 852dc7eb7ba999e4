//! One instruction as `.vmasm` text: `%i0 = vm.add.i32 %i1, %i2`.
//!
//! Most instructions print by rule from the table: results, mnemonic, operands in encoding order.
//! `isa/templates.rs` has the syntax of the others. How a register is written:
//!
//! | field's bank | text |
//! | --- | --- |
//! | i32, f32 | `%i3` |
//! | i64, f64 | `%i4:5` |
//! | ref without a move bit | `%r2` |
//! | ref that may move | `%R2` with the bit, else `%r2` |
//! | lists | by the register's own bits, so a pair shows its first half only: `%i4` |

use std::fmt::{self, Write};

use abi::c_float::format_g;

use crate::decode::{Immediate, Instruction, Operand, RegisterList, RemapList};
use crate::isa::templates::{self, Piece};
use crate::isa::{Bank, FieldKind, Op};
use crate::module::Module;
use crate::ordinals::{FunctionOrdinal, Register};

use super::display_names::{BlockLabels, DisplayNames};

/// Prints instructions of one function.
pub struct InstructionPrinter<'m> {
    module: &'m Module,
    names: &'m DisplayNames<'m>,
    blocks: BlockLabels,
}

impl<'m> InstructionPrinter<'m> {
    /// A printer for the instructions of `function`.
    #[must_use]
    pub fn new(module: &'m Module, names: &'m DisplayNames<'m>, function: FunctionOrdinal) -> Self {
        let blocks = BlockLabels::new(module.function_bytecode(function));
        Self { module, names, blocks }
    }

    /// The text of an instruction, without indentation and newline.
    #[must_use]
    pub fn print(&self, instruction: &Instruction<'_>) -> String {
        let mut out = String::new();
        self.write(&mut out, instruction);
        out
    }

    /// Appends the text of an instruction to `out`.
    pub fn write(&self, out: &mut String, instruction: &Instruction<'_>) {
        self.write_with(out, instruction, &NoValues);
    }

    /// Appends the text of an instruction with the value of each register that it reads in
    /// parentheses after the register: `%i0 = vm.add.i32 %i1(5), %i2(7)`.
    pub fn write_with(
        &self,
        out: &mut String,
        instruction: &Instruction<'_>,
        values: &dyn RegisterValues,
    ) {
        let written = Writer { printer: self, instruction, values, out }.instruction();
        debug_assert!(written.is_ok(), "writing to a String does not fail");
    }
}

/// The values of registers, for [`InstructionPrinter::write_with`].
pub trait RegisterValues {
    /// The text of a register's value, seen as `bank`; `None` to print none.
    fn value(&self, bank: Bank, register: Register) -> Option<String>;
}

struct NoValues;

impl RegisterValues for NoValues {
    fn value(&self, _bank: Bank, _register: Register) -> Option<String> {
        None
    }
}

struct Writer<'w, 'c> {
    printer: &'w InstructionPrinter<'w>,
    instruction: &'w Instruction<'c>,
    values: &'w dyn RegisterValues,
    out: &'w mut String,
}

impl Writer<'_, '_> {
    fn instruction(&mut self) -> fmt::Result {
        let op = self.instruction.op;
        if op == Op::Block {
            self.printer.blocks.write(self.out, self.instruction.offset)?;
            return self.out.write_char(':');
        }
        self.results()?;
        write!(self.out, "vm.{}", op.mnemonic())?;
        self.operands(op)
    }

    /// `%i0 = `, nothing for an instruction without results. Yieldable calls name theirs at the
    /// end.
    fn results(&mut self) -> fmt::Result {
        if templates::results_come_last(self.instruction.op) {
            return Ok(());
        }
        let length = self.out.len();
        for (field, operand) in self.instruction.fields() {
            match (field.kind, operand) {
                (FieldKind::Write(_), Operand::Register(register))
                    if self.instruction.op == Op::ConstRefZero =>
                {
                    self.register(Bank::Ref, *register)?;
                }
                (FieldKind::Write(bank), Operand::Register(register)) => {
                    self.register(bank, *register)?;
                }
                (FieldKind::Writes(_), Operand::Registers(list)) => self.registers(*list)?,
                _ => {}
            }
        }
        if self.out.len() > length { self.out.write_str(" = ") } else { Ok(()) }
    }

    /// Everything after the mnemonic.
    fn operands(&mut self, op: Op) -> fmt::Result {
        match templates::template(op) {
            Some(template) => self.template(template),
            None => self.by_rule(),
        }
    }

    /// Operands in encoding order with commas between; a list that is empty leaves no trace.
    fn by_rule(&mut self) -> fmt::Result {
        let mut separator = " ";
        for (index, (field, operand)) in self.instruction.fields().enumerate() {
            let is_result = matches!(field.kind, FieldKind::Write(_) | FieldKind::Writes(_));
            let is_empty = matches!(operand, Operand::Registers(list) if list.is_empty());
            if is_result || is_empty {
                continue;
            }
            self.out.write_str(separator)?;
            self.field(index)?;
            separator = ", ";
        }
        Ok(())
    }

    fn template(&mut self, template: &str) -> fmt::Result {
        for piece in templates::pieces(template) {
            match piece {
                Piece::Literal(text) => self.out.write_str(text)?,
                Piece::Field(index) => self.field(index)?,
            }
        }
        Ok(())
    }

    fn field(&mut self, index: usize) -> fmt::Result {
        let (Some(field), Some(operand)) =
            (self.instruction.op.info().fields.get(index), self.instruction.operands.get(index))
        else {
            return Ok(());
        };
        match operand {
            Operand::Register(register) => match field.kind {
                FieldKind::Read(bank) => self.read(bank, *register),
                FieldKind::Write(bank) => self.register(bank, *register),
                _ => self.register(Bank::Any, *register),
            },
            Operand::Registers(list) if field.name == "segment_sizes" => {
                self.separated(list.iter_u16(), |this, size| write!(this.out, "{size}"))
            }
            Operand::Registers(list) => match field.kind {
                FieldKind::Reads(_) => {
                    self.separated(list.iter(), |this, register| this.read(Bank::Any, register))
                }
                _ => self.registers(*list),
            },
            Operand::Immediate(immediate) => self.immediate(*immediate),
            Operand::Global(global) => write!(self.out, "{global}"),
            Operand::Type(ordinal) => self.printer.names.write_type(self.out, *ordinal),
            Operand::Rodata(ordinal) => {
                let length = self.printer.module.rodata_length(*ordinal).unwrap_or_default();
                write!(self.out, "{}  // {length}b", ordinal.0)
            }
            Operand::Function(callee) => self.printer.names.write_callee(self.out, *callee),
            Operand::String(bytes) => {
                write!(self.out, "\"{}\"", String::from_utf8_lossy(bytes))
            }
            Operand::Target(offset) => self.printer.blocks.write(self.out, *offset),
            Operand::Remap(remap) => self.remap(*remap),
            Operand::Cases(cases) => {
                for (index, (target, remap)) in cases.iter().enumerate() {
                    write!(self.out, ", {index}: ")?;
                    self.printer.blocks.write(self.out, *target)?;
                    self.out.write_char('(')?;
                    self.remap(*remap)?;
                    self.out.write_char(')')?;
                }
                Ok(())
            }
        }
    }

    fn immediate(&mut self, immediate: Immediate) -> fmt::Result {
        match immediate {
            Immediate::I32(value) => write!(self.out, "{value}  // 0x{value:08X}"),
            Immediate::I64(value) => write!(self.out, "{value}  // 0x{value:016X}"),
            Immediate::F32(bits) => {
                self.out.write_str(&format_g(f64::from(f32::from_bits(bits)), 9))
            }
            Immediate::F64(bits) => self.out.write_str(&format_g(f64::from_bits(bits), 17)),
        }
    }

    fn register(&mut self, bank: Bank, register: Register) -> fmt::Result {
        let i32_ordinal = register.0 & Register::MAX_I32;
        let ref_ordinal = register.0 & Register::MAX_REF;
        match bank {
            Bank::I32 | Bank::F32 => write!(self.out, "%i{i32_ordinal}"),
            Bank::I64 | Bank::F64 => {
                write!(self.out, "%i{i32_ordinal}:{}", u32::from(i32_ordinal) + 1)
            }
            Bank::Ref => write!(self.out, "%r{ref_ordinal}"),
            Bank::RefMove if register.0 & Register::MOVE_BIT != 0 => {
                write!(self.out, "%R{ref_ordinal}")
            }
            Bank::RefMove => write!(self.out, "%r{ref_ordinal}"),
            Bank::Any if register.is_move() => write!(self.out, "%R{ref_ordinal}"),
            Bank::Any if register.is_ref() => write!(self.out, "%r{ref_ordinal}"),
            Bank::Any => write!(self.out, "%i{i32_ordinal}"),
        }
    }

    /// A register that the instruction reads, with its value if one is given.
    fn read(&mut self, bank: Bank, register: Register) -> fmt::Result {
        self.register(bank, register)?;
        match self.values.value(bank, register) {
            Some(value) => write!(self.out, "({value})"),
            None => Ok(()),
        }
    }

    fn registers(&mut self, list: RegisterList<'_>) -> fmt::Result {
        self.separated(list.iter(), |this, register| this.register(Bank::Any, register))
    }

    fn remap(&mut self, remap: RemapList<'_>) -> fmt::Result {
        self.separated(remap.iter(), |this, (source, target)| {
            this.read(Bank::Any, source)?;
            this.out.write_str("->")?;
            this.register(Bank::Any, target)
        })
    }

    fn separated<T>(
        &mut self,
        items: impl Iterator<Item = T>,
        mut write: impl FnMut(&mut Self, T) -> fmt::Result,
    ) -> fmt::Result {
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.out.write_str(", ")?;
            }
            write(self, item)?;
        }
        Ok(())
    }
}

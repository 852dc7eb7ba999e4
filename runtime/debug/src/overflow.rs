//! Integers that overflow: the operands say so before the instruction runs, so the program stands
//! before it, at its line, and going on runs it.
//!
//! The VM's integers have 32 or 64 bits and wrap. What a program means is in its source: an
//! `arith.addi` of `i8` overflows at 127, and arithmetic that the compiler has made for addresses
//! and loops is none of the user's. So an instruction counts if the operation of the source at its
//! place does the same, with the width that is written there. Where there is no source to ask, all
//! instructions count, with the VM's widths.
//!
//! The compiler fuses a product and a sum to one instruction, and gives that the places of their
//! operands. Which sum it is follows from the name that its result has; in a dispatch, whose
//! results have none, those of 32 bits count, as addresses have 64.

use debuginfo::{RegisterSlot, SourceText, ValueLocation};
use vm::{FrameIndex, Invocation, Position, Value};
use vmfb::isa::Bank;
use vmfb::{Instruction, Op};

use crate::debugger::Debugger;
use crate::effects::Effects;
use crate::floats::is_same_operation;
use crate::inspect;
use crate::level::Level;
use crate::stop::StopReason;

/// What an instruction computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Add,
    Subtract,
    Multiply,
    MultiplyAdd,
    Divide,
    Absolute,
    Shift,
}

/// An instruction of integer arithmetic.
#[derive(Clone, Debug)]
pub(crate) struct Integer {
    kind: Kind,
    /// The width of its result.
    bits: u32,
    result: RegisterSlot,
    operands: Vec<RegisterSlot>,
}

/// What the source says of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meant {
    /// The user has not written it.
    Nothing,
    /// It computes with so many bits, or with those of the instruction.
    Bits(Option<u32>),
}

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wrong {
    Overflow,
    /// A shift by so much.
    Shift(u64),
}

/// An instruction that overflows when it runs, which it has not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overflow {
    at: Position,
    bits: u32,
    wrong: Wrong,
}

impl Integer {
    /// What an instruction computes, if it is integer arithmetic that can overflow.
    pub(crate) fn of(instruction: &Instruction<'_>) -> Option<Self> {
        let mut parts = instruction.op.mnemonic().split('.');
        let kind = match parts.next()? {
            "add" => Kind::Add,
            "sub" => Kind::Subtract,
            "mul" => Kind::Multiply,
            "fma" => Kind::MultiplyAdd,
            // Only the signed ones have a quotient that does not fit.
            "div" | "rem" if instruction.op.mnemonic().ends_with(".s") => Kind::Divide,
            "abs" => Kind::Absolute,
            "shl" | "shr" => Kind::Shift,
            _ => return None,
        };
        let result = instruction.register_uses().find(|it| it.is_write)?;
        let ordinal = result.register.ordinal();
        let (bits, result) = match result.bank {
            Bank::I32 => (32, RegisterSlot::I32(ordinal)),
            Bank::I64 => (64, RegisterSlot::I64(ordinal)),
            _ => return None,
        };
        Some(Self { kind, bits, result, operands: Effects::read_by(instruction) })
    }

    /// What goes wrong if it runs now.
    pub(crate) fn overflow(
        &self,
        invocation: &Invocation,
        at: Position,
        meant: Option<u32>,
    ) -> Option<Overflow> {
        let bits = meant.unwrap_or(self.bits).min(self.bits);
        let mut values = [0; 3];
        for (value, slot) in values.iter_mut().zip(&self.operands) {
            *value = match inspect::register_value(invocation, FrameIndex(0), *slot)? {
                Value::I32(value) => value.into(),
                Value::I64(value) => value,
                _ => return None,
            };
        }
        let wrong = wrong(self.kind, bits, values)?;
        Some(Overflow { at, bits, wrong })
    }
}

/// What is wrong with a computation in so many bits. Operands may have any bits above them.
fn wrong(kind: Kind, bits: u32, operands: [i64; 3]) -> Option<Wrong> {
    let unused = 64 - bits;
    let narrow = |value: i64| value << unused >> unused;
    let [a, b, c] = operands.map(narrow);
    let result = match kind {
        Kind::Add => a.checked_add(b),
        Kind::Subtract => a.checked_sub(b),
        Kind::Multiply => a.checked_mul(b),
        Kind::MultiplyAdd => {
            let product = a.checked_mul(b).filter(|product| narrow(*product) == *product);
            product.and_then(|product| product.checked_add(c))
        }
        // By zero, the instruction fails by itself.
        Kind::Divide if b == 0 => return None,
        Kind::Divide => a.checked_div(b),
        Kind::Absolute => a.checked_abs(),
        Kind::Shift => {
            let amount = operands[1].cast_unsigned() << unused >> unused;
            return (amount >= bits.into()).then_some(Wrong::Shift(amount));
        }
    };
    let fits = result.is_some_and(|result| narrow(result) == result);
    (!fits).then_some(Wrong::Overflow)
}

impl Debugger {
    /// What the source says of an instruction of integer arithmetic.
    pub(crate) fn meant(&self, at: Position) -> Meant {
        let anything = Meant::Bits(None);
        let module = self.program.module(at.function.module);
        let Some(module) = module.filter(|_| self.program.has_lines(at.function)) else {
            return anything;
        };
        let Some(place) = self.program.path_of(at).last().copied() else { return Meant::Nothing };
        let Some(source) = module.info.source(place.file) else { return anything };
        let code = module.module.function_bytecode(at.function.function);
        let operation = source.operation_at(place.line, place.column);
        let (Some(operation), Ok(instruction)) = (operation, vmfb::decode(code, at.offset)) else {
            return Meant::Nothing;
        };
        let bits = |line, column| {
            Meant::Bits(source.line(line).and_then(|text| written_bits(text, column)))
        };
        if is_same_operation(operation, instruction.op) {
            return bits(place.line, place.column);
        }
        if instruction.op == Op::FMAI32 && operation.starts_with("linalg.") {
            return anything;
        }
        self.fused_sum(at).map_or(Meant::Nothing, |(line, column)| bits(line, column))
    }

    /// The line and the column of the sum that a fused multiply-add of integers is: the operation
    /// that makes the value which is in its result afterwards.
    pub(crate) fn fused_sum(&self, at: Position) -> Option<(u32, u32)> {
        let module = self.program.module(at.function.module)?;
        let code = module.module.function_bytecode(at.function.function);
        let instruction = vmfb::decode(code, at.offset).ok()?;
        if !matches!(instruction.op, Op::FMAI32 | Op::FMAI64) {
            return None;
        }
        let result = Integer::of(&instruction)?.result;
        let place = *self.program.path_of(at).last()?;
        let source = module.info.source(place.file)?;
        let lines = source.function_extent(place.line)?;
        // What is in scope depends on the line, so the name may come to light later.
        let mut offset = instruction.end;
        for _ in 0..NAMED_WITHIN {
            let after = Position { function: at.function, offset };
            let scope = self.program.scope(Level::Source, after, None, true);
            let values = scope.as_deref().unwrap_or_default().iter();
            let mut names = values
                .filter(
                    |it| matches!(&it.location, ValueLocation::Register(held) if *held == result),
                )
                .map(|it| it.name.as_str());
            let found =
                names.find_map(|name| lines.clone().find_map(|it| sum_at(source, it, name)));
            if found.is_some() {
                return found;
            }
            let next = vmfb::decode(code, offset).ok()?;
            let is_gone = Effects::writes(&next, result);
            if is_gone || next.op.is_terminator() {
                return None;
            }
            offset = next.end;
        }
        None
    }

    /// Says that the program stands before an instruction that overflows. None: that was said
    /// before.
    pub(crate) fn trap_overflow(&mut self, overflow: Overflow) -> Option<StopReason> {
        if !self.is_first_time(overflow.at) {
            return None;
        }
        self.watcher.passing = Some(overflow.at);
        let Overflow { at, bits, wrong } = overflow;
        let what = match wrong {
            Wrong::Overflow => format!("overflows i{bits}"),
            Wrong::Shift(amount) => format!("shifts i{bits} by {amount} bits"),
        };
        Some(StopReason::Trap(self.trap_sentence(at, &what)))
    }
}

/// How many instructions after a sum its result may get its name.
const NAMED_WITHIN: usize = 32;

/// The place of a sum that is written on a line and has this name.
fn sum_at(source: &SourceText, line: u32, name: &str) -> Option<(u32, u32)> {
    let text = source.line(line)?;
    let rest = text.trim_start().strip_prefix(name)?.strip_prefix(" = ")?;
    let column = u32::try_from(text.len() - rest.len()).ok()? + 1;
    rest.starts_with("arith.addi ").then_some((line, column))
}

/// The width of the elements of an operation's type, as `: tensor<4xi8>` behind its operands says
/// it.
fn written_bits(line: &str, column: u32) -> Option<u32> {
    let rest = line.get((column as usize).checked_sub(1)?..)?;
    let (_, type_text) = rest.split_once(" : ")?;
    let word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let mut words = type_text.split(|it| !word(it)).filter(|it| !it.is_empty());
    // `i8`, or what follows the extents of a shape: `4x8xi8`.
    let first = words.next()?;
    let element = if matches!(first, "tensor" | "vector") { words.next_back()? } else { first };
    let bits = element.rsplit('x').next()?.strip_prefix('i')?.parse().ok()?;
    (1..=64).contains(&bits).then_some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_that_are_written() {
        for (line, bits) in [
            ("%x = arith.addi %a, %b : i8", Some(8)),
            ("%x = arith.addi %a, %b overflow<nsw> : i32 loc(#loc1)", Some(32)),
            ("%x = arith.addi %a, %b : tensor<4x8xi16>", Some(16)),
            ("%x = arith.addi %a, %b : vector<4xi64>", Some(64)),
            ("%x = arith.addi %a, %b : index", None),
            ("%x = arith.addi %a, %b", None),
        ] {
            assert_eq!(written_bits(line, 6), bits, "{line}");
        }
    }

    /// The exact result, in more bits than there are.
    fn exact(kind: Kind, [a, b, c]: [i128; 3]) -> Option<i128> {
        Some(match kind {
            Kind::Add => a + b,
            Kind::Subtract => a - b,
            Kind::Multiply => a * b,
            Kind::MultiplyAdd => a * b + c,
            Kind::Divide => a.checked_div(b)?,
            Kind::Absolute => a.abs(),
            Kind::Shift => return None,
        })
    }

    #[test]
    fn overflows_are_those_of_exact_arithmetic() {
        let kinds = [
            Kind::Add,
            Kind::Subtract,
            Kind::Multiply,
            Kind::MultiplyAdd,
            Kind::Divide,
            Kind::Absolute,
        ];
        let mut state = 1_u64;
        let mut counts = [0_u32; 2];
        for round in 0..200_000_u32 {
            let bits = [8, 16, 32, 64][round as usize % 4];
            let (low, high) = (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1);
            let mut operand = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let random = i128::from((state >> 3) as i64) % (high + 1);
                let small = random.rem_euclid(7) - 3;
                [
                    random,
                    small,
                    low,
                    high,
                    low + small.abs(),
                    high - small.abs(),
                    random >> (bits / 2),
                ][(state >> 40) as usize % 7]
            };
            let operands = [operand(), operand(), operand()];
            let words = operands.map(|it| it as i64);
            for kind in kinds {
                let Some(result) = exact(kind, operands) else {
                    assert_eq!(wrong(kind, bits, words), None);
                    continue;
                };
                let product = operands[0] * operands[1];
                let fits = |it: i128| (low..=high).contains(&it);
                let is_fine = fits(result) && (kind != Kind::MultiplyAdd || fits(product));
                let expected = (!is_fine).then_some(Wrong::Overflow);
                counts[usize::from(is_fine)] += 1;
                assert_eq!(wrong(kind, bits, words), expected, "{kind:?} {operands:?} in {bits}");
                // What is above the bits that count says nothing.
                if bits < 64 {
                    let dirty = words.map(|it| it ^ (state as i64) << bits);
                    assert_eq!(wrong(kind, bits, dirty), expected, "{kind:?} {dirty:?} in {bits}");
                }
            }
            let amount = operands[1] as i64;
            let unsigned = operands[1].rem_euclid(1 << bits);
            let expected = (unsigned >= bits.into()).then_some(Wrong::Shift(unsigned as u64));
            assert_eq!(wrong(Kind::Shift, bits, [1, amount, 0]), expected, "{amount} in {bits}");
        }
        assert!(counts.iter().all(|count| *count > 100_000), "{counts:?}");
    }
}

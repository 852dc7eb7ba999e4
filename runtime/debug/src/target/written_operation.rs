//! Which operation of the source an instruction is.
//!
//! The place of an instruction alone does not say: the compiler folds and fuses, and its own
//! arithmetic has the place of the operation that needs it. So an instruction counts as an
//! operation only if both do the same.
//!
//! The compiler fuses a product and a sum to one instruction, and gives it the places of their
//! operands. The name of its result tells which sum it is. In a dispatch results have no names;
//! there, sums of 32 bits count, as addresses have 64.

use debuginfo::{Given, SourcePosition, SourceText, ValueLocation};
use vm::Position;
use vmfb::Op;

use super::arithmetic::Integer;
use super::level::Level;
use super::lines::Lines;
use super::module::LoadedModule;
use super::registers::writes_register;

/// An operation as it is written in the source.
pub(crate) struct Written {
    pub(crate) line: u32,
    /// The operation without types and attributes.
    pub(crate) text: String,
    /// The names of its operands.
    pub(crate) operands: Vec<String>,
}

/// What the source says about an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meant {
    /// It is not in the source.
    Nothing,
    /// It computes with this many bits, or with those of the instruction.
    Bits(Option<u32>),
}

/// How many instructions after a sum its result may get its name.
const NAMED_WITHIN: usize = 32;

/// The operation at a place of a source.
fn written(source: &SourceText, line: u32, column: u32) -> Option<Written> {
    let operation = source.operation_at(line, column)?;
    let results = source.result_names(line, column);
    let [result] = results.as_slice() else { return None };
    let text = source.line(line)?;
    let start = (column as usize).checked_sub(1)? + operation.len();
    let rest = text.get(start..)?;
    let arguments = rest.split([':', '{']).next().unwrap_or_default().trim();
    let names = arguments.split(|it: char| it == ',' || it.is_whitespace());
    let operands: Vec<String> = names.filter(|it| it.starts_with('%')).map(str::to_owned).collect();
    let text = format!("{result} = {operation} {arguments}").trim_end().to_owned();
    Some(Written { line, text, operands })
}

impl LoadedModule {
    /// The opcode of an instruction.
    fn op(&self, at: Position) -> Option<Op> {
        let code = self.module.function_bytecode(at.function.function);
        vmfb::decode(code, at.offset).ok().map(|instruction| instruction.op)
    }
}

impl Lines<'_> {
    /// The operation of the source that an instruction is, if both do the same.
    pub(crate) fn written_operation(self, at: Position) -> Option<Written> {
        let module = self.program.module(at.function.module)?;
        let place = *self.path_of(at).last()?;
        let source = module.info.source(place.file)?;
        let op = module.op(at)?;
        let is_same = |operation: &&str| is_same_operation(operation, op);
        let own = source.operation_at(place.line, place.column).filter(is_same);
        let (line, column) = match own {
            Some(_) => (place.line, place.column),
            None => self.fused_sum(at)?,
        };
        written(source, line, column)
    }

    /// The same at another place: that of a command which shares the instruction with others.
    pub(crate) fn written_operation_at(
        self,
        at: Position,
        module: &LoadedModule,
        place: SourcePosition,
    ) -> Option<Written> {
        let op = self.program.module(at.function.module)?.op(at)?;
        let source = module.info.source(place.file)?;
        let operation = source.operation_at(place.line, place.column)?;
        is_same_operation(operation, op)
            .then(|| written(source, place.line, place.column))
            .flatten()
    }

    /// What the source says about an instruction of integer arithmetic.
    pub(crate) fn meant(self, at: Position) -> Meant {
        let anything = Meant::Bits(None);
        let module = self.program.module(at.function.module);
        let Some(module) = module.filter(|_| self.has_lines(at.function)) else {
            return anything;
        };
        let Some(place) = self.path_of(at).last().copied() else { return Meant::Nothing };
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

    /// The line and the column of the sum that a fused multiply-add of integers computes: the
    /// operation whose result is in its result register afterwards.
    pub(crate) fn fused_sum(self, at: Position) -> Option<(u32, u32)> {
        let module = self.program.module(at.function.module)?;
        let code = module.module.function_bytecode(at.function.function);
        let instruction = vmfb::decode(code, at.offset).ok()?;
        if !matches!(instruction.op, Op::FMAI32 | Op::FMAI64) {
            return None;
        }
        let result = Integer::of(&instruction)?.result;
        let place = *self.path_of(at).last()?;
        let source = module.info.source(place.file)?;
        let lines = source.function_extent(place.line)?;
        // The names in scope depend on the line, so the name may appear only later.
        let mut offset = instruction.end;
        for _ in 0..NAMED_WITHIN {
            let after = Position { function: at.function, offset };
            let scope = self.program.scope(Level::Source, after, None, Given::Program);
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
            let is_gone = writes_register(&next, result);
            if is_gone || next.op.is_terminator() {
                return None;
            }
            offset = next.end;
        }
        None
    }
}

/// The place of the sum with a name on a line.
fn sum_at(source: &SourceText, line: u32, name: &str) -> Option<(u32, u32)> {
    let text = source.line(line)?;
    let rest = text.trim_start().strip_prefix(name)?.strip_prefix(" = ")?;
    let column = u32::try_from(text.len() - rest.len()).ok()? + 1;
    rest.starts_with("arith.addi ").then_some((line, column))
}

/// The width of an operation's elements, from the type after its operands: 8 for `: tensor<4xi8>`.
fn written_bits(line: &str, column: u32) -> Option<u32> {
    let rest = line.get((column as usize).checked_sub(1)?..)?;
    let (_, type_text) = rest.split_once(" : ")?;
    let word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let mut words = type_text.split(|it| !word(it)).filter(|it| !it.is_empty());
    // `i8`, or the part after the extents of a shape: `4x8xi8`.
    let first = words.next()?;
    let element = if matches!(first, "tensor" | "vector") { words.next_back()? } else { first };
    let bits = element.rsplit('x').next()?.strip_prefix('i')?.parse().ok()?;
    (1..=64).contains(&bits).then_some(bits)
}

/// The kind of an instruction: `div` of `div.f32`.
fn kind_of(op: Op) -> &'static str {
    op.mnemonic().split('.').next().unwrap_or_default()
}

/// Whether swapping the operands of an instruction does not change its result.
pub(crate) fn is_commutative(op: Op) -> bool {
    matches!(kind_of(op), "add" | "mul" | "min" | "max" | "fma")
}

/// Whether an operation of the source does what an instruction does: `arith.divf` and `div.f32`,
/// `arith.addi` and `add.i32`, `arith.shrui` and `shr.i32.u`.
fn is_same_operation(operation: &str, op: Op) -> bool {
    let name = operation.rsplit('.').next().unwrap_or_default();
    let kind = kind_of(op);
    match kind {
        "min" | "max" => {
            name.strip_prefix(kind).is_some_and(|rest| matches!(rest, "imumf" | "numf" | ""))
        }
        _ => name.strip_prefix(kind).is_some_and(|rest| {
            let signed = op.mnemonic().ends_with(".s");
            match (op.mnemonic().contains(".i"), rest) {
                (_, "") => true,
                (false, rest) => rest == "f",
                (true, "i") => true,
                (true, "si") => signed,
                (true, "ui") => !signed,
                (true, _) => false,
            }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_and_instructions_that_do_the_same() {
        let same = [
            ("arith.divf", Op::DivF32),
            ("math.log", Op::LogF32),
            ("math.sqrt", Op::SqrtF32),
            ("arith.maximumf", Op::MaxF32),
            ("arith.addi", Op::AddI32),
            ("arith.divsi", Op::DivI64S),
            ("arith.shrui", Op::ShrI32U),
            ("math.absi", Op::AbsI32),
        ];
        for (operation, op) in same {
            assert!(is_same_operation(operation, op), "{operation}");
        }
        for (operation, op) in [
            ("arith.mulf", Op::AddF32),
            ("math.log1p", Op::LogF32),
            ("linalg.softmax", Op::DivF32),
            ("arith.addf", Op::AddI32),
            ("arith.addi", Op::AddF32),
            ("arith.shrui", Op::ShrI32S),
        ] {
            assert!(!is_same_operation(operation, op), "{operation}");
        }
    }

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
}

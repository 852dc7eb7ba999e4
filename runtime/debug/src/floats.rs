//! Floats that go bad: an instruction that makes one of operands that are none is undone, so that
//! the program stands before it, at its line, with its operands as they were. What instructions do
//! to floats is known from registers alone and changes one register, so nothing is lost; going on
//! runs it again.

use debuginfo::{RegisterSlot, ScopedValue, SourcePosition, ValueLocation};
use vm::{FrameIndex, Position, Value};
use vmfb::{Instruction, Op};

use crate::debugger::{Debugger, Phase};
use crate::effects::{Effects, overlap};
use crate::inspect;
use crate::level::Level;
use crate::stop::StopReason;
use crate::watch::BadFloat;

impl Debugger {
    /// Stands the program before an instruction that has made a bad float. None: it was caught
    /// before.
    pub(crate) fn trap_float(&mut self, bad: &BadFloat) -> Option<StopReason> {
        if !self.is_first_time(bad.at) || !self.undo(bad) {
            return None;
        }
        self.watcher.passing = Some(bad.at);
        Some(StopReason::Trap(self.float_sentence(bad)))
    }

    /// Whether nothing was told yet of an instruction and the operation that it is; or all is to be
    /// told.
    pub(crate) fn is_first_time(&mut self, at: Position) -> bool {
        let every = self.traps().every;
        let is_known = !every && !self.watcher.caught.insert(at);
        let place = self.program.path_of(at).last().copied();
        let place = place.map(|place| match self.fused_sum(at) {
            Some((line, column)) => SourcePosition { line, column, ..place },
            None => place,
        });
        let operation = place.map(|place| (at.function.module, place));
        // An operation may be several instructions, where a loop was unrolled.
        let is_told =
            operation.is_some_and(|it| !self.watcher.caught_operations.insert(it) && !every);
        !is_known && !is_told
    }

    fn undo(&mut self, bad: &BadFloat) -> bool {
        let (Phase::Initializing(invocation) | Phase::Running(invocation)) = &mut self.phase else {
            return false;
        };
        if invocation.depth() != bad.depth || !invocation.jump(&self.context, bad.at.offset) {
            return false;
        }
        let frame = FrameIndex(0);
        match (bad.result, &bad.before) {
            (RegisterSlot::F32(ordinal), Value::F32(value)) => {
                invocation.set_register_i32(frame, ordinal, value.to_bits().cast_signed())
            }
            (RegisterSlot::F64(ordinal), Value::F64(value)) => {
                invocation.set_register_i64(frame, ordinal, value.to_bits().cast_signed())
            }
            _ => false,
        }
    }

    /// `%l = math.log %s is NaN: %s = -0.5 (a.mlir:5, in a dispatch that writes 256 elements)`.
    fn float_sentence(&self, bad: &BadFloat) -> String {
        let what = match &bad.value {
            Value::F32(value) if value.is_nan() => "is NaN",
            Value::F64(value) if value.is_nan() => "is NaN",
            Value::F32(value) if *value < 0.0 => "is -infinity",
            Value::F64(value) if *value < 0.0 => "is -infinity",
            _ => "is infinity",
        };
        self.trap_sentence(bad.at, what)
    }

    /// What an instruction does, by the operation of the source, with its operands and its place.
    pub(crate) fn trap_sentence(&self, at: Position, what: &str) -> String {
        let written = self.written_operation(at);
        let head = match &written {
            Some(written) => written.text.clone(),
            None => self.instruction_text(at),
        };
        let operands = self.operand_values(at, written.as_ref());
        let operands =
            if operands.is_empty() { String::new() } else { format!(": {}", operands.join(", ")) };
        let source = self.source_line(at);
        let line = written.as_ref().map(|written| written.line);
        let place = source.map(|it| format!("{}:{}", it.file, line.unwrap_or(it.line)));
        let around = self.elements_around();
        let place: Vec<String> = place.into_iter().chain(around).collect();
        let place =
            if place.is_empty() { String::new() } else { format!(" ({})", place.join(", ")) };
        format!("{head} {what}{operands}{place}")
    }

    /// How much the dispatch writes that the program is in.
    fn elements_around(&self) -> Option<String> {
        let dispatch = self.dispatch(FrameIndex(0))?;
        let written = self.written_tensors(&dispatch);
        let [(_, tensor)] = written.as_slice() else { return None };
        Some(format!("in a dispatch that writes {} elements", tensor.count()))
    }

    /// The operation of the source that an instruction is, where they do the same.
    fn written_operation(&self, at: Position) -> Option<Written> {
        let module = self.program.module(at.function.module)?;
        let place = *self.program.path_of(at).last()?;
        let source = module.info.source(place.file)?;
        let code = module.module.function_bytecode(at.function.function);
        let instruction = vmfb::decode(code, at.offset).ok()?;
        let is_same = |operation: &&str| is_same_operation(operation, instruction.op);
        let own = source.operation_at(place.line, place.column).filter(is_same);
        let (line, column) = match own {
            Some(_) => (place.line, place.column),
            None => self.fused_sum(at)?,
        };
        let operation = source.operation_at(line, column)?;
        let results = source.result_names(line, column);
        let [result] = results.as_slice() else { return None };
        let text = source.line(line)?;
        let start = (column as usize).checked_sub(1)? + operation.len();
        let rest = text.get(start..)?;
        let arguments = rest.split([':', '{']).next().unwrap_or_default().trim();
        let names = arguments.split(|it: char| it == ',' || it.is_whitespace());
        let operands: Vec<String> =
            names.filter(|it| it.starts_with('%')).map(str::to_owned).collect();
        let text = format!("{result} = {operation} {arguments}").trim_end().to_owned();
        Some(Written { line, text, operands })
    }

    /// `vm.div.f32 into i3 at 00000091`.
    fn instruction_text(&self, at: Position) -> String {
        let text = || {
            let address = self.linear(at)?;
            self.disassemble(address, 0, 1).pop().map(|instruction| instruction.text)
        };
        text().unwrap_or_else(|| format!("the instruction at {}", at.offset))
    }

    /// What an instruction reads: `%s = -0.5`, by the names that the operation has for it where
    /// that is sure, else by those of registers.
    fn operand_values(&self, at: Position, written: Option<&Written>) -> Vec<String> {
        let (Some(invocation), Some(module)) =
            (self.invocation(), self.program.module(at.function.module))
        else {
            return Vec::new();
        };
        let code = module.module.function_bytecode(at.function.function);
        let Ok(instruction) = vmfb::decode(code, at.offset) else { return Vec::new() };
        let slots = Effects::read_by(&instruction);
        let knows_arguments = self.knows_arguments(FrameIndex(0));
        let scope = self.program.scope(Level::Source, at, None, knows_arguments);
        let scope = scope.as_deref().unwrap_or_default();
        let names = operand_names(&instruction, &slots, scope, written);
        let values = slots.iter().zip(names).filter_map(|(slot, name)| {
            let value = inspect::register_value(invocation, FrameIndex(0), *slot)?;
            let name = name.unwrap_or_else(|| inspect::register_name(*slot));
            Some(format!("{name} = {}", inspect::value_text(&value)))
        });
        let mut shown: Vec<String> = values.collect();
        shown.dedup();
        shown
    }
}

/// An operation as it was written.
struct Written {
    line: u32,
    /// Without types and attributes.
    text: String,
    /// The names of its operands.
    operands: Vec<String>,
}

/// The names of what an instruction reads. The compiler may have turned the operands of an
/// operation around where that makes no difference to it, so their order says something for the
/// others only.
fn operand_names(
    instruction: &Instruction<'_>,
    slots: &[RegisterSlot],
    scope: &[ScopedValue],
    written: Option<&Written>,
) -> Vec<Option<String>> {
    let Some(written) = written.filter(|it| it.operands.len() == slots.len()) else {
        return vec![None; slots.len()];
    };
    let is_ordered = slots.len() == 1 || !is_commutative(instruction.op);
    if is_ordered {
        return written.operands.iter().cloned().map(Some).collect();
    }
    let named = |slot: &RegisterSlot| {
        let is_it = |value: &&ScopedValue| {
            matches!(&value.location, ValueLocation::Register(held) if overlap(*held, *slot))
                && written.operands.contains(&value.name)
        };
        scope.iter().find(is_it).map(|value| value.name.clone())
    };
    let mut names: Vec<Option<String>> = slots.iter().map(named).collect();
    let used: Vec<String> = names.iter().flatten().cloned().collect();
    let unused: Vec<&String> = written.operands.iter().filter(|it| !used.contains(it)).collect();
    let mut unnamed = names.iter_mut().filter(|name| name.is_none());
    if let ([only], Some(name), None) = (unused.as_slice(), unnamed.next(), unnamed.next()) {
        *name = Some((*only).clone());
    }
    names
}

/// What an instruction does: `div` of `div.f32`.
fn kind_of(op: Op) -> &'static str {
    op.mnemonic().split('.').next().unwrap_or_default()
}

fn is_commutative(op: Op) -> bool {
    matches!(kind_of(op), "add" | "mul" | "min" | "max" | "fma")
}

/// Whether an operation of the source does what an instruction does: `arith.divf` and `div.f32`,
/// `arith.addi` and `add.i32`, `arith.shrui` and `shr.i32.u`.
pub(crate) fn is_same_operation(operation: &str, op: Op) -> bool {
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
}

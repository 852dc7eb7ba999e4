//! Floats that go bad. An instruction that makes a bad float of good operands is undone: the
//! program then stands before it, at its line, with its operands as they were. Such an instruction
//! only reads registers and changes one register, so nothing is lost; when the program resumes, it
//! runs the instruction again.

use debuginfo::RegisterSlot;
use vm::{FrameIndex, Position, Value};

use super::sentence::trap_sentence;
use crate::machine::{Machine, Phase};

/// A bad float, made by an instruction that has run.
#[derive(Clone, Debug)]
pub(crate) struct BadFloat {
    /// The instruction.
    pub(crate) at: Position,
    /// Frames on the stack.
    pub(crate) depth: usize,
    /// The register of the result, the bad value, and the value before.
    pub(crate) result: RegisterSlot,
    pub(crate) value: Value,
    pub(crate) before: Value,
}

impl BadFloat {
    /// Whether it is NaN; otherwise it is an infinity.
    pub(crate) fn is_nan(&self) -> bool {
        match self.value {
            Value::F32(value) => value.is_nan(),
            Value::F64(value) => value.is_nan(),
            _ => false,
        }
    }

    /// Puts the machine back before the instruction. Returns whether that was possible.
    pub(crate) fn undo(&self, machine: &mut Machine) -> bool {
        let Machine { phase, context, .. } = machine;
        let (Phase::Initializing(invocation) | Phase::Running(invocation)) = phase else {
            return false;
        };
        if invocation.depth() != self.depth || !invocation.jump(context, self.at.offset) {
            return false;
        }
        let frame = FrameIndex(0);
        match (self.result, &self.before) {
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
    pub(crate) fn sentence(&self, machine: &Machine) -> String {
        let what = match &self.value {
            _ if self.is_nan() => "is NaN",
            Value::F32(value) if *value < 0.0 => "is -infinity",
            Value::F64(value) if *value < 0.0 => "is -infinity",
            _ => "is infinity",
        };
        trap_sentence(machine, self.at, what)
    }
}

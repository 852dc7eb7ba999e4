//! Integers that overflow. The operands say so before the instruction runs, so the program stands
//! before it, at its line, and runs it when it resumes.
//!
//! The VM's integers have 32 or 64 bits and wrap. The source says what a program means: an
//! `arith.addi` of `i8` overflows at 127, and arithmetic that the compiler adds for addresses and
//! loops is not the user's. So an instruction counts if the operation of the source at its place
//! does the same, with the width that is written there. Without a source all instructions count,
//! with the VM's widths.
//!
//! `target::written_operation` matches instructions with operations.

use vm::{FrameIndex, Invocation, Position, Value};

use super::sentence::trap_sentence;
use crate::machine::Machine;
use crate::target::arithmetic::{Integer, Wrong, wrong};
use crate::view::register;

/// An instruction that will overflow when it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overflow {
    pub(crate) at: Position,
    bits: u32,
    wrong: Wrong,
}

impl Overflow {
    /// The overflow of an instruction if it ran now, with the width from the source, if there is
    /// one.
    pub(crate) fn of(
        integer: &Integer,
        invocation: &Invocation,
        at: Position,
        meant: Option<u32>,
    ) -> Option<Self> {
        let bits = meant.unwrap_or(integer.bits).min(integer.bits);
        let mut values = [0; 3];
        for (value, slot) in values.iter_mut().zip(&integer.operands) {
            *value = match register::value(invocation, FrameIndex(0), *slot)? {
                Value::I32(value) => value.into(),
                Value::I64(value) => value,
                _ => return None,
            };
        }
        let wrong = wrong(integer.kind, bits, values)?;
        Some(Self { at, bits, wrong })
    }

    /// `%s = arith.addi %a, %b overflows i8: %a = 100, %b = 100 (a.mlir:5)`.
    pub(crate) fn sentence(&self, machine: &Machine) -> String {
        let Self { at, bits, wrong } = *self;
        let what = match wrong {
            Wrong::Overflow => format!("overflows i{bits}"),
            Wrong::Shift(amount) => format!("shifts i{bits} by {amount} bits"),
        };
        trap_sentence(machine, at, &what)
    }
}

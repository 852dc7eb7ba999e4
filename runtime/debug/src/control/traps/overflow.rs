//! Integers that overflow: the operands say so before the instruction runs, so the program stands
//! before it, at its line, and going on runs it.
//!
//! The VM's integers have 32 or 64 bits and wrap. What a program means is in its source: an
//! `arith.addi` of `i8` overflows at 127, and arithmetic that the compiler has made for addresses
//! and loops is none of the user's. So an instruction counts if the operation of the source at its
//! place does the same, with the width that is written there. Where there is no source to ask, all
//! instructions count, with the VM's widths.
//!
//! See [`crate::target::written_operation`] for how the two are brought together.

use vm::{FrameIndex, Invocation, Position, Value};

use super::sentence::trap_sentence;
use crate::machine::Machine;
use crate::target::arithmetic::{Integer, Wrong, wrong};
use crate::view::register;

/// An instruction that overflows when it runs, which it has not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overflow {
    pub(crate) at: Position,
    bits: u32,
    wrong: Wrong,
}

impl Overflow {
    /// The overflow of an instruction if it ran now, with so many bits if the source says so.
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

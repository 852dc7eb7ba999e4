//! Which handler runs an instruction: the one that knows what is before and behind it.
//!
//! ```text
//! i2 = sub i2, i1        result in the accumulator
//! i3 = cmp.nz i2         operand from there; jumps itself, as the jump behind it looks at i3
//! cond_br i3, …          for those who come from elsewhere
//! ```
//!
//! Indices stay what they are and every register is written as the bytecode says, so this shows
//! nowhere but in time.

use crate::code::{Code, Instr};
use crate::cursor::{Executable, Instructions, distance};
use crate::handlers::{Entry, Shape, Variants, entry, shape};
use crate::machine::{Free, Observed};

/// How many instructions away a change can show in the choice of a handler.
pub(crate) const REACH: usize = 1;

/// The instruction at `index` for observers: on its own.
pub(crate) fn observed(instructions: &Instructions, index: usize) -> Executable {
    let instr = instructions[index];
    let handler = entry::<Observed>(instr.code).variants.plain;
    Executable { handler, instr: relative(instr, index) }
}

/// The instruction at `index` for free running.
pub(crate) fn free(instructions: &Instructions, index: usize) -> Executable {
    let mut instr = instructions[index];
    let Entry { shape, variants, forward, backward } = entry::<Free>(instr.code);
    let mut variants = variants;
    if let Some(behind) = instructions.get(index + 1)
        && shape.writes.is_some_and(|(field, _)| field.of(&instr) == behind.a)
    {
        let jump = match behind.code {
            Code::CondJump => forward,
            Code::CondJumpBack => backward,
            _ => None,
        };
        if let Some(jump) = jump {
            variants = jump;
            instr.imm = with_distances(behind.imm, index);
        }
    }
    let before = instructions.is_behind_another(index).then(|| &instructions[index - 1]);
    let handler =
        before.map_or(variants.plain, |before| accumulating(before, &instr, &shape, variants));
    Executable { handler, instr: relative(instr, index) }
}

/// The variant that takes operands from the accumulator where `before` leaves them there.
fn accumulating(
    before: &Instr,
    instr: &Instr,
    reads: &Shape,
    variants: Variants,
) -> crate::machine::Handler {
    let Some((field, bank)) = shape(before.code).writes else { return variants.plain };
    let register = field.of(before);
    let fields = [instr.a, instr.b, instr.c];
    let is_there = |index: usize| reads.reads[index] == Some(bank) && fields[index] == register;
    let found = match (is_there(0), is_there(1), is_there(2)) {
        (true, true, _) => variants.both,
        (true, ..) => variants.a,
        (_, true, _) => variants.b,
        (_, _, true) => variants.c,
        _ => None,
    };
    found.unwrap_or(variants.plain)
}

/// An instruction with targets as distances.
fn relative(instr: Instr, index: usize) -> Instr {
    match instr.code {
        Code::Jump | Code::JumpBack | Code::CondJump | Code::CondJumpBack => {
            Instr { imm: with_distances(instr.imm, index), ..instr }
        }
        _ => instr,
    }
}

fn with_distances(imm: u64, index: usize) -> u64 {
    let (low, high) = (imm as u32 as usize, (imm >> 32) as usize);
    distance(index, low) | distance(index, high) << 32
}

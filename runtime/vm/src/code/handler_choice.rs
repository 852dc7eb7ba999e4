//! Chooses the handler of an instruction by the instructions before and after it.
//!
//! ```text
//! i2 = sub i2, i1        the last result
//! i3 = cmp.nz i2         operand from there; jumps itself, as the next jump tests i3
//! cond_br i3, …          only for control from elsewhere
//! ```
//!
//! Indices do not change, and every register is written as the bytecode says, so the choice shows
//! only in speed. `machine` says where results are kept.
//!
//! What is known holds from one jump target to the next. At the head of a loop, it is what all
//! jumps back to the head have in common; control from elsewhere first passes instructions that
//! establish it (`translate` puts them there, from `loop_heads`).

use std::ops::Range;

use super::instr::{Code, Instr};
use super::instructions::{CheckedCode, Executable, Instructions, distance};
use super::results_at_hand::{Known, known_after, known_at};
use super::shape::{Entry, Handle, Origin, Shape, Variants};

impl<H: Handle> CheckedCode<H> {
    /// Code for running free: instructions know the ones before them.
    pub(crate) fn free(instructions: &Instructions<H>) -> Self {
        let mut known = known_at::<H>(instructions.flow(), 0);
        Self::new(instructions, |index| {
            known = known_after::<H>(known, instructions.flow(), index);
            free(instructions, index, known)
        })
    }

    /// For observers: one instruction at a time.
    pub(crate) fn observed(instructions: &Instructions<H>) -> Self {
        Self::new(instructions, |index| observed(instructions, index))
    }

    /// Updates code for running free after a change of the instruction at `index`: the instruction
    /// before it may have jumped in its place, and the ones after it may have relied on its result.
    /// Returns the range of instructions with new handlers.
    pub(crate) fn update(&mut self, instructions: &Instructions<H>, index: u32) -> Range<u32> {
        let changed = index as usize;
        let first = changed.saturating_sub(1);
        let mut known = known_at::<H>(instructions.flow(), first);
        let end = self.len().min(instructions.len());
        for index in first..end {
            if index > changed + 1 && !instructions.flow().is_after_another(index) {
                return first as u32..index as u32;
            }
            if index > first {
                known = known_after::<H>(known, instructions.flow(), index);
            }
            self.replace(index, free(instructions, index, known));
        }
        first as u32..end.max(first) as u32
    }

    /// Puts a guard before the instruction at `index`; `original` has the instruction without a
    /// breakpoint. The machine can do either: leave, or run that instruction.
    pub(crate) fn guard(&mut self, original: &Instructions<H>, index: u32) {
        let index = index as usize;
        if self.len() == original.len() && index < original.len() {
            self.replace(index, guarded(original, index));
        }
    }
}

impl<H: Handle> CheckedCode<H> {
    /// Lets the instruction at `index` enter machine code.
    pub(crate) fn enter_at(&mut self, index: u32) {
        self.set_handler(index as usize, H::entering());
    }
}

/// The instruction at `index` for observers: on its own.
fn observed<H: Handle>(instructions: &Instructions<H>, index: usize) -> Executable<H> {
    let instr = instructions[index];
    let Entry { shape, variants, .. } = H::observed(instr.code);
    let handler = choose(variants, &shape, &instr, Known::default());
    Executable { handler, instr: relative(instructions, instr, index) }
}

/// The handler that runs the instruction at `index` freely, whatever is around it.
pub(crate) fn alone<H: Handle>(instructions: &Instructions<H>, index: usize) -> H {
    let instr = instructions[index];
    let Entry { shape, variants, .. } = H::free(instr.code);
    choose(variants, &shape, &instr, Known::default())
}

/// The instruction at `index` with a guard that is asked first.
fn guarded<H: Handle>(instructions: &Instructions<H>, index: usize) -> Executable<H> {
    Executable { handler: H::guard(), instr: relative(instructions, instructions[index], index) }
}

/// The instruction at `index` for free running.
fn free<H: Handle>(instructions: &Instructions<H>, index: usize, known: Known) -> Executable<H> {
    let mut instr = instructions[index];
    let Entry { shape, mut variants, forward, backward } = H::free(instr.code);
    if let Some(next) = instructions.get(index + 1)
        && shape.writes.is_some_and(|(field, _)| field.of(&instr) == next.a)
    {
        let jump = match next.code {
            Code::CondJump => forward,
            Code::CondJumpBack => backward,
            _ => None,
        };
        if let Some(jump) = jump {
            variants = jump;
            instr.imm = with_distances::<H>(next.imm, index);
        }
    }
    let handler = choose(variants, &shape, &instr, known);
    Executable { handler, instr: relative(instructions, instr, index) }
}

/// The variant that takes most operands from the results at hand.
fn choose<H: Handle>(variants: Variants<H>, shape: &Shape, instr: &Instr, known: Known) -> H {
    let fields = [instr.a, instr.b, instr.c];
    let at_hand: [Origin; 3] = std::array::from_fn(|index| match shape.reads[index] {
        Some(bank) => known.origin(bank, fields[index]),
        None => Origin::Register,
    });
    let mut chosen = (0, variants[0].handler);
    for variant in &variants[1..] {
        let fits = variant
            .origins
            .iter()
            .zip(&at_hand)
            .all(|(origin, at_hand)| *origin == Origin::Register || origin == at_hand);
        // An instruction waits longest for the last result if it reads it from memory.
        let worth = |origin: &Origin| match origin {
            Origin::Register => 0,
            Origin::Previous => 2,
            Origin::Last => 3,
        };
        let gain: i32 = variant.origins.iter().map(worth).sum();
        if fits && gain > chosen.0 && variant.handler.is_some() {
            chosen = (gain, variant.handler);
        }
    }
    chosen.1.unwrap_or_else(H::leaving)
}

/// An instruction with targets as distances.
fn relative<H: Handle>(instructions: &Instructions<H>, instr: Instr, index: usize) -> Instr {
    match instr.code {
        Code::JumpTable => instructions.with_table(instr),
        Code::Jump | Code::JumpBack | Code::CondJump | Code::CondJumpBack => {
            Instr { imm: with_distances::<H>(instr.imm, index), ..instr }
        }
        _ => instr,
    }
}

fn with_distances<H>(imm: u64, index: usize) -> u64 {
    let (low, high) = (imm as u32 as usize, (imm >> 32) as usize);
    distance::<H>(index, low) | distance::<H>(index, high) << 32
}

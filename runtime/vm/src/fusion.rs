//! Which handler runs an instruction: the one that knows what is before and behind it.
//!
//! ```text
//! i2 = sub i2, i1        the last result
//! i3 = cmp.nz i2         operand from there; jumps itself, as the jump behind it looks at i3
//! cond_br i3, …          for those who come from elsewhere
//! ```
//!
//! Indices stay what they are and every register is written as the bytecode says, so this shows
//! nowhere but in time. What is known of results holds from a jump's target to the next one: see
//! [`crate::machine`] for what they are kept in.

use crate::code::{Code, Instr};
use crate::cursor::{Executable, Instructions, distance};
use crate::handlers::{Bank, Entry, Origin, Shape, Variants, entry, shape};
use crate::machine::{Free, Handler, Observed};

/// Which registers the last two results of each kind are in, the last one first.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Known {
    pub(crate) words: [Option<(Bank, u16)>; 2],
    pub(crate) singles: [Option<(Bank, u16)>; 2],
    pub(crate) doubles: [Option<(Bank, u16)>; 2],
}

impl Known {
    fn of(&mut self, bank: Bank) -> &mut [Option<(Bank, u16)>; 2] {
        match bank {
            Bank::Word | Bank::Pair => &mut self.words,
            Bank::Single => &mut self.singles,
            Bank::Double => &mut self.doubles,
        }
    }

    /// What is known behind an instruction.
    fn behind(mut self, instr: &Instr) -> Self {
        let shape = shape(instr.code);
        if shape.writes_more {
            return Self::default();
        }
        let Some((field, bank)) = shape.writes else { return self };
        let written = (bank, field.of(instr));
        for known in [&mut self.words, &mut self.singles, &mut self.doubles] {
            for result in known {
                *result = result.filter(|register| !overlap(*register, written));
            }
        }
        let results = self.of(bank);
        *results = [Some(written), results[0]];
        self
    }

    /// Where the value of a register can be taken from.
    fn origin(mut self, bank: Bank, register: u16) -> Origin {
        let [last, previous] = *self.of(bank);
        if last == Some((bank, register)) {
            Origin::Last
        } else if previous == Some((bank, register)) {
            Origin::Previous
        } else {
            Origin::Register
        }
    }
}

/// Whether two registers share bits.
fn overlap(left: (Bank, u16), right: (Bank, u16)) -> bool {
    let ordinals = |(bank, register): (Bank, u16)| match bank {
        Bank::Word | Bank::Single => u32::from(register)..u32::from(register) + 1,
        Bank::Pair | Bank::Double => 2 * u32::from(register)..2 * u32::from(register) + 2,
    };
    let (left, right) = (ordinals(left), ordinals(right));
    left.start < right.end && right.start < left.end
}

/// What is known at `index`, from what is known at the instruction before it.
pub(crate) fn known_behind(before: Known, instructions: &Instructions, index: usize) -> Known {
    if instructions.is_behind_another(index) {
        before.behind(&instructions[index - 1])
    } else {
        Known::default()
    }
}

/// What is known at `index`.
pub(crate) fn known_at(instructions: &Instructions, index: usize) -> Known {
    if index >= instructions.len() {
        return Known::default();
    }
    let is_first = |index: &usize| !instructions.is_behind_another(*index);
    let first = (0..=index).rev().find(is_first).unwrap_or(0);
    (first + 1..=index)
        .fold(Known::default(), |known, index| known_behind(known, instructions, index))
}

/// The instruction at `index` for observers: on its own.
pub(crate) fn observed(instructions: &Instructions, index: usize) -> Executable {
    let instr = instructions[index];
    let Entry { shape, variants, .. } = entry::<Observed>(instr.code);
    let handler = choose(variants, &shape, &instr, Known::default());
    Executable { handler, instr: relative(instr, index) }
}

/// The instruction at `index` for free running.
pub(crate) fn free(instructions: &Instructions, index: usize, known: Known) -> Executable {
    let mut instr = instructions[index];
    let Entry { shape, mut variants, forward, backward } = entry::<Free>(instr.code);
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
    let handler = choose(variants, &shape, &instr, known);
    Executable { handler, instr: relative(instr, index) }
}

/// The variant that takes most operands from where they are at hand.
fn choose(variants: Variants, shape: &Shape, instr: &Instr, known: Known) -> Handler {
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
        // The last result is waited for longest where it is not taken from here.
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
    chosen.1.unwrap_or(NOTHING)
}

/// What every instruction has a handler instead of.
const NOTHING: Handler = |_, _, _, _, _, _, _, _, _, _| crate::machine::Signal::Leave;

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

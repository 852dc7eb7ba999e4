//! Which handler runs an instruction: the one that knows what is before and behind it.
//!
//! ```text
//! i2 = sub i2, i1        the last result
//! i3 = cmp.nz i2         operand from there; jumps itself, as the jump behind it looks at i3
//! cond_br i3, …          for those who come from elsewhere
//! ```
//!
//! Indices stay what they are and every register is written as the bytecode says, so this shows
//! nowhere but in time. [`crate::machine`] says what results are kept in.
//!
//! What is known holds from a jump's target to the next. At the head of a loop, that is what the
//! jumps back to it have in common; who comes from elsewhere first passes through instructions that
//! make it so (`loops` has `translate` put them there).

use crate::code::{Code, Instr};
use crate::cursor::{Executable, Instructions, distance};
use crate::handlers::{Bank, Entry, Origin, Shape, Variants, entry, guard, shape};
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
        if !shape.is_test {
            let results = self.of(bank);
            *results = [Some(written), results[0]];
        }
        self
    }

    /// The registers whose values are at hand.
    pub(crate) fn results(&self) -> impl Iterator<Item = (Bank, u16)> {
        [self.words, self.singles, self.doubles].into_iter().flatten().flatten()
    }

    /// What is known whichever of two ways was taken.
    pub(crate) fn meet(self, other: Self) -> Self {
        let both = |left: [Option<(Bank, u16)>; 2], right: [Option<(Bank, u16)>; 2]| {
            std::array::from_fn(|age| left[age].filter(|_| left[age] == right[age]))
        };
        Self {
            words: both(self.words, other.words),
            singles: both(self.singles, other.singles),
            doubles: both(self.doubles, other.doubles),
        }
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.results().next().is_none()
    }

    /// Instructions that make this known: they copy registers to themselves.
    pub(crate) fn loads(self) -> impl Iterator<Item = Instr> {
        let in_order = [self.words, self.singles, self.doubles].into_iter().flat_map(|results| {
            let [last, previous] = results;
            // What is not known may be anything, but something has to come behind the previous one.
            [previous, last.or(previous)].into_iter().flatten()
        });
        in_order.map(|(bank, register)| {
            let code = match bank {
                Bank::Word => Code::CopyI32,
                Bank::Pair => Code::CopyI64,
                Bank::Single => Code::CopyF32,
                Bank::Double => Code::CopyF64,
            };
            Instr { code, a: register, b: register, c: 0, imm: 0 }
        })
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
        instructions.known_at_target(index)
    }
}

/// What is known at `index`.
pub(crate) fn known_at(instructions: &Instructions, index: usize) -> Known {
    // Whoever enters a function has nothing.
    if index == 0 || index >= instructions.len() {
        return Known::default();
    }
    let is_first = |index: &usize| !instructions.is_behind_another(*index);
    let first = (0..=index).rev().find(is_first).unwrap_or(0);
    (first + 1..=index).fold(instructions.known_at_target(first), |known, index| {
        known_behind(known, instructions, index)
    })
}

/// The instruction at `index` for observers: on its own.
pub(crate) fn observed(instructions: &Instructions, index: usize) -> Executable {
    let instr = instructions[index];
    let Entry { shape, variants, .. } = entry::<Observed>(instr.code);
    let handler = choose(variants, &shape, &instr, Known::default());
    Executable { handler, instr: relative(instructions, instr, index) }
}

/// What runs the instruction at `index` freely, whatever is around it.
pub(crate) fn alone(instructions: &Instructions, index: usize) -> Handler {
    let instr = instructions[index];
    let Entry { shape, variants, .. } = entry::<Free>(instr.code);
    choose(variants, &shape, &instr, Known::default())
}

/// The instruction at `index` behind a guard, which is asked first.
pub(crate) fn guarded(instructions: &Instructions, index: usize) -> Executable {
    Executable {
        handler: guard::<Free>(),
        instr: relative(instructions, instructions[index], index),
    }
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
    Executable { handler, instr: relative(instructions, instr, index) }
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
fn relative(instructions: &Instructions, instr: Instr, index: usize) -> Instr {
    match instr.code {
        Code::JumpTable => instructions.with_table(instr),
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

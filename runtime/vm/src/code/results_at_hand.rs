//! What handlers know of the results before them.

use super::instr::{Code, Instr};
use super::shape::{Bank, Handle, Origin};

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

    /// What is known after an instruction.
    fn after<H: Handle>(mut self, instr: &Instr) -> Self {
        let shape = H::shape(instr.code);
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
            // An unknown result may be anything, but some result has to follow the previous one.
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
    pub(super) fn origin(mut self, bank: Bank, register: u16) -> Origin {
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

/// What is known at `index`, given what is known at the instruction before it.
pub(crate) fn known_after<H: Handle>(before: Known, flow: Flow<'_>, index: usize) -> Known {
    if flow.is_after_another(index) {
        before.after::<H>(&flow.instructions[index - 1])
    } else {
        flow.known_at_target(index)
    }
}

/// What is known at `index`.
pub(crate) fn known_at<H: Handle>(flow: Flow<'_>, index: usize) -> Known {
    // On entry to a function nothing is known.
    if index == 0 || index >= flow.instructions.len() {
        return Known::default();
    }
    let is_first = |index: &usize| !flow.is_after_another(*index);
    let first = (0..=index).rev().find(is_first).unwrap_or(0);
    (first + 1..=index)
        .fold(flow.known_at_target(first), |known, index| known_after::<H>(known, flow, index))
}

/// Instructions with the ways through them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow<'a> {
    pub(crate) instructions: &'a [Instr],
    /// Whether a jump leads there, or control enters from outside.
    pub(super) is_target: &'a [bool],
    /// What is known at heads of loops, by their indices, ascending.
    pub(super) heads: &'a [(usize, Known)],
}

impl Flow<'_> {
    /// What is known at a target, on whichever path control reached it.
    fn known_at_target(self, index: usize) -> Known {
        let found = self.heads.binary_search_by_key(&index, |(head, _)| *head);
        found.map_or_else(|_| Known::default(), |found| self.heads[found].1)
    }

    /// Whether control reaches an instruction only from the one before it.
    pub(super) fn is_after_another(self, index: usize) -> bool {
        index > 0 && !self.is_target[index] && self.instructions[index - 1].code.falls_through()
    }
}

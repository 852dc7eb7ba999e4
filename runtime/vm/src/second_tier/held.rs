//! Which registers compiled code holds in values of its own.
//!
//! Compiled code writes each result to its register in memory, as the interpreter does, so that it
//! can leave at any instruction, and it also keeps the value. Where a register is read, the value
//! is taken from there if it has one on every way that leads to the place. The same 32 bits may be
//! read as an integer, as a float, or as half of a pair: what is held is held as one of these.

use super::rows::Kind;

/// How the 32 bits of a register are held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Held {
    /// However it suits: nothing is known to lead here.
    Any,
    /// In memory only.
    No,
    /// As a number of 32 bits.
    Word(Kind),
    /// As the low half of a pair,
    Low(Kind),
    /// or the high half.
    High(Kind),
}

impl Held {
    /// What holds on both of two ways.
    fn meet(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, it) | (it, Self::Any) => it,
            (left, right) if left == right => left,
            _ => Self::No,
        }
    }
}

/// How a register's value can be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Access {
    /// It is held as this kind.
    Value,
    /// It is held as the other kind of its size.
    Other(Kind),
    /// It is in memory.
    Memory,
}

/// How all registers of a function are held at one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct HeldRegisters(Vec<Held>);

impl HeldRegisters {
    /// All of `count` registers, held alike.
    pub(super) fn all(count: usize, held: Held) -> Self {
        Self(vec![held; count])
    }

    /// The registers of a number: the only one or the low half, and the high half.
    fn of(kind: Kind, register: u16) -> (usize, Option<usize>) {
        let mut words = kind.words(register);
        (words.start, words.nth(1))
    }

    /// How the value of a register can be had.
    pub(super) fn access(&self, kind: Kind, register: u16) -> Access {
        let (low, high) = Self::of(kind, register);
        let held = match (self.0[low], high.map(|high| self.0[high])) {
            (Held::Word(held), None) => held,
            (Held::Low(held), Some(Held::High(same))) if held == same => held,
            _ => return Access::Memory,
        };
        if held == kind { Access::Value } else { Access::Other(held) }
    }

    /// A register has been read: its value is held from now on.
    pub(super) fn read(&mut self, kind: Kind, register: u16) {
        if self.access(kind, register) == Access::Memory {
            self.write(kind, register);
        }
    }

    /// A register has been written.
    pub(super) fn write(&mut self, kind: Kind, register: u16) {
        self.forget(kind, register);
        let (low, high) = Self::of(kind, register);
        match high {
            None => self.0[low] = Held::Word(kind),
            Some(high) => (self.0[low], self.0[high]) = (Held::Low(kind), Held::High(kind)),
        }
    }

    /// A register has changed in memory.
    pub(super) fn forget(&mut self, kind: Kind, register: u16) {
        let (low, high) = Self::of(kind, register);
        for word in [Some(low), high].into_iter().flatten() {
            // A pair of which half has changed is no longer held.
            match self.0[word] {
                Held::Low(_) => self.0[word + 1] = Held::No,
                Held::High(_) => self.0[word - 1] = Held::No,
                _ => {}
            }
            self.0[word] = Held::No;
        }
    }

    /// Notes that some instruction holds a register as this kind.
    pub(super) fn agree(&mut self, kind: Kind, register: u16) {
        let (low, high) = Self::of(kind, register);
        match high {
            None => self.0[low] = self.0[low].meet(Held::Word(kind)),
            Some(high) => {
                self.0[low] = self.0[low].meet(Held::Low(kind));
                self.0[high] = self.0[high].meet(Held::High(kind));
            }
        }
    }

    /// Holds as is usual what may be held in any way.
    pub(super) fn settle(&mut self, usual: &Self) {
        for (mine, usual) in self.0.iter_mut().zip(&usual.0) {
            if *mine == Held::Any {
                *mine = if *usual == Held::Any { Held::No } else { *usual };
            }
        }
        self.mend();
    }

    /// What holds on both of two ways.
    pub(super) fn meet(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = mine.meet(*theirs);
        }
        self.mend();
    }

    /// Keeps only what the live registers need.
    pub(super) fn keep(&mut self, live: &[bool]) {
        for (held, live) in self.0.iter_mut().zip(live) {
            if !live {
                *held = Held::No;
            }
        }
        self.mend();
    }

    /// Pairs of which one half is not held any more are not held.
    fn mend(&mut self) {
        for low in (0..self.0.len().saturating_sub(1)).step_by(2) {
            let (mut left, mut right) = (self.0[low], self.0[low + 1]);
            let is_whole = matches!((left, right), (Held::Low(a), Held::High(b)) if a == b)
                || matches!((left, right), (Held::Low(_), Held::Any) | (Held::Any, Held::High(_)));
            if !is_whole {
                if matches!(left, Held::Low(_)) {
                    left = Held::No;
                }
                if matches!(right, Held::High(_)) {
                    right = Held::No;
                }
            }
            (self.0[low], self.0[low + 1]) = (left, right);
        }
    }

    /// The numbers that are held: kind and register.
    pub(super) fn numbers(&self) -> impl Iterator<Item = (Kind, u16)> {
        self.0.iter().enumerate().filter_map(|(word, held)| match held {
            Held::Word(kind) => Some((*kind, word as u16)),
            Held::Low(kind) => Some((*kind, (word / 2) as u16)),
            _ => None,
        })
    }
}

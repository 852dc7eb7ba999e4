//! Operands: the four number types, in registers and in the accumulator.

use super::state::State;
use crate::code::{Bank, Origin};

/// A number type.
pub(crate) trait Operand: Copy {
    const BANK: Bank;

    /// The value in a register.
    fn read(state: State, register: u16) -> Self;

    /// The last result of this type, or the one before.
    fn accumulated(state: State, age: usize) -> Self;

    /// Makes a value the last result of its type, and stores it in a register.
    fn write(self, state: &mut State, register: u16);
}

impl Operand for i32 {
    const BANK: Bank = Bank::Word;

    #[inline(always)]
    fn read(state: State, register: u16) -> Self {
        state.registers.word(register).cast_signed()
    }

    #[inline(always)]
    fn accumulated(state: State, age: usize) -> Self {
        state.words[age] as i32
    }

    #[inline(always)]
    fn write(self, state: &mut State, register: u16) {
        state.registers.set_word(register, self.cast_unsigned());
        state.words = [self.cast_unsigned().into(), state.words[0]];
    }
}

impl Operand for i64 {
    const BANK: Bank = Bank::Pair;

    #[inline(always)]
    fn read(state: State, register: u16) -> Self {
        state.registers.pair(register).cast_signed()
    }

    #[inline(always)]
    fn accumulated(state: State, age: usize) -> Self {
        state.words[age].cast_signed()
    }

    #[inline(always)]
    fn write(self, state: &mut State, register: u16) {
        state.registers.set_pair(register, self.cast_unsigned());
        state.words = [self.cast_unsigned(), state.words[0]];
    }
}

impl Operand for f32 {
    const BANK: Bank = Bank::Single;

    #[inline(always)]
    fn read(state: State, register: u16) -> Self {
        f32::from_bits(state.registers.word(register))
    }

    #[inline(always)]
    fn accumulated(state: State, age: usize) -> Self {
        state.singles[age]
    }

    #[inline(always)]
    fn write(self, state: &mut State, register: u16) {
        state.registers.set_single(register, self);
        state.singles = [self, state.singles[0]];
    }
}

impl Operand for f64 {
    const BANK: Bank = Bank::Double;

    #[inline(always)]
    fn read(state: State, register: u16) -> Self {
        f64::from_bits(state.registers.pair(register))
    }

    #[inline(always)]
    fn accumulated(state: State, age: usize) -> Self {
        state.doubles[age]
    }

    #[inline(always)]
    fn write(self, state: &mut State, register: u16) {
        state.registers.set_double(register, self);
        state.doubles = [self, state.doubles[0]];
    }
}

/// An [`Origin`] as a type.
pub(crate) trait Source: 'static {
    const ORIGIN: Origin;

    fn read<T: Operand>(state: State, register: u16) -> T;
}

pub(crate) struct Register;

impl Source for Register {
    const ORIGIN: Origin = Origin::Register;

    #[inline(always)]
    fn read<T: Operand>(state: State, register: u16) -> T {
        T::read(state, register)
    }
}

pub(crate) struct Last;

impl Source for Last {
    const ORIGIN: Origin = Origin::Last;

    #[inline(always)]
    fn read<T: Operand>(state: State, _: u16) -> T {
        T::accumulated(state, 0)
    }
}

pub(crate) struct Previous;

impl Source for Previous {
    const ORIGIN: Origin = Origin::Previous;

    #[inline(always)]
    fn read<T: Operand>(state: State, _: u16) -> T {
        T::accumulated(state, 1)
    }
}

impl State {
    /// Makes the value of a register the last result of its type.
    pub(crate) fn load(&mut self, bank: Bank, register: u16) {
        match bank {
            Bank::Word => i32::read(*self, register).write(self, register),
            Bank::Pair => i64::read(*self, register).write(self, register),
            Bank::Single => f32::read(*self, register).write(self, register),
            Bank::Double => f64::read(*self, register).write(self, register),
        }
    }
}

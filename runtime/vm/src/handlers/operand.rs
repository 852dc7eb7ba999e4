//! Operands: the four number types, in registers and in the accumulator.

use crate::code::Instr;
use crate::machine::State;

/// What a value is, as far as registers and the accumulator tell types apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bank {
    Word,
    Pair,
    Single,
    Double,
}

/// An operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Field {
    A,
    B,
    C,
    /// The lowest lane of `imm`.
    D,
}

impl Field {
    /// The register there.
    pub(crate) fn of(self, instr: &Instr) -> u16 {
        match self {
            Self::A => instr.a,
            Self::B => instr.b,
            Self::C => instr.c,
            Self::D => instr.lane(0),
        }
    }
}

/// A number type.
pub(crate) trait Operand: Copy {
    const BANK: Bank;

    /// The value in a register.
    fn read(state: State, register: u16) -> Self;

    /// The value in the accumulator.
    fn accumulated(state: State) -> Self;

    /// Puts a value into both.
    fn write(self, state: &mut State, register: u16);
}

impl Operand for i32 {
    const BANK: Bank = Bank::Word;

    #[inline(always)]
    fn read(state: State, register: u16) -> Self {
        state.registers.word(register).cast_signed()
    }

    #[inline(always)]
    fn accumulated(state: State) -> Self {
        state.word as i32
    }

    #[inline(always)]
    fn write(self, state: &mut State, register: u16) {
        state.registers.set_word(register, self.cast_unsigned());
        state.word = self.cast_unsigned().into();
    }
}

impl Operand for i64 {
    const BANK: Bank = Bank::Pair;

    #[inline(always)]
    fn read(state: State, register: u16) -> Self {
        state.registers.pair(register).cast_signed()
    }

    #[inline(always)]
    fn accumulated(state: State) -> Self {
        state.word.cast_signed()
    }

    #[inline(always)]
    fn write(self, state: &mut State, register: u16) {
        state.registers.set_pair(register, self.cast_unsigned());
        state.word = self.cast_unsigned();
    }
}

impl Operand for f32 {
    const BANK: Bank = Bank::Single;

    #[inline(always)]
    fn read(state: State, register: u16) -> Self {
        f32::from_bits(state.registers.word(register))
    }

    #[inline(always)]
    fn accumulated(state: State) -> Self {
        state.single
    }

    #[inline(always)]
    fn write(self, state: &mut State, register: u16) {
        state.registers.set_word(register, self.to_bits());
        state.single = self;
    }
}

impl Operand for f64 {
    const BANK: Bank = Bank::Double;

    #[inline(always)]
    fn read(state: State, register: u16) -> Self {
        f64::from_bits(state.registers.pair(register))
    }

    #[inline(always)]
    fn accumulated(state: State) -> Self {
        state.double
    }

    #[inline(always)]
    fn write(self, state: &mut State, register: u16) {
        state.registers.set_pair(register, self.to_bits());
        state.double = self;
    }
}

/// Where an operand comes from.
pub(crate) trait Source: 'static {
    fn read<T: Operand>(state: State, register: u16) -> T;
}

/// From the register that the instruction names.
pub(crate) struct Register;

impl Source for Register {
    #[inline(always)]
    fn read<T: Operand>(state: State, register: u16) -> T {
        T::read(state, register)
    }
}

/// From the accumulator, where the instruction before left it.
pub(crate) struct Accumulator;

impl Source for Accumulator {
    #[inline(always)]
    fn read<T: Operand>(state: State, _: u16) -> T {
        T::accumulated(state)
    }
}

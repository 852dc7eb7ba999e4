//! The registers of the running frame, as handlers see them: without bounds checks.
//!
//! # Soundness
//!
//! [`Registers`] is made from a whole window ([`WINDOW`] words), and an ordinal has 16 bits, so
//! every register that can be named is inside. [`Refs`] is made from the refs of a frame, and
//! [`crate::cursor`] refused code that names others where handlers read them here, and took the bit
//! that says "move" out of their operands. Both are pointers without a lifetime: whoever makes them
//! promises that the stack does not move while they are in use. The machine makes them anew
//! whenever it enters or returns to a frame, and handlers give the old ones up when they call it to
//! do so.

use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::objects::Ref;

/// Words that an operand can reach.
pub(crate) const WINDOW: usize = 1 << 16;

/// 32-bit registers, and pairs of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers(NonNull<u64>);

impl Registers {
    /// The registers that start with the first word of a window.
    ///
    /// # Safety
    /// The window stays where it is, and nobody else uses it, while these are used.
    #[inline(always)]
    pub(crate) unsafe fn new(window: &mut [u64; WINDOW]) -> Self {
        Self(NonNull::from(window).cast())
    }

    /// The same, by the address of the first word.
    ///
    /// # Safety
    /// A window starts there. It stays where it is while these are used, and what is used of it by
    /// others is not used by these.
    #[inline(always)]
    pub(crate) unsafe fn at(first: *mut u64) -> Self {
        // SAFETY: a window starts there.
        Self(unsafe { NonNull::new_unchecked(first) })
    }

    #[inline(always)]
    fn word_at(self, ordinal: u16) -> NonNull<u32> {
        // SAFETY: the ordinal is less than twice `WINDOW`.
        unsafe { self.0.cast::<u32>().add(usize::from(ordinal)) }
    }

    #[inline(always)]
    fn pair_at(self, number: u16) -> NonNull<u64> {
        // SAFETY: the number is less than `WINDOW`.
        unsafe { self.0.add(usize::from(number)) }
    }

    /// A 32-bit register.
    #[inline(always)]
    pub(crate) fn word(self, ordinal: u16) -> u32 {
        // SAFETY: it is in the window.
        unsafe { self.word_at(ordinal).read() }
    }

    /// Changes a 32-bit register.
    #[inline(always)]
    pub(crate) fn set_word(self, ordinal: u16, value: u32) {
        // SAFETY: it is in the window.
        unsafe { self.word_at(ordinal).write(value) }
    }

    /// A register pair, by its number.
    #[inline(always)]
    pub(crate) fn pair(self, number: u16) -> u64 {
        // SAFETY: it is in the window.
        unsafe { self.pair_at(number).read() }
    }

    /// Changes a register pair.
    #[inline(always)]
    pub(crate) fn set_pair(self, number: u16, value: u64) {
        // SAFETY: it is in the window.
        unsafe { self.pair_at(number).write(value) }
    }

    /// Changes a 32-bit register to the bits of a float, which need not leave the host's registers
    /// for floats.
    #[inline(always)]
    pub(crate) fn set_single(self, ordinal: u16, value: f32) {
        // SAFETY: it is in the window.
        unsafe { self.word_at(ordinal).cast::<f32>().write(value) }
    }

    /// The same for a pair.
    #[inline(always)]
    pub(crate) fn set_double(self, number: u16, value: f64) {
        // SAFETY: it is in the window.
        unsafe { self.pair_at(number).cast::<f64>().write(value) }
    }

    /// The window, for code that is not in a hurry.
    ///
    /// # Safety
    /// It is not used longer than these registers could be, nor while they are.
    #[inline(always)]
    pub(crate) unsafe fn window<'a>(self) -> &'a mut [u64; WINDOW] {
        // SAFETY: they were made from a window.
        unsafe { &mut *self.0.cast::<[u64; WINDOW]>().as_ptr() }
    }
}

/// The ref registers of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refs(NonNull<Ref>, PhantomData<Ref>);

impl Refs {
    /// The refs of a frame.
    ///
    /// # Safety
    /// They stay where they are, and nobody else uses them, while these are used.
    #[inline(always)]
    pub(crate) unsafe fn new(refs: &mut [Ref]) -> Self {
        Self(NonNull::from(refs).cast(), PhantomData)
    }

    /// Where a register is, as instructions that [`crate::handlers::Shape::reads_ref`] have it in
    /// `imm`.
    pub(crate) fn offset(register: u16) -> u64 {
        (usize::from(register) * size_of::<Ref>()) as u64
    }

    /// The ref at the offset that such an instruction has.
    ///
    /// # Safety
    /// The code was checked for the frame that these are of. The ref is not changed while it is
    /// used.
    #[inline(always)]
    pub(crate) unsafe fn get<'a>(self, offset: u64) -> &'a Ref {
        // SAFETY: the frame has it.
        unsafe { &*self.0.byte_add(offset as usize).as_ptr() }
    }

    /// All of them.
    ///
    /// # Safety
    /// There are so many. They are not used longer than these could be, nor while they are.
    #[inline(always)]
    pub(crate) unsafe fn slice<'a>(self, count: usize) -> &'a mut [Ref] {
        // SAFETY: they were made from a slice of that many.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_ptr(), count) }
    }
}

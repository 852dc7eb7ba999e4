//! The registers of the running frame, as handlers see them: without bounds checks.
//!
//! # Soundness
//!
//! [`Registers`] is made from a whole window ([`WINDOW`] words). An ordinal has 16 bits, so every
//! register that an instruction can name is inside the window. [`Refs`] is made from the refs of a
//! frame. `code` refuses instructions that would read other refs here, and clears the move bit of
//! their operands (`code/instructions.rs`). Both are pointers without a lifetime: the caller that
//! makes them promises that the stack does not move while they are in use. The machine makes new
//! ones whenever it enters or returns to a frame, and handlers drop the old ones when they call it
//! to do so.

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
    /// The window stays in place, and no one else accesses it, while these registers are in use.
    #[inline(always)]
    pub(crate) unsafe fn new(window: &mut [u64; WINDOW]) -> Self {
        Self(NonNull::from(window).cast())
    }

    /// The registers that start at an address.
    ///
    /// # Safety
    /// A window starts there and stays in place while these registers are in use. No one else
    /// accesses the words that these registers access.
    #[inline(always)]
    pub(crate) unsafe fn at(first: *mut u64) -> Self {
        // SAFETY: a window starts there, so the address is not null.
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
    /// The reference does not outlive the promise made for these registers, and the registers are
    /// not used while it lives.
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
    /// They stay in place, and no one else accesses them, while this is in use.
    #[inline(always)]
    pub(crate) unsafe fn new(refs: &mut [Ref]) -> Self {
        Self(NonNull::from(refs).cast(), PhantomData)
    }

    /// The byte offset of a register, which instructions with `Shape::reads_ref` hold in `imm`.
    pub(crate) fn offset(register: u16) -> u64 {
        (usize::from(register) * size_of::<Ref>()) as u64
    }

    /// The ref at such an offset.
    ///
    /// # Safety
    /// The offset comes from code that was checked for the frame of these refs. The ref is not
    /// changed while the result is in use.
    #[inline(always)]
    pub(crate) unsafe fn get<'a>(self, offset: u64) -> &'a Ref {
        // SAFETY: the code was checked for this frame, so the frame has the ref.
        unsafe { &*self.0.byte_add(offset as usize).as_ptr() }
    }

    /// All refs.
    ///
    /// # Safety
    /// The frame has `count` refs. The slice does not outlive the promise made for these refs, and
    /// they are not used while it lives.
    #[inline(always)]
    pub(crate) unsafe fn slice<'a>(self, count: usize) -> &'a mut [Ref] {
        // SAFETY: they were made from a slice of that length.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_ptr(), count) }
    }
}

//! Guarded device memory, which programs get with `--guard`.
//!
//! ```text
//!   no access | slack, poison |  the buffer, poison at first  | < 64 bytes of poison | no access
//!    16 MiB   |            whole pages                                              |  16 MiB
//! ```
//!
//! An access after the end of a buffer faults where it happens, as does an access before the
//! buffer's first page. Fresh memory holds *poison*: words that depend on their own address and are
//! NaN as floats, far from 0 as integers. No computation yields such a word by chance, so memory
//! that still holds poison has never been written. Damaged poison around the buffer reveals writes
//! that missed it by less than a page.
//!
//! Sizes are rounded up to 64 bytes, as compiled code expects that alignment, so an access that
//! misses the end by less does not fault.
//!
//! # Soundness
//!
//! A [`Guarded`] owns its mapping. The range that it hands out lies within the pages that may be
//! read and written, and stays mapped until the `Guarded` is dropped. The slack around it is only
//! accessed through the mapping's own pointer.
//!
//! Where machine code runs in a sandbox, the mapping is a part of the memory that both have. The
//! pages at its ends are inaccessible there, and nothing here touches them.

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

use vm::{Access, ExecutionLimits, Status};

use super::pages::{self, Rights};
use super::shared::Shared;

/// The alignment that compiled code expects of buffers, in bytes.
const ALIGNMENT: usize = 64;

/// The size of the inaccessible range at each end, in bytes. It takes addresses, not memory.
const GUARD: usize = 16 << 20;

/// The poison of the word at an address.
fn poison(address: usize) -> u32 {
    let mixed = (address as u64 >> 2).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 43;
    // A 32-bit NaN with a payload, which no arithmetic produces. Two such words are a 64-bit NaN
    // with a payload.
    0xFFC0_0001 | (mixed as u32) << 1 & 0x003F_FFFE
}

/// How many bytes of a buffer's range still hold poison, and the offset of the first. A single word
/// may match by chance, so only runs of two or more count, unless the range has only one word.
#[must_use]
pub fn unwritten_bytes(
    buffer: &vm::Buffer,
    offset: usize,
    length: usize,
) -> Option<(usize, usize)> {
    let bytes = buffer.read(offset, length);
    let start = buffer.address().addr() + offset;
    let lead = start.wrapping_neg() % 4;
    let words = bytes.get(lead..).unwrap_or_default().chunks_exact(4);
    let is_poison: Vec<bool> = words
        .enumerate()
        .map(|(index, word)| word == poison(start + lead + 4 * index).to_ne_bytes())
        .collect();
    let counts = |index: usize| {
        is_poison[index]
            && (is_poison.len() == 1
                || index > 0 && is_poison[index - 1]
                || is_poison.get(index + 1) == Some(&true))
    };
    let first = (0..is_poison.len()).find(|index| counts(*index))?;
    let count = (first..is_poison.len()).filter(|index| counts(*index)).count();
    Some((count * 4, lead + 4 * first))
}

/// A mapping with inaccessible pages at both ends.
#[derive(Debug)]
pub(crate) struct Guarded {
    mapping: NonNull<c_void>,
    mapped: usize,
    /// What keeps the mapping, if it is part of memory that a sandbox has, too.
    keeper: Option<vm::Keeper>,
    /// The accessible pages, and the buffer in them, as byte offsets into the mapping.
    pages: std::ops::Range<usize>,
    buffer: std::ops::Range<usize>,
}

// SAFETY: it owns its mapping, and addresses are not bound to a thread.
unsafe impl Send for Guarded {}
// SAFETY: methods with `&self` access the memory only through raw pointers, a word at a time; a
// program that writes beside its buffer meanwhile changes which words are reported, nothing else.
unsafe impl Sync for Guarded {}

impl Guarded {
    /// Memory for a buffer, where a sandbox has it, too, if there is one.
    ///
    /// # Errors
    /// The system has none.
    pub(crate) fn new(length: usize, shared: Option<&Shared>) -> io::Result<Self> {
        let sizes = || {
            let body = length.max(1).checked_next_multiple_of(ALIGNMENT)?;
            let inner = body.checked_next_multiple_of(pages::page_size())?;
            Some((body, inner, inner.checked_add(2 * GUARD)?))
        };
        let (body, inner, mapped) = sizes().ok_or(io::ErrorKind::OutOfMemory)?;
        let end = GUARD + inner;
        let start = end - body;
        let (mapping, keeper) = match shared {
            None => (pages::reserve(mapped)?, None),
            Some(shared) => {
                let (first, keeper) = shared.guarded(inner, GUARD)?;
                (first.cast(), Some(keeper))
            }
        };
        let (pages, buffer) = (GUARD..end, start..start + length);
        let this = Self { mapping, mapped, keeper, pages, buffer };
        if shared.is_none() {
            // SAFETY: pages of the mapping above, which nothing uses yet.
            unsafe { pages::set_rights(this.at(GUARD), inner, Rights::Write)? };
        }
        this.poison(this.pages.clone());
        Ok(this)
    }

    fn poison(&self, range: std::ops::Range<usize>) {
        for offset in range.step_by(4) {
            let word = poison(self.at(offset).addr());
            // SAFETY: a word of the accessible pages, outside of the buffer, or in a buffer that
            // nothing uses yet.
            unsafe { self.at(offset).cast::<u32>().write_volatile(word) };
        }
    }

    fn at(&self, offset: usize) -> *mut c_void {
        self.mapping.as_ptr().wrapping_byte_add(offset)
    }

    /// Poisons all of it, as the buffer in it is made again.
    pub(crate) fn begin_again(&self) {
        self.poison(self.pages.clone());
    }

    /// The address of the buffer.
    pub(crate) fn address(&self) -> usize {
        self.at(self.buffer.start).addr()
    }

    /// The first word outside of the buffer that was written, as an offset in bytes from the
    /// buffer's start. The poison is restored, so each write is reported once.
    pub(crate) fn take_damage(&self) -> Option<isize> {
        let before = self.pages.start..self.buffer.start;
        // Bytes that share a word with the buffer's end count as part of the buffer.
        let after = self.buffer.end.next_multiple_of(4)..self.pages.end;
        let is_damaged = |offset: &usize| {
            // SAFETY: a word of the accessible pages.
            let word = unsafe { self.at(*offset).cast::<u32>().read_volatile() };
            word != poison(self.at(*offset).addr())
        };
        let words = after.clone().step_by(4).chain(before.clone().step_by(4).rev());
        let damaged = words.into_iter().find(is_damaged)?;
        self.poison(after);
        self.poison(before);
        Some(damaged as isize - self.buffer.start as isize)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if self.keeper.is_none() {
            // SAFETY: the mapping was made in `new`, and the buffer in it is gone, as it keeps this
            // value alive.
            unsafe { pages::release(self.mapping.as_ptr(), self.mapped) };
        }
    }
}

/// A buffer in guarded memory, and its guard.
///
/// # Errors
/// The limits forbid it, or there is no memory.
pub(crate) fn allocate(
    length: usize,
    shared: Option<&Shared>,
    limits: &ExecutionLimits,
) -> Result<(vm::Buffer, std::sync::Arc<Guarded>), Status> {
    let charge = limits.charge(length)?;
    let guarded = Guarded::new(length, shared).map_err(|error| {
        Status::resource_exhausted(format!(
            "no memory for a guarded buffer of {length} bytes: {error}"
        ))
    })?;
    let guarded = std::sync::Arc::new(guarded);
    let start = NonNull::new(guarded.at(guarded.buffer.start).cast::<u8>());
    let start = start.ok_or_else(|| Status::internal("guarded memory at address 0"))?;
    let keeper = Box::new((guarded.clone(), charge));
    // SAFETY: `length` bytes from `start` may be read and written until the keeper, which owns the
    // mapping, is dropped.
    let buffer = unsafe { vm::Buffer::foreign(start, length, Access::ReadWrite, keeper) };
    Ok((buffer, guarded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_memory_is_unwritten_until_it_is_written() {
        let limits = ExecutionLimits::default();
        for length in [4, 64, 100, 4096, 10_000] {
            let (buffer, guarded) = allocate(length, None, &limits).unwrap();
            assert_eq!(unwritten_bytes(&buffer, 0, length), Some((length / 4 * 4, 0)));
            assert!(buffer.address().addr().is_multiple_of(ALIGNMENT));
            buffer.write(0, &vec![0xFF; length - 4]).unwrap();
            if length > 4 {
                assert_eq!(
                    unwritten_bytes(&buffer, 0, length),
                    None,
                    "one word alone is not counted"
                );
            }
            buffer.write(0, &vec![1; length]).unwrap();
            assert_eq!(unwritten_bytes(&buffer, 0, length), None);
            assert_eq!(guarded.take_damage(), None);
        }
    }

    #[test]
    fn poison_is_nan_and_differs_from_word_to_word() {
        let words: Vec<u32> = (0..1000).map(|index| poison(0x7000_0000 + 4 * index)).collect();
        assert!(words.iter().all(|word| f32::from_bits(*word).is_nan()));
        assert!(words.windows(2).all(|pair| pair[0] != pair[1]));
    }

    /// Changes a byte. The poison depends on the address, so any one value may be there already.
    ///
    /// # Safety
    /// The byte can be read and written.
    unsafe fn change(at: *mut u8) {
        // SAFETY: by the contract.
        unsafe { at.write(!at.read()) };
    }

    #[test]
    fn writes_beside_a_buffer_are_damage() {
        let limits = ExecutionLimits::default();
        let (buffer, guarded) = allocate(100, None, &limits).unwrap();
        // SAFETY: the address is in the buffer's first page, which is writable.
        unsafe { change(buffer.address().sub(4)) };
        assert_eq!(guarded.take_damage(), Some(-4));
        let (buffer, guarded) = allocate(100, None, &limits).unwrap();
        // SAFETY: as above, since sizes are rounded up to a multiple of 64 bytes.
        unsafe { change(buffer.address().add(104)) };
        assert_eq!(guarded.take_damage(), Some(104));
    }
}

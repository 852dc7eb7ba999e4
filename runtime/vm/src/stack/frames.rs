//! The stack: frames and their registers, in three vectors.
//!
//! ```text
//! frames   [ main | f | g ]                                 function, instruction, registers
//! words    [ main's pairs | f's pairs | g's pairs | slack ] 64-bit words: pairs of registers
//! refs     [ main's | f's | g's ]
//! ```
//!
//! Operands have 16 bits, so a window of 2^16 words that starts at a frame's first word contains
//! every register that an instruction can name. The slack keeps a whole window there for the last
//! frame too. The interpreter therefore indexes fixed-size arrays, and needs neither bounds checks
//! nor unsafe code. Untouched slack is zero pages that the system never allocates.

use super::registers::{Registers, WINDOW};
use crate::errors::Status;
use crate::limits::ExecutionLimits;
use crate::objects::Ref;

/// Words of a small frame.
const FEW: usize = 8;

/// A frame: its function, its place in that function, and where its registers are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FrameState {
    /// The function in the context's table.
    pub(crate) slot: u32,
    /// The instruction that runs next, or the call that has not returned yet.
    pub(crate) index: u32,
    pub(crate) first_word: u32,
    pub(crate) word_count: u32,
    pub(crate) first_ref: u32,
    pub(crate) ref_count: u32,
}

/// Where a frame's registers start. Frames are read field by field and never copied whole: a copy
/// would load in one piece what was just written in several, and processors stall on that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Base {
    pub(crate) word: usize,
    pub(crate) reference: usize,
}

impl FrameState {
    #[inline(always)]
    pub(crate) fn base(&self) -> Base {
        Base { word: self.first_word as usize, reference: self.first_ref as usize }
    }
}

/// Frames and registers of one invocation.
#[derive(Debug, Default)]
pub(crate) struct Stack {
    pub(crate) frames: Vec<FrameState>,
    pub(crate) words: Vec<u64>,
    pub(crate) refs: Vec<Ref>,
    /// The number of frames below the innermost native activity: the loop ends when only these are
    /// left.
    pub(crate) floor: usize,
    /// An instruction that runs again because it had to wait, by function and index. Its guard has
    /// already let it pass and is not asked a second time.
    pub(crate) passed: Option<(u32, u32)>,
}

impl Stack {
    /// Pushes a frame with zeroed registers.
    #[inline]
    pub(crate) fn push(
        &mut self,
        slot: u32,
        word_count: u32,
        ref_count: u32,
        limits: &ExecutionLimits,
    ) -> Result<Base, Status> {
        let first_word = match self.frames.last() {
            Some(frame) => frame.first_word + frame.word_count,
            None => 0,
        };
        let first_ref = self.refs.len();
        let words_end = first_word as usize + word_count as usize;
        let bytes =
            words_end * size_of::<u64>() + (first_ref + ref_count as usize) * size_of::<Ref>();
        if self.frames.len() >= limits.stack_depth || bytes > limits.stack_bytes {
            return Err(overflow(self.frames.len(), bytes));
        }
        if self.words.len() < first_word as usize + WINDOW {
            self.grow(first_word as usize + WINDOW);
        }
        self.words[first_word as usize..words_end].fill(0);
        if ref_count > 0 {
            self.refs.resize(first_ref + ref_count as usize, Ref::Null);
        }
        let base = Base { word: first_word as usize, reference: first_ref };
        let first_ref = first_ref as u32;
        self.frames.push(FrameState {
            slot,
            index: 0,
            first_word,
            word_count,
            first_ref,
            ref_count,
        });
        Ok(base)
    }

    /// Pushes a frame if there is room for all of it; leaves the rare cases to [`Self::push`].
    #[inline(always)]
    pub(crate) fn try_push(
        &mut self,
        slot: u32,
        (word_count, ref_count): (u32, u32),
        limits: &ExecutionLimits,
    ) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let first_word = frame.first_word + frame.word_count;
        let first_ref = self.refs.len();
        let words_end = (first_word + word_count) as usize;
        let refs_end = first_ref + ref_count as usize;
        let bytes = words_end * size_of::<u64>() + refs_end * size_of::<Ref>();
        if self.frames.len() >= limits.stack_depth
            || bytes > limits.stack_bytes
            || self.words.len() < first_word as usize + WINDOW
            || self.frames.len() == self.frames.capacity()
            || self.refs.capacity() < refs_end
        {
            return false;
        }
        let window = &mut self.words[first_word as usize..];
        match window.first_chunk_mut::<FEW>() {
            // Written without a call; no frame owns the words after this one.
            Some(few) if word_count as usize <= FEW => *few = [0; FEW],
            _ => window[..word_count as usize].fill(0),
        }
        let first_ref = first_ref as u32;
        let frame = FrameState { slot, index: 0, first_word, word_count, first_ref, ref_count };
        // SAFETY: `try_push` has checked the capacity for all refs and one more frame, and writes
        // them all here.
        unsafe {
            let refs = self.refs.as_mut_ptr();
            for index in first_ref as usize..refs_end {
                refs.add(index).write(Ref::Null);
            }
            self.refs.set_len(refs_end);
            self.frames.as_mut_ptr().add(self.frames.len()).write(frame);
            self.frames.set_len(self.frames.len() + 1);
        }
        true
    }

    /// The registers of the innermost two frames.
    ///
    /// # Safety
    /// The stack is not used or moved while these registers are in use.
    #[inline(always)]
    pub(crate) unsafe fn registers(&mut self, outer: Base, inner: Base) -> (Registers, Registers) {
        debug_assert!(self.words.len() >= inner.word.max(outer.word) + WINDOW);
        let words = self.words.as_mut_ptr();
        // SAFETY: both `push` functions keep a whole window after the start of every frame.
        unsafe { (Registers::at(words.add(outer.word)), Registers::at(words.add(inner.word))) }
    }

    /// Removes the innermost frame and drops its refs.
    #[inline(always)]
    pub(crate) fn pop(&mut self) {
        if let Some(frame) = self.frames.pop()
            && frame.ref_count > 0
        {
            drop_refs(&mut self.refs, frame.first_ref as usize);
        }
    }

    /// Makes the innermost frame continue at an instruction.
    #[inline]
    pub(crate) fn set_index(&mut self, index: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.index = index as u32;
        }
    }

    #[cold]
    fn grow(&mut self, minimum: usize) {
        // Grows by more than is needed, so that growth is rare. The memory comes fresh from the
        // system, so the slack stays untouched.
        let mut words = vec![0; minimum + self.words.len() / 2 + WINDOW / 16];
        words[..self.words.len()].copy_from_slice(&self.words);
        self.words = words;
    }
}

#[inline(never)]
fn drop_refs(refs: &mut Vec<Ref>, count: usize) {
    refs.truncate(count);
}

#[cold]
fn overflow(depth: usize, bytes: usize) -> Status {
    Status::resource_exhausted(format!(
        "stack overflow: {depth} frames are on the stack, and the next would make it {bytes} \
         bytes; usually this is endless recursion"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_fits_behind_every_frame_and_registers_are_zero() {
        let limits = ExecutionLimits::default();
        let mut stack = Stack::default();
        for _ in 0..100 {
            let frame = stack.push(0, 300, 3, &limits).unwrap();
            assert!(stack.words.len() >= frame.word + WINDOW);
        }
        stack.words.fill(7);
        stack.pop();
        let frame = stack.push(0, 300, 3, &limits).unwrap();
        let first = frame.word;
        assert!(stack.words[first..first + 300].iter().all(|word| *word == 0));
        assert_eq!(stack.refs.len(), 300);
    }

    #[test]
    fn limits_hold() {
        let limits = ExecutionLimits { stack_depth: 3, ..ExecutionLimits::default() };
        let mut stack = Stack::default();
        for _ in 0..3 {
            stack.push(0, 1, 0, &limits).unwrap();
        }
        assert!(stack.push(0, 1, 0, &limits).is_err());
        let limits = ExecutionLimits { stack_bytes: 1000, ..ExecutionLimits::default() };
        assert!(Stack::default().push(0, 126, 0, &limits).is_err());
    }
}

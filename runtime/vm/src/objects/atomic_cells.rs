//! A growable sequence of numbers that threads may share without locks.
//!
//! Any thread with a ref to a list may use it, and a host may pass one list to two contexts that
//! run at the same time. A lock for every access would cost more than everything else that an
//! instruction does. So elements are atomic cells in one block. A block that has become too small
//! is copied into a larger one, and kept until the sequence is dropped: another thread may still
//! read it.
//!
//! Threads that race for an element see an old or a new value. A write may be lost if another
//! thread grows the sequence at the same time. Nothing else can happen.
//!
//! # Soundness
//!
//! At any time, every thread sees `length <= capacity <= cells of the block`. A block is published
//! before the capacity that counts its cells, and a capacity before any length that makes use of
//! it, each with release and acquire. Blocks only get larger, under the lock. So a thread that has
//! seen an index below a length or a capacity finds the cell in the block that it loads afterwards.
//! Blocks start zeroed, which is a valid value of every cell, and only the drop of the sequence
//! frees them.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Cells of the first block of a sequence that grows one by one.
const FIRST: usize = 16;

/// A number that threads share.
///
/// # Safety
/// All bits zero is a valid value.
pub(crate) unsafe trait Cell {
    type Bits: Copy + Default;

    fn read(&self) -> Self::Bits;

    fn write(&self, bits: Self::Bits);
}

macro_rules! cells {
    ($($atomic:ident $bits:ident)*) => {$(
        // SAFETY: it is an integer.
        unsafe impl Cell for $atomic {
            type Bits = $bits;

            #[inline(always)]
            fn read(&self) -> $bits {
                self.load(Ordering::Relaxed)
            }

            #[inline(always)]
            fn write(&self, bits: $bits) {
                self.store(bits, Ordering::Relaxed);
            }
        }
    )*};
}

cells! { AtomicU32 u32 AtomicU64 u64 }

/// A growable sequence of cells.
#[derive(Debug)]
pub(crate) struct Cells<C: Cell> {
    length: AtomicUsize,
    capacity: AtomicUsize,
    first: AtomicPtr<C>,
    blocks: Mutex<Vec<Block<C>>>,
}

impl<C: Cell> Default for Cells<C> {
    fn default() -> Self {
        Self {
            length: AtomicUsize::new(0),
            capacity: AtomicUsize::new(0),
            first: AtomicPtr::new(NonNull::dangling().as_ptr()),
            blocks: Mutex::default(),
        }
    }
}

impl<C: Cell> Cells<C> {
    /// How many there are.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.length.load(Ordering::Acquire)
    }

    /// The value of a cell.
    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> Option<C::Bits> {
        if index >= self.len() {
            return None;
        }
        // SAFETY: the index is below the length.
        Some(unsafe { self.cell(index) }.read())
    }

    /// Changes a cell; returns whether the sequence has it.
    #[inline(always)]
    pub(crate) fn set(&self, index: usize, value: C::Bits) -> bool {
        if index >= self.len() {
            return false;
        }
        // SAFETY: the index is below the length.
        unsafe { self.cell(index) }.write(value);
        true
    }

    /// The cell at an index.
    ///
    /// # Safety
    /// The caller has seen the index below the length or the capacity.
    #[inline(always)]
    unsafe fn cell(&self, index: usize) -> &C {
        // SAFETY: the block that is loaded here has the cell; see the module's documentation.
        unsafe { &*self.first.load(Ordering::Acquire).add(index) }
    }

    /// The capacity to reserve so that `size` cells fit, and cells that are added one by one are
    /// copied only a few times each.
    pub(crate) fn roomy(&self, size: usize) -> usize {
        let capacity = self.capacity.load(Ordering::Acquire);
        if size <= capacity { capacity } else { size.max(capacity.saturating_mul(2)).max(FIRST) }
    }

    /// The bytes of all blocks after a reservation of `capacity` cells.
    pub(crate) fn bytes_with(&self, capacity: usize) -> usize {
        let blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let present = blocks.iter().map(|block| block.layout.size());
        let largest = blocks.last().map_or(0, |block| block.length);
        let more = if capacity > largest { capacity.saturating_mul(size_of::<C>()) } else { 0 };
        present.fold(more, usize::saturating_add)
    }

    /// Makes room for `capacity` cells; `None` if there is no memory.
    pub(crate) fn reserve(&self, capacity: usize) -> Option<()> {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let largest = blocks.last().map_or(0, |block| block.length);
        if capacity <= largest {
            return Some(());
        }
        blocks.try_reserve(1).ok()?;
        let block = Block::<C>::zeroed(capacity)?;
        for index in 0..self.len().min(largest) {
            // SAFETY: the index is below the capacity of the old block and of the new one, which is
            // larger.
            unsafe { (*block.first.as_ptr().add(index)).write(self.cell(index).read()) };
        }
        self.first.store(block.first.as_ptr(), Ordering::Release);
        self.capacity.store(capacity, Ordering::Release);
        blocks.push(block);
        Some(())
    }

    /// Truncates, or extends with zeros, within the capacity; returns whether it sufficed.
    #[inline(always)]
    pub(crate) fn resize_within(&self, size: usize) -> bool {
        let length = self.len();
        if size > length {
            if size > self.capacity.load(Ordering::Acquire) {
                return false;
            }
            // SAFETY: the index is below the capacity.
            unsafe { self.cell(length) }.write(C::Bits::default());
            if size > length + 1 {
                self.clear(length + 1, size);
            }
        }
        self.length.store(size, Ordering::Release);
        true
    }

    /// Writes zeros to cells below a capacity that the caller has seen.
    #[cold]
    #[inline(never)]
    fn clear(&self, from: usize, to: usize) {
        for index in from..to.min(self.capacity.load(Ordering::Acquire)) {
            // SAFETY: the index is below the capacity.
            unsafe { self.cell(index) }.write(C::Bits::default());
        }
    }
}

/// Memory for cells. Freed when dropped.
#[derive(Debug)]
struct Block<C> {
    first: NonNull<C>,
    length: usize,
    layout: Layout,
}

impl<C: Cell> Block<C> {
    /// A block of `length` cells, at least one; `None` if there is no memory.
    fn zeroed(length: usize) -> Option<Self> {
        let layout = Layout::array::<C>(length).ok().filter(|layout| layout.size() > 0)?;
        // SAFETY: the size is not zero.
        let first = NonNull::new(unsafe { alloc_zeroed(layout) })?.cast();
        Some(Self { first, length, layout })
    }
}

impl<C> Drop for Block<C> {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout, and is freed only here.
        unsafe { dealloc(self.first.as_ptr().cast(), self.layout) };
    }
}

// SAFETY: it is the address of cells that threads may share; its owner frees it once.
unsafe impl<C: Cell + Send + Sync> Send for Block<C> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn grow<C: Cell>(cells: &Cells<C>, size: usize) {
        if !cells.resize_within(size) {
            cells.reserve(cells.roomy(size)).unwrap();
            assert!(cells.resize_within(size));
        }
    }

    #[test]
    fn cells_keep_their_values_however_they_grow() {
        for first in [0, 1, 3, 4, 100] {
            let cells = Cells::<AtomicU32>::default();
            assert!(cells.get(0).is_none() && !cells.set(0, 1) && cells.resize_within(0));
            cells.reserve(first).unwrap();
            for index in 0..300 {
                grow(&cells, index + 1);
                assert_eq!(cells.get(index), Some(0));
                assert!(cells.set(index, index as u32 + 1));
            }
            assert!((0..300).all(|index| cells.get(index) == Some(index as u32 + 1)));
            assert!(cells.get(300).is_none() && !cells.set(300, 0));
            assert!(cells.resize_within(10));
            assert_eq!(cells.get(10), None);
            grow(&cells, 300);
            assert_eq!((cells.get(9), cells.get(10), cells.get(299)), (Some(10), Some(0), Some(0)));
        }
    }

    #[test]
    fn threads_may_share_them() {
        let cells = Cells::<AtomicU64>::default();
        let rounds = if cfg!(miri) { 50 } else { 5000 };
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let cells = &cells;
                scope.spawn(move || {
                    for round in 1..rounds {
                        grow(cells, round * (thread + 1) % (rounds / 2));
                        let index = cells.len().saturating_sub(1);
                        cells.set(index, 7);
                        assert!(cells.get(index / 2).is_none_or(|value| value == 0 || value == 7));
                    }
                });
            }
        });
    }

    #[test]
    fn bytes_are_those_of_all_blocks() {
        let cells = Cells::<AtomicU64>::default();
        assert_eq!((cells.roomy(1), cells.bytes_with(0), cells.bytes_with(4)), (16, 0, 32));
        cells.reserve(4).unwrap();
        assert_eq!((cells.roomy(5), cells.bytes_with(4), cells.bytes_with(16)), (16, 32, 160));
        assert!(cells.reserve(usize::MAX / 2).is_none());
    }
}

//! A growable sequence of numbers that threads may share without locks.
//!
//! A list belongs to whoever has a ref to it, and a host may give one to two contexts that run at the
//! same time; but a lock for every access would cost more than everything else an instruction does.
//! So elements are atomic cells, and cells never move: they are in chunks, each of which doubles what
//! there is before it.
//!
//! ```text
//! chunk 0  [ 0 .. 16 )
//! chunk 1            [ 16 .. 48 )
//! chunk 2                       [ 48 .. 112 )          …
//! ```
//!
//! So cell `index` is in the chunk that the highest bit of `index + 16` says, at what the other bits
//! say.
//!
//! Who races for an element gets an old or a new value; nothing else can happen, and no unsafe code is
//! needed for it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

type Chunk = OnceLock<Box<[AtomicU64]>>;

/// Cells of the first chunk: a power of two.
const FIRST: usize = 16;

/// More chunks than memory has room for.
const CHUNKS: usize = 36;

/// A growable sequence of 64-bit cells.
#[derive(Debug)]
pub(crate) struct Cells {
    length: AtomicUsize,
    chunks: Box<[Chunk; CHUNKS]>,
}

impl Default for Cells {
    fn default() -> Self {
        let chunks = Box::new([const { Chunk::new() }; CHUNKS]);
        Self { length: AtomicUsize::new(0), chunks }
    }
}

impl Cells {
    /// How many there are.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.length.load(Ordering::Relaxed)
    }

    /// The value of a cell.
    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> Option<u64> {
        if index >= self.len() {
            return None;
        }
        self.cell(index).map(|cell| cell.load(Ordering::Relaxed))
    }

    /// Changes a cell; whether it is there.
    #[inline(always)]
    pub(crate) fn set(&self, index: usize, value: u64) -> bool {
        if index >= self.len() {
            return false;
        }
        self.cell(index).map(|cell| cell.store(value, Ordering::Relaxed)).is_some()
    }

    /// A cell, whether it counts or not, if it is there.
    #[inline(always)]
    fn cell(&self, index: usize) -> Option<&AtomicU64> {
        let place = index.wrapping_add(FIRST);
        let highest = place.checked_ilog2()?;
        let chunk = self.chunks.get(highest.wrapping_sub(FIRST.ilog2()) as usize)?.get()?;
        chunk.get(place ^ (1 << highest))
    }

    /// Makes room; `None` if there is no memory.
    pub(crate) fn reserve(&self, capacity: usize) -> Option<()> {
        let (mut room, mut size) = (0, FIRST);
        for chunk in self.chunks.iter() {
            if room >= capacity {
                return Some(());
            }
            make(chunk, size)?;
            room += size;
            size *= 2;
        }
        (room >= capacity).then_some(())
    }

    /// Cuts short, or extends with zeros; `None` if there is no memory.
    pub(crate) fn resize(&self, size: usize) -> Option<()> {
        self.reserve(size)?;
        for index in self.len()..size {
            self.cell(index)?.store(0, Ordering::Relaxed);
        }
        self.length.store(size, Ordering::Relaxed);
        Some(())
    }

    /// The same for what needs no new memory and at most one zero; whether this is such a case.
    #[inline(always)]
    pub(crate) fn resize_a_little(&self, size: usize) -> bool {
        let length = self.len();
        if size > length {
            if size != length + 1 {
                return false;
            }
            let Some(cell) = self.cell(length) else { return false };
            cell.store(0, Ordering::Relaxed);
        }
        self.length.store(size, Ordering::Relaxed);
        true
    }
}

/// Makes a chunk, unless somebody did.
fn make(chunk: &Chunk, size: usize) -> Option<()> {
    if chunk.get().is_none() {
        let mut cells = Vec::new();
        cells.try_reserve_exact(size).ok()?;
        cells.resize_with(size, AtomicU64::default);
        chunk.get_or_init(|| cells.into());
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_where_they_were_however_they_grow() {
        for first in [0, 1, 3, 4, 100] {
            let cells = Cells::default();
            cells.reserve(first).unwrap();
            for index in 0..300 {
                if index % 7 == 0 || !cells.resize_a_little(index + 1) {
                    cells.resize(index + 1).unwrap();
                }
                assert_eq!(cells.get(index), Some(0));
                assert!(cells.set(index, index as u64 + 1));
            }
            assert!((0..300).all(|index| cells.get(index) == Some(index as u64 + 1)));
            assert!(cells.get(300).is_none() && !cells.set(300, 0));
            assert!(cells.resize_a_little(10));
            assert_eq!(cells.get(10), None);
            cells.resize(300).unwrap();
            assert_eq!((cells.get(9), cells.get(10), cells.get(299)), (Some(10), Some(0), Some(0)));
        }
    }
}

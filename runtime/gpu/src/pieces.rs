//! Memory that the host and a device both see, cut into blocks.
//!
//! Drivers give memory in few, large pieces; blocks are ranges of these.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use range_alloc::RangeAllocator;

use crate::error::{Api, GpuError};

/// Where pieces of memory come from.
///
/// # Safety
/// What [`Self::grow`] gives can be read and written by the host until [`Self::release`], and
/// belongs to the caller alone. It begins at a multiple of [`Self::alignment`], and of the page
/// size at least.
pub unsafe trait PieceSource: Send + Sync + 'static {
    /// What the driver knows a piece by.
    type Handle: Send;

    /// The interface that the device is driven by.
    fn api(&self) -> Api;

    /// What the beginning of each block is a multiple of, in bytes: a power of two.
    fn alignment(&self) -> usize;

    /// A new piece of that many bytes.
    ///
    /// # Errors
    /// There is no more memory, or the driver fails.
    fn grow(&self, length: usize) -> Result<(NonNull<u8>, Self::Handle), GpuError>;

    /// Gives a piece back.
    ///
    /// # Safety
    /// Nothing uses its memory any more.
    unsafe fn release(&self, handle: Self::Handle);

    /// Whether the device did not answer: it may still write to its memory, so that no block of it
    /// is used again, and none is given back.
    fn is_given_up(&self) -> bool;
}

/// The memory of a device.
pub struct Pieces<S: PieceSource> {
    source: S,
    /// The size of a piece, in bytes, unless one block needs more.
    usual_length: usize,
    /// By the address of their first byte.
    all: Mutex<BTreeMap<usize, Piece<S::Handle>>>,
}

#[derive(Debug)]
struct Piece<H> {
    handle: H,
    length: usize,
    free: RangeAllocator<usize>,
}

/// Memory of a device, zeroed when it is made. It is given back when this is dropped.
pub struct Block<S: PieceSource> {
    pieces: Arc<Pieces<S>>,
    address: NonNull<u8>,
    /// The address of its piece, and the range in that.
    piece: usize,
    range: Range<usize>,
}

impl<S: PieceSource> fmt::Debug for Pieces<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pieces").field(&self.source.api()).finish()
    }
}

impl<S: PieceSource> fmt::Debug for Block<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Block").field(&self.address).field(&self.range).finish()
    }
}

// SAFETY: a block owns its range of a piece, which lasts as long as the pieces, which it holds;
// addresses are not bound to a thread.
unsafe impl<S: PieceSource> Send for Block<S> {}
// SAFETY: nothing is accessed through a shared block: it only tells its address.
unsafe impl<S: PieceSource> Sync for Block<S> {}

impl<S: PieceSource> Block<S> {
    /// Its first byte. As many bytes as were asked for can be read and written while it lives, and
    /// are aligned as was asked for.
    #[must_use]
    pub fn address(&self) -> NonNull<u8> {
        self.address
    }
}

impl<S: PieceSource> Drop for Block<S> {
    fn drop(&mut self) {
        if !self.pieces.source.is_given_up() {
            self.pieces.free(self.piece, self.range.clone());
        }
    }
}

impl<S: PieceSource> Pieces<S> {
    /// No memory yet. Pieces have `usual_length` bytes, unless one block needs more.
    #[must_use]
    pub fn new(source: S, usual_length: usize) -> Arc<Self> {
        Arc::new(Self { source, usual_length, all: Mutex::default() })
    }

    /// Where the pieces come from.
    #[must_use]
    pub fn source(&self) -> &S {
        &self.source
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<usize, Piece<S::Handle>>> {
        // The ranges are consistent at any time, so a panic in another thread does not spoil them.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new block of zeros. `alignment` is a power of two.
    ///
    /// # Errors
    /// The device has no more memory, or was given up.
    pub fn allocate(
        self: &Arc<Self>,
        length: usize,
        alignment: usize,
    ) -> Result<Block<S>, GpuError> {
        if self.source.is_given_up() {
            return Err(GpuError::GivenUp(self.source.api()));
        }
        let (piece, range) = self.take(length, alignment)?;
        // A range has room for that.
        let address = (piece + range.start).next_multiple_of(alignment.max(1));
        let address: Option<NonNull<u8>> =
            NonNull::new(std::ptr::with_exposed_provenance_mut(address));
        let address = address.ok_or_else(|| self.none(length))?;
        // SAFETY: a range of a piece that nothing else has, by the contract of the source.
        unsafe { address.as_ptr().write_bytes(0, length) };
        Ok(Block { pieces: self.clone(), address, piece, range })
    }

    fn none(&self, length: usize) -> GpuError {
        GpuError::OutOfMemory { api: self.source.api(), what: format!("{length} bytes") }
    }

    /// A range of a piece: its address, and the range.
    fn take(&self, length: usize, alignment: usize) -> Result<(usize, Range<usize>), GpuError> {
        let none = || self.none(length);
        // A range begins at a multiple of the alignment of ranges in its piece, and the piece at a
        // page; what a larger alignment may have to skip is taken, too.
        let usual = self.source.alignment();
        let spare = if alignment > usual { alignment } else { 0 };
        let wanted = length.max(1).checked_add(spare).ok_or_else(none)?;
        let wanted = wanted.checked_next_multiple_of(usual).ok_or_else(none)?;
        let mut all = self.all();
        let mut fitting = all.iter_mut();
        let found = fitting
            .find_map(|(address, piece)| Some((*address, piece.free.allocate_range(wanted).ok()?)));
        if let Some(found) = found {
            return Ok(found);
        }
        let length = wanted.max(self.usual_length);
        let (address, handle) = self.source.grow(length).map_err(|error| match error {
            GpuError::OutOfMemory { .. } => none(),
            other => other,
        })?;
        let mut piece = Piece { handle, length, free: RangeAllocator::new(0..length) };
        let range = piece.free.allocate_range(wanted).map_err(|_| none())?;
        let address = address.as_ptr().expose_provenance();
        all.insert(address, piece);
        Ok((address, range))
    }

    /// Takes a range back. A piece that only one block needed goes back to the device.
    fn free(&self, address: usize, range: Range<usize>) {
        let mut all = self.all();
        let Some(piece) = all.get_mut(&address) else { return };
        piece.free.free_range(range);
        if piece.length > self.usual_length && piece.free.is_empty() {
            // SAFETY: no block is in the piece, and nothing is in flight between calls.
            all.remove(&address)
                .into_iter()
                .for_each(|piece| unsafe { self.source.release(piece.handle) });
        }
    }

    /// What `describe` says of the piece that has these bytes, and of where they begin in it;
    /// `None` if none has them.
    pub fn find<R>(
        &self,
        address: usize,
        length: usize,
        describe: impl FnOnce(&S::Handle, usize) -> Option<R>,
    ) -> Option<R> {
        let all = self.all();
        let (start, piece) = all.range(..=address).next_back()?;
        let offset = address - start;
        let is_inside = offset.checked_add(length).is_some_and(|end| end <= piece.length);
        if is_inside { describe(&piece.handle, offset) } else { None }
    }
}

impl<S: PieceSource> Drop for Pieces<S> {
    fn drop(&mut self) {
        if self.source.is_given_up() {
            return;
        }
        let all = self.all.get_mut().unwrap_or_else(PoisonError::into_inner);
        for piece in std::mem::take(all).into_values() {
            // SAFETY: blocks hold the pieces, so none is left, and nothing is in flight between
            // calls.
            unsafe { self.source.release(piece.handle) };
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::alloc::{Layout, alloc, dealloc};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    /// Memory of the host in the place of a device's.
    #[derive(Debug, Default)]
    pub(crate) struct Heap {
        pub(crate) pieces: AtomicUsize,
        pub(crate) is_given_up: AtomicBool,
    }

    /// A piece of it.
    #[derive(Debug)]
    pub(crate) struct Taken(NonNull<u8>, Layout);

    // SAFETY: memory of the heap is not bound to a thread.
    unsafe impl Send for Taken {}

    /// More than this is not there, in bytes.
    const MOST: usize = 1 << 20;

    // SAFETY: the heap gives memory that is the caller's, aligned as is asked for.
    unsafe impl PieceSource for Heap {
        type Handle = Taken;

        fn api(&self) -> Api {
            Api::Cuda
        }

        fn alignment(&self) -> usize {
            64
        }

        fn grow(&self, length: usize) -> Result<(NonNull<u8>, Taken), GpuError> {
            let none = || GpuError::OutOfMemory { api: self.api(), what: "a piece".into() };
            let layout = Layout::from_size_align(length, 4096).map_err(|_| none())?;
            if length > MOST {
                return Err(none());
            }
            // SAFETY: the layout has a size.
            let address = NonNull::new(unsafe { alloc(layout) }).ok_or_else(none)?;
            self.pieces.fetch_add(1, Ordering::Relaxed);
            Ok((address, Taken(address, layout)))
        }

        unsafe fn release(&self, Taken(address, layout): Taken) {
            self.pieces.fetch_sub(1, Ordering::Relaxed);
            // SAFETY: by the contract; it was allocated with this layout.
            unsafe { dealloc(address.as_ptr(), layout) };
        }

        fn is_given_up(&self) -> bool {
            self.is_given_up.load(Ordering::Relaxed)
        }
    }

    /// The bytes of a block.
    fn bytes(block: &mut Block<Heap>, length: usize) -> &mut [u8] {
        // SAFETY: the block has these bytes, and is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(block.address().as_ptr(), length) }
    }

    #[test]
    fn blocks_are_aligned_zeroed_apart_and_given_back() {
        let pieces = Pieces::new(Heap::default(), 16 << 10);
        for round in 0..3_u8 {
            let lengths = [0, 1, 63, 64, 65, 1000];
            let alignments = [1, 64, 256, 4096];
            let all =
                lengths.into_iter().flat_map(|it| alignments.map(|alignment| (it, alignment)));
            let mut blocks = Vec::new();
            for (length, alignment) in all {
                let mut block = pieces.allocate(length, alignment).expect("memory");
                assert!(block.address().addr().get().is_multiple_of(alignment));
                assert!(bytes(&mut block, length).iter().all(|byte| *byte == 0), "round {round}");
                blocks.push((block, length));
            }
            for (index, (block, length)) in blocks.iter_mut().enumerate() {
                bytes(block, *length).fill(index as u8 + 1);
            }
            for (index, (block, length)) in blocks.iter_mut().enumerate() {
                assert!(bytes(block, *length).iter().all(|byte| *byte == index as u8 + 1));
            }
        }
        let usual = pieces.source().pieces.load(Ordering::Relaxed);
        // A piece of its own goes back with its block, others stay for the next ones.
        let large = pieces.allocate(100 << 10, 64).expect("memory");
        assert_eq!(pieces.source().pieces.load(Ordering::Relaxed), usual + 1);
        drop(large);
        assert_eq!(pieces.source().pieces.load(Ordering::Relaxed), usual);
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let pieces = Pieces::new(Heap::default(), 1 << 10);
        for length in [MOST + 1, usize::MAX, usize::MAX - 63] {
            let error = pieces.allocate(length, 64).expect_err("no memory");
            let what = format!("{length} bytes");
            assert_eq!(error, GpuError::OutOfMemory { api: Api::Cuda, what });
        }
    }

    #[test]
    fn addresses_are_found_in_their_piece() {
        let pieces = Pieces::new(Heap::default(), 1 << 12);
        let block = pieces.allocate(100, 64).expect("memory");
        let address = block.address().as_ptr().addr();
        let offset = |address, length| pieces.find(address, length, |_, offset| Some(offset));
        let first = offset(address, 100).expect("its own");
        assert_eq!(offset(address + 7, 3), Some(first + 7));
        assert_eq!(offset(address, (1 << 12) + 1), None);
        assert_eq!(offset(address, usize::MAX), None);
        assert_eq!(offset(8, 1), None);
    }

    #[test]
    fn memory_that_a_device_may_still_write_is_not_used_again() {
        let pieces = Pieces::new(Heap::default(), 1 << 12);
        let block = pieces.allocate(100, 64).expect("memory");
        let address = block.address();
        pieces.source().is_given_up.store(true, Ordering::Relaxed);
        drop(block);
        assert_eq!(pieces.allocate(1, 1).err(), Some(GpuError::GivenUp(Api::Cuda)));
        // Nothing of it was given back.
        pieces.source().is_given_up.store(false, Ordering::Relaxed);
        let next = pieces.allocate(100, 64).expect("memory");
        assert_ne!(next.address(), address);
    }
}

//! Memory that an owner shares with its children: a file without a name, mapped at one address.
//!
//! ```text
//!  base                                                             base + reserved
//!  | block | free | guard | block | guard |  never used: no access for children  |
//!  ^──────────────── used ────────────────^
//! ```
//!
//! # Soundness
//!
//! The mapping is made once and lives as long as the [`SharedMemory`], which every [`Block`] keeps
//! alive. Blocks do not overlap. No reference to the bytes is made here, and the file never becomes
//! shorter: it is sealed against that, so no access of the owner can fault. Children write the
//! bytes when they like, as other processes do those of a mapped file.

use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use range_alloc::RangeAllocator;
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

/// The unit of allocation, in bytes: a cache line, so that no two blocks share one.
const UNIT: usize = 64;

const PAGE: usize = 4096;

/// How many addresses are taken, if there are so many: they cost nothing.
const RESERVED: [usize; 5] = [4 << 40, 256 << 30, 16 << 30, 1 << 30, 64 << 20];

/// Where they are taken: between the places of programs and those of libraries and stacks, so that
/// they are free in a child, too.
const PLACES: Range<usize> = 0x2000_0000_0000..0x5000_0000_0000;

/// How many of them are tried for each number of addresses.
const MOST_PLACES: usize = 256;

/// Free memory up to this is kept for the next blocks. What is more goes back to the system when as
/// much is free as is used.
const KEPT: usize = 64 << 20;

/// Smaller blocks do not go back to the system alone.
const WORTH_RETURNING: usize = 1 << 20;

/// Memory that children have, too.
#[derive(Debug)]
pub struct SharedMemory {
    base: NonNull<c_void>,
    reserved: usize,
    file: OwnedFd,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// In units.
    ranges: RangeAllocator<usize>,
    /// Bytes in blocks.
    allocated: usize,
    /// All blocks were below this offset, which is a multiple of a page.
    used: usize,
    /// What children were to be told, in order.
    changes: Vec<Change>,
}

/// Whether children may access pages from now on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// The address of the first.
    pub start: usize,
    /// How many bytes they have.
    pub length: usize,
    /// Whether they may.
    pub is_accessible: bool,
}

/// A part of the memory, which is free again when this is dropped.
#[derive(Debug)]
pub struct Block {
    memory: Arc<SharedMemory>,
    /// In units.
    range: Range<usize>,
    data: NonNull<u8>,
    /// What children are to be told when it is free: they may access its guards again.
    guards: Option<[Change; 2]>,
}

// SAFETY: it is a range of addresses that belongs to no thread; all that changes is under a lock.
unsafe impl Send for SharedMemory {}
// SAFETY: as for `Send`.
unsafe impl Sync for SharedMemory {}
// SAFETY: as for `SharedMemory`.
unsafe impl Send for Block {}
// SAFETY: as for `Send`.
unsafe impl Sync for Block {}

impl SharedMemory {
    /// Takes addresses for it. Memory comes with the blocks.
    ///
    /// # Errors
    /// The system has no such files, or not enough addresses.
    pub fn new() -> io::Result<Arc<Self>> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create("iree-dbg buffers", flags)?;
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK)?;
        let rights = ProtFlags::READ | ProtFlags::WRITE;
        let mut failure = io::Error::from(io::ErrorKind::OutOfMemory);
        for reserved in RESERVED {
            for place in PLACES.step_by(reserved).take(MOST_PLACES) {
                let address = std::ptr::with_exposed_provenance_mut(place);
                match map(&file, address, reserved, rights) {
                    Ok(base) => return Ok(Arc::new(Self::at(base, reserved, file))),
                    Err(error) => failure = error,
                }
            }
        }
        Err(failure)
    }

    fn at(base: NonNull<c_void>, reserved: usize, file: OwnedFd) -> Self {
        let state = State {
            ranges: RangeAllocator::new(0..reserved / UNIT),
            allocated: 0,
            used: 0,
            changes: Vec::new(),
        };
        Self { base, reserved, file, state: Mutex::new(state) }
    }

    /// Zeroed memory at a multiple of `alignment`, which is a power of two.
    ///
    /// # Errors
    /// There is none.
    pub fn allocate(self: &Arc<Self>, length: usize, alignment: usize) -> io::Result<Block> {
        let slack = if alignment > UNIT { alignment } else { 0 };
        let total = length.checked_add(slack).ok_or(io::ErrorKind::OutOfMemory)?;
        let mut block = self.block(total)?;
        let address = block.data.as_ptr().addr();
        let padding = address.next_multiple_of(alignment.max(1)) - address;
        // SAFETY: the padding is at most the slack, so the sum is within the block.
        block.data = unsafe { block.data.add(padding) };
        Ok(block)
    }

    /// Whole pages of memory, with `guard` bytes at both ends that neither side may access once the
    /// owner has taken its own right to do so. The block's address is that of the first guard.
    ///
    /// # Errors
    /// There is none.
    pub fn allocate_guarded(self: &Arc<Self>, pages: usize, guard: usize) -> io::Result<Block> {
        debug_assert!(pages.is_multiple_of(PAGE) && guard.is_multiple_of(PAGE));
        let sizes = guard.checked_add(pages).and_then(|it| Some((it, it.checked_add(guard)?)));
        let (guard_and_pages, length) = sizes.ok_or(io::ErrorKind::OutOfMemory)?;
        let mut block = self.allocate(length, PAGE)?;
        let start = block.data.as_ptr().addr();
        let guards = |is_accessible| {
            let change = |start| Change { start, length: guard, is_accessible };
            [change(start), change(start + guard_and_pages)]
        };
        self.lock().changes.extend(guards(false));
        block.guards = Some(guards(true));
        Ok(block)
    }

    fn block(self: &Arc<Self>, bytes: usize) -> io::Result<Block> {
        let units = bytes.div_ceil(UNIT).max(1);
        let mut state = self.lock();
        let range = state.ranges.allocate_range(units).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let (start, end) = (range.start * UNIT, range.end * UNIT);
        let was_used = state.used;
        if end > was_used {
            let used = end.next_multiple_of(PAGE);
            if let Err(error) = rustix::fs::ftruncate(&self.file, used as u64) {
                state.ranges.free_range(range);
                return Err(error.into());
            }
            state.used = used;
            state.changes.push(Change {
                start: self.base.as_ptr().addr() + was_used,
                length: used - was_used,
                is_accessible: true,
            });
        }
        state.allocated += end - start;
        drop(state);
        // SAFETY: within the mapping, as the range is within `reserved`.
        let data = unsafe { self.base.cast::<u8>().add(start) };
        let dirty = was_used.min(end).saturating_sub(start);
        // SAFETY: these bytes of the file exist, and belong to this block alone.
        unsafe { data.write_bytes(0, dirty) };
        Ok(Block { memory: self.clone(), range, data, guards: None })
    }

    /// Whether an address is in it.
    #[must_use]
    pub fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.base.as_ptr().addr()) < self.reserved
    }

    /// Bytes in blocks.
    #[must_use]
    pub fn allocated(&self) -> usize {
        self.lock().allocated
    }

    /// What a child has to know that knows the first `known` changes.
    #[must_use]
    pub fn changes(&self, known: usize) -> Vec<Change> {
        self.lock().changes.get(known..).unwrap_or_default().to_vec()
    }

    pub(crate) fn place(&self) -> (usize, usize) {
        (self.base.as_ptr().addr(), self.reserved)
    }

    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is whole at any time, so another thread's panic does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn free(&self, range: Range<usize>, guards: Option<[Change; 2]>) {
        let mut state = self.lock();
        let (start, bytes) = (range.start * UNIT, range.len() * UNIT);
        state.changes.extend(guards.into_iter().flatten());
        state.allocated -= bytes;
        let free = state.used - state.allocated;
        if bytes >= WORTH_RETURNING && free > KEPT && free > state.allocated {
            let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            // What does not go back is used by the next blocks.
            let _ = rustix::fs::fallocate(&self.file, mode, start as u64, bytes as u64);
        }
        state.ranges.free_range(range);
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`. No block is left, as each keeps this alive.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr(), self.reserved) };
    }
}

impl Block {
    /// The address of the first byte.
    #[must_use]
    pub fn address(&self) -> NonNull<u8> {
        self.data
    }

    /// The memory that it is a part of.
    #[must_use]
    pub fn memory(&self) -> &Arc<SharedMemory> {
        &self.memory
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.memory.free(self.range.clone(), self.guards);
    }
}

/// Maps the file; at `address`, unless that is null.
pub(crate) fn map(
    file: impl AsFd,
    address: *mut c_void,
    length: usize,
    rights: ProtFlags,
) -> io::Result<NonNull<c_void>> {
    let place = if address.is_null() { MapFlags::empty() } else { MapFlags::FIXED_NOREPLACE };
    let flags = MapFlags::SHARED | MapFlags::NORESERVE | place;
    // SAFETY: a new mapping, in the place of no other.
    let found = unsafe { rustix::mm::mmap(address, length, rights, flags, file, 0)? };
    // Old systems take the address for a wish.
    if !address.is_null() && found != address {
        // SAFETY: the mapping that was just made.
        let _ = unsafe { rustix::mm::munmap(found, length) };
        return Err(io::ErrorKind::AddrInUse.into());
    }
    NonNull::new(found).ok_or_else(|| io::ErrorKind::AddrNotAvailable.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(block: &Block, length: usize) -> Vec<u8> {
        let data = block.address().as_ptr();
        // SAFETY: the tests ask for no more than the block has.
        (0..length).map(|at| unsafe { data.add(at).read_volatile() }).collect()
    }

    #[test]
    fn blocks_are_zeroed_aligned_and_apart() {
        let memory = SharedMemory::new().unwrap();
        let mut blocks: Vec<(Block, usize, u8)> = Vec::new();
        for round in 0..400_usize {
            let length = 1 + round * 37 % 5000;
            let alignment = 1 << (round % 14);
            let block = memory.allocate(length, alignment).unwrap();
            assert!(block.address().as_ptr().addr().is_multiple_of(alignment.max(UNIT)));
            assert!(memory.contains(block.address().as_ptr().addr() + length - 1));
            assert!(bytes(&block, length).iter().all(|byte| *byte == 0), "round {round}");
            let mark = round as u8 | 1;
            // SAFETY: the block has so many bytes.
            unsafe { block.address().write_bytes(mark, length) };
            blocks.push((block, length, mark));
            if round % 3 == 2 {
                blocks.remove(round % blocks.len());
            }
        }
        for (block, length, mark) in &blocks {
            assert!(bytes(block, *length).iter().all(|byte| byte == mark));
        }
        blocks.clear();
        assert_eq!(memory.allocated(), 0);
    }

    #[test]
    fn what_is_large_and_free_goes_back_to_the_system() {
        let memory = SharedMemory::new().unwrap();
        let block = memory.allocate(2 * KEPT, 64).unwrap();
        // SAFETY: the block has so many bytes.
        unsafe { block.address().write_bytes(7, 2 * KEPT) };
        let taken = || rustix::fs::fstat(&memory.file).unwrap().st_blocks * 512;
        assert!(taken() >= 2 * KEPT as i64);
        drop(block);
        assert!(taken() < KEPT as i64, "{}", taken());
    }

    #[test]
    fn children_are_told_what_they_may_access() {
        let memory = SharedMemory::new().unwrap();
        let _first = memory.allocate(100, 64).unwrap();
        let base = memory.place().0;
        let grown = Change { start: base, length: PAGE, is_accessible: true };
        assert_eq!(memory.changes(0), [grown]);
        let block = memory.allocate_guarded(PAGE, 2 * PAGE).unwrap();
        let start = block.address().as_ptr().addr();
        let at = |start| Change { start, length: 2 * PAGE, is_accessible: false };
        assert_eq!(memory.changes(2), [at(start), at(start + 3 * PAGE)]);
        drop(block);
        let after: Vec<_> = memory.changes(4);
        assert!(after.iter().all(|change| change.is_accessible), "{after:?}");
        assert_eq!(after.iter().map(|it| it.start).collect::<Vec<_>>(), [start, start + 3 * PAGE]);
    }
}

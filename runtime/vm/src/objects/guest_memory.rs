//! Guest memory: a range of bytes that programs read and write as they like. All unsafe code that
//! touches it is in this file.
//!
//! # Soundness
//!
//! A [`GuestMemory`] is a pointer, a length, and the owner that keeps the bytes alive:
//! `data..data+length` stays allocated and in place until the `GuestMemory` is dropped. Every
//! access first checks its range against `length`, without overflow, and then copies bytes through
//! raw pointers. No reference to guest bytes is ever made, so a guest's write cannot invalidate
//! one. Every bit pattern is a valid byte, heap memory starts zeroed, and a file's memory is never
//! written: every write checks [`GuestMemory::is_writable`].
//!
//! # Sharing between threads
//!
//! An invocation runs on one thread at a time and borrows its context mutably, but several contexts
//! can hold the same buffer. `hal` runs the workgroups of a dispatch that way on `local-task`: each
//! thread has its own context, and all of them share the dispatch's bindings. A correct program
//! writes each byte in only one workgroup. A hostile module need not, and then two threads access
//! the same bytes, at least one of them writing.
//!
//! These accesses are not atomic, and Rust promises nothing for such a race. Relaxed atomics are no
//! way out: they need aligned addresses, but guests may use any; atomics of different sizes may not
//! overlap; and byte by byte, an access takes eight times as long. The code relies on what LLVM
//! promises instead: a racing load yields any value, perhaps a different one at each use, and a
//! racing store has no other effect. So:
//!
//! - Each byte that is read goes to one destination: a guest register, a copy, or a comparison. No
//!   decision about memory is made from it before it arrives there. A value in a register no longer
//!   changes. Offsets and lengths are checked and used as registers hold them, never as guest
//!   memory holds them.
//! - Nothing that the machine owns (lengths, refs, code, frames) is in guest memory.
//!
//! So a race gives a hostile module only bytes that it could have written itself, and harms no one
//! else. The same holds for the bytes of a mapped file that another process writes (`vmfb`,
//! `file/mapping.rs`).

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use vmfb::{FileBytes, PrivateMapping};

use crate::limits::{Charge, Keeper, MemorySource};

/// Up to this size, it is faster to allocate memory as it is and then zero it.
const SMALL: usize = 1024;

/// From this size on, memory is worth large pages if all of it is used.
const LARGE: usize = 4 << 20;

/// The alignment that the system gives without a request.
const SYSTEM_ALIGNMENT: usize = 16;

/// Bytes of a program.
pub(crate) struct GuestMemory {
    data: NonNull<u8>,
    length: usize,
    /// How many of the bytes may be written: all or none.
    writable: usize,
    is_writable: bool,
    /// Keeps the bytes alive; shared with parts of this memory. `None` if there are no bytes.
    owner: Option<Arc<Owned>>,
}

/// The owner, with what is known of the program that had the memory made.
struct Owned {
    owner: Owner,
    /// Even while the program has the memory; one more when it has none at this moment. A program
    /// that goes back and runs again may have it for another time.
    life: AtomicU64,
}

enum Owner {
    /// Our own allocation, freed with the layout, and the charge for it.
    Heap { data: NonNull<u8>, layout: Layout, _charge: Option<Charge> },
    /// A file: the memory is the range of it from `start` on, which is at `data`.
    File { bytes: FileBytes, data: NonNull<u8>, start: usize },
    /// A private mapping of a part of a file, or of no file. Only its drop matters.
    Private { _mapping: PrivateMapping },
    /// Foreign memory; dropping the keeper releases it.
    Foreign { _keeper: Box<dyn std::any::Any + Send + Sync> },
    /// Memory of a source that the limits name, and the charge for it.
    Lent { _keeper: Keeper, _charge: Option<Charge> },
}

// SAFETY: the pointer is to memory that the owner keeps alive and that belongs to no thread; for
// concurrent access see "Sharing between threads" above.
unsafe impl Send for GuestMemory {}
// SAFETY: as for `Send`.
unsafe impl Sync for GuestMemory {}
// SAFETY: it holds the address of heap memory, which belongs to no thread.
unsafe impl Send for Owner {}
// SAFETY: shared references use only the bytes of a file, which threads may share; the last owner
// is dropped by one thread, which frees the memory.
unsafe impl Sync for Owner {}

/// Memory that may be gone: to remember it does not keep it alive.
#[derive(Clone)]
pub(crate) struct Remembered {
    data: NonNull<u8>,
    length: usize,
    is_writable: bool,
    owner: Weak<Owned>,
}

// SAFETY: as for `GuestMemory`; nothing is accessed through it before the owner is at hand.
unsafe impl Send for Remembered {}
// SAFETY: as for `Send`.
unsafe impl Sync for Remembered {}

impl Owned {
    fn by(owner: Owner) -> Option<Arc<Self>> {
        Some(Arc::new(Self { owner, life: AtomicU64::new(0) }))
    }
}

impl Remembered {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Whether something keeps the memory alive.
    pub(crate) fn is_alive(&self) -> bool {
        self.owner.strong_count() > 0
    }

    /// The memory, if something has kept it alive: the program has it again.
    pub(crate) fn again(&self) -> Option<GuestMemory> {
        let owner = self.owner.upgrade()?;
        let next = |life: u64| Some((life | 1).wrapping_add(1));
        // The closure always has a next life.
        let _ = owner.life.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        let Self { data, length, is_writable, .. } = *self;
        let writable = if is_writable { length } else { 0 };
        // The range is that of a `GuestMemory` of this owner, so it is valid as long as that lives.
        Some(GuestMemory { data, length, writable, is_writable, owner: Some(owner) })
    }

    /// The program has not made the memory at this moment.
    pub(crate) fn end(&self) {
        if let Some(owner) = self.owner.upgrade() {
            owner.life.fetch_or(1, Ordering::AcqRel);
        }
    }
}

/// Zeroed memory of a layout whose size is not zero.
fn allocate_zeroed(layout: Layout) -> Option<NonNull<u8>> {
    assert!(layout.size() > 0);
    if layout.size() > SMALL {
        // SAFETY: the layout's size is not zero.
        return NonNull::new(unsafe { alloc_zeroed(layout) });
    }
    // SAFETY: as above.
    let first = NonNull::new(unsafe { alloc(layout) })?;
    // SAFETY: `layout.size()` bytes were allocated there.
    unsafe { first.write_bytes(0, layout.size()) };
    Some(first)
}

impl GuestMemory {
    /// Zeroed memory; `None` if the system has none, or the size or alignment is impossible.
    /// `charge` is held as long as the memory.
    pub(crate) fn zeroed(length: usize, alignment: usize, charge: Option<Charge>) -> Option<Self> {
        if length == 0 {
            return Some(Self {
                data: NonNull::dangling(),
                length: 0,
                writable: 0,
                is_writable: true,
                owner: None,
            });
        }
        // At larger alignments than this, pages that the system has zeroed would be zeroed once
        // more.
        let (system, slack) = match alignment {
            0..=SYSTEM_ALIGNMENT | 4097.. => (alignment, 0),
            _ => (SYSTEM_ALIGNMENT, alignment - SYSTEM_ALIGNMENT),
        };
        let layout = Layout::from_size_align(length.checked_add(slack)?, system).ok()?;
        let first = allocate_zeroed(layout)?;
        let padding = (first.as_ptr() as usize).wrapping_neg() & alignment.wrapping_sub(1);
        // SAFETY: `first` is at a multiple of `system`, which is a power of two like `alignment`,
        // so the next multiple of `alignment` is at most `slack` bytes after it.
        let data = unsafe { first.add(padding) };
        let owner = Owned::by(Owner::Heap { data: first, layout, _charge: charge });
        Some(Self { data, length, writable: length, is_writable: true, owner })
    }

    /// Zeroed memory of a source; `None` if it has none.
    pub(crate) fn lent(
        source: &dyn MemorySource,
        length: usize,
        alignment: usize,
        charge: Option<Charge>,
    ) -> Option<Self> {
        if length == 0 {
            return Self::zeroed(0, alignment, None);
        }
        let (data, keeper) = source.zeroed(length, alignment)?;
        // The source promises that the bytes are valid until the keeper is dropped.
        let owner = Owned::by(Owner::Lent { _keeper: keeper, _charge: charge });
        Some(Self { data, length, writable: length, is_writable: true, owner })
    }

    /// A range of a file; `None` if the file does not have it.
    pub(crate) fn of_file(bytes: FileBytes, range: std::ops::Range<usize>) -> Option<Self> {
        let (start, length) = (range.start, range.len());
        let data = bytes.address(range)?;
        let owner = Owned::by(Owner::File { bytes, data, start });
        Some(Self { data, length, writable: 0, is_writable: false, owner })
    }

    /// The same bytes as writable memory: for a file a private mapping, which copies only the pages
    /// that are written; otherwise a copy, as in memory of a source. `None` if there is no memory.
    pub(crate) fn private_copy(&self, source: Option<&dyn MemorySource>) -> Option<Self> {
        if let Some(source) = source {
            let copy = Self::lent(source, self.length, 64, None)?;
            copy.copy_from(0, self, 0, self.length)?;
            return Some(copy);
        }
        if let Some(mapping) = self.map_private() {
            return Self::of_mapping(mapping);
        }
        let copy = Self::zeroed(self.length, 64, None)?;
        copy.copy_from(0, self, 0, self.length)?;
        Some(copy)
    }

    /// Zeroed memory that the caller will write completely.
    pub(crate) fn dense(length: usize) -> Option<Self> {
        match length {
            LARGE.. => Self::of_mapping(PrivateMapping::anonymous(length)?),
            _ => Self::zeroed(length, 64, None),
        }
    }

    fn of_mapping(mut mapping: PrivateMapping) -> Option<Self> {
        let (data, length) = (NonNull::new(mapping.address())?, mapping.len());
        let owner = Owned::by(Owner::Private { _mapping: mapping });
        Some(Self { data, length, writable: length, is_writable: true, owner })
    }

    fn map_private(&self) -> Option<PrivateMapping> {
        let Some(Owner::File { bytes, data, start }) = self.owner() else { return None };
        let skipped = (self.data.as_ptr() as usize).checked_sub(data.as_ptr() as usize)?;
        let start = start.checked_add(skipped)?;
        bytes.map_private(start..start.checked_add(self.length)?)
    }

    /// Foreign memory, which `keeper` keeps alive.
    ///
    /// # Safety
    /// `data..data+length` is valid for reads, and for writes if `is_writable`, until `keeper` is
    /// dropped, on any thread.
    pub(crate) unsafe fn foreign(
        data: NonNull<u8>,
        length: usize,
        is_writable: bool,
        keeper: Box<dyn std::any::Any + Send + Sync>,
    ) -> Self {
        Self {
            data,
            length,
            writable: if is_writable { length } else { 0 },
            is_writable,
            owner: Owned::by(Owner::Foreign { _keeper: keeper }),
        }
    }

    /// A part of this memory; `None` if it is out of range.
    pub(crate) fn part(&self, offset: usize, length: usize) -> Option<Self> {
        self.check(offset, length)?;
        // SAFETY: `offset <= self.length`, so the pointer stays within the same allocation.
        let data = unsafe { self.data.add(offset) };
        let is_writable = self.is_writable;
        let writable = if is_writable { length } else { 0 };
        Some(Self { data, length, writable, is_writable, owner: self.owner.clone() })
    }

    fn owner(&self) -> Option<&Owner> {
        self.owner.as_deref().map(|owned| &owned.owner)
    }

    /// The same memory, for as long as something else keeps it alive. `None`: there are no bytes.
    pub(crate) fn remembered(&self) -> Option<Remembered> {
        let owner = Arc::downgrade(self.owner.as_ref()?);
        let Self { data, length, is_writable, .. } = *self;
        Some(Remembered { data, length, is_writable, owner })
    }

    /// For which time the program has the memory, or has had it.
    pub(crate) fn life(&self) -> u64 {
        self.owner.as_ref().map_or(0, |owned| owned.life.load(Ordering::Acquire))
    }

    /// Whether the program has the memory.
    pub(crate) fn is_there(&self) -> bool {
        self.life().is_multiple_of(2)
    }

    /// The program no longer has the memory, unless it has it for another time by now.
    pub(crate) fn end(&self, life: u64) {
        if let Some(owned) = &self.owner {
            let ended = life | 1;
            // Another life goes on.
            let _ = owned.life.compare_exchange(life, ended, Ordering::AcqRel, Ordering::Acquire);
        }
    }

    /// The number of bytes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// How many of the bytes may be changed: all or none.
    #[inline]
    pub(crate) fn writable(&self) -> usize {
        self.writable
    }

    /// Whether the bytes may be changed: those of a file may not.
    #[inline]
    pub(crate) fn is_writable(&self) -> bool {
        self.is_writable
    }

    /// Whether the bytes belong to someone outside.
    pub(crate) fn is_foreign(&self) -> bool {
        matches!(self.owner(), Some(Owner::Foreign { .. }))
    }

    /// The address of the first byte, for code outside the machine (executables of a device).
    pub(crate) fn address(&self) -> *mut u8 {
        self.data.as_ptr()
    }

    #[inline]
    fn check(&self, offset: usize, length: usize) -> Option<()> {
        (offset <= self.length && length <= self.length - offset).then_some(())
    }

    /// `N` bytes from `offset`.
    #[inline]
    pub(crate) fn load<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        self.check(offset, N)?;
        // SAFETY: the range was checked; `[u8; N]` has alignment 1 and no invalid values.
        Some(unsafe { self.data.add(offset).cast::<[u8; N]>().read() })
    }

    /// Writes `N` bytes at `offset`. The caller has checked [`Self::is_writable`].
    #[inline]
    pub(crate) fn store<const N: usize>(&self, offset: usize, bytes: [u8; N]) -> Option<()> {
        debug_assert!(self.is_writable());
        self.check(offset, N)?;
        // SAFETY: the range was checked; the memory is not a file's, as the buffer that holds it is
        // writable only if the memory is; and `[u8; N]` has alignment 1.
        unsafe { self.data.add(offset).cast::<[u8; N]>().write(bytes) };
        Some(())
    }

    /// The address of element `index`, of `N` bytes each, if it is among the first `length` bytes.
    ///
    /// # Safety
    /// The memory has at least `length` bytes.
    #[inline(always)]
    unsafe fn element_at<const N: usize>(
        &self,
        index: u64,
        length: usize,
    ) -> Option<NonNull<[u8; N]>> {
        const { assert!(N.is_power_of_two()) };
        // Overflow-free: the number of whole elements.
        if index >= (length / N) as u64 {
            return None;
        }
        // SAFETY: `index < length / N`, so `index * N + N <= length`.
        Some(unsafe { self.data.add(index as usize * N) }.cast())
    }

    /// Element `index` of `N` bytes each.
    #[inline(always)]
    pub(crate) fn element<const N: usize>(&self, index: u64) -> Option<[u8; N]> {
        // SAFETY: `self.length` is the length; `[u8; N]` has alignment 1 and no invalid values.
        unsafe { self.element_at(index, self.length).map(|element| element.read()) }
    }

    /// Changes element `index`, of `N` bytes each; returns whether it exists and is writable.
    #[inline(always)]
    pub(crate) fn set_element<const N: usize>(&self, index: u64, bytes: [u8; N]) -> bool {
        // SAFETY: `self.writable` is at most the length.
        match unsafe { self.element_at(index, self.writable) } {
            Some(element) => {
                // SAFETY: the element exists and is writable.
                unsafe { element.write(bytes) };
                true
            }
            None => false,
        }
    }

    /// Copies bytes out.
    pub(crate) fn read(&self, offset: usize, target: &mut [u8]) -> Option<()> {
        self.check(offset, target.len())?;
        // SAFETY: the source range was checked. The target is a reference and cannot overlap guest
        // memory, to which no references exist.
        unsafe {
            let source = self.data.as_ptr().add(offset);
            ptr::copy_nonoverlapping(source, target.as_mut_ptr(), target.len());
        }
        Some(())
    }

    /// Copies bytes in.
    pub(crate) fn write(&self, offset: usize, source: &[u8]) -> Option<()> {
        if !self.is_writable() {
            return None;
        }
        self.check(offset, source.len())?;
        // SAFETY: the target range was checked and is writable. The source is a reference and
        // cannot overlap guest memory that is being written, to which no references exist.
        unsafe {
            let target = self.data.as_ptr().add(offset);
            ptr::copy_nonoverlapping(source.as_ptr(), target, source.len());
        }
        Some(())
    }

    /// Copies bytes from other memory or from this memory; the ranges may overlap.
    pub(crate) fn copy_from(
        &self,
        offset: usize,
        source: &GuestMemory,
        source_offset: usize,
        length: usize,
    ) -> Option<()> {
        if !self.is_writable() {
            return None;
        }
        self.check(offset, length)?;
        source.check(source_offset, length)?;
        // SAFETY: both ranges were checked, the target is writable, and `copy` allows overlap.
        unsafe {
            let from = source.data.as_ptr().add(source_offset);
            ptr::copy(from, self.data.as_ptr().add(offset), length);
        }
        Some(())
    }

    /// Whether both ranges exist and hold the same bytes.
    pub(crate) fn equals(
        &self,
        offset: usize,
        other: &GuestMemory,
        other_offset: usize,
        length: usize,
    ) -> bool {
        if self.check(offset, length).is_none() || other.check(other_offset, length).is_none() {
            return false;
        }
        // SAFETY: both ranges were checked.
        unsafe {
            let left = self.data.as_ptr().add(offset);
            let right = other.data.as_ptr().add(other_offset);
            are_equal(left, right, length)
        }
    }

    /// Writes the same `N` bytes `count` times.
    pub(crate) fn fill<const N: usize>(
        &self,
        offset: usize,
        count: usize,
        pattern: [u8; N],
    ) -> Option<()> {
        if !self.is_writable() {
            return None;
        }
        self.check(offset, count.checked_mul(N)?)?;
        if count == 0 {
            return Some(());
        }
        // SAFETY: the range was checked and is writable.
        unsafe {
            let target = self.data.as_ptr().add(offset);
            if pattern.iter().all(|byte| *byte == pattern[0]) {
                target.write_bytes(pattern[0], count * N);
            } else {
                fill(target, count * N, pattern);
            }
        }
        Some(())
    }
}

/// The bytes that one step fills: a multiple of every pattern's length.
const BLOCK: usize = 64;

/// Fills `length` bytes, a multiple of `N`, with a pattern of 1, 2, 4 or 8 bytes.
///
/// # Safety
/// The bytes exist and are writable.
unsafe fn fill<const N: usize>(target: *mut u8, length: usize, pattern: [u8; N]) {
    const { assert!(size_of::<u64>().is_multiple_of(N)) };
    let word = u64::from_ne_bytes(std::array::from_fn(|index| pattern[index % N]));
    let blocks = length - length % BLOCK;
    // SAFETY: the writes end at `blocks` or `length`, as both loops advance by what they write.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx") {
            fill_blocks_wide(target, blocks, word);
        } else {
            fill_blocks(target, blocks, word);
        }
        #[cfg(not(target_arch = "x86_64"))]
        fill_blocks(target, blocks, word);
        for at in (blocks..length).step_by(N) {
            target.add(at).cast::<[u8; N]>().write(pattern);
        }
    }
}

/// # Safety
/// The `length` bytes exist and are writable; `length` is a multiple of [`BLOCK`].
#[inline(always)]
unsafe fn fill_blocks(target: *mut u8, length: usize, word: u64) {
    for at in (0..length).step_by(BLOCK) {
        // SAFETY: the write ends at `length` at most.
        unsafe { target.add(at).cast::<[u64; BLOCK / 8]>().write_unaligned([word; BLOCK / 8]) };
    }
}

/// [`fill_blocks`] with stores twice as wide.
///
/// # Safety
/// As for [`fill_blocks`]; and the processor has such stores.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn fill_blocks_wide(target: *mut u8, length: usize, word: u64) {
    // SAFETY: the caller promises it.
    unsafe { fill_blocks(target, length, word) };
}

/// Whether `length` bytes are the same at two places.
///
/// # Safety
/// The bytes exist at both places.
unsafe fn are_equal(left: *const u8, right: *const u8, length: usize) -> bool {
    #[cfg(not(miri))]
    {
        // SAFETY: the caller promises it. The C library compares faster than our own loop would,
        // and makes no reference to the bytes.
        unsafe { crate::ops::system::memcmp(left, right, length) == 0 }
    }
    #[cfg(miri)]
    {
        // SAFETY: the caller promises it.
        (0..length).all(|at| unsafe { left.add(at).read() == right.add(at).read() })
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let Self::Heap { data, layout, .. } = self {
            // SAFETY: `GuestMemory::zeroed` allocated `data` with this layout, and it is freed only
            // here.
            unsafe { dealloc(data.as_ptr(), *layout) };
        }
    }
}

impl std::fmt::Debug for GuestMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_checked_without_overflow() {
        let memory = Arc::new(GuestMemory::zeroed(16, 16, None).unwrap());
        assert_eq!(memory.load::<4>(12), Some([0; 4]));
        for offset in [13, 16, 17, usize::MAX - 3, usize::MAX] {
            assert_eq!(memory.load::<4>(offset), None);
            assert_eq!(memory.store(offset, [1u8; 4]), None);
            assert_eq!(memory.fill(offset, 1, [1u8; 4]), None);
            assert_eq!(memory.read(offset, &mut [0; 4]), None);
            assert!(memory.part(offset, 4).is_none());
        }
        assert_eq!(memory.fill(0, usize::MAX / 2, [1u8; 4]), None);
        assert_eq!(memory.fill(4, 3, [1u8, 2, 3, 4]), Some(()));
        let part = memory.part(6, 6).unwrap();
        assert_eq!(part.load::<4>(0), Some([3, 4, 1, 2]));
        assert_eq!(memory.copy_from(0, &part, 0, 6), Some(()));
        assert_eq!(memory.load::<8>(0), Some([3, 4, 1, 2, 3, 4, 3, 4]));
    }

    #[test]
    fn memory_is_aligned_and_zeroed() {
        for alignment in [1, 8, 16, 32, 64, 4096, 8192, 1 << 16] {
            for length in [1, 64, 5000] {
                let memory = GuestMemory::zeroed(length, alignment, None).unwrap();
                assert_eq!(memory.address() as usize % alignment, 0, "{alignment}");
                let mut bytes = vec![1; length];
                memory.read(0, &mut bytes).unwrap();
                assert!(bytes.iter().all(|byte| *byte == 0));
                memory.write(0, &bytes).unwrap();
            }
        }
        assert!(GuestMemory::zeroed(usize::MAX - 20, 64, None).is_none());
    }

    #[test]
    fn blocks_and_what_is_left_behind_them_are_filled_and_compared() {
        for count in [0, 1, 15, 16, 17, 33] {
            let (left, right) = (
                GuestMemory::zeroed(140, 16, None).unwrap(),
                GuestMemory::zeroed(140, 16, None).unwrap(),
            );
            left.fill(3, count, [1u8, 2, 3, 4]).unwrap();
            let mut bytes = [0; 140];
            left.read(0, &mut bytes).unwrap();
            let expected = |at: usize| {
                let is_filled = (3..3 + 4 * count).contains(&at);
                if is_filled { ((at - 3) % 4 + 1) as u8 } else { 0 }
            };
            assert!(bytes.iter().enumerate().all(|(at, byte)| *byte == expected(at)), "{count}");
            right.write(0, &bytes).unwrap();
            assert!(left.equals(0, &right, 0, 140));
            assert!(!left.equals(0, &right, 0, 141));
            assert!(left.equals(7, &right, 7, 133) && left.equals(140, &right, 0, 0));
            for at in [0, 31, 32, 127, 128, 139] {
                let byte = right.load::<1>(at).unwrap();
                right.store(at, [byte[0] ^ 0x80]).unwrap();
                assert!(!left.equals(0, &right, 0, 140), "a difference at {at} was missed");
                right.store(at, byte).unwrap();
            }
        }
    }

    #[test]
    fn memory_that_is_written_whole_is_zeroed_too() {
        // Miri knows no mappings.
        let lengths = if cfg!(miri) { [1000, 1000] } else { [1000, LARGE + 1] };
        for length in lengths {
            let memory = GuestMemory::dense(length).unwrap();
            assert_eq!((memory.len(), memory.load::<1>(length - 1)), (length, Some([0])));
            memory.write(length - 2, &[1, 2]).unwrap();
            assert_eq!(memory.load::<2>(length - 2), Some([1, 2]));
            assert!(memory.write(length - 1, &[1, 2]).is_none());
        }
    }

    #[test]
    fn a_file_is_never_written() {
        let file = FileBytes::from(vec![7; 8]);
        let whole = Arc::new(GuestMemory::of_file(file, 2..6).unwrap());
        let part = whole.part(1, 2).unwrap();
        assert_eq!(part.load::<2>(0), Some([7, 7]));
        assert_eq!(part.write(0, &[1]), None);
        assert_eq!(part.fill(0, 2, [1u8]), None);
        assert_eq!(part.copy_from(0, &whole, 0, 1), None);
    }
}

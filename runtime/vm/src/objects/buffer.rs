//! `!vm.buffer`: bytes with access rights, possibly a part of a file or of another buffer.
//!
//! Offsets and lengths of the typed operations count elements, as in IREE: `load::<4>(3)` reads
//! bytes 12 to 16. Messages are IREE's. One difference: an offset that makes IREE's address wrap
//! around (and then read outside the buffer) is out of range here.

use vmfb::FileBytes;

use super::guest_memory::{GuestMemory, Remembered};
use crate::errors::Status;
use crate::limits::ExecutionLimits;

/// What a program may do with a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Rodata: stores fail with `PERMISSION_DENIED`.
    ReadOnly,
    /// Everything else.
    ReadWrite,
}

/// A buffer of guest memory.
#[derive(Debug)]
pub struct Buffer {
    memory: GuestMemory,
}

/// Buffers start at a multiple of this, a cache line, or of a larger alignment if the program asks.
const MINIMUM_ALIGNMENT: usize = 64;

impl Buffer {
    /// A zeroed, writable buffer. `alignment` is a power of two, or 0 for any.
    ///
    /// # Errors
    /// The alignment is no power of two, the limits forbid the size, or there is no memory.
    pub fn alloc(
        length: usize,
        alignment: usize,
        limits: &ExecutionLimits,
    ) -> Result<Self, Status> {
        if alignment & alignment.wrapping_sub(1) != 0 {
            return Err(Status::invalid_argument(format!(
                "alignments must be powers of two (got {alignment})"
            )));
        }
        if length > limits.allocation_bytes {
            return Err(limits.too_much(format_args!("a buffer of {length} bytes")));
        }
        let alignment = alignment.max(MINIMUM_ALIGNMENT);
        let charge = limits
            .memory
            .charge(length.saturating_add(alignment))
            .ok_or_else(|| limits.too_much(format_args!("a buffer of {length} bytes")))?;
        let memory = match limits.memory.source() {
            Some(source) => GuestMemory::lent(source, length, alignment, Some(charge)),
            None => GuestMemory::zeroed(length, alignment, Some(charge)),
        };
        let memory = memory.ok_or_else(|| {
            Status::resource_exhausted(format!("no memory for a buffer of {length} bytes"))
        })?;
        Ok(Self { memory })
    }

    /// A writable buffer with these bytes of the host, from where the program's buffers come from.
    ///
    /// # Errors
    /// There is no memory.
    pub fn of_host(bytes: &[u8], limits: &ExecutionLimits) -> Result<Self, Status> {
        let Some(source) = limits.memory.source() else { return Self::from_bytes(bytes) };
        let memory = GuestMemory::lent(source, bytes.len(), MINIMUM_ALIGNMENT, None);
        let memory = memory.ok_or_else(|| {
            Status::resource_exhausted(format!("no memory for a buffer of {} bytes", bytes.len()))
        })?;
        let buffer = Self { memory };
        buffer.write(0, bytes)?;
        Ok(buffer)
    }

    /// A writable buffer with these bytes.
    ///
    /// # Errors
    /// There is no memory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Status> {
        // The bytes exist already, so no program has made up their number.
        let limits = ExecutionLimits::chosen(None, Some(usize::MAX), None);
        let buffer = Self::alloc(bytes.len(), 0, &limits)?;
        buffer.write(0, bytes)?;
        Ok(buffer)
    }

    /// A zeroed buffer for a caller that will write all of it. A large one gets large pages if the
    /// system has them: creating small pages takes longer than writing them.
    ///
    /// # Errors
    /// There is no memory.
    pub fn dense(length: usize) -> Result<Self, Status> {
        match GuestMemory::dense(length) {
            Some(memory) => Ok(Self { memory }),
            None => {
                Err(Status::resource_exhausted(format!("no memory for a buffer of {length} bytes")))
            }
        }
    }

    /// A read-only view of a range of a file; `None` if the file does not have it.
    #[must_use]
    pub fn of_file(bytes: FileBytes, range: std::ops::Range<usize>) -> Option<Self> {
        let memory = GuestMemory::of_file(bytes, range)?;
        Some(Self { memory })
    }

    /// Foreign memory, such as a tensor of a host language, shared without a copy. `keeper` is
    /// dropped when nothing here needs the memory any more.
    ///
    /// # Safety
    /// `data..data+length` is valid for reads, and for writes unless `access` is read-only, until
    /// `keeper` is dropped, on any thread.
    #[must_use]
    pub unsafe fn foreign(
        data: std::ptr::NonNull<u8>,
        length: usize,
        access: Access,
        keeper: Box<dyn std::any::Any + Send + Sync>,
    ) -> Self {
        let is_writable = access == Access::ReadWrite;
        // SAFETY: the caller promises it.
        Self { memory: unsafe { GuestMemory::foreign(data, length, is_writable, keeper) } }
    }

    /// A view of a range of this buffer, with its rights.
    ///
    /// # Errors
    /// The buffer does not have the range.
    pub fn subspan(&self, offset: usize, length: usize) -> Result<Self, Status> {
        let memory = self
            .memory
            .part(offset, length)
            .ok_or_else(|| self.out_of_bounds(offset, length, 1))?;
        Ok(Self { memory })
    }

    /// A writable buffer with the same bytes, for devices. Of a file's bytes, only the pages that
    /// are written are copied, unless the limits say where buffers come from.
    ///
    /// # Errors
    /// There is no memory.
    pub fn private_copy(&self, limits: &ExecutionLimits) -> Result<Self, Status> {
        let memory = self.memory.private_copy(limits.memory.source()).ok_or_else(|| {
            Status::resource_exhausted(format!("no memory for a buffer of {} bytes", self.len()))
        })?;
        Ok(Self { memory })
    }

    /// The number of bytes.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// How many of the bytes programs may write: all or none.
    #[inline]
    pub(crate) fn writable(&self) -> usize {
        self.memory.writable()
    }

    /// Whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The access that programs have.
    #[must_use]
    pub fn access(&self) -> Access {
        if self.memory.is_writable() { Access::ReadWrite } else { Access::ReadOnly }
    }

    /// Whether its bytes belong to someone outside, who may change them: see [`Self::foreign`].
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.memory.is_foreign()
    }

    /// Whether the program has its memory at this moment: it has not released it, and has not gone
    /// back to before it was made.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.memory.is_there()
    }

    /// For which time the program has the memory: see [`Makes`](super::Makes).
    #[must_use]
    pub fn life(&self) -> u64 {
        self.memory.life()
    }

    /// The program releases the memory that it had for this time.
    pub fn end(&self, life: u64) {
        self.memory.end(life);
    }

    pub(super) fn remembered(&self) -> Option<Remembered> {
        self.memory.remembered()
    }

    pub(super) fn again(remembered: &Remembered) -> Option<Self> {
        remembered.again().map(|memory| Self { memory })
    }

    /// The address of the first byte. It is valid while the buffer lives; code that reads or writes
    /// through it is responsible for range and access.
    #[must_use]
    #[inline]
    pub fn address(&self) -> *mut u8 {
        self.memory.address()
    }

    /// A copy of `length` bytes from `offset`, or of as many as exist.
    #[must_use]
    pub fn read(&self, offset: usize, length: usize) -> Vec<u8> {
        let length = length.min(self.len().saturating_sub(offset));
        let mut bytes = vec![0; length];
        match self.memory.read(offset, &mut bytes) {
            Some(()) => bytes,
            None => Vec::new(),
        }
    }

    /// Copies the bytes from `offset` to `target`; returns whether they exist.
    pub fn read_to(&self, offset: usize, target: &mut [u8]) -> bool {
        self.memory.read(offset, target).is_some()
    }

    /// Changes bytes.
    ///
    /// # Errors
    /// The buffer is read-only or does not have the range.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), Status> {
        self.check_writable()?;
        self.memory.write(offset, bytes).ok_or_else(|| self.out_of_bounds(offset, bytes.len(), 1))
    }

    /// Element `index`, of `N` bytes each, if it exists.
    #[inline(always)]
    pub(crate) fn element<const N: usize>(&self, index: u64) -> Option<[u8; N]> {
        self.memory.element(index)
    }

    /// Changes element `index`, of `N` bytes each; returns whether it exists and is writable.
    #[inline(always)]
    pub(crate) fn set_element<const N: usize>(&self, index: u64, bytes: [u8; N]) -> bool {
        self.memory.set_element(index, bytes)
    }

    /// Element `index` of `N` bytes each.
    ///
    /// # Errors
    /// The buffer does not have it.
    #[inline]
    pub fn load<const N: usize>(&self, index: u64) -> Result<[u8; N], Status> {
        match scaled::<N>(index).and_then(|offset| self.memory.load(offset)) {
            Some(bytes) => Ok(bytes),
            None => Err(self.out_of_bounds((index as usize).wrapping_mul(N), N, N)),
        }
    }

    /// Changes element `index` of `N` bytes each.
    ///
    /// # Errors
    /// The buffer is read-only or does not have it.
    #[inline]
    pub fn store<const N: usize>(&self, index: u64, bytes: [u8; N]) -> Result<(), Status> {
        self.check_writable()?;
        match scaled::<N>(index).and_then(|offset| self.memory.store(offset, bytes)) {
            Some(()) => Ok(()),
            None => Err(self.out_of_bounds((index as usize).wrapping_mul(N), N, N)),
        }
    }

    /// Sets `count` elements of `N` bytes each, from element `index`.
    ///
    /// # Errors
    /// The buffer is read-only or does not have the range.
    pub fn fill<const N: usize>(
        &self,
        index: u64,
        count: u64,
        pattern: [u8; N],
    ) -> Result<(), Status> {
        self.check_writable()?;
        let filled = scaled::<N>(index)
            .zip(usize::try_from(count).ok())
            .and_then(|(offset, count)| self.memory.fill(offset, count, pattern));
        filled.ok_or_else(|| {
            let bytes = |elements: u64| (elements as usize).wrapping_mul(N);
            self.out_of_bounds(bytes(index), bytes(count), N)
        })
    }

    /// Copies bytes from another buffer, or within this one.
    ///
    /// # Errors
    /// This buffer is read-only, or one of them does not have its range.
    pub fn copy_from(
        &self,
        offset: usize,
        source: &Buffer,
        source_offset: usize,
        length: usize,
    ) -> Result<(), Status> {
        source.check(source_offset, length)?;
        self.check_writable()?;
        self.check(offset, length)?;
        self.memory
            .copy_from(offset, &source.memory, source_offset, length)
            .ok_or_else(|| self.out_of_bounds(offset, length, 1))
    }

    /// Whether two ranges hold the same bytes.
    ///
    /// # Errors
    /// One of the buffers does not have its range.
    pub fn equals(
        &self,
        offset: usize,
        other: &Buffer,
        other_offset: usize,
        length: usize,
    ) -> Result<bool, Status> {
        self.check(offset, length)?;
        other.check(other_offset, length)?;
        Ok(self.memory.equals(offset, &other.memory, other_offset, length))
    }

    /// SipHash-2-4 of a range, with the key that IREE uses.
    pub(crate) fn hash(&self, offset: usize, length: usize) -> Result<u64, Status> {
        self.check(offset, length)?;
        let mut hash = crate::ops::hash::SipHash::new();
        self.chunks(offset, length, |chunk| {
            hash.update(chunk);
            true
        });
        Ok(hash.finish())
    }

    /// Passes copies of the range's bytes to `visit`, in order, until it returns false; returns
    /// whether it never did. All chunks but the last are a multiple of 8 bytes.
    fn chunks(&self, offset: usize, length: usize, mut visit: impl FnMut(&[u8]) -> bool) -> bool {
        let mut chunk = [0; 4096];
        let mut done = 0;
        while done < length {
            let bytes = &mut chunk[..(length - done).min(4096)];
            if self.memory.read(offset + done, bytes).is_none() || !visit(bytes) {
                return false;
            }
            done += bytes.len();
        }
        true
    }

    /// Checks that the buffer has a range.
    ///
    /// # Errors
    /// It does not.
    #[inline]
    pub fn check(&self, offset: usize, length: usize) -> Result<(), Status> {
        if offset <= self.len() && length <= self.len() - offset {
            return Ok(());
        }
        Err(self.out_of_bounds(offset, length, 1))
    }

    #[inline]
    fn check_writable(&self) -> Result<(), Status> {
        match self.access() {
            Access::ReadWrite => Ok(()),
            Access::ReadOnly => Err(Self::read_only()),
        }
    }

    #[cold]
    fn read_only() -> Status {
        Status::permission_denied("buffer is read-only and cannot be mapped for mutation")
    }

    #[cold]
    fn out_of_bounds(&self, offset: usize, length: usize, alignment: usize) -> Status {
        Status::out_of_range(format!(
            "out-of-bounds access detected (offset={offset}, length={length}, \
             alignment={alignment}, buffer length={})",
            self.len()
        ))
    }
}

/// The byte offset of element `index`, if it can be expressed.
#[inline]
fn scaled<const N: usize>(index: u64) -> Option<usize> {
    usize::try_from(index).ok()?.checked_mul(N)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::StatusCode;

    #[test]
    fn messages_and_codes() {
        let limits = ExecutionLimits::default();
        let buffer = Buffer::alloc(16, 16, &limits).unwrap();
        let error = buffer.load::<4>(4).unwrap_err();
        assert_eq!(
            error.to_string(),
            "OUT_OF_RANGE; out-of-bounds access detected (offset=16, length=4, alignment=4, \
             buffer length=16)"
        );
        assert_eq!(buffer.load::<4>(u64::MAX).unwrap_err().code, StatusCode::OutOfRange);
        assert_eq!(buffer.load::<4>(1 << 62).unwrap_err().code, StatusCode::OutOfRange);
        let huge = Buffer::alloc(1 << 60, 16, &limits).unwrap_err();
        assert_eq!(huge.code, StatusCode::ResourceExhausted);
        assert_eq!(Buffer::alloc(1, 3, &limits).unwrap_err().code, StatusCode::InvalidArgument);
    }

    #[test]
    fn a_private_copy_of_a_file_may_be_written() {
        let path = std::env::temp_dir().join(format!("private_copy_{}", std::process::id()));
        std::fs::write(&path, b"0123456789").unwrap();
        for file in [FileBytes::open(&path).unwrap(), FileBytes::from(b"0123456789".to_vec())] {
            let part = Buffer::of_file(file, 2..9).unwrap().subspan(1, 5).unwrap();
            let copy = part.private_copy(&ExecutionLimits::default()).unwrap();
            copy.write(1, b"xy").unwrap();
            assert_eq!((copy.read(0, 9), part.read(0, 9)), (b"3xy67".to_vec(), b"34567".to_vec()));
            assert!(
                part.subspan(5, 0)
                    .unwrap()
                    .private_copy(&ExecutionLimits::default())
                    .unwrap()
                    .is_empty()
            );
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"0123456789");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn rodata_is_read_only() {
        let rodata = Buffer::of_file(FileBytes::from(vec![1, 2, 3, 4]), 1..4).unwrap();
        assert_eq!(rodata.load::<1>(2).unwrap(), [4]);
        assert_eq!(rodata.store(0, [1]).unwrap_err().code, StatusCode::PermissionDenied);
        assert_eq!(rodata.fill(0, 1, [1]).unwrap_err().code, StatusCode::PermissionDenied);
        let copy = rodata.subspan(1, 2).unwrap().private_copy(&ExecutionLimits::default()).unwrap();
        copy.store(0, [9]).unwrap();
        assert_eq!(copy.read(0, 100), [9, 4]);
        assert!(rodata.equals(2, &copy, 1, 1).unwrap());
        assert!(!rodata.equals(1, &copy, 0, 2).unwrap());
    }
}

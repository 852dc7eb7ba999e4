//! `!hal.buffer`: device memory, which is host memory here.
//!
//! A buffer is a span of an [`Allocation`]. The bytes are those of a [`vm::Buffer`], so that
//! bytecode dispatches, native code, host code and the debugger see the same memory without a copy.
//! The parameters of an allocation say what a program may do with it; the checks and their messages
//! are IREE's. The allocator knows what made an allocation, and which are alive.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use vm::{Kept, Object, Status};

use super::binding::Binding;
use super::journal::Journal;
use super::statistics::Counted;
use crate::flags::{BufferUsage, MemoryAccess, MemoryType};

/// As a length: up to the end of the buffer.
pub(crate) const WHOLE_BUFFER: u64 = u64::MAX;

/// The properties of memory that a program asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BufferParameters {
    /// Where it is.
    pub memory_type: MemoryType,
    /// What it is for.
    pub usage: BufferUsage,
    /// What may be done with it.
    pub access: MemoryAccess,
}

/// Memory that was allocated or imported as a whole.
#[derive(Debug)]
pub struct Allocation {
    parameters: BufferParameters,
    storage: Arc<vm::Buffer>,
    /// How many owners the program says it has (`hal.buffer.allocation.preserve`).
    owners: AtomicU32,
    /// How often the program has written to it directly (`hal.buffer.store`), not by a command.
    stores: AtomicU64,
    /// What was in it before it was written.
    journal: Option<Arc<Journal>>,
    /// Whether something else than the device may write its memory.
    is_shared: AtomicBool,
    /// Its time in its memory, if that is the allocation's own: it ends with it.
    life: Option<u64>,
    /// Its part in the statistics, if there are any.
    _counted: Option<Counted>,
}

/// A span of an allocation. Clones share its memory.
#[derive(Clone, Debug)]
pub struct Buffer {
    allocation: Arc<Allocation>,
    offset: usize,
    length: usize,
}

impl Buffer {
    /// All of `storage` as device memory.
    #[must_use]
    pub fn new(storage: Arc<vm::Buffer>, parameters: BufferParameters) -> Self {
        Self::made(storage, parameters, None, None, None)
    }

    /// All of `storage` as device memory that statistics count, with a journal of what is written.
    /// `life` is the time that ends with the allocation, if its memory is its own.
    pub(super) fn made(
        storage: Arc<vm::Buffer>,
        parameters: BufferParameters,
        counted: Option<Counted>,
        journal: Option<Arc<Journal>>,
        life: Option<u64>,
    ) -> Self {
        let length = storage.len();
        let (owners, stores) = (AtomicU32::new(1), AtomicU64::new(0));
        let allocation = Arc::new(Allocation {
            parameters,
            storage,
            owners,
            stores,
            journal,
            is_shared: AtomicBool::new(false),
            life,
            _counted: counted,
        });
        Self { allocation, offset: 0, length }
    }

    /// A span of an allocation; `None` if it has no such span.
    pub(crate) fn of(allocation: Arc<Allocation>, offset: usize, length: usize) -> Option<Self> {
        allocation.storage.check(offset, length).ok()?;
        Some(Self { allocation, offset, length })
    }

    /// A part of this buffer. The length [`WHOLE_BUFFER`] takes everything from `offset`.
    ///
    /// # Errors
    /// The buffer does not have the range.
    pub(crate) fn subspan(&self, offset: u64, length: u64) -> Result<Self, Status> {
        let (offset, length) = self.range(offset, length)?;
        Ok(Self { allocation: self.allocation.clone(), offset: self.offset + offset, length })
    }

    /// Bytes in the buffer.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Where it starts in its allocation.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The allocation that it is a span of.
    #[must_use]
    pub fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }

    /// How its memory was allocated.
    #[must_use]
    pub(crate) fn parameters(&self) -> &BufferParameters {
        &self.allocation.parameters
    }

    /// A part of this buffer as the memory of a dispatch.
    ///
    /// # Errors
    /// The buffer does not have the range.
    pub(crate) fn binding(&self, offset: u64, length: u64) -> Result<Binding, Status> {
        let (offset, length) = self.range(offset, length)?;
        Binding::new(self.allocation.storage.clone(), self.offset + offset, length)
    }

    /// Reduces this buffer to a part of itself.
    ///
    /// # Errors
    /// The buffer does not have the range.
    pub(crate) fn narrow(&mut self, offset: u64, length: u64) -> Result<(), Status> {
        let (offset, length) = self.range(offset, length)?;
        self.offset += offset;
        self.length = length;
        Ok(())
    }

    /// The bytes as a buffer of the VM, which shares the memory.
    #[must_use]
    pub fn storage(&self) -> Arc<vm::Buffer> {
        let whole = &self.allocation.storage;
        if self.offset == 0 && self.length == whole.len() {
            return whole.clone();
        }
        self.view(0, self.length).unwrap_or_else(|_| whole.clone())
    }

    /// A range of the bytes as a buffer of the VM, which shares the memory.
    ///
    /// # Errors
    /// The buffer does not have the range.
    pub fn view(&self, offset: usize, length: usize) -> Result<Arc<vm::Buffer>, Status> {
        self.range(offset as u64, length as u64)?;
        let whole = &self.allocation.storage;
        let offset = self.offset + offset;
        if offset == 0 && length == whole.len() {
            return Ok(whole.clone());
        }
        Ok(Arc::new(whole.subspan(offset, length)?))
    }

    /// A copy of the bytes from `offset`: `length` bytes, or as many as there are.
    #[must_use]
    pub fn read(&self, offset: usize, length: usize) -> Vec<u8> {
        let offset = offset.min(self.length);
        let length = length.min(self.length - offset);
        self.allocation.storage.read(self.offset + offset, length)
    }

    /// A range of it is about to be written.
    fn before_write(&self, offset: usize, length: usize) {
        if let Some(journal) = &self.allocation.journal {
            journal.before_write(&self.allocation, self.offset + offset, length);
        }
    }

    /// Something outside has written a range of it that held these bytes before.
    pub(crate) fn was_written(&self, offset: usize, before: Vec<u8>) {
        if let Some(journal) = &self.allocation.journal {
            journal.was_written(&self.allocation, self.offset + offset, before);
        }
    }

    /// Changes bytes as `hal.buffer.store` does: directly, not by a command.
    ///
    /// # Errors
    /// The buffer does not have the range, or its memory is part of a file.
    pub(crate) fn store(&self, offset: usize, bytes: &[u8]) -> Result<(), Status> {
        self.allocation.stores.fetch_add(1, Ordering::Relaxed);
        self.write(offset, bytes)
    }

    /// Changes bytes, even if the program may not write them: for hosts and debuggers.
    ///
    /// # Errors
    /// The buffer does not have the range, or its memory is part of a file.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), Status> {
        self.range(offset as u64, bytes.len() as u64)?;
        self.before_write(offset, bytes.len());
        self.allocation.storage.write(self.offset + offset, bytes)
    }

    /// Writes bytes for a trial: what runs on them, until the journal has undone them, is no part
    /// of the program's run.
    ///
    /// # Errors
    /// The buffer does not have the range.
    pub fn write_for_trial(&self, offset: usize, bytes: &[u8]) -> Result<(), Status> {
        self.allocation.journal.iter().for_each(|journal| journal.ledger().begin_trial());
        self.write(offset, bytes)
    }

    /// Fills a range with repetitions of `pattern`, whose length is 1, 2, 4 or 8 bytes and divides
    /// offset and length.
    ///
    /// # Errors
    /// The buffer does not have the range, or the pattern does not fit it.
    pub(crate) fn fill(&self, offset: u64, length: u64, pattern: &[u8]) -> Result<(), Status> {
        let (offset, length) = self.range(offset, length)?;
        let start = self.offset + offset;
        let unit = pattern.len();
        if !matches!(unit, 1 | 2 | 4 | 8) {
            return Err(Status::invalid_argument(format!(
                "fill patterns must be 1, 2, 4, or 8 bytes (got {unit})"
            )));
        }
        if !offset.is_multiple_of(unit) || !length.is_multiple_of(unit) {
            return Err(Status::invalid_argument(format!(
                "attempting to fill a range with {unit} byte values that is not aligned (offset={offset}, length={length})"
            )));
        }
        self.before_write(offset, length);
        // A buffer may start anywhere in its allocation, so the fill works on a view.
        let view = self.allocation.storage.subspan(start, length)?;
        let count = (length / unit) as u64;
        match *pattern {
            [a] => view.fill(0, count, [a]),
            [a, b] => view.fill(0, count, [a, b]),
            [a, b, c, d] => view.fill(0, count, [a, b, c, d]),
            [a, b, c, d, e, f, g, h] => view.fill(0, count, [a, b, c, d, e, f, g, h]),
            _ => Ok(()),
        }
    }

    /// Copies bytes from another buffer, or within this one.
    ///
    /// # Errors
    /// One of the buffers does not have its range.
    pub(crate) fn copy_from(
        &self,
        offset: u64,
        source: &Buffer,
        source_offset: u64,
        length: u64,
    ) -> Result<(), Status> {
        let (source_offset, length) = source.range(source_offset, length)?;
        let (offset, length) = self.range(offset, length as u64)?;
        self.before_write(offset, length);
        self.allocation.storage.copy_from(
            self.offset + offset,
            &source.allocation.storage,
            source.offset + source_offset,
            length,
        )
    }

    /// Whether the buffers share a byte.
    #[must_use]
    pub fn overlaps(&self, other: &Buffer) -> bool {
        Arc::ptr_eq(&self.allocation, &other.allocation)
            && self.offset < other.offset + other.length
            && other.offset < self.offset + self.length
    }

    /// A range as offset and length, with [`WHOLE_BUFFER`] resolved.
    ///
    /// # Errors
    /// The buffer does not have it.
    pub(crate) fn range(&self, offset: u64, length: u64) -> Result<(usize, usize), Status> {
        let total = self.length as u64;
        if offset > total {
            return Err(Status::out_of_range(format!(
                "attempted to access an address off the end of the valid buffer range \
                 (offset={offset}, length={length}, buffer byte_length={total})",
                length = length.cast_signed(),
            )));
        }
        let found = if length == WHOLE_BUFFER { total - offset } else { length };
        if found > total - offset {
            return Err(Status::out_of_range(format!(
                "attempted to access an address outside of the valid buffer range \
                 (offset={offset}, adjusted_length={found}, end={}, buffer byte_length={total})",
                offset.wrapping_add(found).wrapping_sub(1),
            )));
        }
        // Both are at most the length, which is a `usize`.
        Ok((offset as usize, found as usize))
    }

    /// Checks that the memory has all required types.
    ///
    /// # Errors
    /// It is not.
    pub(crate) fn check_memory_type(&self, required: MemoryType) -> Result<(), Status> {
        let found = self.parameters().memory_type;
        if found.contains(required) {
            return Ok(());
        }
        Err(Status::permission_denied(format!(
            "buffer memory type is not compatible with the requested operation; buffer has {found}, \
             operation requires {required}"
        )))
    }

    /// Checks that the program may access the buffer in these ways.
    ///
    /// # Errors
    /// It may not.
    pub(crate) fn check_access(&self, required: MemoryAccess) -> Result<(), Status> {
        let allowed = self.parameters().access;
        if required.contains(MemoryAccess::ANY) || allowed.contains(required) {
            return Ok(());
        }
        Err(Status::permission_denied(format!(
            "buffer does not support the requested access type; buffer allows {allowed}, operation \
             requires {required}"
        )))
    }

    /// Checks that the buffer was allocated for these uses.
    ///
    /// # Errors
    /// It was not.
    pub(crate) fn check_usage(&self, required: BufferUsage) -> Result<(), Status> {
        let allowed = self.parameters().usage;
        if allowed.contains(required) {
            return Ok(());
        }
        Err(Status::permission_denied(format!(
            "requested usage was not specified when the buffer was allocated; buffer allows \
             {allowed}, operation requires {required}"
        )))
    }
}

impl Object for Buffer {
    fn type_name(&self) -> &str {
        "hal.buffer"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    /// The counters; the journal has the bytes.
    fn keep(&self) -> Kept {
        let allocation = self.allocation.clone();
        let (owners, stores) =
            (allocation.owners.load(Ordering::Relaxed), allocation.stores.load(Ordering::Relaxed));
        Kept::State(Box::new(move || {
            allocation.owners.store(owners, Ordering::Relaxed);
            allocation.stores.store(stores, Ordering::Relaxed);
        }))
    }

    fn storage(&self) -> Option<Arc<vm::Buffer>> {
        Some(self.allocation.storage.clone())
    }
}

impl Allocation {
    /// How it was allocated.
    #[must_use]
    pub fn parameters(&self) -> &BufferParameters {
        &self.parameters
    }

    /// All its bytes.
    #[must_use]
    pub fn storage(&self) -> &Arc<vm::Buffer> {
        &self.storage
    }

    /// How often the program has written to it directly.
    pub(crate) fn stores(&self) -> u64 {
        self.stores.load(Ordering::Relaxed)
    }

    /// What was in it before it was written, if that is kept somewhere.
    pub(super) fn journal(&self) -> Option<&Journal> {
        self.journal.as_deref()
    }

    /// Something else than the device may write its memory from now on.
    pub(crate) fn share(&self) {
        self.is_shared.store(true, Ordering::Relaxed);
    }

    /// Whether something else than the device may have written its memory.
    pub(super) fn is_shared(&self) -> bool {
        self.is_shared.load(Ordering::Relaxed)
    }

    /// Adds an owner, as the program counts them.
    pub(crate) fn preserve(&self) {
        self.owners.fetch_add(1, Ordering::Relaxed);
    }

    /// Removes an owner, as the program counts them; returns whether it was the last.
    #[must_use]
    pub(crate) fn discard(&self) -> bool {
        self.owners.fetch_sub(1, Ordering::Relaxed) == 1
    }

    /// Whether there is a single owner, as the program counts them.
    #[must_use]
    pub(crate) fn is_terminal(&self) -> bool {
        self.owners.load(Ordering::Relaxed) == 1
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if let Some(life) = self.life {
            self.storage.end(life);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(bytes: &[u8]) -> Buffer {
        let storage = Arc::new(vm::Buffer::from_bytes(bytes).unwrap());
        let parameters = BufferParameters {
            memory_type: MemoryType::HOST_LOCAL,
            usage: BufferUsage::DEFAULT,
            access: MemoryAccess::ALL,
        };
        Buffer::new(storage, parameters)
    }

    #[test]
    fn spans_share_memory_and_know_their_ranges() {
        let whole = buffer(&[0, 1, 2, 3, 4, 5, 6, 7]);
        let part = whole.subspan(2, WHOLE_BUFFER).unwrap().subspan(1, 4).unwrap();
        assert_eq!((part.offset(), part.len()), (3, 4));
        assert_eq!(part.storage().read(0, 9), [3, 4, 5, 6]);
        part.fill(2, 2, &[9, 8]).unwrap();
        part.copy_from(0, &whole, 0, 1).unwrap();
        assert_eq!(whole.read(0, 9), [0, 1, 2, 0, 4, 9, 8, 7]);
        assert!(part.overlaps(&whole) && !part.overlaps(&whole.subspan(0, 3).unwrap()));
        for (offset, length) in [(5, 0), (0, 5), (4, 1), (1, u64::MAX - 1)] {
            assert!(part.subspan(offset, length).is_err(), "{offset} {length}");
        }
        assert!(part.fill(1, 2, &[1, 2]).is_err() && part.fill(0, 3, &[1, 2, 3]).is_err());
    }

    #[test]
    fn uses_that_were_not_asked_for_are_refused() {
        let buffer = buffer(&[0; 4]);
        assert_eq!(
            buffer.check_usage(BufferUsage::SHARING_EXPORT).unwrap_err().to_string(),
            "PERMISSION_DENIED; requested usage was not specified when the buffer was allocated; \
             buffer allows TRANSFER|DISPATCH_STORAGE, operation requires SHARING_EXPORT"
        );
        assert!(buffer.check_usage(BufferUsage::TRANSFER).is_ok());
        assert!(buffer.check_memory_type(MemoryType::DEVICE_LOCAL).is_err());
    }
}

//! A range of memory as a dispatch gets it: checked once, then an address and a length.

use std::sync::Arc;

use vm::Status;

/// A range of memory that a dispatch works on.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    memory: Arc<vm::Buffer>,
    offset: usize,
    length: usize,
}

impl Binding {
    /// A range of a buffer, in bytes.
    ///
    /// # Errors
    /// The buffer does not have the range.
    pub(crate) fn new(
        memory: Arc<vm::Buffer>,
        offset: usize,
        length: usize,
    ) -> Result<Self, Status> {
        memory.check(offset, length)?;
        Ok(Self { memory, offset, length })
    }

    /// The address of the first byte, valid while the binding lives.
    #[must_use]
    pub(crate) fn address(&self) -> *mut u8 {
        self.memory.address().wrapping_add(self.offset)
    }

    /// Bytes in the range.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// The range as a buffer that shares the memory.
    ///
    /// # Errors
    /// None: the range was checked.
    pub(crate) fn view(&self) -> Result<Arc<vm::Buffer>, Status> {
        if self.offset == 0 && self.length == self.memory.len() {
            return Ok(self.memory.clone());
        }
        Ok(Arc::new(self.memory.subspan(self.offset, self.length)?))
    }
}

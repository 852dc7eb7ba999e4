//! Requirements that commands have for a buffer, combined over commands, and the check of a buffer.

use vm::Status;

use crate::flags::{BufferUsage, Compatibility, MemoryAccess, MemoryType};
use crate::memory::Buffer;

/// The requirements of commands for a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Requirements {
    pub(super) compatibility: Compatibility,
    pub(super) usage: BufferUsage,
    pub(super) access: MemoryAccess,
    pub(super) memory_type: MemoryType,
    /// The least length, in bytes.
    pub(super) end: u64,
    /// The number that divides its offset; 0 for any offset.
    pub(super) alignment: u64,
}

impl Requirements {
    /// Adds further requirements.
    pub(crate) fn extend(&mut self, other: &Requirements) {
        self.compatibility = self.compatibility | other.compatibility;
        self.usage = self.usage | other.usage;
        self.access = self.access | other.access;
        self.memory_type = self.memory_type | other.memory_type;
        self.end = self.end.max(other.end);
        // Alignments here are powers of two, so the larger is a multiple of the smaller.
        self.alignment = self.alignment.max(other.alignment);
    }

    /// Checks that a buffer of `length` bytes, bound at `offset`, meets them.
    ///
    /// # Errors
    /// It does not meet them.
    pub(crate) fn check(
        &self,
        buffer: Option<&Buffer>,
        offset: u64,
        length: u64,
    ) -> Result<(), Status> {
        if self.usage.0 == 0 {
            return Ok(());
        }
        let Some(buffer) = buffer else {
            return Err(Status::invalid_argument(
                "binding table slot requires a buffer but none was provided",
            ));
        };
        self.check_compatibility(buffer)?;
        buffer.check_usage(self.usage)?;
        buffer.check_access(self.access)?;
        buffer.check_memory_type(self.memory_type)?;
        if self.end > length {
            return Err(Status::out_of_range(format!(
                "at least one command attempted to access an address outside of the valid bound \
                 buffer range (length={}, end(inc)={}, binding offset={offset}, binding \
                 length={length}, binding end(inc)={})",
                self.end,
                offset.wrapping_add(self.end).wrapping_sub(1),
                offset.wrapping_add(length).wrapping_sub(1),
            )));
        }
        if self.alignment != 0 && !offset.is_multiple_of(self.alignment) {
            return Err(Status::invalid_argument(format!(
                "binding offset does not match the required alignment of one or more command \
                 (offset={offset}, min_byte_alignment={})",
                self.alignment
            )));
        }
        Ok(())
    }

    fn check_compatibility(&self, buffer: &Buffer) -> Result<(), Status> {
        let parameters = buffer.parameters();
        let usable = BufferUsage(parameters.usage.0 & self.usage.0);
        let mut allowed =
            Compatibility::ALLOCATABLE | Compatibility::IMPORTABLE | Compatibility::EXPORTABLE;
        if parameters.memory_type.contains(MemoryType::DEVICE_VISIBLE) {
            if usable.intersects(BufferUsage::TRANSFER) {
                allowed = allowed | Compatibility::QUEUE_TRANSFER;
            }
            if usable.intersects(BufferUsage::DISPATCH) {
                allowed = allowed | Compatibility::QUEUE_DISPATCH;
            }
        }
        if allowed.contains(self.compatibility) {
            return Ok(());
        }
        Err(Status::permission_denied(format!(
            "requested buffer usage is not supported for the buffer on this queue; buffer allows \
             usage {}, operation requires {} (allocator compatibility mismatch: allowed \
             compatibility {allowed}, requires {})",
            parameters.usage, self.usage, self.compatibility
        )))
    }
}

/// Adds the part of a command or table to an error.
pub(crate) fn annotate(status: &Status, what: &str) -> Status {
    Status::new(status.code, format!("{}; {what}", status.message))
}

//! What commands require of the memory that they name, and whether a buffer meets it.
//!
//! Buffers that are named directly are checked when a command is recorded. What commands require of
//! a slot of the binding table is collected, and checked when a table is submitted. Order and text
//! of the checks are IREE's, so that a program fails here for the reason that it fails there.

use vm::{Status, StatusCode};

use crate::buffer::{Buffer, WHOLE_BUFFER};
use crate::command_buffer::{BufferRange, Command, WorkgroupCount};
use crate::flags::{BufferUsage, CommandCategories, Compatibility, MemoryAccess, MemoryType};

/// What commands require of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Requirements {
    compatibility: Compatibility,
    usage: BufferUsage,
    access: MemoryAccess,
    memory_type: MemoryType,
    /// Bytes that it has at least.
    end: u64,
    /// What its offset is a multiple of; 0 for anything.
    alignment: u64,
}

impl Requirements {
    /// These and others together.
    pub(crate) fn extend(&mut self, other: &Requirements) {
        self.compatibility = self.compatibility | other.compatibility;
        self.usage = self.usage | other.usage;
        self.access = self.access | other.access;
        self.memory_type = self.memory_type | other.memory_type;
        self.end = self.end.max(other.end);
        // Alignments here are powers of two, so the larger is a multiple of the smaller.
        self.alignment = self.alignment.max(other.alignment);
    }

    /// That a buffer, bound at `offset` of it, meets them.
    ///
    /// # Errors
    /// It does not.
    pub fn check(&self, buffer: Option<&Buffer>, offset: u64, length: u64) -> Result<(), Status> {
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

/// What a command requires of each range that it names, in the order of [`Command::ranges`].
///
/// # Errors
/// The command itself is not one that could run.
pub(crate) fn requirements(command: &Command) -> Result<Vec<Requirements>, Status> {
    Ok(match command {
        Command::BeginGroup(_) | Command::EndGroup | Command::Barrier => Vec::new(),
        Command::Fill { target, pattern } => {
            let unit = pattern.len() as u64;
            check_pattern(target, unit)?;
            vec![Requirements { alignment: unit, ..transfer(target, true) }]
        }
        Command::Update { target, .. } => vec![transfer(target, true)],
        Command::Copy { source, target } => {
            if source.length != target.length {
                return Err(Status::invalid_argument(format!(
                    "copy spans between source and target must match (source_length={}, \
                     target_length={})",
                    source.length, target.length
                )));
            }
            vec![transfer(source, false), transfer(target, true)]
        }
        Command::Dispatch(dispatch) => {
            let count = match &dispatch.workgroups {
                WorkgroupCount::Indirect(range) => Some(workgroup_count(range)?),
                WorkgroupCount::Static(_) => None,
            };
            count.into_iter().chain(dispatch.bindings.iter().map(binding)).collect()
        }
        Command::Execute { bindings, .. } => bindings.iter().map(binding).collect(),
    })
}

/// The category that a command belongs to, if to any.
pub(crate) fn category(command: &Command) -> Option<CommandCategories> {
    match command {
        Command::BeginGroup(_) | Command::EndGroup | Command::Barrier | Command::Execute { .. } => {
            None
        }
        Command::Fill { .. } | Command::Update { .. } | Command::Copy { .. } => {
            Some(CommandCategories::TRANSFER)
        }
        Command::Dispatch(_) => Some(CommandCategories::DISPATCH),
    }
}

/// That a command buffer may hold commands of a category.
pub(crate) fn check_category(
    required: CommandCategories,
    allowed: CommandCategories,
) -> Result<(), Status> {
    if allowed.contains(required) {
        return Ok(());
    }
    Err(Status::failed_precondition(format!(
        "operation requires categories {required} but command buffer only supports {allowed}"
    )))
}

fn check_pattern(target: &BufferRange, unit: u64) -> Result<(), Status> {
    if !matches!(unit, 1 | 2 | 4 | 8) {
        return Err(Status::invalid_argument(format!(
            "fill value length is not one of the supported values (pattern_length={unit})"
        )));
    }
    let is_aligned = target.offset.is_multiple_of(unit)
        && (target.length == WHOLE_BUFFER || target.length.is_multiple_of(unit));
    if !is_aligned {
        return Err(Status::invalid_argument(format!(
            "binding offset and/or length do not match the required alignment of one or more \
             command (offset={}, length={}, pattern_length={unit})",
            target.offset, target.length
        )));
    }
    Ok(())
}

fn transfer(range: &BufferRange, is_target: bool) -> Requirements {
    let (usage, access) = if is_target {
        (BufferUsage::TRANSFER_TARGET, MemoryAccess::WRITE)
    } else {
        (BufferUsage::TRANSFER_SOURCE, MemoryAccess::READ)
    };
    Requirements {
        compatibility: Compatibility::QUEUE_TRANSFER,
        usage,
        access,
        memory_type: MemoryType::DEVICE_VISIBLE,
        end: end(range),
        alignment: 0,
    }
}

fn binding(range: &BufferRange) -> Requirements {
    Requirements {
        compatibility: Compatibility::QUEUE_DISPATCH,
        usage: BufferUsage::DISPATCH_STORAGE,
        access: MemoryAccess::ANY,
        memory_type: MemoryType::DEVICE_VISIBLE,
        end: end(range),
        alignment: 0,
    }
}

fn workgroup_count(range: &BufferRange) -> Result<Requirements, Status> {
    if !range.offset.is_multiple_of(4) {
        return Err(Status::invalid_argument(format!(
            "workgroup count offset does not match the required natural alignment of uint32_t \
             (offset={}, min_byte_alignment=4)",
            range.offset
        )));
    }
    Ok(Requirements {
        compatibility: Compatibility::QUEUE_DISPATCH,
        usage: BufferUsage::DISPATCH_INDIRECT_PARAMETERS,
        access: MemoryAccess::READ,
        memory_type: MemoryType::DEVICE_VISIBLE,
        end: end(range),
        alignment: 4,
    })
}

/// Bytes that a buffer has at least if it has the range.
fn end(range: &BufferRange) -> u64 {
    let length = if range.length == WHOLE_BUFFER { 0 } else { range.length };
    range.offset.saturating_add(length)
}

/// Says which part of a command or table an error is about.
pub(crate) fn annotate(status: &Status, what: &str) -> Status {
    Status::new(status.code, format!("{}; {what}", status.message))
}

/// That the slot is one of a table with `capacity` slots.
pub(crate) fn check_slot(slot: u32, capacity: usize) -> Result<(), Status> {
    if (slot as usize) < capacity {
        return Ok(());
    }
    Err(Status::new(
        StatusCode::OutOfRange,
        format!(
            "indirect buffer reference slot {slot} is out range of the declared binding capacity of \
             the command buffer {capacity}"
        ),
    ))
}

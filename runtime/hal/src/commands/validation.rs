//! Validation of commands when they are recorded: the requirements for the memory that they name.
//!
//! Buffers that are named directly are checked when a command is recorded. Requirements for a slot
//! of the binding table are collected, and checked when a table is submitted. Order and text of the
//! checks are IREE's, so that a program fails here for the same reason as there.

use vm::{Status, StatusCode};

use super::command::{BufferRange, Command, WorkgroupCount};
use super::requirements::Requirements;
use crate::flags::{BufferUsage, CommandCategories, Compatibility, MemoryAccess, MemoryType};
use crate::memory::WHOLE_BUFFER;

/// The requirements of a command for each range that it names, in the order of [`Command::ranges`].
///
/// # Errors
/// The command itself is invalid.
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

/// The category of a command; `None` if it fits every command buffer.
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

/// Checks that a command buffer may hold commands of a category.
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

/// The least length of a buffer that has the range, in bytes.
fn end(range: &BufferRange) -> u64 {
    let length = if range.length == WHOLE_BUFFER { 0 } else { range.length };
    range.offset.saturating_add(length)
}

/// Checks that a table with `capacity` slots has the slot.
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

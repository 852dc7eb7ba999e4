//! `hal.buffer.*`: spans of device memory.

use vm::{NativeModuleBuilder, Ref, Status};

use crate::flags::{BufferUsage, MemoryAccess, MemoryType};
use crate::host::Host;
use crate::modules::arguments::HalArguments;

pub(super) fn declare(module: NativeModuleBuilder, _host: &Host) -> NativeModuleBuilder {
    module
        .function("buffer.assert", "0rrrIii_v", |call| {
            let buffer = call.hal_buffer(0)?;
            let message = || call.text(1);
            let (length, minimum) = (buffer.len() as u64, call.u64(3)?);
            if length < minimum {
                return Err(Status::invalid_argument(format!(
                    "{} buffer byte length {length} less than expected minimum {minimum}",
                    message()?
                )));
            }
            let parameters = buffer.parameters();
            let required = MemoryType(call.u32(4)?);
            if !parameters.memory_type.contains(required) {
                return Err(Status::permission_denied(format!(
                    "{} buffer memory type is not compatible; buffer has {}, operation requires \
                     {required}",
                    message()?,
                    parameters.memory_type
                )));
            }
            let required = BufferUsage(call.u32(5)?);
            if !parameters.usage.contains(required) {
                return Err(Status::permission_denied(format!(
                    "{} requested usage was not specified when the buffer was allocated; buffer \
                     allows {}, operation requires {required}",
                    message()?,
                    parameters.usage
                )));
            }
            call.allocator(2).map(drop)
        })
        .function("buffer.allocation.preserve", "0r_v", |call| {
            call.hal_buffer(0)?.allocation().preserve();
            Ok(())
        })
        .function("buffer.allocation.discard", "0r_i", |call| {
            Ok(i32::from(call.hal_buffer(0)?.allocation().discard()))
        })
        .function("buffer.allocation.is_terminal", "0r_i", |call| {
            Ok(i32::from(call.hal_buffer(0)?.allocation().is_terminal()))
        })
        .function("buffer.subspan", "0rII_r", |call| {
            let (offset, length) = (call.u64(1)?, call.u64(2)?);
            let part = call.hal_buffer(0)?.subspan(offset, length);
            part.map(Ref::object).map_err(|status| invalid_subspan(&status, offset, length))
        })
        .function("buffer.length", "0r_I", |call| Ok(call.hal_buffer(0)?.len() as i64))
        .function("buffer.load", "0rIi_i", |call| {
            let (buffer, offset, length) = (call.hal_buffer(0)?, call.u64(1)?, call.u32(2)?);
            if length > 4 {
                return Err(Status::invalid_argument(format!(
                    "load length byte count {} exceeds max",
                    length.cast_signed()
                )));
            }
            buffer.check_usage(BufferUsage::MAPPING_SCOPED)?;
            buffer.check_access(MemoryAccess::READ)?;
            let (offset, length) = buffer.range(offset, length.into())?;
            let mut value = [0; 4];
            value[..length].copy_from_slice(&buffer.read(offset, length));
            Ok(i32::from_le_bytes(value))
        })
        .function("buffer.store", "0irIi_v", |call| {
            let value = call.i32(0)?.to_le_bytes();
            let (buffer, offset, length) = (call.hal_buffer(1)?, call.u64(2)?, call.u32(3)?);
            let Some(bytes) = value.get(..length as usize) else {
                return Err(Status::invalid_argument(format!(
                    "store length byte count {} exceeds max",
                    length.cast_signed()
                )));
            };
            let total = buffer.len() as u64;
            if offset > total || u64::from(length) > total - offset {
                return Err(Status::out_of_range(format!(
                    "store out of bounds (target_offset={offset}, length={length} into max {total})"
                )));
            }
            buffer.check_usage(BufferUsage::MAPPING_SCOPED)?;
            buffer.check_access(MemoryAccess::WRITE)?;
            buffer.store(offset as usize, bytes)
        })
}

/// An error of a subspan, with the requested range.
pub(in crate::modules) fn invalid_subspan(status: &Status, offset: u64, length: u64) -> Status {
    let message = format!(
        "{}; invalid subspan of an existing buffer (source_offset={offset}, length={length})",
        status.message
    );
    Status::new(status.code, message)
}

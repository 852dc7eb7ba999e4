//! `hal.devices.*`, `hal.device.*` except queues, `hal.ex.*`.

use vm::{NativeModuleBuilder, Ref, Status, Value};

use crate::device::DeviceRef;
use crate::flags::{BufferUsage, MemoryAccess, MemoryType};
use crate::host::Host;
use crate::memory::{BufferParameters, File, Origin};
use crate::modules::arguments::HalArguments;

pub(super) fn declare(module: NativeModuleBuilder, host: &Host) -> NativeModuleBuilder {
    let devices: Vec<Ref> =
        host.devices().map(|device| Ref::object(DeviceRef(device.clone()))).collect();
    let count = devices.len() as i32;
    module
        .function("devices.count", "0v_i", move |_| Ok(count))
        .function("devices.get", "0i_r", move |call| {
            Ok(devices.get(call.u32(0)? as usize).cloned().unwrap_or_default())
        })
        .function("device.allocator", "0r_r", |call| {
            Ok(Ref::object(call.device(0)?.allocator().clone()))
        })
        .function("device.query.i64", "0rrr_iI", |call| {
            let value = call.device(0)?.query(&call.text(1)?, &call.text(2)?);
            Ok(vec![Value::I32(value.is_some().into()), Value::I64(value.unwrap_or(0))])
        })
        .function("ex.file.from_memory", "0rIirIIi_r", |call| {
            let access = MemoryAccess(call.u32(2)?);
            if access.0 & !MemoryAccess::READ.0 != 0 {
                return Err(Status::permission_denied(
                    "only read-only memory can be accessed via a file handle (today)",
                ));
            }
            let (offset, length) = (call.u64(4)? as usize, call.u64(5)? as usize);
            let storage = call.bytes(3)?.subspan(offset, length)?;
            let parameters = BufferParameters {
                memory_type: MemoryType::HOST_LOCAL,
                usage: BufferUsage::TRANSFER_SOURCE,
                access: MemoryAccess::READ,
            };
            let allocator = call.device(0)?.allocator();
            let contents = allocator.wrap(std::sync::Arc::new(storage), parameters, Origin::Import);
            Ok(Ref::object(File::of_memory(contents)))
        })
}

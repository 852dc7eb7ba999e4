//! The `hal_inline` module: buffers and buffer views for programs that run their dispatches inline
//! (`--iree-execution-model=inline-static` and `inline-dynamic`). There is no device and no queue:
//! a program works on the bytes of its buffers directly, through `buffer.storage`.

use std::sync::Arc;

use vm::{NativeCall, NativeModule, Ref, Status, Value};

use super::arguments::HalArguments;
use super::hal::{buffer, buffer_view};
use crate::executables;
use crate::flags::{BufferUsage, MemoryAccess, MemoryType};
use crate::host::Host;
use crate::memory::{Allocator, Buffer, BufferParameters, Origin};

/// The name that programs import from.
pub(super) const NAME: &str = "hal_inline";

/// The module. It allocates with the allocator of the host's device.
pub(super) fn module(host: &Host) -> NativeModule {
    let [plain, initialized, wrapping] = [0; 3].map(|_| host.device().allocator().clone());
    let builder = NativeModule::builder(NAME)
        .function("buffer.allocate", "0iI_rr", move |call| {
            allocate(&plain, &call, call.i32(0)?, call.u64(1)?).map(|(_, refs)| refs)
        })
        .function("buffer.allocate.initialized", "0irII_rr", move |call| {
            let (offset, length) = (call.u64(2)? as usize, call.u64(3)? as usize);
            let source = call.bytes(1)?.subspan(offset, length)?;
            let (buffer, refs) = allocate(&initialized, &call, call.i32(0)?, length as u64)?;
            buffer.storage().copy_from(0, &source, 0, length)?;
            Ok(refs)
        })
        .function("buffer.length", "0r_I", |call| Ok(call.hal_buffer(0)?.len() as i64))
        .function("buffer.storage", "0r_r", |call| Ok(Ref::Buffer(call.hal_buffer(0)?.storage())))
        .function("buffer.subspan", "0rII_r", |call| {
            let (offset, length) = (call.u64(1)?, call.u64(2)?);
            let part = call.hal_buffer(0)?.subspan(offset, length);
            let part = part.map_err(|status| buffer::invalid_subspan(&status, offset, length))?;
            Ok(Ref::object(part))
        })
        .function("buffer.wrap", "0rII_r", move |call| {
            let (offset, length) = (call.u64(1)? as usize, call.u64(2)? as usize);
            let part = call.bytes(0)?.subspan(offset, length)?;
            Ok(Ref::object(wrapping.wrap(Arc::new(part), PARAMETERS, Origin::Import)))
        })
        .function("device.query.i64", "0rr_iI", |call| {
            let value = match call.text(0)?.as_str() {
                "hal.cpu" => executables::processor_feature(&call.text(1)?),
                _ => None,
            };
            Ok(vec![Value::I32(value.is_some().into()), Value::I64(value.unwrap_or(0))])
        });
    buffer_view::declare(builder, host).build()
}

/// The parameters of such buffers, which allow every use on the host.
const PARAMETERS: BufferParameters = BufferParameters {
    memory_type: MemoryType::HOST_LOCAL,
    usage: BufferUsage::DEFAULT,
    access: MemoryAccess::ALL,
};

/// Allocates a buffer; returns refs to it and to its bytes.
fn allocate(
    allocator: &Allocator,
    call: &NativeCall<'_>,
    alignment: i32,
    length: u64,
) -> Result<(Buffer, Vec<Value>), Status> {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let alignment = usize::try_from(alignment).unwrap_or(0);
    let fresh = || vm::Buffer::alloc(length, alignment, call.limits());
    let storage = allocator.makes().make(length, fresh)?;
    let buffer = allocator.wrap(Arc::new(storage), PARAMETERS, Origin::Allocate);
    let refs =
        vec![Value::Ref(Ref::object(buffer.clone())), Value::Ref(Ref::Buffer(buffer.storage()))];
    Ok((buffer, refs))
}

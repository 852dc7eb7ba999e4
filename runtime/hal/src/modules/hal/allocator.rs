//! `hal.allocator.*`: device memory.

use std::sync::Arc;

use vm::{Arguments, ExecutionLimits, NativeCall, NativeModuleBuilder, Ref, Status, Value};

use crate::flags::{BufferUsage, MemoryAccess, MemoryType};
use crate::host::Host;
use crate::memory::{Allocator, BufferParameters, Origin};
use crate::modules::arguments::HalArguments;

pub(super) fn declare(module: NativeModuleBuilder, _host: &Host) -> NativeModuleBuilder {
    module
        .function("allocator.allocate", "0rIiiI_r", |call| {
            let parameters = parameters(&call, 2)?;
            let length = call.u64(4)?;
            let buffer = call
                .allocator(0)?
                .allocate(parameters, length, Origin::Allocate, call.limits())
                .map_err(|status| {
                    let message =
                        format!("{}; failed to allocate buffer of length {length}", status.message);
                    Status::new(status.code, message)
                })?;
            Ok(Ref::object(buffer))
        })
        .function("allocator.import", "0riIiirII_r", |call| {
            let result = Import { parameters: 3, source: 5 }.import(&call);
            // `try` returns null, which the program handles.
            if call.i32(1)? != 0 { Ok(result.unwrap_or_default()) } else { result }
        })
        .function("allocator.select", "0iiICrID_rI", |call| {
            // All devices share their memory, so any device will do.
            let first = call.span(3)?.next().ok_or_else(|| {
                Status::invalid_argument("at least one device/queue affinity pair must be provided")
            })?;
            first.device(0)?;
            Ok(vec![Value::Ref(first.reference(0)?.clone()), Value::I64(first.i64(1)?)])
        })
}

/// The memory type in argument `index` and the usage in the next one.
pub(super) fn parameters(call: &Arguments<'_>, index: usize) -> Result<BufferParameters, Status> {
    Ok(BufferParameters {
        memory_type: MemoryType(call.u32(index)?),
        usage: BufferUsage(call.u32(index + 1)?),
        access: MemoryAccess::ALL,
    })
}

/// The arguments of a call that describe an import.
pub(super) struct Import {
    /// The first argument with memory type and usage.
    pub(super) parameters: usize,
    /// The first argument with bytes, offset and length.
    pub(super) source: usize,
}

impl Import {
    /// The program's bytes as device memory.
    pub(super) fn import(&self, call: &NativeCall<'_>) -> Result<Ref, Status> {
        let source = call.bytes(self.source)?;
        let (offset, length) = (call.i64(self.source + 1)?, call.i64(self.source + 2)?);
        let parameters = parameters(call, self.parameters)?;
        let limits = call.limits();
        import(call.allocator(0)?, source, (offset, length), parameters, limits)
    }
}

/// A writable copy. One that is made again gets its bytes again.
fn private_copy(
    allocator: &Allocator,
    storage: &vm::Buffer,
    limits: &ExecutionLimits,
) -> Result<vm::Buffer, Status> {
    let copy = allocator.makes().make(storage.len(), || storage.private_copy(limits))?;
    if copy.life() > 0 {
        copy.copy_from(0, storage, 0, storage.len())?;
    }
    Ok(copy)
}

fn import(
    allocator: &Allocator,
    source: &Arc<vm::Buffer>,
    (offset, length): (i64, i64),
    mut parameters: BufferParameters,
    limits: &ExecutionLimits,
) -> Result<Ref, Status> {
    let available = source.len();
    let length = if length == -1 { available as i64 } else { length };
    let out_of_bounds = || {
        Status::invalid_argument(format!(
            "byte range out of bounds (requested {offset}-{} of available {available})",
            offset.wrapping_add(length).wrapping_sub(1)
        ))
    };
    let range = usize::try_from(offset).ok().zip(usize::try_from(length).ok());
    let (start, length) = range.ok_or_else(out_of_bounds)?;
    let is_constant = parameters.usage.contains(BufferUsage::SHARING_IMMUTABLE);
    if source.access() == vm::Access::ReadOnly && !is_constant {
        return Err(Status::permission_denied(
            "source buffer is immutable and can only be imported for constant usage",
        ));
    }
    parameters.access =
        if is_constant { MemoryAccess::READ } else { MemoryAccess::READ | MemoryAccess::WRITE };
    let storage = if (start, length) == (0, available) {
        source.clone()
    } else {
        Arc::new(source.subspan(start, length).map_err(|_| out_of_bounds())?)
    };
    // Compilers let dispatches work in place on constants that are not used again, although they
    // are declared immutable.
    let buffer = match storage.access() {
        vm::Access::ReadOnly => {
            let copy = Arc::new(private_copy(allocator, &storage, limits)?);
            allocator.wrap_own(copy, parameters, Origin::Import)
        }
        vm::Access::ReadWrite => allocator.wrap(storage, parameters, Origin::Import),
    };
    Ok(Ref::object(buffer))
}

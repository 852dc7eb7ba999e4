//! `hal.command_buffer.*`: recording commands.

use std::sync::Arc;

use vm::{IntoResults, NativeCall, NativeModuleBuilder, NativeReturn, Ref, Status};

use super::channel::collectives;
use crate::activities::FinishCommands;
use crate::commands::{
    BufferRange, BufferReference, Command, CommandBuffer, DispatchCommand, WorkgroupCount,
};
use crate::device::Device;
use crate::executables::Executable;
use crate::flags::{CommandBufferMode, CommandCategories};
use crate::host::Host;
use crate::memory::Buffer;
use crate::modules::arguments::HalArguments;

/// IREE's limit for a dispatch.
const MAXIMUM_BINDINGS: usize = 32;

pub(super) fn declare(module: NativeModuleBuilder, host: &Host) -> NativeModuleBuilder {
    let device = host.device().clone();
    let module = module
        .function("command_buffer.create", "0riiIi_r", |call| {
            call.device(0)?;
            let mode = CommandBufferMode(call.u32(1)?);
            let categories = CommandCategories(call.u32(2)?);
            let command_buffer = CommandBuffer::new(mode, categories, call.u32(4)? as usize)?;
            Ok(Ref::object(command_buffer))
        })
        .function("command_buffer.finalize", "0r_v", move |call| finalize(&call, &device))
        .function("command_buffer.begin_debug_group", "0rr_v", |call| {
            call.command_buffer(0)?.record(Command::BeginGroup(call.text(1)?), call.caller())
        })
        .function("command_buffer.end_debug_group", "0r_v", |call| {
            call.command_buffer(0)?.record(Command::EndGroup, call.caller())
        })
        .function("command_buffer.advise_buffer", "0rrIIIi_v", |call| {
            // Advice has no effect here.
            call.command_buffer(0)?;
            call.optional_buffer(1).map(drop)
        })
        .function("command_buffer.collective", "0rriiiirrIIIII_v", |_| Err::<(), _>(collectives()));
    let module = declare_transfers(module);
    declare_dispatches(module)
}

/// Ends the recording in argument 0.
fn finalize(call: &NativeCall<'_>, device: &Arc<Device>) -> Result<NativeReturn, Status> {
    let command_buffer = call.command_buffer(0)?;
    if device.stand_ins().is_none() || command_buffer.foreign_calls().is_empty() {
        return command_buffer.finish().map(IntoResults::into_results);
    }
    let finish = FinishCommands::new(device.clone(), call.reference(0)?.clone());
    Ok(NativeReturn::Activity(Box::new(finish)))
}

fn declare_transfers(mut module: NativeModuleBuilder) -> NativeModuleBuilder {
    for calling_convention in ["0riiI_v", "0riii_v"] {
        module = module.function("command_buffer.execution_barrier", calling_convention, |call| {
            call.command_buffer(0)?.record(Command::Barrier, call.caller())
        });
    }
    // The pattern has 64 bits now, and had 32.
    module = module
        .function("command_buffer.fill_buffer", "0rrIIiIiI_v", |call| {
            fill_range(&call, call.u64(5)?)
        })
        .function("command_buffer.fill_buffer", "0rrIIiii_v", |call| {
            fill_range(&call, call.u32(5)?.into())
        });
    for calling_convention in ["0rrIrIIiI_v", "0rrIrIIi_v"] {
        module = module
            .function("command_buffer.update_buffer", calling_convention, |call| update(&call));
    }
    for calling_convention in ["0riirIrIII_v", "0riirIrII_v"] {
        module =
            module.function("command_buffer.copy_buffer", calling_convention, |call| copy(&call));
    }
    module
}

fn declare_dispatches(module: NativeModuleBuilder) -> NativeModuleBuilder {
    // The function was given by its ordinal among the exports. It is an opaque number since
    // `executable.lookup.function` returns it.
    module
        .function("command_buffer.dispatch", "0rrIiiiICiDCiirIID_v", |call| {
            dispatch(&call, call.u64(2)?)
        })
        .function("command_buffer.dispatch", "0rriiiiICiDCiirIID_v", |call| {
            dispatch(&call, ordinal(&call)?)
        })
        .function("command_buffer.dispatch.indirect", "0rrIirIICiDCiirIID_v", |call| {
            dispatch_indirect(&call, call.u64(2)?)
        })
        .function("command_buffer.dispatch.indirect", "0rriirIICiDCiirIID_v", |call| {
            dispatch_indirect(&call, ordinal(&call)?)
        })
}

/// The ordinal of a dispatch in argument 2. It is known only of executables that are loaded.
pub(super) fn ordinal(call: &NativeCall<'_>) -> Result<u64, Status> {
    if let Some(foreign) = call.executable(1)?.foreign() {
        return Err(Status::unimplemented(format!(
            "the program names the dispatches of its executables of format '{}' by number, and so              bytecode cannot stand for them; compile it with iree-compile 3.13 or later, which              names them",
            foreign.format()
        )));
    }
    call.u32(2).map(u64::from)
}

pub(super) fn range(buffer: Option<&Buffer>, slot: u32, offset: u64, length: u64) -> BufferRange {
    let buffer = match buffer {
        Some(buffer) => BufferReference::Direct(buffer.clone()),
        None => BufferReference::Slot(slot),
    };
    BufferRange { buffer, offset, length }
}

fn fill_range(call: &NativeCall<'_>, pattern: u64) -> Result<(), Status> {
    let target = range(call.optional_buffer(1)?, call.u32(4)?, call.u64(2)?, call.u64(3)?);
    fill(call, target, pattern, call.u32(6)?)
}

/// Records a fill with the first `length` bytes of a pattern.
pub(super) fn fill(
    call: &NativeCall<'_>,
    target: BufferRange,
    pattern: u64,
    length: u32,
) -> Result<(), Status> {
    let pattern = pattern_bytes(pattern, length)?;
    call.command_buffer(0)?.record(Command::Fill { target, pattern }, call.caller())
}

/// The first bytes of a pattern.
pub(super) fn pattern_bytes(pattern: u64, length: u32) -> Result<Vec<u8>, Status> {
    let bytes = pattern.to_le_bytes();
    bytes.get(..length as usize).map(<[u8]>::to_vec).ok_or_else(|| {
        Status::invalid_argument(format!(
            "fill value length is not one of the supported values (pattern_length={length})"
        ))
    })
}

fn update(call: &NativeCall<'_>) -> Result<(), Status> {
    let length = call.u64(5)?;
    let target = range(call.optional_buffer(3)?, call.u32(6)?, call.u64(4)?, length);
    let bytes = host_bytes(call.bytes(1)?, call.u64(2)?, length)?;
    call.command_buffer(0)?.record(Command::Update { target, bytes }, call.caller())
}

/// A copy of a range of the VM's bytes.
pub(super) fn host_bytes(source: &vm::Buffer, offset: u64, length: u64) -> Result<Vec<u8>, Status> {
    let (offset, length) = (offset as usize, length as usize);
    Ok(source.subspan(offset, length)?.read(0, length))
}

fn copy(call: &NativeCall<'_>) -> Result<(), Status> {
    let length = call.u64(7)?;
    let source = range(call.optional_buffer(3)?, call.u32(1)?, call.u64(4)?, length);
    let target = range(call.optional_buffer(5)?, call.u32(2)?, call.u64(6)?, length);
    call.command_buffer(0)?.record(Command::Copy { source, target }, call.caller())
}

fn dispatch(call: &NativeCall<'_>, function: u64) -> Result<(), Status> {
    let count = [call.u32(3)?, call.u32(4)?, call.u32(5)?];
    record_dispatch(call, function, WorkgroupCount::Static(count), 7)
}

fn dispatch_indirect(call: &NativeCall<'_>, function: u64) -> Result<(), Status> {
    let count = range(call.optional_buffer(4)?, call.u32(3)?, call.u64(5)?, 12);
    record_dispatch(call, function, WorkgroupCount::Indirect(count), 7)
}

/// Records a dispatch whose constants are the span in argument `spans`, and whose bindings are the
/// next one.
fn record_dispatch(
    call: &NativeCall<'_>,
    function: u64,
    workgroups: WorkgroupCount,
    spans: usize,
) -> Result<(), Status> {
    let executable = call.executable(1)?.clone();
    let count = executable.exports().len();
    let export = usize::try_from(function).ok().filter(|export| *export < count);
    let export = export.ok_or_else(|| {
        Status::out_of_range(format!("function id {function} out of range (count: {count})"))
    })?;
    let constants = call.span(spans)?.map(|tuple| tuple.u32(0)).collect::<Result<_, _>>()?;
    let bindings = call.span(spans + 1)?;
    if bindings.len() > MAXIMUM_BINDINGS {
        return Err(Status::out_of_range(format!(
            "binding count {} > {MAXIMUM_BINDINGS}",
            bindings.len()
        )));
    }
    let bindings = bindings
        .map(|tuple| {
            Ok(range(tuple.optional_buffer(2)?, tuple.u32(1)?, tuple.u64(3)?, tuple.u64(4)?))
        })
        .collect::<Result<_, Status>>()?;
    let dispatch = DispatchCommand { executable, export, workgroups, constants, bindings };
    call.command_buffer(0)?.record(Command::Dispatch(dispatch), call.caller())
}

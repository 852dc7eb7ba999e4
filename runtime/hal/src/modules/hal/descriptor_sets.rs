//! Functions that only compilers of 2023 and early 2024 import: dispatches whose memory and
//! constants are pushed before them, and memory without queue affinities.

use std::sync::{MutexGuard, PoisonError};

use vm::{Arguments, NativeCall, NativeModuleBuilder, Ref, Status};

use super::allocator::{Import, parameters};
use super::channel::collectives;
use super::command_buffer::{fill, ordinal, range};
use super::executable::create_for_device;
use crate::commands::{
    BufferRange, Command, CommandBuffer, DescriptorSetLayout, DispatchCommand, PipelineLayout,
    Pushed, TableEntry, WorkgroupCount,
};
use crate::device::DeviceRef;
use crate::flags::{CommandBufferMode, CommandCategories};
use crate::host::Host;
use crate::memory::{Origin, WHOLE_BUFFER};
use crate::modules::arguments::HalArguments;

pub(super) fn declare(module: NativeModuleBuilder, host: &Host) -> NativeModuleBuilder {
    let module = declare_layouts(module);
    let module = declare_commands(module);
    let device = std::sync::Arc::new(DeviceRef(host.device().clone()));
    module
        .function("ex.shared_device", "0v_r", move |_| Ok(Ref::Object(device.clone())))
        .function("executable.create", "0rrrrCrD_r", |call| create_for_device(&call, 1))
        .function("allocator.allocate", "0riiI_r", |call| {
            let (parameters, length) = (parameters(&call, 1)?, call.u64(3)?);
            let allocator = call.allocator(0)?;
            allocator.allocate(parameters, length, Origin::Allocate, call.limits()).map(Ref::object)
        })
        .function("allocator.allocate.initialized", "0riirII_r", |call| {
            let (source, parameters) = (call.bytes(3)?, parameters(&call, 1)?);
            let (offset, length) = (call.u64(4)?, call.u64(5)?);
            let length = if length == WHOLE_BUFFER {
                (source.len() as u64).saturating_sub(offset)
            } else {
                length
            };
            let bytes = source.subspan(offset as usize, length as usize)?;
            let allocator = call.allocator(0)?;
            let buffer = allocator.allocate(parameters, length, Origin::Allocate, call.limits())?;
            buffer.storage().copy_from(0, &bytes, 0, bytes.len())?;
            Ok(Ref::object(buffer))
        })
        .function("allocator.map.byte_buffer", "0riiirII_r", |call| {
            Import { parameters: 2, source: 4 }.import(&call)
        })
}

fn declare_layouts(module: NativeModuleBuilder) -> NativeModuleBuilder {
    module
        .function("descriptor_set_layout.create", "0riCiiiD_r", |call| {
            call.device(0)?;
            let bindings = call.span(2)?.map(|tuple| tuple.u32(0)).collect::<Result<_, _>>()?;
            Ok(Ref::object(DescriptorSetLayout(bindings)))
        })
        .function("pipeline_layout.create", "0riCrD_r", |call| {
            call.device(0)?;
            let sets: Vec<DescriptorSetLayout> = call
                .span(2)?
                .map(|tuple| tuple.native(0, "hal.descriptor_set_layout").cloned())
                .collect::<Result<_, _>>()?;
            PipelineLayout::new(call.u32(1)? as usize, &sets).map(Ref::object)
        })
}

fn declare_commands(module: NativeModuleBuilder) -> NativeModuleBuilder {
    module
        .function("command_buffer.create", "0riii_r", |call| {
            call.device(0)?;
            let mode = CommandBufferMode(call.u32(1)?);
            let categories = CommandCategories(call.u32(2)?);
            let command_buffer = CommandBuffer::new(mode, categories, call.u32(3)? as usize)?;
            Ok(Ref::object(command_buffer))
        })
        .function("command_buffer.fill_buffer", "0rrIIii_v", |call| {
            let target = range(Some(call.hal_buffer(1)?), 0, call.u64(2)?, call.u64(3)?);
            fill(&call, target, call.u32(4)?.into(), call.u32(5)?)
        })
        .function("command_buffer.copy_buffer", "0rrIrII_v", |call| {
            let length = call.u64(5)?;
            let source = range(Some(call.hal_buffer(1)?), 0, call.u64(2)?, length);
            let target = range(Some(call.hal_buffer(3)?), 0, call.u64(4)?, length);
            call.command_buffer(0)?.record(Command::Copy { source, target }, call.caller())
        })
        .function("command_buffer.execute.commands", "0rrCrIID_v", |call| {
            let commands = call.command_buffer(1)?.commands()?.clone();
            let bindings = call.span(2)?.map(|tuple| {
                let (offset, length) = (tuple.u64(1)?, tuple.u64(2)?);
                let buffer = tuple.hal_buffer(0)?;
                let entry = TableEntry::new(Some(buffer.clone()), offset, length);
                Ok(range(Some(buffer), 0, offset, entry.length))
            });
            let bindings = bindings.collect::<Result<_, Status>>()?;
            call.command_buffer(0)?.record(Command::Execute { commands, bindings }, call.caller())
        })
        .function("command_buffer.collective", "0rriirIIrIII_v", |_| Err::<(), _>(collectives()))
        .function("command_buffer.push_constants", "0rriCiD_v", |call| {
            let constants: Vec<u32> =
                call.span(3)?.map(|tuple| tuple.u32(0)).collect::<Result<_, _>>()?;
            let layout = call.native(1, "hal.pipeline_layout")?;
            pushed(&call)?.push_constants(layout, call.u32(2)? as usize, &constants)
        })
        .function("command_buffer.push_descriptor_set", "0rriCiirIID_v", |call| {
            let bindings = call.span(3)?.map(|tuple| {
                let (buffer, slot) = (tuple.optional_buffer(2)?, tuple.u32(1)?);
                Ok((tuple.u32(0)?, range(buffer, slot, tuple.u64(3)?, tuple.u64(4)?)))
            });
            let bindings: Vec<(u32, BufferRange)> = bindings.collect::<Result<_, Status>>()?;
            let layout = call.native(1, "hal.pipeline_layout")?;
            pushed(&call)?.push_set(layout, call.u32(2)?, bindings);
            Ok(())
        })
        .function("command_buffer.dispatch", "0rriiii_v", |call| {
            let count = [call.u32(3)?, call.u32(4)?, call.u32(5)?];
            dispatch(&call, WorkgroupCount::Static(count))
        })
        .function("command_buffer.dispatch.indirect", "0rrirI_v", |call| {
            let count = range(Some(call.hal_buffer(3)?), 0, call.u64(4)?, 12);
            dispatch(&call, WorkgroupCount::Indirect(count))
        })
}

/// Everything that was pushed into the command buffer in argument 0.
fn pushed<'a>(call: &Arguments<'a>) -> Result<MutexGuard<'a, Pushed>, Status> {
    let command_buffer: &CommandBuffer = call.reference(0)?.downcast().ok_or_else(|| {
        Status::invalid_argument("argument 0 is no !hal.command_buffer to push anything into")
    })?;
    // The data is consistent at any time, so a panic in another thread does not spoil it.
    Ok(command_buffer.pushed().lock().unwrap_or_else(PoisonError::into_inner))
}

/// Records a dispatch of an export, with the pushed constants and bindings.
fn dispatch(call: &NativeCall<'_>, workgroups: WorkgroupCount) -> Result<(), Status> {
    let executable = call.executable(1)?.clone();
    let (export, count) = (ordinal(call)? as usize, executable.exports().len());
    if export >= count {
        return Err(Status::out_of_range(format!(
            "entry point ordinal {export} out of range (count: {count})"
        )));
    }
    let (constants, bindings) = pushed(call)?.of_dispatch()?;
    let constants = constants.into();
    let dispatch = DispatchCommand { executable, export, workgroups, constants, bindings };
    call.command_buffer(0)?.record(Command::Dispatch(dispatch), call.caller())
}

//! `hal.device.queue.*`: work for a device, ordered by fences.
//!
//! The first arguments of all of them are the device, the affinity, the fence to wait for and the
//! fence to signal.

use vm::{Arguments, IntoResults, NativeCall, NativeModuleBuilder, NativeReturn, Ref, Status};

use super::allocator::parameters;
use super::command_buffer::{host_bytes, pattern_bytes};
use crate::activities::QueueActivity;
use crate::commands::{BufferRange, BufferReference, Command, Commands, Execution, TableEntry};
use crate::flags::{CommandBufferMode, MemoryAccess};
use crate::host::Host;
use crate::memory::{Buffer, Origin};
use crate::modules::arguments::HalArguments;
use crate::scheduling::{Fence, Submission};

pub(super) fn declare(module: NativeModuleBuilder, _host: &Host) -> NativeModuleBuilder {
    let module = declare_memory(module);
    let module = declare_transfers(module);
    module
        .function("device.queue.barrier", "0rIrrI_v", |call| submit(&call, None))
        .function("device.queue.execute", "0rIrrrI_v", |call| execute(&call, Vec::new()))
        .function("device.queue.execute", "0rIrrCrD_v", |call| execute_many(&call))
        .function("device.queue.execute.indirect", "0rIrrrICrIID_v", |call| {
            execute(&call, table(&call, 6)?)
        })
        .function("device.queue.execute.indirect", "0rIrrrCrIID_v", |call| {
            execute(&call, table(&call, 5)?)
        })
        .function("device.queue.flush", "0rI_v", |call| call.device(0)?.pump())
}

fn declare_memory(mut module: NativeModuleBuilder) -> NativeModuleBuilder {
    module = module
        .function("device.queue.alloca", "0rIrrIiiII_r", |call| {
            let pool = call.i64(4)?;
            allocate(&call, pool)
        })
        .function("device.queue.alloca", "0rIrriiiI_r", |call| {
            let pool = call.i32(4)?.into();
            allocate(&call, pool)
        });
    for calling_convention in ["0rIrrrI_v", "0rIrrr_v"] {
        module = module.function("device.queue.dealloca", calling_convention, |call| {
            // Memory is freed with its last ref, which the program drops soon.
            call.hal_buffer(4)?;
            submit(&call, None)
        });
    }
    module
}

fn declare_transfers(mut module: NativeModuleBuilder) -> NativeModuleBuilder {
    module = module
        .function("device.queue.fill", "0rIrrrIIIiI_v", |call| {
            let target = range(call.hal_buffer(4)?, call.u64(5)?, call.u64(6)?);
            let pattern = pattern_bytes(call.u64(7)?, call.u32(8)?)?;
            submit(&call, Some(Command::Fill { target, pattern }))
        })
        .function("device.queue.update", "0rIrrrIrIII_v", |call| {
            let length = call.u64(8)?;
            let bytes = host_bytes(call.bytes(4)?, call.u64(5)?, length)?;
            let target = range(call.hal_buffer(6)?, call.u64(7)?, length);
            submit(&call, Some(Command::Update { target, bytes }))
        })
        .function("device.queue.copy", "0rIrrrIrIII_v", |call| {
            copy(&call, call.hal_buffer(4)?, call.hal_buffer(6)?)
        });
    for calling_convention in ["0rIrrrIrIII_v", "0rIrrrIrIIi_v"] {
        module = module
            .function("device.queue.read", calling_convention, |call| {
                let file = call.file(4)?;
                file.check_access(MemoryAccess::READ)?;
                copy(&call, file.contents(), call.hal_buffer(6)?)
            })
            .function("device.queue.write", calling_convention, |call| {
                let file = call.file(6)?;
                file.check_access(MemoryAccess::WRITE)?;
                copy(&call, call.hal_buffer(4)?, file.contents())
            });
    }
    module
}

fn range(buffer: &Buffer, offset: u64, length: u64) -> BufferRange {
    BufferRange { buffer: BufferReference::Direct(buffer.clone()), offset, length }
}

/// Copies between the buffers or files in arguments 4 and 6, each followed by its offset; the
/// length is argument 8.
fn copy(call: &NativeCall<'_>, source: &Buffer, target: &Buffer) -> Result<NativeReturn, Status> {
    let length = call.u64(8)?;
    let source = range(source, call.u64(5)?, length);
    let target = range(target, call.u64(7)?, length);
    submit(call, Some(Command::Copy { source, target }))
}

/// Transient memory. It is allocated at once, as everything that accesses it runs in the order of
/// submission.
fn allocate(call: &NativeCall<'_>, pool: i64) -> Result<Ref, Status> {
    if pool != 0 {
        return Err(Status::unimplemented("VM queue allocation pools are not supported"));
    }
    let device = call.device(0)?;
    let (parameters, length) = (parameters(call, 5)?, call.u64(7)?);
    let buffer = device.allocator().allocate(parameters, length, Origin::Alloca, call.limits())?;
    device.submit(submission(call, None)?)?;
    Ok(Ref::object(buffer))
}

/// Submits a command, or only the fences.
fn submit(call: &NativeCall<'_>, command: Option<Command>) -> Result<NativeReturn, Status> {
    let commands = command.map(|command| Commands::single(command, call.caller()));
    let work = commands.map(|commands| Execution::new(commands, Vec::new())).transpose()?;
    submit_work(call, work)
}

/// A submission of work, with the fences of a call.
fn submission(call: &Arguments<'_>, work: Option<Execution>) -> Result<Submission, Status> {
    let wait = match call.optional::<Fence>(2, "hal.fence")? {
        // Most fences are reached already, and need not be kept.
        Some(fence) if fence.is_reached() == Ok(true) => Fence::default(),
        fence => fence.cloned().unwrap_or_default(),
    };
    Ok(Submission { wait, signal: call.fence(3)?, work, is_late: false })
}

/// Submits work. If there is some, and the program is inspected, may be interrupted or has limits,
/// it is executed as an activity.
fn submit_work(call: &NativeCall<'_>, work: Option<Execution>) -> Result<NativeReturn, Status> {
    let device = call.device(0)?;
    let is_done_at_once = work.is_none() || call.is_left_alone();
    let submission = submission(call, work)?;
    if is_done_at_once {
        return device.submit(submission).map(IntoResults::into_results);
    }
    Ok(match device.queue().submit(submission) {
        Some(ready) => NativeReturn::Activity(Box::new(QueueActivity::new(device.clone(), ready))),
        None => ().into_results(),
    })
}

fn execute(call: &NativeCall<'_>, table: Vec<TableEntry>) -> Result<NativeReturn, Status> {
    let command_buffer = call.command_buffer(4)?;
    let is_inline = command_buffer.mode().contains(CommandBufferMode::ALLOW_INLINE_EXECUTION);
    if is_inline && !call.fence(2)?.points().is_empty() {
        return Err(Status::invalid_argument(
            "inline command buffer submitted with a wait; inline command buffers must be ready to \
             execute immediately",
        ));
    }
    submit_work(call, Some(Execution::new(command_buffer.commands()?.clone(), table)?))
}

/// Several command buffers, as compilers before 3.4 could submit them.
fn execute_many(call: &NativeCall<'_>) -> Result<NativeReturn, Status> {
    let commands = call
        .span(4)?
        .map(|tuple| {
            let commands = tuple.command_buffer(0)?.commands()?.clone();
            Ok(Command::Execute { commands, bindings: Vec::new() })
        })
        .collect::<Result<_, Status>>()?;
    let all = Commands { commands, ..Commands::default() };
    submit_work(call, Some(Execution::new(all.into(), Vec::new())?))
}

fn table(call: &Arguments<'_>, index: usize) -> Result<Vec<TableEntry>, Status> {
    call.span(index)?
        .map(|tuple| {
            let buffer = tuple.optional_buffer(0)?.cloned();
            Ok(TableEntry::new(buffer, tuple.u64(1)?, tuple.u64(2)?))
        })
        .collect()
}

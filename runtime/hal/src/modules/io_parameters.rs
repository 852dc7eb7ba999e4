//! The `io_parameters` module: programs load, gather and scatter parameters from archives.
//!
//! A batch names its parameters with three VM buffers:
//!
//! ```text
//! key table   u32 offset, u32 length       of each key in the key data
//! key data    text
//! spans       u64 offset in the parameter, u64 offset in the buffer, u64 length
//! ```
//!
//! A constant that is loaded as a whole becomes a view of the archive's memory. The device's queue
//! copies everything else when the batch's fence is reached.

use std::collections::HashMap;
use std::sync::Arc;

use vm::{Arguments, List, NativeCall, NativeModule, Ref, RefType, Status, Type, Value};

use super::arguments::HalArguments;
use crate::commands::{BufferRange, BufferReference, Command, Commands, Execution};
use crate::device::Device;
use crate::flags::{BufferUsage, MemoryAccess, MemoryType};
use crate::host::Host;
use crate::memory::{Buffer, BufferParameters, Origin};
use crate::parameters::{Contents, Entry, Index, Parameters, Splat};
use crate::scheduling::Submission;

/// The name that programs import from.
pub(super) const NAME: &str = "io_parameters";

/// The alignment that native code may assume of memory, in bytes.
const MAPPING_ALIGNMENT: usize = 64;

/// The parameters of buffers that share an archive's memory.
const MAPPED: BufferParameters = BufferParameters {
    memory_type: MemoryType::HOST_LOCAL,
    usage: BufferUsage::DEFAULT,
    access: MemoryAccess::READ,
};

/// The module, over the host's parameters.
pub(crate) fn module(host: &Host) -> NativeModule {
    let [for_load, for_gather, for_scatter] = [(); 3].map(|()| host.parameters().clone());
    NativeModule::builder(NAME)
        .function("load", "0rIrrrIiirrr_r", move |call| load(&call, &for_load))
        .function("gather", "0rIrrrrrrr_v", move |call| gather(&call, &for_gather))
        .function("scatter", "0rIrrrrrrr_v", move |call| scatter(&call, &for_scatter))
        .build()
}

/// Makes a buffer for each parameter.
fn load(call: &NativeCall<'_>, parameters: &Parameters) -> Result<Ref, Status> {
    let device = call.device(0)?;
    let index = scope(call, 4, parameters)?;
    let wanted = BufferParameters {
        memory_type: MemoryType(call.u32(6)?),
        usage: BufferUsage(call.u32(7)?),
        access: MemoryAccess::ALL,
    };
    let list = List::new(list_type(), call.limits());
    let mut commands = Vec::new();
    let requests = requests(call, 8, index)?;
    check_ends(&requests)?;
    for request in requests {
        let buffer = match request.mapped(device, wanted)? {
            Some(mapped) => mapped,
            None => {
                request.entry.check_range(request.parameter_offset, request.length)?;
                let allocator = device.allocator();
                let length = request.length;
                let buffer =
                    allocator.allocate(wanted, length, Origin::Parameter, call.limits())?;
                request.read_into(&buffer, &mut commands)?;
                buffer
            }
        };
        list.push(Value::Ref(Ref::object(buffer)))?;
    }
    submit(call, commands)?;
    Ok(Ref::List(Arc::new(list)))
}

/// Copies parameters into one buffer.
fn gather(call: &NativeCall<'_>, parameters: &Parameters) -> Result<(), Status> {
    let index = scope(call, 4, parameters)?;
    let target = call.hal_buffer(5)?;
    let mut commands = Vec::new();
    let requests = requests(call, 6, index)?;
    check_ends(&requests)?;
    for request in requests {
        request.read_into(target, &mut commands)?;
    }
    submit(call, commands)
}

/// Copies parts of one buffer into parameters. An error unless there is nothing to copy: archives
/// are read-only, as in IREE's tools.
fn scatter(call: &NativeCall<'_>, parameters: &Parameters) -> Result<(), Status> {
    call.hal_buffer(4)?;
    let index = scope(call, 5, parameters)?;
    if let Some(request) = requests(call, 6, index)?.first() {
        return Err(Status::permission_denied(format!(
            "parameter `{}` storage does not support the requested access type; parameter allows {}, operation \
             requires {}",
            request.entry.key,
            MemoryAccess::READ,
            MemoryAccess::WRITE,
        )));
    }
    submit(call, Vec::new())
}

fn list_type() -> Type {
    Type::Ref(RefType::Object("hal.buffer".into()))
}

/// The parameters of the scope that argument `index` names; null is the scope without a name.
fn scope<'p>(
    call: &Arguments<'_>,
    index: usize,
    parameters: &'p Parameters,
) -> Result<&'p Index, Status> {
    let name = if call.reference(index)?.is_null() { String::new() } else { call.text(index)? };
    parameters.scope(&name)
}

/// A parameter of a batch.
struct Request<'p> {
    entry: &'p Entry,
    parameter_offset: u64,
    buffer_offset: u64,
    length: u64,
}

/// The batch in the key table, key data and spans from argument `at` on.
fn requests<'p>(
    call: &Arguments<'_>,
    at: usize,
    index: &'p Index,
) -> Result<Vec<Request<'p>>, Status> {
    let (key_table, key_data, spans) = (call.bytes(at)?, call.bytes(at + 1)?, call.bytes(at + 2)?);
    if !spans.len().is_multiple_of(24) {
        return Err(Status::invalid_argument(format!(
            "spans have 24 bytes each; the buffer has {}",
            spans.len()
        )));
    }
    let count = spans.len() / 24;
    if key_table.len() < count * 8 {
        return Err(Status::invalid_argument(
            "key string table must have enough data to service all defined spans",
        ));
    }
    let (key_table, spans) = (key_table.read(0, count * 8), spans.read(0, count * 24));
    let requests = key_table.chunks_exact(8).zip(spans.chunks_exact(24)).map(|(key, span)| {
        let [offset, length] = [0, 4].map(|at| u32_at(key, at) as usize);
        let key = key_data.subspan(offset, length)?.read(0, length);
        let [parameter_offset, buffer_offset, length] = [0, 8, 16].map(|at| u64_at(span, at));
        let entry = index.find(&String::from_utf8_lossy(&key))?;
        Ok(Request { entry, parameter_offset, buffer_offset, length })
    });
    requests.collect()
}

/// Checks that a batch reads its parameters to their ends.
fn check_ends(requests: &[Request<'_>]) -> Result<(), Status> {
    let mut ends: HashMap<&str, u64> = HashMap::new();
    for request in requests {
        let end = ends.entry(&request.entry.key).or_default();
        *end = (*end).max(request.parameter_offset.saturating_add(request.length));
    }
    let mut requests = requests.iter().filter(|request| request.entry.stated_type().is_some());
    requests.try_for_each(|request| {
        request.entry.check_end(ends.get(&*request.entry.key).copied().unwrap_or_default())
    })
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

impl Request<'_> {
    /// The parameter as a view of the archive, if the program will not change it, and it is aligned
    /// as native code expects.
    fn mapped(&self, device: &Device, wanted: BufferParameters) -> Result<Option<Buffer>, Status> {
        let is_constant = wanted.usage.contains(BufferUsage::SHARING_IMMUTABLE);
        if !is_constant || self.buffer_offset != 0 {
            return Ok(None);
        }
        let mapped = self.entry.mapped(self.parameter_offset, self.length)?;
        let aligned =
            mapped.filter(|buffer| buffer.address().addr().is_multiple_of(MAPPING_ALIGNMENT));
        let wanted = BufferParameters { access: MemoryAccess::READ, ..wanted };
        Ok(aligned
            .map(|buffer| device.allocator().wrap(Arc::new(buffer), wanted, Origin::Parameter)))
    }

    /// Adds the commands that write the parameter into `target`.
    fn read_into(&self, target: &Buffer, commands: &mut Vec<Command>) -> Result<(), Status> {
        target.range(self.buffer_offset, self.length)?;
        let target = |offset: u64, length: u64| range(target, self.buffer_offset + offset, length);
        if self.length == 0 {
            return self.entry.check_range(self.parameter_offset, 0);
        }
        if let Some(mapped) = self.entry.mapped(self.parameter_offset, self.length)? {
            let source = Buffer::new(Arc::new(mapped), MAPPED);
            commands.push(Command::Copy {
                source: range(&source, 0, self.length),
                target: target(0, self.length),
            });
        } else if let Contents::Splat(splat) = &self.entry.contents {
            self.splat_into(*splat, target, commands);
        }
        Ok(())
    }

    /// Adds the commands that repeat the pattern.
    fn splat_into(
        &self,
        splat: Splat,
        target: impl Fn(u64, u64) -> BufferRange,
        commands: &mut Vec<Command>,
    ) {
        let mut pattern = splat.pattern().to_vec();
        let unit = pattern.len() as u64;
        pattern.rotate_left((self.parameter_offset % unit) as usize);
        let is_aligned =
            self.buffer_offset.is_multiple_of(unit) && self.length.is_multiple_of(unit);
        if unit <= 8 && is_aligned {
            return commands.push(Command::Fill { target: target(0, self.length), pattern });
        }
        // The device fills with patterns of up to 8 bytes only. So the pattern is written once,
        // then doubled.
        pattern.truncate(usize::try_from(self.length).unwrap_or(usize::MAX));
        let mut done = pattern.len() as u64;
        commands.push(Command::Update { target: target(0, done), bytes: pattern });
        while done < self.length {
            let length = done.min(self.length - done);
            commands
                .push(Command::Copy { source: target(0, length), target: target(done, length) });
            done += length;
        }
    }
}

fn range(buffer: &Buffer, offset: u64, length: u64) -> BufferRange {
    BufferRange { buffer: BufferReference::Direct(buffer.clone()), offset, length }
}

/// Submits the batch between its fences.
fn submit(call: &Arguments<'_>, commands: Vec<Command>) -> Result<(), Status> {
    let commands = Commands { commands, ..Commands::default() };
    let work = Some(Execution::new(Arc::new(commands), Vec::new())?);
    let (wait, signal) = (call.fence(2)?, call.fence(3)?);
    call.device(0)?.submit(Submission { wait, signal, work, is_late: false })
}

//! `hal.executable.*`: loading compiled dispatches, and finding functions in them.

use std::sync::Arc;

use vm::{Arguments, IntoResults, NativeCall, NativeModuleBuilder, NativeReturn, Ref, Status};

use crate::activities::CreateExecutable;
use crate::executables::{
    self, Executable, ExecutableRef, Foreign, MachineCode, RecordedExecutable,
};
use crate::host::Host;
use crate::modules::arguments::HalArguments;
use crate::results::digest_of;

pub(super) fn declare(module: NativeModuleBuilder, _host: &Host) -> NativeModuleBuilder {
    module
        .function("executable.create", "0rIrrr_r", |call| create_for_device(&call, 2))
        .function("executable.create", "0rrrr_r", |call| create_for_device(&call, 1))
        .function("executable.lookup.function", "0rr_I", |call| lookup_function(&call))
}

/// The number of the export of the executable in argument 0 that has the name in argument 1.
pub(in crate::modules) fn lookup_function(call: &Arguments<'_>) -> Result<i64, Status> {
    let name = call.text(1)?;
    let exports = call.executable(0)?.exports();
    let found = exports.iter().position(|export| export.name == name);
    found.map(|index| index as i64).ok_or_else(|| {
        let names: Vec<&str> = exports.iter().map(|export| export.name.as_str()).collect();
        Status::not_found(format!(
            "export '{name}' not found in library; it has: {}",
            names.join(", ")
        ))
    })
}

/// Loads an executable: the format is argument `format`, data and constants are the next two.
fn load(
    call: &NativeCall<'_>,
    format: usize,
    machine_code: &MachineCode,
) -> Result<Loaded, Status> {
    let name = call.text(format)?;
    let data = call.bytes(format + 1)?;
    let constants = match call.reference(format + 2)? {
        Ref::Buffer(buffer) => buffer.read(0, buffer.len()),
        _ => Vec::new(),
    };
    if !constants.len().is_multiple_of(4) {
        return Err(Status::invalid_argument(format!(
            "constant buffer data must contain 4-byte elements but data length is {}",
            constants.len()
        )));
    }
    let constants: Vec<u32> =
        constants.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    let executable = executables::load(&name, data, &constants, machine_code, call.limits())?;
    Ok(Loaded { executable, constants, data: data.clone() })
}

/// A loaded executable with its constants and data.
struct Loaded {
    executable: Arc<dyn Executable>,
    constants: Vec<u32>,
    data: Arc<vm::Buffer>,
}

/// Creates an executable for programs that run its dispatches themselves.
pub(in crate::modules) fn create(
    call: &NativeCall<'_>,
    format: usize,
    machine_code: &MachineCode,
) -> Result<Ref, Status> {
    load(call, format, machine_code).map(|loaded| Ref::object(ExecutableRef(loaded.executable)))
}

/// Creates an executable for a device. If the program is inspected, the device records the
/// executable's module.
pub(super) fn create_for_device(
    call: &NativeCall<'_>,
    format: usize,
) -> Result<NativeReturn, Status> {
    let device = call.device(0)?;
    if let Some(stand_ins) = device.stand_ins() {
        let name = call.text(format)?;
        if device.stands_for(&name) {
            let executable = Arc::new(Foreign::new(name, stand_ins.clone()));
            return Ok(Ref::object(ExecutableRef(executable)).into_results());
        }
    }
    if let Some(results) = device.history().results() {
        let name = call.text(format)?;
        if let Some(exports) = results.exports(&name, digest_of(call.bytes(format + 1)?)) {
            let executable = Arc::new(RecordedExecutable::new(name, exports));
            return Ok(Ref::object(ExecutableRef(executable)).into_results());
        }
    }
    let Loaded { executable, constants, data } = load(call, format, device.machine_code())?;
    if executable.bytecode().is_none() {
        if let Some(sink) = device.history().sink() {
            sink.loaded(executable.format(), digest_of(&data), executable.exports());
        }
        return Ok(Ref::object(ExecutableRef(executable)).into_results());
    }
    let create = CreateExecutable::new(device.clone(), executable, constants, Ref::Buffer(data));
    Ok(NativeReturn::Activity(Box::new(create)))
}

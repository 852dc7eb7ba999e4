//! `hal.executable.*`: loading compiled dispatches, and finding functions in them.

use vm::{Arguments, NativeModuleBuilder, Ref, Status};

use crate::executable::{self, ExecutableRef, NativeCode};
use crate::modules::Host;
use crate::modules::arguments::HalArguments;

pub(super) fn declare(module: NativeModuleBuilder, _host: &Host) -> NativeModuleBuilder {
    module
        .function("executable.create", "0rIrrr_r", |call| {
            create(&call, 2, call.device(0)?.native_code())
        })
        .function("executable.create", "0rrrr_r", |call| {
            create(&call, 1, call.device(0)?.native_code())
        })
        .function("executable.lookup.function", "0rr_I", |call| lookup_function(&call))
}

/// The number of the export that argument 1 names in the executable that argument 0 is.
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

/// Loads an executable whose format is argument `format`, with data and constants behind it.
pub(in crate::modules) fn create(
    call: &Arguments<'_>,
    format: usize,
    native_code: NativeCode,
) -> Result<Ref, Status> {
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
    let loaded = executable::load(&name, data, &constants, native_code)?;
    Ok(Ref::object(ExecutableRef(loaded)))
}

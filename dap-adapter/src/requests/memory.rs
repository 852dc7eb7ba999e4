//! Bytes of memory: `readMemory`, `writeMemory`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dap::requests::{ReadMemoryArguments, WriteMemoryArguments};
use serde_json::{Value, json};

use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::protocol::{Request, RequestError};
use crate::to_dap;

/// The most bytes in one answer. Views ask for 128 kB.
const MAX_BYTES: usize = 16 * 1024 * 1024;

pub(super) fn read_memory(
    debuggee: &mut Debuggee,
    _client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: ReadMemoryArguments = request.arguments()?;
    let (memory, start, moved) = debuggee.values.memory.open(&arguments.memory_reference)?;
    if !memory.is_there() {
        return Err(RequestError::failed(format!(
            "the program does not have the memory {} now: it has released it, or stands before it \
             makes it",
            arguments.memory_reference
        )));
    }
    let offset = moved.saturating_add(arguments.offset.unwrap_or(0));
    let asked = to_dap::count(Some(arguments.count));
    let (missing, bytes) = memory.read(offset, asked.min(MAX_BYTES));
    let first = i128::from(offset) + missing as i128;
    let address = start.wrapping_add_signed(i64::try_from(first).unwrap_or(i64::MAX));
    let mut body = json!({ "address": format!("{address:#x}") });
    let unreadable = asked - missing - bytes.len();
    if unreadable > 0 {
        body["unreadableBytes"] = unreadable.min(i32::MAX as usize).into();
    }
    if !bytes.is_empty() {
        body["data"] = STANDARD.encode(bytes).into();
    }
    Ok(body)
}

pub(super) fn write_memory(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: WriteMemoryArguments = request.arguments()?;
    let (memory, _, moved) = debuggee.values.memory.open(&arguments.memory_reference)?;
    let bytes = STANDARD
        .decode(&arguments.data)
        .map_err(|error| RequestError::malformed(format!("`data` is not base64: {error}")))?;
    let given = arguments.offset.unwrap_or(0);
    let offset = moved.saturating_add(given);
    let room = i64::try_from(memory.len()).unwrap_or(i64::MAX).saturating_sub(offset).max(0);
    let fitting = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
    if fitting < bytes.len() && arguments.allow_partial != Some(true) {
        let length = bytes.len();
        return Err(RequestError::failed(format!(
            "{length} bytes do not fit at {offset}: the memory has {}",
            memory.len()
        )));
    }
    let written = debuggee.debugger.write_memory(&memory, offset, &bytes[..fitting]);
    written.map_err(RequestError::because)?;
    debuggee.values_changed(client, Some((arguments.memory_reference, given, fitting)));
    Ok(json!({ "offset": 0, "bytesWritten": fitting }))
}

//! Breakpoints on data: `dataBreakpointInfo`, `setDataBreakpoints`.

use dap::requests::SetDataBreakpointsArguments;
use dap::types::DataBreakpointAccessType;
use debug::{BreakpointSpec, DataAccess, WatchTarget};
use serde::Deserialize;
use serde_json::{Value, json};

use super::breakpoints::{Impossible, replace, with_options};
use crate::client::Client;
use crate::debuggee::{Debuggee, Owner};
use crate::protocol::{BreakpointsBody, Request, RequestError, body};
use crate::references::parse_address;

/// How many bytes are watched at an address if the request does not say: the size of a pointer and
/// of the widest number.
const BYTES_AT_ADDRESS: usize = 8;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InfoArguments {
    name: String,
    #[serde(default)]
    variables_reference: Option<i64>,
    #[serde(default)]
    frame_id: Option<i64>,
    #[serde(default)]
    bytes: Option<i64>,
    #[serde(default)]
    as_address: Option<bool>,
}

/// Whether a value or a range of memory can be watched, and its `dataId`.
pub(super) fn data_breakpoint_info(
    debuggee: &mut Debuggee,
    _client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    match target(debuggee, &request.arguments()?) {
        Ok(target) => {
            let description = target.name.clone();
            let data_id = debuggee.data_ids.id(target);
            Ok(json!({
                "dataId": data_id,
                "description": description,
                "accessTypes": ["read", "write", "readWrite"],
                "canPersist": false,
            }))
        }
        Err(error) => Ok(json!({"dataId": null, "description": error.text})),
    }
}

fn target(debuggee: &Debuggee, arguments: &InfoArguments) -> Result<WatchTarget, RequestError> {
    let bytes = arguments.bytes.map(|bytes| {
        usize::try_from(bytes)
            .map_err(|_| RequestError::failed(format!("{bytes} bytes cannot be watched")))
    });
    let bytes = bytes.transpose()?;
    if arguments.as_address == Some(true) {
        return at_address(debuggee, &arguments.name, bytes);
    }
    let container = arguments.variables_reference.filter(|reference| *reference != 0);
    let (frame, expression) = match container {
        Some(container) => debuggee.expression_of(container, &arguments.name)?,
        None => (debuggee.frame_or_innermost(arguments.frame_id)?, arguments.name.clone()),
    };
    let target = match bytes {
        Some(bytes) => debuggee.debugger.machine().watch_bytes(frame, &expression, bytes),
        None => debuggee.debugger.machine().watch_target(frame, &expression),
    };
    // A view may show the value by another name than the expression.
    let is_value = container.is_some() && bytes.is_none() && arguments.name.starts_with('%');
    let target = target.map_err(RequestError::because)?;
    Ok(if is_value { target.called(&arguments.name) } else { target })
}

/// Memory at an address: memory that the client was shown, or that the stopped program holds.
fn at_address(
    debuggee: &Debuggee,
    name: &str,
    bytes: Option<usize>,
) -> Result<WatchTarget, RequestError> {
    let address = parse_address(name.trim())
        .ok_or_else(|| RequestError::failed(format!("{name:?} is no address")))?;
    let found = debuggee.values.memory.at(address);
    let found = found.or_else(|| debuggee.debugger.machine().memory_at(address));
    let (memory, offset) = found.ok_or_else(|| {
        RequestError::failed(format!("{address:#x} is in no memory that the program has now"))
    })?;
    let bytes = bytes.unwrap_or(BYTES_AT_ADDRESS.min(memory.len() - offset));
    debuggee.debugger.machine().watch_memory(&memory, offset, bytes).map_err(RequestError::because)
}

/// Sets breakpoints on data. The access type `write` stops at changes: editors call it that way,
/// and their users look for changes.
pub(super) fn set_data_breakpoints(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: SetDataBreakpointsArguments = request.arguments()?;
    let wanted = arguments
        .breakpoints
        .into_iter()
        .map(|it| {
            let target = debuggee
                .data_ids
                .target(&it.data_id)
                .ok_or_else(|| Impossible::NoData(it.data_id.clone()))?;
            let access = match it.access_type {
                Some(DataBreakpointAccessType::Read) => DataAccess::Read,
                Some(DataBreakpointAccessType::ReadWrite) => DataAccess::ReadWrite,
                Some(DataBreakpointAccessType::Write) | None => DataAccess::Change,
            };
            let spec = BreakpointSpec::Data { target, access };
            with_options(spec, it.condition, it.hit_condition.as_deref(), None)
        })
        .collect();
    let breakpoints = replace(debuggee, client, Owner::Data, wanted);
    breakpoints.iter().for_each(|breakpoint| debuggee.breakpoints.report(breakpoint));
    body(BreakpointsBody { breakpoints })
}

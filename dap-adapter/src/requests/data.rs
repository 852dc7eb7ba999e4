//! Stops where data is used: `dataBreakpointInfo`, `setDataBreakpoints`.

use dap::requests::SetDataBreakpointsArguments;
use dap::types::DataBreakpointAccessType;
use debug::{BreakpointSpec, DataAccess, WatchTarget};
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments;
use super::breakpoints::{refined, replace, report};
use crate::client::Client;
use crate::debuggee::{Debuggee, Owner};
use crate::error::RequestError;
use crate::memories;
use crate::protocol::{BreakpointsBody, Request};
use crate::session::body;

/// How much is watched at an address if nobody says how much: what a pointer or the widest number
/// takes.
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

/// Whether a value or a range of memory can be watched, and by which name.
pub(super) fn data_breakpoint_info(
    debuggee: &mut Debuggee,
    _client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    match target(debuggee, &arguments(request)?) {
        Ok(target) => {
            let description = target.name.clone();
            let data_id = debuggee.watched.name(target);
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
        Some(bytes) => debuggee.debugger.watch_bytes(frame, &expression, bytes),
        None => debuggee.debugger.watch_target(frame, &expression),
    };
    // A view may know the value by another name than expressions do.
    let is_value = container.is_some() && bytes.is_none() && arguments.name.starts_with('%');
    let target = target.map_err(RequestError::failed)?;
    Ok(if is_value { target.called(&arguments.name) } else { target })
}

/// Memory by its address: what the client was shown, or what the stopped program holds.
fn at_address(
    debuggee: &Debuggee,
    name: &str,
    bytes: Option<usize>,
) -> Result<WatchTarget, RequestError> {
    let address = memories::parse(name.trim())
        .ok_or_else(|| RequestError::failed(format!("{name:?} is no address")))?;
    let known = debuggee.memories.at(address);
    let known = known.or_else(|| debuggee.debugger.memory_at(address));
    let (memory, offset) = known.ok_or_else(|| {
        RequestError::failed(format!("{address:#x} is in no memory that the program has now"))
    })?;
    let bytes = bytes.unwrap_or(BYTES_AT_ADDRESS.min(memory.len() - offset));
    debuggee.debugger.watch_memory(&memory, offset, bytes).map_err(RequestError::failed)
}

/// A `write` is a change: that is what editors call it, and what people want to know of.
pub(super) fn set_data_breakpoints(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: SetDataBreakpointsArguments = arguments(request)?;
    let wanted = arguments
        .breakpoints
        .into_iter()
        .map(|it| {
            let target = debuggee.watched.target(&it.data_id).ok_or_else(|| {
                format!("{:?} is no data of this program; ask for it again", it.data_id)
            })?;
            let access = match it.access_type {
                Some(DataBreakpointAccessType::Read) => DataAccess::Read,
                Some(DataBreakpointAccessType::ReadWrite) => DataAccess::ReadWrite,
                Some(DataBreakpointAccessType::Write) | None => DataAccess::Change,
            };
            let spec = BreakpointSpec::Data { target, access };
            refined(spec, it.condition, it.hit_condition.as_deref(), None)
        })
        .collect();
    let breakpoints = replace(debuggee, client, Owner::Data, wanted);
    breakpoints.iter().for_each(|breakpoint| report(debuggee, breakpoint));
    body(BreakpointsBody { breakpoints })
}

//! The model: `iree/dispatches` and `iree/tensors`, which the protocol does not have.

use serde::Deserialize;
use serde_json::{Value, json};

use commands::{TensorRow, dispatch_data};

use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::protocol::{Request, RequestError};

/// The arguments of `iree/tensors`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TensorsArguments {
    /// The frame in whose function tensors are named.
    frame_id: i64,
}

/// The dispatches that the program records, in its order.
pub(super) fn dispatches(
    debuggee: &mut Debuggee,
    _client: &Client,
    _request: &Request,
) -> Result<Value, RequestError> {
    let entries = debuggee.debugger.machine().dispatch_list();
    Ok(json!({ "dispatches": entries.iter().map(dispatch_data).collect::<Vec<_>>() }))
}

/// The tensors that the dispatches of a frame's function leave, with statistics.
pub(super) fn tensors(
    debuggee: &mut Debuggee,
    _client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: TensorsArguments = request.arguments()?;
    let frame = debuggee.frame(arguments.frame_id)?;
    let entries = debuggee.debugger.machine().tensor_list(frame);
    let rows = entries.iter().map(|entry| TensorRow::of(entry).data);
    Ok(json!({ "tensors": rows.collect::<Vec<_>>() }))
}

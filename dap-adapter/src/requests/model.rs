//! The model: `iree/dispatches`, `iree/tensors`, `iree/evidence`, `iree/why` and `iree/runMap`,
//! requests of our own.

use serde::Deserialize;
use serde_json::{Value, json};

use commands::{TensorRow, dispatch_data, evidence_data, why_data};

use debug::{Debugger, RanCommand};

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

/// The arguments of `iree/evidence`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EvidenceArguments {
    /// The name of the source, of the framework, or of a global.
    name: String,
    /// The frame in which it is looked up, by default the innermost.
    frame_id: Option<i64>,
}

/// Why a name has its value.
pub(super) fn evidence(
    debuggee: &mut Debuggee,
    _client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: EvidenceArguments = request.arguments()?;
    let frame = debuggee.frame_or_innermost(arguments.frame_id)?;
    let told = evidence_data(debuggee.debugger.machine(), frame, &arguments.name);
    told.map_err(RequestError::because)
}

/// The arguments of `iree/why`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WhyArguments {
    /// A tensor or an element, as the command `why` takes it: `%y[0, 3]`, `nan %y`.
    of: String,
    /// The frame in which it is looked up, by default the innermost.
    frame_id: Option<i64>,
}

/// Where a NaN or an infinity began, or what a number is made of.
pub(super) fn why(
    debuggee: &mut Debuggee,
    _client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: WhyArguments = request.arguments()?;
    let frame = debuggee.frame_or_innermost(arguments.frame_id)?;
    let told = why_data(debuggee.debugger.machine(), frame, &arguments.of);
    told.map_err(RequestError::because)
}

/// The format of the answer to `iree/runMap`.
const RUN_MAP_FORMAT: u32 = 1;

/// The most commands in an answer.
const MOST_COMMANDS: usize = 1 << 14;

/// The arguments of `iree/runMap`.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct RunMapArguments {
    /// Whether the client hears of every later stop by an event with the same body.
    subscribe: Option<bool>,
    /// Commands up to this one are known to the client.
    after: u64,
}

/// What has run so far.
pub(super) fn run_map(
    debuggee: &mut Debuggee,
    _client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: RunMapArguments = request.arguments()?;
    if let Some(subscribe) = arguments.subscribe {
        debuggee.tells_run_map = subscribe;
    }
    Ok(run_map_of(&debuggee.debugger, arguments.after))
}

/// What a program has run so far, with its commands after number `after`.
pub(crate) fn run_map_of(debugger: &Debugger, after: u64) -> Value {
    let map = debugger.machine().run_map(MOST_COMMANDS);
    let nanoseconds = |it: std::time::Duration| u64::try_from(it.as_nanos()).unwrap_or(u64::MAX);
    let dispatches = map.dispatches.iter().map(|it| {
        let found = it.numbers.as_ref();
        json!({
            "id": it.operation.map(debug::node_id),
            "export": it.export,
            "file": it.source.as_ref().map(|at| &at.file),
            "path": it.source.as_ref().and_then(|at| at.path.as_ref()),
            "line": it.source.as_ref().map(|at| at.line),
            "runs": it.runs.map_or(0, |runs| runs.count),
            "firstCommand": it.runs.map(|runs| runs.first),
            "lastCommand": it.runs.map(|runs| runs.last),
            "took": it.runs.map(|runs| nanoseconds(runs.took)),
            "isCurrent": it.is_current,
            "nans": found.map(|it| it.nans),
            "infinities": found.map(|it| it.infinities),
        })
    });
    let command = |it: &RanCommand| {
        json!({
            "number": it.number,
            "kind": it.kind,
            "dispatch": it.dispatch,
            "start": nanoseconds(it.timing.start),
            "took": nanoseconds(it.timing.took),
            "hasStood": it.timing.has_stood,
        })
    };
    json!({
        "version": RUN_MAP_FORMAT,
        "total": map.total,
        "isRecorded": debugger.record_state().is_some(),
        "dispatches": dispatches.collect::<Vec<_>>(),
        "commands": map.commands.iter().filter(|it| it.number > after).map(command)
            .collect::<Vec<_>>(),
    })
}

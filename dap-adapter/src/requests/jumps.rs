//! Continuing elsewhere: `stepInTargets`, `gotoTargets`, `goto`, `restartFrame`.

use dap::requests::{GotoArguments, RestartFrameArguments, StepInTargetsArguments};
use debug::BreakpointSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use super::action::Moved;
use crate::client::Client;
use crate::debuggee::{Debuggee, Target};
use crate::protocol::{Request, RequestError, Source};
use crate::references::SourceKey;

/// The calls on the frame's line, as targets for `stepIn`.
pub(super) fn step_in_targets(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: StepInTargetsArguments = request.arguments()?;
    let frame = debuggee.frame(arguments.frame_id)?;
    let found = debuggee.debugger.machine().step_in_targets(frame);
    let targets = found.into_iter().map(|target| {
        let id = debuggee.targets.insert(Target::Call(target.call));
        let mut shown = json!({"id": id, "label": target.label});
        if let Some(at) = target.source {
            shown["line"] = client.line(at.line).into();
            shown["column"] = client.column(at.column).into();
        }
        shown
    });
    Ok(json!({ "targets": targets.collect::<Vec<Value>>() }))
}

/// The instructions of a line that the innermost frame can continue at, as targets for `goto`.
pub(super) fn goto_targets(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    #[derive(Deserialize)]
    struct Arguments {
        source: Source,
        line: i64,
        #[serde(default)]
        column: Option<i64>,
    }
    let arguments: Arguments = request.arguments()?;
    let line = client.line_from(arguments.line);
    let column = client.column_if_any(arguments.column);
    let Debuggee { debugger, sources, targets, .. } = debuggee;
    let spec = match sources.identify(&arguments.source, debugger, client) {
        SourceKey::File(file) => BreakpointSpec::Line { file, line, column },
        SourceKey::Listing(module) => BreakpointSpec::ListingLine { module, line },
        SourceKey::Unknown(name) => {
            return Err(RequestError::failed(format!("{name} is no source of the program")));
        }
    };
    let level = spec.level(debugger.program(), debugger.machine().level());
    let asked = spec.resolve(debugger.program());
    let is_listing = matches!(spec, BreakpointSpec::ListingLine { .. });
    let found = debugger.goto_targets(&spec).map_err(RequestError::because)?;
    let targets = found.into_iter().map(|position| {
        let name = debugger.program().function_label(position.function);
        let source = debugger.program().source_line_at(level, position).filter(|_| !is_listing);
        // The code of an inlined call is on other lines too.
        let at = asked.line.or_else(|| source.as_ref().map(|at| at.line));
        let at = at.or_else(|| debugger.program().listing_line(position));
        let mut shown = json!({
            "id": targets.insert(Target::Place(position)),
            "label": format!("{name} {}", position.offset),
            "line": client.line(at.unwrap_or(line)),
        });
        let own = source.filter(|source| Some(source.line) == at).map(|source| source.column);
        if let Some(column) = asked.column.or(own) {
            shown["column"] = client.column(column).into();
        }
        if let Some(address) = debugger.program().linear(position) {
            shown["instructionPointerReference"] = address.to_string().into();
        }
        shown
    });
    Ok(json!({ "targets": targets.collect::<Vec<Value>>() }))
}

/// Makes the innermost frame continue elsewhere. Nothing runs, and the client sees a new stop.
pub(super) fn goto(debuggee: &mut Debuggee, request: &Request) -> Result<Moved, RequestError> {
    let arguments: GotoArguments = request.arguments()?;
    let Some(Target::Place(target)) = debuggee.targets.get(arguments.target_id) else {
        let target = arguments.target_id;
        let error = format!("target {target} is not of this stop, or no place; ask for targets");
        return Err(RequestError::stale(error));
    };
    debuggee.debugger.jump(*target).map_err(RequestError::because)?;
    Ok(Moved::Elsewhere)
}

/// Starts a frame again from its beginning, without the frames inside it.
pub(super) fn restart_frame(
    debuggee: &mut Debuggee,
    request: &Request,
) -> Result<Moved, RequestError> {
    let arguments: RestartFrameArguments = request.arguments()?;
    let frame = debuggee.frame(arguments.frame_id)?;
    if frame.calls.is_some_and(|calls| calls > 0) {
        let what = "an inlined call has no arguments to start again with";
        return Err(RequestError::failed(what));
    }
    let reason = debuggee.debugger.restart_frame(frame.index).map_err(RequestError::because)?;
    Ok(Moved::Ran(reason))
}

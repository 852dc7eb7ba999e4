//! Setting values: `setVariable`, `setExpression`.

use dap::requests::{SetExpressionArguments, SetVariableArguments};
use debug::FrameId;
use serde_json::Value;

use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::protocol::{Answer, Format, Request, RequestError, body};
use crate::references::Parent;
use crate::to_dap;

pub(super) fn set_variable(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: SetVariableArguments = request.arguments()?;
    let (frame, target) = debuggee.expression_of(arguments.variables_reference, &arguments.name)?;
    assign(debuggee, client, frame, &target, &arguments.value, arguments.format.into())
}

pub(super) fn set_expression(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: SetExpressionArguments = request.arguments()?;
    let frame = debuggee.frame_or_innermost(arguments.frame_id)?;
    let SetExpressionArguments { expression, value, format, .. } = arguments;
    assign(debuggee, client, frame, &expression, &value, format.into())
}

/// Sets a value. Other values may depend on it, so the client has to ask for all of them again.
fn assign(
    debuggee: &mut Debuggee,
    client: &Client,
    frame: FrameId,
    target: &str,
    value: &str,
    format: Format,
) -> Result<Value, RequestError> {
    let assigned = debuggee.debugger.assign(frame, target, value);
    let assigned = assigned.map_err(RequestError::because)?;
    let parent = Parent { frame, expression: None };
    let shown = to_dap::variable(
        to_dap::formatted(assigned, format),
        &parent,
        &mut debuggee.values,
        client,
    );
    debuggee.values_changed(client, None);
    body(Answer::value(shown))
}

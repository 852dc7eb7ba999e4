//! Giving values to what is shown: `setVariable`, `setExpression`.

use dap::requests::{SetExpressionArguments, SetVariableArguments};
use debug::FrameId;
use serde_json::Value;

use super::arguments;
use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::error::RequestError;
use crate::protocol::{Answer, Format, Request};
use crate::session::body;
use crate::to_dap::{self, Parent};

pub(super) fn set_variable(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: SetVariableArguments = arguments(request)?;
    let (frame, target) = debuggee.expression_of(arguments.variables_reference, &arguments.name)?;
    assign(debuggee, client, frame, &target, &arguments.value, arguments.format.into())
}

pub(super) fn set_expression(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: SetExpressionArguments = arguments(request)?;
    let frame = debuggee.frame_or_innermost(arguments.frame_id)?;
    let SetExpressionArguments { expression, value, format, .. } = arguments;
    assign(debuggee, client, frame, &expression, &value, format.into())
}

/// Sets a value. Others may depend on it, so the client is told to ask for all again.
fn assign(
    debuggee: &mut Debuggee,
    client: &Client,
    frame: FrameId,
    target: &str,
    value: &str,
    format: Format,
) -> Result<Value, RequestError> {
    let assigned = debuggee.debugger.assign(frame, target, value);
    let assigned = assigned.map_err(|error| RequestError::failed(error.to_string()))?;
    let parent = Parent { frame, expression: None };
    let shown = to_dap::variable(format.apply(assigned), &parent, debuggee, client);
    debuggee.changed(client, None);
    body(Answer::value(shown))
}

//! Giving values to what is shown: `setVariable`, `setExpression`.

use dap::requests::{SetExpressionArguments, SetVariableArguments};
use debug::FrameIndex;
use serde_json::Value;

use super::arguments;
use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::error::RequestError;
use crate::protocol::{Answer, Request};
use crate::session::body;
use crate::to_dap::{self, Parent};

pub(super) fn set_variable(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: SetVariableArguments = arguments(request)?;
    let (frame, target) = debuggee.expression_of(arguments.variables_reference, &arguments.name)?;
    assign(debuggee, client, frame, &target, &arguments.value)
}

pub(super) fn set_expression(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: SetExpressionArguments = arguments(request)?;
    let frame = debuggee.frame_or_innermost(arguments.frame_id)?;
    assign(debuggee, client, frame, &arguments.expression, &arguments.value)
}

/// Sets a value. Others may depend on it, so the client is told to ask for all again.
fn assign(
    debuggee: &mut Debuggee,
    client: &Client,
    frame: FrameIndex,
    target: &str,
    value: &str,
) -> Result<Value, RequestError> {
    let assigned = debuggee.debugger.assign(frame, target, value);
    let assigned = assigned.map_err(|error| RequestError::failed(error.to_string()))?;
    let parent = Parent { frame, expression: None };
    let shown = to_dap::variable(assigned, &parent, debuggee, client);
    debuggee.changed(client, None);
    body(Answer::value(shown))
}

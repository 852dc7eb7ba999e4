//! Requests about the session: `initialize`, `launch`, `attach`, `configurationDone`, `restart`,
//! `cancel`, `threads`, `pause`, `terminate`, `disconnect`.

use dap::requests::CancelArguments;
use serde::Deserialize;
use serde_json::Value;

use super::action::Action;
use crate::protocol::{Request, RequestError};

pub(super) fn initialize(request: &Request) -> Result<Action, RequestError> {
    Ok(Action::Initialize(request.arguments()?))
}

pub(super) fn launch(request: &Request) -> Result<Action, RequestError> {
    Ok(Action::Launch { token: token(request), arguments: request.arguments() })
}

pub(super) fn attach(request: &Request) -> Result<Action, RequestError> {
    Ok(Action::Attach { token: token(request), arguments: request.arguments() })
}

/// The token of a `launch` or an `attach`. The session checks it before it looks at the other
/// arguments, so errors in those do not matter here.
fn token(request: &Request) -> Option<String> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Arguments {
        token: Option<String>,
    }
    request.arguments::<Arguments>().unwrap_or_default().token
}

pub(super) fn restart(request: &Request) -> Result<Action, RequestError> {
    #[derive(Deserialize)]
    struct Arguments {
        #[serde(default)]
        arguments: Option<Value>,
    }
    let arguments: Arguments = request.arguments()?;
    let given = arguments.arguments.filter(|it| it.get("program").is_some());
    let configuration = given.map(serde_json::from_value).transpose();
    Ok(Action::Restart(
        configuration.map_err(|error| RequestError::malformed(format!("bad arguments: {error}"))),
    ))
}

pub(super) fn cancel(request: &Request) -> Result<Action, RequestError> {
    let arguments: CancelArguments = request.arguments()?;
    Ok(Action::Cancel { request: arguments.request_id, progress: arguments.progress_id })
}

pub(super) fn configuration_done(_request: &Request) -> Result<Action, RequestError> {
    Ok(Action::ConfigurationDone)
}

pub(super) fn threads(_request: &Request) -> Result<Action, RequestError> {
    Ok(Action::Threads)
}

pub(super) fn pause(_request: &Request) -> Result<Action, RequestError> {
    Ok(Action::Pause)
}

pub(super) fn terminate(_request: &Request) -> Result<Action, RequestError> {
    Ok(Action::Terminate)
}

pub(super) fn disconnect(request: &Request) -> Result<Action, RequestError> {
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Arguments {
        terminate_debuggee: Option<bool>,
    }
    // A client that leaves may leave, whatever its arguments are.
    let arguments: Arguments = request.arguments().unwrap_or_default();
    Ok(Action::Disconnect { terminate_debuggee: arguments.terminate_debuggee == Some(true) })
}

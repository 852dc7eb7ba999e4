//! What requests ask of the session itself. The session performs actions, so that no handler has to
//! know its states.

use dap::requests::InitializeArguments;
use debug::StopReason;

use crate::configuration::{AttachArguments, LaunchArguments};
use crate::protocol::RequestError;

/// A request about the session.
///
/// Arguments are a `Result` where the session has a check that comes first, such as the token.
pub(crate) enum Action {
    Initialize(Box<InitializeArguments>),
    Launch {
        token: Option<String>,
        arguments: Result<Box<LaunchArguments>, RequestError>,
    },
    Attach {
        token: Option<String>,
        arguments: Result<Box<AttachArguments>, RequestError>,
    },
    /// With the configuration as it is now, from clients that send it.
    Restart(Result<Option<Box<LaunchArguments>>, RequestError>),
    /// A request or progress, by what the client calls them.
    Cancel {
        request: Option<i64>,
        progress: Option<String>,
    },
    ConfigurationDone,
    Threads,
    Pause,
    Terminate,
    Disconnect {
        terminate_debuggee: bool,
    },
}

/// How the program was moved.
pub(crate) enum Moved {
    /// It did not run, and will continue elsewhere.
    Elsewhere,
    /// It ran until it stopped.
    Ran(StopReason),
}

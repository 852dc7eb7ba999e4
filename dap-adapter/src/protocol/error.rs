//! Why a request failed. A failed request is not a failed session.

/// The kind of a failure. Its number goes over the wire: add new ones, never change one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// There is no such request.
    Unknown,
    /// The message or its arguments do not have the protocol's shape.
    Malformed,
    /// The request does not fit what the session is doing.
    State,
    /// The request names a frame, a variable or a source that does not exist, or no longer.
    Stale,
    /// The debugger could not do it.
    Failed,
    /// The program could not be compiled or loaded.
    Launch,
    /// A fault of this adapter.
    Internal,
    /// The protocol has the request, and this adapter does not.
    Unsupported,
    /// The client cancelled it.
    Cancelled,
    /// The client can ask again when the program stands still.
    NotStopped,
}

impl Kind {
    pub(crate) fn id(self) -> u32 {
        match self {
            Self::Unknown => 1000,
            Self::Malformed => 1001,
            Self::State => 1002,
            Self::Stale => 1003,
            Self::Failed => 1004,
            Self::Launch => 1005,
            Self::Internal => 1006,
            Self::Unsupported => 1007,
            Self::Cancelled => 1008,
            Self::NotStopped => 1009,
        }
    }

    /// The protocol's own word for it, if it has one.
    pub(crate) fn short(self) -> Option<&'static str> {
        match self {
            Self::Cancelled => Some("cancelled"),
            Self::NotStopped => Some("notStopped"),
            _ => None,
        }
    }
}

/// A failed request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RequestError {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    /// Whether the client should show it to the user: yes for what the user can fix, no for what
    /// only the client or this adapter can fix.
    pub(crate) show_user: bool,
}

impl RequestError {
    fn quiet(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), show_user: false }
    }

    pub(crate) fn unknown(command: &str) -> Self {
        Self::quiet(Kind::Unknown, format!("unknown request `{command}`"))
    }

    pub(crate) fn unsupported(command: &str, why: &str) -> Self {
        Self::quiet(Kind::Unsupported, format!("`{command}` is not supported: {why}"))
    }

    pub(crate) fn cancelled() -> Self {
        Self::cancelled_as("cancelled")
    }

    pub(crate) fn cancelled_as(text: &str) -> Self {
        Self::quiet(Kind::Cancelled, text)
    }

    pub(crate) fn not_stopped(text: impl Into<String>) -> Self {
        Self::quiet(Kind::NotStopped, text)
    }

    pub(crate) fn malformed(text: impl Into<String>) -> Self {
        Self::quiet(Kind::Malformed, text)
    }

    /// The session has not begun with `initialize`; `with` is what it began with.
    pub(crate) fn not_initialized(with: &str) -> Self {
        Self::state(format!("a session begins with `initialize`, not with {with}"))
    }

    pub(crate) fn state(text: impl Into<String>) -> Self {
        Self::quiet(Kind::State, text)
    }

    pub(crate) fn stale(text: impl Into<String>) -> Self {
        Self::quiet(Kind::Stale, text)
    }

    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self::quiet(Kind::Failed, text)
    }

    /// What the debugger or another library says.
    pub(crate) fn because(error: impl std::error::Error) -> Self {
        Self::failed(error.to_string())
    }

    pub(crate) fn launch(text: impl Into<String>) -> Self {
        Self { kind: Kind::Launch, text: text.into(), show_user: true }
    }

    pub(crate) fn internal(text: impl Into<String>) -> Self {
        Self { kind: Kind::Internal, text: text.into(), show_user: true }
    }
}

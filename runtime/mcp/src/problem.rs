//! Why a tool has no answer: a sentence for the agent, and what to ask instead.

/// A tool has no answer.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) text: String,
    /// Calls that may help.
    pub(crate) next: Vec<String>,
}

impl Problem {
    /// A problem with a way out.
    pub(crate) fn with_next(text: impl Into<String>, next: &[&str]) -> Self {
        let next = next.iter().map(|it| (*it).to_owned()).collect();
        Self { text: text.into(), next }
    }
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        Self { text, next: Vec::new() }
    }
}

impl From<&str> for Problem {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

macro_rules! problems {
    ($($error:ty,)*) => {
        $(impl From<$error> for Problem {
            fn from(error: $error) -> Self {
                error.to_string().into()
            }
        })*
    };
}

problems! {
    crate::access::NoAccess,
    compile::CompileError,
    debug::LaunchError,
    serde_json::Error,
    std::io::Error,
}

//! What is wrong with a line: mistakes as data, each with the sentence that the user reads.

use std::str::FromStr;

use debug::{HitCondition, Level};

/// Why a line is no command.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Mistake {
    /// No command has this name, and this helps.
    #[error("no command {line:?}; {help}")]
    UnknownCommand { line: String, help: String },
    #[error("{line:?} could be {}", .names.join(", "))]
    Ambiguous { line: String, names: Vec<&'static str> },
    /// An argument is missing, or is not one of a few words; the text asks for it.
    #[error("{0}")]
    Missing(&'static str),
    #[error(transparent)]
    NoMoment(#[from] vm::NoMoment),
    #[error("it takes no arguments, and there is {0:?}")]
    TooMuch(String),
    #[error("{0:?} is not a number")]
    NotANumber(String),
    #[error("{0} are too many")]
    TooMany(String),
    #[error("the quote {quote} is not closed: {text}")]
    OpenQuote { quote: char, text: String },
    #[error("nothing may follow the name: {0}")]
    AfterName(String),
    #[error("{rest:?} after {name:?} is no line")]
    NotALine { name: String, rest: String },
    #[error("{0:?} is no line and no function")]
    NotAPlace(String),
    #[error("lines are counted from 1")]
    NegativeLine,
    #[error("{0:?} is not a hexadecimal offset")]
    NotAnOffset(String),
    #[error("{0:?} is not when a dispatch stops; `after` is")]
    NotAMoment(String),
    #[error(
        "cannot catch {0:?}; nan, inf, dispatch nan, dispatch inf, overflow, difference, \
         uninitialised, off"
    )]
    NotATrap(String),
    #[error("{letters:?} is no format of a value; there are {known}")]
    NotAFormat { letters: String, known: &'static str },
    #[error("{0:?} is no format (x d u o t c f i s) and no unit (b h w g)")]
    NotALayout(char),
    #[error("{0} needs a value")]
    NeedsValue(String),
    #[error(
        "{0} cannot change between runs; --input=VALUE, --function=NAME and inputs by themselves \
         can"
    )]
    FixedFlag(String),
    #[error("{0}: names take globs: break 'GLOB'")]
    NotAGlob(String),
    #[error(
        "{0} is unknown here; -n NAME, -f FILE, -l LINE, -u COLUMN, -a ADDRESS, -c EXPR, -i COUNT, \
         -o true"
    )]
    UnknownFlag(String),
    #[error("{0}")]
    Count(<HitCondition as FromStr>::Err),
    #[error("{0}")]
    Level(<Level as FromStr>::Err),
}

impl From<&'static str> for Mistake {
    fn from(question: &'static str) -> Self {
        Self::Missing(question)
    }
}

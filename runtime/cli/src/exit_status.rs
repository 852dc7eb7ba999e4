//! What each exit status means.

use std::process::ExitCode;

/// How the process ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExitStatus {
    /// 0: the command did what it was asked for.
    Success,
    /// 1: it failed, or found what it checks for: defects, mismatches, tests that fail.
    Failure,
    /// 2: the command line cannot be read. clap exits with the same status.
    Usage,
    /// 3: of what was to be compared, too little could be.
    TooLittle,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(match status {
            ExitStatus::Success => 0,
            ExitStatus::Failure => 1,
            ExitStatus::Usage => 2,
            ExitStatus::TooLittle => 3,
        })
    }
}

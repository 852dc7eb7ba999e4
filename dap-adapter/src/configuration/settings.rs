//! The part of a launch or an attachment that matters while the program runs.

use std::path::{Path, PathBuf};

use debug::{Granularity, Level, Resume};
use serde::Deserialize;

use super::unfit::Unfit;

/// The part of a launch that matters after it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) stop_on_entry: bool,
    pub(crate) no_debug: bool,
    /// The level at first, which the user may change; `None` for the program's own.
    pub(crate) level: Option<Level>,
    pub(crate) step_by: StepBy,
    /// Whether it is over at its end though it is recorded, if nothing is wrong with its results.
    pub(crate) ends_if_right: bool,
}

/// How far a step goes if its request has no granularity. The protocol's default is a statement,
/// and it lets adapters take a line for one. VS Code sends a granularity only from its disassembly
/// view (`instruction`), and its users expect F10 to move a line, as in all debuggers of native
/// code. So the default here is a line. Neovim's plugin and Zed send a granularity.
#[derive(Deserialize, Clone, Copy, Debug, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) enum StepBy {
    /// To another line.
    #[default]
    Line,
    /// To another operation.
    Statement,
}

impl From<StepBy> for Granularity {
    fn from(step_by: StepBy) -> Self {
        match step_by {
            StepBy::Line => Self::Line,
            StepBy::Statement => Self::Statement,
        }
    }
}

impl Settings {
    /// How a program begins.
    pub(crate) fn first_resume(self) -> Resume {
        if self.stop_on_entry && !self.no_debug { Resume::ToEntry } else { Resume::Continue }
    }
}

/// The level of a configuration, by its `level` or by the older `disassembly`; `None` if it names
/// none.
///
/// # Errors
/// There is no such level.
pub(super) fn level(named: Option<&str>, disassembly: bool) -> Result<Option<Level>, Unfit> {
    match named.filter(|named| !named.is_empty()) {
        Some(named) => named.parse().map(Some).map_err(Unfit::Level),
        None => Ok(disassembly.then_some(Level::Disassembly)),
    }
}

/// The file of a configuration's `log`, which may be relative to its `cwd`.
pub(super) fn log_path(log: Option<&Path>, cwd: Option<&Path>) -> Option<PathBuf> {
    let log = log.filter(|log| !log.as_os_str().is_empty())?;
    Some(cwd.map_or_else(|| log.to_owned(), |cwd| cwd.join(log)))
}

//! The arguments of `attach`.

use std::path::PathBuf;

use serde::Deserialize;

use super::settings::{Settings, StepBy, level, log_path};
use super::unfit::Unfit;

/// The arguments of `attach`. Fields that `launch` has too mean the same there.
#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AttachArguments {
    /// Whether to stop at once.
    stop_on_entry: bool,
    level: Option<String>,
    disassembly: bool,
    step_by: StepBy,
    log: Option<PathBuf>,
    /// The directory that `log` is relative to.
    cwd: Option<PathBuf>,
}

impl AttachArguments {
    /// # Errors
    /// There is no such level.
    pub(crate) fn settings(&self) -> Result<Settings, Unfit> {
        let level = level(self.level.as_deref(), self.disassembly)?;
        let Self { stop_on_entry, step_by, .. } = *self;
        Ok(Settings { stop_on_entry, level, step_by, ..Settings::default() })
    }

    /// The file for the protocol log.
    pub(crate) fn log(&self) -> Option<PathBuf> {
        log_path(self.log.as_deref(), self.cwd.as_deref())
    }
}

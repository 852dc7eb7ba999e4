//! The files that a program was read from, which may change while it is debugged.
//!
//! A session goes on with what it has loaded; see `vmfb::FileBytes` for what that means for
//! constants of large modules. That a file is another one now is told once.

use std::fmt;
use std::path::PathBuf;

use vmfb::{FileBytes, FileChange};

use crate::debugger::Debugger;
use crate::program::Program;

/// What has become of a file that a program was read from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangedFile {
    /// Where it is, or was.
    pub path: PathBuf,
    /// Whether it is not there any more.
    pub is_gone: bool,
    /// Whether the running program reads from it, so that what it computes may be wrong from here
    /// on.
    pub spoils_values: bool,
}

impl fmt::Display for ChangedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self {
            Self { spoils_values: true, .. } => write!(
                f,
                "{path} was written while the program reads its constants from it: values are wrong \
                 from here on"
            ),
            Self { is_gone: true, .. } => {
                write!(
                    f,
                    "{path} is not there any more; the session goes on with what it has loaded"
                )
            }
            _ => write!(f, "{path} has changed; the session goes on with what it has loaded"),
        }
    }
}

/// A file that a program was read from.
pub(crate) struct ReadFile {
    bytes: FileBytes,
    is_told: bool,
}

impl ReadFile {
    pub(crate) fn new(bytes: FileBytes) -> Self {
        Self { bytes, is_told: false }
    }

    fn change(&self) -> Option<ChangedFile> {
        let path = self.bytes.path()?.to_owned();
        let (is_gone, spoils_values) = match self.bytes.change() {
            FileChange::Unchanged => return None,
            FileChange::Changed => (false, !self.bytes.is_intact()),
            FileChange::Gone => (true, !self.bytes.is_intact()),
        };
        Some(ChangedFile { path, is_gone, spoils_values })
    }
}

impl Program {
    /// The files that have changed since the program was loaded.
    #[must_use]
    pub fn changed_files(&self) -> Vec<ChangedFile> {
        self.files.iter().filter_map(ReadFile::change).collect()
    }
}

impl Debugger {
    /// The files that have changed since the program was loaded, each once.
    pub fn newly_changed_files(&mut self) -> Vec<ChangedFile> {
        let files = self.program.files.iter_mut().filter(|file| !file.is_told);
        let changed = files.filter_map(|file| {
            let change = file.change()?;
            file.is_told = true;
            Some(change)
        });
        changed.collect()
    }
}

//! The files that a program was read from. They may change while it is debugged.
//!
//! A session continues with what it has loaded; `vmfb::FileBytes` says what that means for
//! constants of large modules.

use std::fmt;
use std::path::PathBuf;

use vmfb::{FileBytes, FileChange};

/// A change of a file that a program was read from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangedFile {
    /// The path of the file.
    pub path: PathBuf,
    /// Whether the file no longer exists.
    pub is_gone: bool,
    /// Whether the running program reads its constants from the file, so that values may be wrong
    /// from now on.
    pub spoils_values: bool,
}

impl fmt::Display for ChangedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self {
            Self { spoils_values: true, .. } => write!(
                f,
                "{path} was written while the program reads its constants from it: values are \
                 wrong from here on"
            ),
            Self { is_gone: true, .. } => {
                write!(f, "{path} no longer exists; the session continues with what it has loaded")
            }
            _ => write!(f, "{path} has changed; the session continues with what it has loaded"),
        }
    }
}

/// A file that a program was read from.
pub(crate) struct ReadFile(FileBytes);

impl ReadFile {
    pub(crate) fn new(bytes: FileBytes) -> Self {
        Self(bytes)
    }

    pub(crate) fn change(&self) -> Option<ChangedFile> {
        let path = self.0.path()?.to_owned();
        let (is_gone, spoils_values) = match self.0.change() {
            FileChange::Unchanged => return None,
            FileChange::Changed => (false, !self.0.is_intact()),
            FileChange::Gone => (true, !self.0.is_intact()),
        };
        Some(ChangedFile { path, is_gone, spoils_values })
    }
}

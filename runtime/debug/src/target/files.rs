//! The files that a program was read from. They may change while it is debugged.
//!
//! A session continues with what it has loaded; `vmfb::FileBytes` says what that means for
//! constants of large modules.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use debuginfo::{DebugFile, Manifest};
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
pub(crate) struct ReadFile {
    bytes: FileBytes,
    /// If it is a debug file.
    debug_file: Option<ReadDebugFile>,
}

/// A debug file, which gets bytecode of dispatches while it is used.
struct ReadDebugFile {
    manifest: Manifest,
    /// When it was found to be the same except for bytecode.
    same_at: Mutex<Option<(u64, SystemTime)>>,
}

impl ReadFile {
    pub(crate) fn new(bytes: FileBytes) -> Self {
        Self { bytes, debug_file: None }
    }

    pub(crate) fn of_debug_file(file: &DebugFile) -> Self {
        let manifest = file.manifest().clone();
        let debug_file = Some(ReadDebugFile { manifest, same_at: Mutex::default() });
        Self { bytes: file.bytes().clone(), debug_file }
    }

    pub(crate) fn change(&self) -> Option<ChangedFile> {
        let path = self.bytes.path()?.to_owned();
        let (is_gone, spoils_values) = match self.bytes.change() {
            FileChange::Unchanged => return None,
            FileChange::Changed if self.debug_file.as_ref().is_some_and(|it| it.is_same(&path)) => {
                return None;
            }
            FileChange::Changed => (false, !self.bytes.is_intact()),
            FileChange::Gone => (true, !self.bytes.is_intact()),
        };
        Some(ChangedFile { path, is_gone, spoils_values })
    }
}

impl ReadDebugFile {
    /// Whether the file has only got bytecode of dispatches.
    fn is_same(&self, path: &Path) -> bool {
        let metadata = std::fs::metadata(path);
        let now = metadata.and_then(|it| Ok((it.len(), it.modified()?))).ok();
        // The time is written whole, so a panic in another thread does not spoil it.
        let mut same_at = self.same_at.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = now.is_some()
            && (*same_at == now
                || DebugFile::open(path).is_ok_and(|it| *it.manifest() == self.manifest));
        if is_same {
            *same_at = now;
        }
        is_same
    }
}

//! Why a recording cannot be written or used.

use std::io;
use std::path::PathBuf;

use debuginfo::OverBudget;

/// Why a recording cannot be written or used.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// It cannot be opened, read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is something else.
    #[error("{}: not a recording", .0.display())]
    NotARecording(PathBuf),
    /// A later version has written it.
    #[error("{}: a recording of version {found}; this version of iree-dbg reads version {known}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that can be read.
        known: u32,
    },
    /// Bytes have changed since it was written.
    #[error("{}: damaged at byte {offset}: {what}; record the run again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the chunk begins that is damaged.
        offset: u64,
        /// What is wrong with it.
        what: String,
    },
    /// It unpacks to too much.
    #[error("{}: {source}", path.display())]
    OverBudget {
        /// The file.
        path: PathBuf,
        /// What is too much.
        source: OverBudget,
    },
    /// It ends before the program is whole.
    #[error("{}: cut short at byte {length}, before the program and its inputs are whole; record the run again", path.display())]
    NoProgram {
        /// The file.
        path: PathBuf,
        /// Its length.
        length: u64,
    },
    /// What the program needs is not here as it was.
    #[error("{0}")]
    Missing(String),
    /// The program is one that a file cannot hold.
    #[error("{0}")]
    Unsupported(String),
}

impl RecordingError {
    /// Whether there is no more room for it.
    #[must_use]
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull, WriteZero};
        let Self::File { source, .. } = self else { return false };
        matches!(source.kind(), FileTooLarge | QuotaExceeded | StorageFull | WriteZero)
    }

    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| Self::File { path, source }
    }
}

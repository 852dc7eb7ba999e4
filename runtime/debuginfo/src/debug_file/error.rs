//! [`DebugFileError`]: why a debug file cannot be used.

use std::io;
use std::path::PathBuf;

use zip::result::ZipError;

use super::budget::OverBudget;
use super::manifest::{MANIFEST, ModuleIdentity};

/// What is wrong with the archive of a debug file.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// It is no archive.
    #[error(transparent)]
    NoArchive(ZipError),
    /// It lacks the member that says what it is.
    #[error("it has no {MANIFEST}")]
    NoManifest,
    /// The member that says what it is cannot be read.
    #[error("{MANIFEST}: {0}")]
    Manifest(serde_json::Error),
    /// A member is damaged.
    #[error("{name}: {source}")]
    Member {
        /// The name of the member.
        name: String,
        /// What is wrong.
        source: ZipError,
    },
    /// The bytes of a member cannot be unpacked.
    #[error("{name}: {source}")]
    Content {
        /// The name of the member.
        name: String,
        /// What is wrong.
        source: io::Error,
    },
    /// All that was unpacked is out of proportion to the file.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// A member is too large.
    #[error("{name} has more than {limit} bytes")]
    TooLarge {
        /// The name of the member.
        name: String,
        /// How many bytes are unpacked at most.
        limit: u64,
    },
}

/// Why a debug file cannot be used. The text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum DebugFileError {
    /// The file cannot be read.
    #[error("cannot read the debug file {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write the debug file {}: {source}", path.display())]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is no debug file, or a part of it is damaged.
    #[error(
        "the debug file {} is damaged: {reason}; make it anew with `iree-dbg compile`",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Which part, and what is wrong with it.
        reason: Damage,
    },
    /// A later version has written the file.
    #[error(
        "the debug file {} has format {format}, and this iree-dbg reads format {}; update it, or \
         make the file anew with `iree-dbg compile`",
        path.display(), super::manifest::FORMAT
    )]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// The format that it names.
        format: u32,
    },
    /// The file belongs to another module.
    #[error(
        "the debug file {} is of another module and is not used: it is of one with {found}, and {} \
         has {expected}; make it anew with `iree-dbg compile SOURCE --for={} -- FLAGS`",
        path.display(), module.display(), module.display()
    )]
    OtherModule {
        /// The file.
        path: PathBuf,
        /// The module that is debugged.
        module: PathBuf,
        /// The module that the file is of.
        found: ModuleIdentity,
        /// The module that is debugged.
        expected: ModuleIdentity,
    },
}

//! Why a file could not be loaded as a module.

use std::path::PathBuf;

use crate::versions::BytecodeVersion;

/// A file that is not a module that we can load. Offsets are bytes from the start of the file.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The operating system refused.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// There are no bytes.
    #[error(
        "the file is empty: what writes it has not, or was ended first; expected a .vmfb, or a \
         recorded run where one may be given"
    )]
    Empty,
    /// The bytes are of another kind of file.
    #[error(
        "not an IREE VM module (at byte {offset}: {reason}); expected a .vmfb written by \
         iree-compile or iree-as-module"
    )]
    NotAModule {
        /// The byte that shows it.
        offset: usize,
        /// What is wrong at that byte.
        reason: String,
    },
    /// The file ends before the end of a part that it announces.
    #[error(
        "the module is cut short: what starts at byte {offset} needs the file to have {needed} \
         bytes, it has {available}"
    )]
    Truncated {
        /// Where the announced part starts.
        offset: usize,
        /// The length that the file would need.
        needed: u64,
        /// The length of the file.
        available: u64,
    },
    /// The FlatBuffer's tables are damaged.
    #[error("the module's FlatBuffer (at byte {offset}) is damaged: {reason}")]
    FlatBuffer {
        /// Where the FlatBuffer starts.
        offset: usize,
        /// The error of the FlatBuffer's verifier.
        reason: String,
    },
    /// The tables are readable but contradict each other.
    #[error("the module is malformed: {what} (at byte {offset}): {reason}")]
    Malformed {
        /// Where the table is.
        offset: usize,
        /// Which table and entry.
        what: String,
        /// The rule that the table breaks.
        reason: String,
    },
    /// The tables would take too much memory: they share parts more often than any compiler does.
    #[error(
        "the module's tables would take more than {allowed} bytes of memory, with {what} (at byte \
         {offset}): names or tables are shared more often than any compiler does"
    )]
    TooMuch {
        /// Where the table is that is too much.
        offset: usize,
        /// The table that exceeds the limit.
        what: String,
        /// How much a module of its size may take.
        allowed: usize,
    },
    /// The bytecode is of a version that is not supported.
    #[error(
        "bytecode version {found} ({}) is not supported; {}",
        found.written_by(),
        BytecodeVersion::supported()
    )]
    Version {
        /// The version in the module.
        found: BytecodeVersion,
    },
}

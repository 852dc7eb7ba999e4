//! Why a file could not be loaded as a module.

use std::path::PathBuf;

use crate::versions::BytecodeVersion;

/// A file that is not a module that we can load. Offsets are bytes from the start of the file.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The operating system said no.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The bytes are of another kind of file.
    #[error(
        "not an IREE VM module (at byte {offset}: {reason}); expected a .vmfb written by \
         iree-compile or iree-as-module"
    )]
    NotAModule {
        /// Where it shows.
        offset: usize,
        /// What is wrong there.
        reason: String,
    },
    /// The file ends before something that it announces.
    #[error(
        "the module is cut short: what starts at byte {offset} needs the file to have {needed} \
         bytes, it has {available}"
    )]
    Truncated {
        /// Where the announced part starts.
        offset: usize,
        /// The length that the file would need.
        needed: u64,
        /// The length that it has.
        available: u64,
    },
    /// The FlatBuffer's tables are damaged.
    #[error("the module's FlatBuffer (at byte {offset}) is damaged: {reason}")]
    FlatBuffer {
        /// Where the FlatBuffer starts.
        offset: usize,
        /// What its verifier said.
        reason: String,
    },
    /// The tables are readable but contradict each other.
    #[error("the module is malformed: {what} (at byte {offset}): {reason}")]
    Malformed {
        /// Where the table is.
        offset: usize,
        /// Which table and entry.
        what: String,
        /// The rule that it breaks.
        reason: String,
    },
    /// Its tables are larger than the file: they share parts more than makes sense.
    #[error(
        "the module's tables would take more than {allowed} bytes of memory, with {what} (at byte \
         {offset}): names or tables are shared more often than any compiler does"
    )]
    TooMuch {
        /// Where the table is that is too much.
        offset: usize,
        /// Which table it is.
        what: String,
        /// How much a module of its size may take.
        allowed: usize,
    },
    /// The bytecode is of a version that is not supported.
    #[error("bytecode version {found} ({}) is not supported; {}", found.written_by(), BytecodeVersion::supported())]
    Version {
        /// The version in the module.
        found: BytecodeVersion,
    },
}

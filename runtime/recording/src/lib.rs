//! Recorded runs as files (`run --record=FILE`, `debug FILE`): the program with its inputs, and
//! what tells whether a run repeats them.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `error` | why a file cannot be used |
//! | `chunks` | the form of the file: chunks with checksums |
//! | `limited` | what a chunk becomes in memory, within limits |
//! | `contents` | what is in a chunk |
//! | `rows` | the table of the run in a chunk |
//! | `packing` | bytes that dispatches have left, packed |
//! | `libraries` | native libraries of a recorded program, which are not there |
//! | `files` | the files in a recording, taken where the launch names them |
//! | `results` | what dispatches have left in chunks, for a run without their code |
//! | `writing` | [`Writer`]: a run becomes a file while it goes on |
//! | `reading` | [`Recorded`]: a file becomes a program to debug |
//! | `inspection` | [`Inspection`]: what opening a file would do |
//!
//! A module uses only modules that stand above it in this table.
//!
//! The machine is deterministic, so a run is made again rather than stored: the file has all that
//! the program is made of and was given, and of the run itself only digests. Each dispatch, and the
//! program's state between submissions, are compared with these when the run is made again. So it
//! is known to be the same, or where it is not. On request the file has the results of dispatches,
//! too, which are then taken from it instead of running machine code. A file that was cut short is
//! used as far as it goes; a damaged one is refused.

mod chunks;
mod contents;
mod error;
mod files;
mod inspection;
mod libraries;
mod limited;
mod packing;
mod reading;
mod results;
mod rows;
mod writing;

pub use chunks::is_recording;
pub use error::RecordingError;
pub use inspection::{InspectedArchive, InspectedFile, Inspection, Purpose};
pub use reading::{EarlyEnd, Recorded, RunOutcome};
pub use writing::Writer;

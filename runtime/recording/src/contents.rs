//! What is in a chunk.

use hal::OutsideCall;
use serde::{Deserialize, Serialize};

use crate::chunks::Tag;

/// A file that the program is read from: the length of its name, the name, its bytes.
pub(crate) const FILE: Tag = *b"FILE";

/// [`Launch`], as JSON. The files that it numbers come before it.
pub(crate) const LAUNCH: Tag = *b"LNCH";

/// [`Part`], as postcard.
pub(crate) const PART: Tag = *b"PART";

/// [`Rows`](crate::rows::Rows) of the commands of the part before it, as postcard. Earlier files
/// have none.
pub(crate) const ROWS: Tag = *b"ROWS";

/// [`About`](crate::results::About), as postcard: the first one says that the file has results.
pub(crate) const ABOUT: Tag = *b"ABOU";

/// What a dispatch has left: see [`crate::results`].
pub(crate) const RESULT: Tag = *b"RSLT";

/// [`End`], as JSON.
pub(crate) const END: Tag = *b"END ";

/// The number of a file in the recording.
pub(crate) type FileNumber = usize;

/// How the program was launched.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct Launch {
    /// The version of iree-dbg that has recorded it.
    pub(crate) version: String,
    pub(crate) modules: Vec<Module>,
    /// The names of native libraries. What they have returned is in the parts.
    pub(crate) libraries: Vec<String>,
    pub(crate) function: Option<String>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) sources: Vec<Source>,
    pub(crate) parameters: Vec<Archive>,
    pub(crate) device: String,
    pub(crate) more_devices: Vec<String>,
    /// Threads of `local-task`, as they were; never 0.
    pub(crate) threads: usize,
    pub(crate) refuses_machine_code: bool,
    pub(crate) imitates_narrow_calls: bool,
    pub(crate) is_guarded: bool,
    pub(crate) limits: Limits,
}

/// A module.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct Module {
    pub(crate) file: FileNumber,
    /// Its debug file.
    pub(crate) debug_file: Option<FileNumber>,
    /// The text of its debug companion, if it was in memory.
    pub(crate) companion: Option<FileNumber>,
    /// Whether it was in memory, not a file.
    pub(crate) is_in_memory: bool,
}

/// An argument, as `--input=` takes it.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct Input {
    /// The text, up to the name of a file.
    pub(crate) text: String,
    pub(crate) file: Option<FileNumber>,
}

/// A source file of a module.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct Source {
    /// Its name in the modules.
    pub(crate) name: String,
    pub(crate) file: FileNumber,
}

/// An archive of parameters. Its contents are not in the recording.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct Archive {
    pub(crate) scope: String,
    pub(crate) path: String,
    pub(crate) length: u64,
    /// xxh3, 64 bits, as hexadecimal text.
    pub(crate) digest: String,
}

/// The limits of the program, without that of time.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct Limits {
    pub(crate) steps: Option<u64>,
    pub(crate) memory: usize,
    pub(crate) call_depth: usize,
}

/// What has happened since the part before. Its calls are borrowed where it is written.
#[derive(Serialize, Deserialize, Debug, Default)]
pub(crate) struct Part<C = OutsideCall> {
    /// See [`debug::RunPart::left`].
    pub(crate) left: Vec<u64>,
    pub(crate) calls: Vec<C>,
    pub(crate) mark: Option<Mark>,
}

/// See [`debug::RunMark`].
#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct Mark {
    pub(crate) turns: u64,
    pub(crate) depth: u64,
    pub(crate) offset: u32,
    pub(crate) state: u64,
}

/// How the run has ended.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct End {
    /// Its status, if it has failed.
    pub(crate) failure: Option<String>,
    /// Why the recording ends before the run, if it does.
    pub(crate) lost: Option<String>,
}

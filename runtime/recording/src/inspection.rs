//! [`Inspection`]: what opening a recording would do, said before anything is run. No file is read
//! but the recording itself, and nothing of it is taken but its modules.

use std::path::Path;

use serde::Serialize;
use vmfb::FileBytes;

use crate::contents::Limits;
use crate::{Recorded, RecordingError};

/// What is in a recording, and what it wants of the machine.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Inspection {
    /// The version of iree-dbg that has recorded it, as it says.
    pub recorded_by: String,
    /// What the run was, in sentences.
    pub run: Vec<String>,
    /// The function that is called.
    pub function: Option<String>,
    /// The devices of the program.
    pub devices: Vec<String>,
    /// Whether the program refuses machine code.
    pub refuses_machine_code: bool,
    /// The files in it that opening takes.
    pub files: Vec<InspectedFile>,
    /// The inputs, as `--input=` takes them. Their files are in the recording.
    pub inputs: Vec<String>,
    /// The native libraries that the program called. They are not loaded.
    pub libraries: Vec<String>,
    /// The archives of parameters that are wanted from this machine.
    pub parameters: Vec<InspectedArchive>,
    /// The most memory that the program wants, in bytes.
    pub memory_limit: usize,
    /// The most bytes that all of it may unpack to.
    pub budget: u64,
}

/// A file in a recording.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct InspectedFile {
    /// What it is for.
    pub purpose: Purpose,
    /// Its name.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
}

/// What a file in a recording is for.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A module.
    Module,
    /// The debug file of a module, or the text of its companion.
    DebugFile,
    /// The file of inputs.
    Input,
    /// A source.
    Source,
}

/// An archive of parameters.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct InspectedArchive {
    /// Where it was.
    pub path: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Whether there is a file, there or beside the recording.
    pub is_here: bool,
}

impl Recorded {
    /// What opening it would do.
    ///
    /// # Errors
    /// It names a file that it does not have.
    pub fn inspect(&self) -> Result<Inspection, RecordingError> {
        let launch = self.launch();
        let file = |purpose, number| {
            let (name, bytes) = self.described(number)?;
            Ok(InspectedFile { purpose, name, bytes })
        };
        let modules = launch.modules.iter().flat_map(|module| {
            let beside = [module.debug_file, module.companion].into_iter().flatten();
            let beside = beside.map(|number| file(Purpose::DebugFile, number));
            std::iter::once(file(Purpose::Module, module.file)).chain(beside)
        });
        let mut numbers: Vec<usize> = launch.inputs.iter().filter_map(|it| it.file).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let inputs = numbers.into_iter().map(|number| file(Purpose::Input, number));
        let sources = launch.sources.iter().map(|source| {
            let (_, bytes) = self.described(source.file)?;
            Ok(InspectedFile { purpose: Purpose::Source, name: source.name.clone(), bytes })
        });
        let files: Result<Vec<InspectedFile>, RecordingError> =
            modules.chain(inputs).chain(sources).collect();
        let Limits { memory, .. } = launch.limits;
        let parameters = launch.parameters.iter().map(|archive| InspectedArchive {
            path: archive.path.clone(),
            bytes: archive.length,
            is_here: self.places_of(Path::new(&archive.path)).iter().any(|path| path.is_file()),
        });
        let devices = std::iter::once(&launch.device).chain(&launch.more_devices);
        Ok(Inspection {
            recorded_by: launch.version.clone(),
            run: self.summary(),
            function: launch.function.clone(),
            devices: devices.cloned().collect(),
            refuses_machine_code: launch.refuses_machine_code,
            files: files?,
            inputs: launch.inputs.iter().map(|it| it.text.clone()).collect(),
            libraries: launch.libraries.clone(),
            parameters: parameters.collect(),
            memory_limit: memory,
            budget: self.budget().whole(),
        })
    }

    /// Its modules with their names.
    ///
    /// # Errors
    /// It names a file that it does not have, or they are out of proportion to its size.
    pub fn modules(&self) -> Result<Vec<(String, FileBytes)>, RecordingError> {
        let modules = self.launch().modules.iter().enumerate();
        modules.map(|(index, it)| self.module_bytes(index, it)).collect()
    }
}

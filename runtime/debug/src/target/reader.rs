//! Reading a module and its debug file, before anything is linked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use debuginfo::{
    Companion, CompanionText, DebugFile, DebugFileError, DispatchInterfaces, MlirTextError,
    NestedText,
};
use vmfb::verify::VerifiedModule;
use vmfb::{FileBytes, Module, RodataOrdinal};

use super::files::ReadFile;
use super::launch::{LaunchError, ModuleSource};
use crate::twins::stand_ins::Candidate;

/// A module before it is linked.
pub(crate) struct LoadedParts {
    pub(crate) verified: VerifiedModule,
    pub(crate) path: Option<PathBuf>,
    /// Its debug file, if there is one for it.
    pub(crate) debug_file: Option<DebugFile>,
    pub(crate) companion: Option<Companion>,
    pub(crate) companion_text: Option<CompanionText>,
    /// The debug companions of the modules inside it, by the rodata segment of the module.
    pub(crate) nested: Vec<(RodataOrdinal, ReadCompanion)>,
    /// The tensors that its dispatches read and write.
    pub(crate) interfaces: Arc<DispatchInterfaces>,
    /// The file that they were read from.
    pub(crate) dispatch_sources: Option<FileBytes>,
    /// The phases `flow` and `input` of its compilation.
    pub(crate) flow: Option<String>,
    pub(crate) input: Option<String>,
    pub(crate) notes: Vec<String>,
    /// The files that all of this was read from.
    pub(crate) files: Vec<ReadFile>,
}

impl LoadedParts {
    /// The module as one whose device may not be here.
    pub(super) fn stand_in_candidate(&self) -> Candidate<'_> {
        let (path, debug_file) = (self.path.as_deref(), self.debug_file.as_ref());
        Candidate { path, module: self.verified.module(), debug_file }
    }
}

pub(crate) fn load_module(
    source: ModuleSource,
    debug_directory: Option<&Path>,
) -> Result<LoadedParts, LaunchError> {
    let (name, module, path, companion, packed) = match source {
        ModuleSource::Path(path) => {
            (path.display().to_string(), Module::open(&path), Some(path), None, None)
        }
        ModuleSource::Memory { name, bytes, companion, debug_file } => {
            (name, Module::from_bytes(bytes), None, companion, debug_file)
        }
    };
    let module = module.map_err(|source| LaunchError::Load { name: name.clone(), source })?;
    let mut notes = Vec::new();
    let bytes = module.file_bytes().clone();
    let find = |path: &PathBuf| DebugFile::for_module(path, &bytes, debug_directory).transpose();
    let packed = packed.map(|file| file.open_for(&name, &bytes));
    let debug_file = noted(packed.or_else(|| path.as_ref().and_then(find)), &mut notes);
    let companion = match &debug_file {
        Some(file) => noted(file.companion().transpose(), &mut notes),
        None => companion,
    };
    let of = debug_file.as_ref().map_or(name.clone(), |file| file.path().display().to_string());
    let companion = companion.map(|text| ReadCompanion::parse(&of, text.into()));
    let companion = noted(companion, &mut notes);
    let nested = companion.as_ref().map(|it| it.nested(&mut notes)).unwrap_or_default();
    let verified = vmfb::verify::verify(module).map_err(|defects| LaunchError::Verify {
        name,
        defects: defects.iter().map(ToString::to_string).collect(),
    })?;
    let mut text = |read: fn(&DebugFile) -> Result<Option<String>, DebugFileError>| {
        noted(debug_file.as_ref().and_then(|file| read(file).transpose()), &mut notes)
    };
    let dispatches = text(DebugFile::dispatches);
    let interfaces = dispatches.as_deref().map(DispatchInterfaces::parse).unwrap_or_default();
    let (flow, input) = (text(DebugFile::flow), text(DebugFile::input));
    let kept = debug_file.as_ref().map(ReadFile::of_debug_file);
    let files = [ReadFile::new(bytes)].into_iter().chain(kept).collect();
    let (companion, companion_text) = companion.map(|it| (it.companion, it.text)).unzip();
    Ok(LoadedParts {
        verified,
        path,
        debug_file,
        companion,
        companion_text,
        nested,
        interfaces: Arc::new(interfaces),
        dispatch_sources: dispatches.map(|text| FileBytes::from(text.into_bytes())),
        flow,
        input,
        notes,
        files,
    })
}

/// What was read; an error becomes a note.
fn noted<T, E: ToString>(read: Option<Result<T, E>>, notes: &mut Vec<String>) -> Option<T> {
    read.and_then(|read| read.map_err(|error| notes.push(error.to_string())).ok())
}

/// Why the text of a debug companion is not used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the debug companion of {name} is damaged: {source}")]
pub struct DamagedCompanion {
    /// The module, or the debug file.
    pub name: String,
    /// The place in the text, and what is wrong there.
    pub source: MlirTextError,
}

/// A companion with its text.
pub(crate) struct ReadCompanion {
    pub(crate) companion: Companion,
    pub(crate) text: CompanionText,
}

impl ReadCompanion {
    pub(super) fn parse(name: &str, text: FileBytes) -> Result<Self, DamagedCompanion> {
        match Companion::parse(text.owned()) {
            Ok(companion) => Ok(Self { companion, text: CompanionText::new(text) }),
            Err(source) => Err(DamagedCompanion { name: name.to_owned(), source }),
        }
    }

    /// The companions of the modules inside its module. Their texts are parts of its own.
    fn nested(&self, notes: &mut Vec<String>) -> Vec<(RodataOrdinal, Self)> {
        let read = |nested: &NestedText| {
            let text = self.text.of_nested(nested);
            let companion = Companion::parse(&text.printed());
            match companion {
                Ok(companion) => Some((nested.rodata, Self { companion, text })),
                Err(source) => {
                    let damaged = DamagedCompanion { name: nested.name.clone(), source };
                    notes.push(damaged.to_string());
                    None
                }
            }
        };
        self.companion.nested.iter().filter_map(read).collect()
    }
}

//! Reading a module and the files beside it, before anything is linked.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use debuginfo::NestedText;
use debuginfo::{Companion, CompanionText, DispatchInterfaces};
use vmfb::verify::VerifiedModule;
use vmfb::{FileBytes, LoadError, Module, RodataOrdinal};

use super::files::ReadFile;
use super::launch::{LaunchError, ModuleSource};

/// A module before it is linked.
pub(crate) struct LoadedParts {
    pub(crate) verified: VerifiedModule,
    pub(crate) path: Option<PathBuf>,
    pub(crate) companion: Option<Companion>,
    pub(crate) companion_text: Option<CompanionText>,
    /// The debug companions of the modules inside it, by the rodata segment of the module.
    pub(crate) nested: Vec<(RodataOrdinal, ReadCompanion)>,
    /// The tensors that its dispatches read and write.
    pub(crate) interfaces: DispatchInterfaces,
    /// The file that they were read from.
    pub(crate) dispatch_sources: Option<FileBytes>,
    /// The phases `flow` and `input` of its compilation.
    pub(crate) flow: Option<String>,
    pub(crate) input: Option<String>,
    pub(crate) notes: Vec<String>,
    /// The files that all of this was read from.
    pub(crate) files: Vec<ReadFile>,
}

pub(crate) fn load_module(source: ModuleSource) -> Result<LoadedParts, LaunchError> {
    let (name, module, path, companion) = match source {
        ModuleSource::Path(path) => (
            path.display().to_string(),
            Module::open(&path),
            Some(path.clone()),
            ReadCompanion::beside(&path),
        ),
        ModuleSource::Memory { name, bytes, companion } => {
            let companion = companion.map(|text| ReadCompanion::parse(&name, text.into()));
            (name, Module::from_bytes(bytes), None, companion.transpose())
        }
    };
    let module = module.map_err(|source| LaunchError::Load { name: name.clone(), source })?;
    let mut notes = Vec::new();
    let companion = companion.unwrap_or_else(|error| {
        notes.push(error);
        None
    });
    let nested = companion.as_ref().map(|it| it.nested(&mut notes)).unwrap_or_default();
    let verified = vmfb::verify::verify(module).map_err(|defects| LaunchError::Verify {
        name,
        defects: defects.iter().map(ToString::to_string).collect(),
    })?;
    let bytes = verified.module().file_bytes();
    let interfaces = path.as_deref().and_then(|path| DispatchInterfaces::read_beside(path, bytes));
    let (interfaces, dispatches) = interfaces.unzip();
    let text = companion.as_ref().map(|companion| companion.text.file().clone());
    let files = [Some(bytes.clone()), text, dispatches.clone()].into_iter().flatten();
    let files = files.map(ReadFile::new).collect();
    let interfaces = interfaces.unwrap_or_default();
    let (companion, companion_text) = companion.map(|it| (it.companion, it.text)).unzip();
    let beside = |end: &str| {
        let path = path.as_ref()?.with_extension(end);
        std::fs::read_to_string(path).ok()
    };
    let (flow, input) = (beside("flow.mlir"), beside("input.mlir"));
    Ok(LoadedParts {
        verified,
        path,
        companion,
        companion_text,
        nested,
        interfaces,
        dispatch_sources: dispatches,
        flow,
        input,
        notes,
        files,
    })
}

/// A companion with its text.
pub(crate) struct ReadCompanion {
    pub(crate) companion: Companion,
    pub(crate) text: CompanionText,
}

impl ReadCompanion {
    fn beside(module: &Path) -> Result<Option<Self>, String> {
        let path = Companion::path_beside(module);
        match FileBytes::read(&path) {
            Ok(text) => Self::parse(&path.display().to_string(), text).map(Some),
            Err(LoadError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("cannot read the debug companion: {error}")),
        }
    }

    pub(super) fn parse(name: &str, text: FileBytes) -> Result<Self, String> {
        match Companion::parse(text.owned()) {
            Ok(companion) => Ok(Self { companion, text: CompanionText::new(text) }),
            Err(error) => Err(format!("the debug companion of {name} is damaged: {error}")),
        }
    }

    /// The companions of the modules inside its module. Their texts are parts of its own.
    fn nested(&self, notes: &mut Vec<String>) -> Vec<(RodataOrdinal, Self)> {
        let read = |nested: &NestedText| {
            let text = self.text.of_nested(nested);
            let companion = Companion::parse(&text.printed());
            match companion {
                Ok(companion) => Some((nested.rodata, Self { companion, text })),
                Err(error) => {
                    let name = &nested.name;
                    notes.push(format!("the debug companion of {name} is damaged: {error}"));
                    None
                }
            }
        };
        self.companion.nested.iter().filter_map(read).collect()
    }
}

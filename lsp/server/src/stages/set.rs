//! The stages of one compilation in memory.

use std::path::{Path, PathBuf};

use ide::Stage;
use serde::{Deserialize, Serialize};
use tower_lsp::lsp_types::Url;

use super::stage_error::StageError;
use super::{cache, names};

/// A longer text is not read.
const LONGEST: u64 = 128 << 20;

/// What was compiled, by what.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Info {
    /// The source's own path.
    pub(crate) source: PathBuf,
    /// The path that the compiler was given, which its locations name.
    pub(crate) input: String,
    /// The digest of the text.
    pub(crate) digest: String,
    pub(crate) compiler: PathBuf,
    pub(crate) version: String,
    pub(crate) flags: Vec<String>,
    /// The directory that the compiler ran in.
    pub(crate) directory: PathBuf,
    /// Why there is no module, if there is none.
    #[serde(default)]
    pub(crate) problem: Option<String>,
    /// What the compiler said.
    pub(crate) messages: Vec<String>,
}

/// A stage with its place among the others.
pub(crate) struct TitledStage {
    /// `6.flow.mlir`.
    pub(crate) title: String,
    pub(crate) stage: Stage,
}

impl TitledStage {
    /// What people call it: `flow`, `bytecode of main_dispatch_0`.
    pub(crate) fn label(&self) -> String {
        label(&self.stage.name)
    }
}

/// What people call a stage. The bytecode of dispatches has the name of its executable, then that
/// of its format, and `_linked` where it was put together from those of several dispatches.
fn label(name: &str) -> String {
    let Some(nested) = name.strip_prefix("bytecode-") else { return name.to_owned() };
    let executable = nested.strip_suffix("_vmvx_bytecode_fb").unwrap_or(nested);
    match executable.strip_suffix("_linked_vmvx").or_else(|| executable.strip_suffix("_linked")) {
        Some(program) => format!("bytecode of the dispatches of {program}"),
        None => format!("bytecode of {executable}"),
    }
}

/// The stages of a compilation, in order.
pub(crate) struct StageSet {
    pub(crate) key: String,
    pub(crate) info: Info,
    pub(crate) stages: Vec<TitledStage>,
    /// What could not be read, and why.
    pub(crate) notes: Vec<String>,
}

impl StageSet {
    /// Reads a compilation from the cache.
    pub(super) fn load(folder: &Path, key: &str) -> Result<Self, StageError> {
        let folder = folder.join(key);
        let info = std::fs::read(folder.join("info.json"))
            .map_err(|_| StageError::Gone { what: "compilation" })?;
        let info: Info = serde_json::from_slice(&info)?;
        cache::touch(&folder);
        let mut phases = phases_in(&folder.join("phases"));
        phases.sort();
        let (mut stages, mut notes) = (Vec::new(), Vec::new());
        for (number, name, path) in phases {
            let title = format!("{number}.{name}.mlir");
            match read(&path) {
                Ok(text) => stages.push(TitledStage { title, stage: Stage::read(&name, &text) }),
                Err(reason) => notes.push(format!("{title}: {reason}")),
            }
        }
        let number = stages.len() + 1;
        if let Some(problem) = &info.problem {
            let last = stages.last().map_or("", |last| &last.stage.name);
            notes.push(format!("after {last}: {problem}"));
            return Ok(Self { key: key.to_owned(), info, stages, notes });
        }
        match ide::bytecode_stages(&folder.join("module.vmfb")) {
            Ok(found) => stages.extend(found.into_iter().map(|stage| TitledStage {
                title: format!("{number}.{}.vmasm", label(&stage.name)),
                stage,
            })),
            Err(reason) => notes.push(format!("bytecode: {reason}")),
        }
        Ok(Self { key: key.to_owned(), info, stages, notes })
    }

    /// The index of the stage with a title or a name.
    pub(crate) fn index_of(&self, title: &str) -> Option<usize> {
        self.stages.iter().position(|stage| stage.title == title || stage.stage.name == title)
    }

    /// The URI of a stage.
    pub(crate) fn uri(&self, stage: &TitledStage) -> Option<Url> {
        names::uri(&self.info.source, &[&stage.title], &self.key)
    }
}

/// The texts of phases in a folder: their numbers, names and paths.
fn phases_in(folder: &Path) -> Vec<(usize, String, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let path = entry.path();
            let name = path.file_name()?.to_str()?.strip_suffix(".mlir")?.to_owned();
            let (before, phase) = name.rsplit_once('.')?;
            let number = before.rsplit('.').next()?.parse().ok()?;
            Some((number, phase.to_owned(), path))
        })
        .collect()
}

fn read(path: &Path) -> Result<Vec<u8>, StageError> {
    let length = path.metadata()?.len();
    if length > LONGEST {
        return Err(StageError::TooLong { megabytes: length >> 20, path: path.to_owned() });
    }
    Ok(std::fs::read(path)?)
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn bytecode_of_dispatches_has_the_name_of_its_executable() {
        assert_eq!(label("flow"), "flow");
        assert_eq!(label("bytecode"), "bytecode");
        assert_eq!(label("bytecode-f_dispatch_0_vmvx_bytecode_fb"), "bytecode of f_dispatch_0");
        let linked = "bytecode-classifier_linked_vmvx_vmvx_bytecode_fb";
        assert_eq!(label(linked), "bytecode of the dispatches of classifier");
        assert_eq!(label("bytecode-other"), "bytecode of other");
    }
}

//! What the user can set.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

/// What the user can set: `initializationOptions`, and `iree-dbg` in
/// `workspace/didChangeConfiguration`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Settings {
    /// Modules, or folders to look for `<name of the source>.vmfb` in, besides the source's own
    /// folder.
    pub module_paths: Vec<PathBuf>,
    /// Whether a program checks files when they are saved.
    pub check_on_save: bool,
    /// That program, and what it is given before the file's name.
    pub check_command: Vec<String>,
    /// Whether hints are shown between the words.
    pub inlay_hints: bool,
    /// Whether lenses are shown over exports.
    pub code_lens: bool,
    /// Whether the user trusts the folder that is open. Where that is denied, no program is started
    /// and nothing is read on the word of the folder's own settings. A client that says nothing
    /// means yes, or what it has said before.
    pub trusted: Option<bool>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            module_paths: Vec::new(),
            check_on_save: false,
            check_command: vec!["iree-opt".into(), "--split-input-file".into()],
            inlay_hints: true,
            code_lens: true,
            trusted: None,
        }
    }
}

impl Settings {
    /// Reads settings; what cannot be read is left at its default.
    pub(crate) fn read(value: Value) -> Self {
        // What is wrong with others does not make a folder trusted.
        let trusted = value.get("trusted").and_then(Value::as_bool);
        let read: Self = serde_json::from_value(value).unwrap_or_default();
        Self { trusted, ..read }
    }

    /// These settings after earlier ones, of which trust stays where nothing is said of it.
    pub(crate) fn after(mut self, earlier: &Self) -> Self {
        self.trusted = self.trusted.or(earlier.trusted);
        self
    }

    /// What of them is done: in a folder that is not trusted, nothing that starts programs or reads
    /// elsewhere.
    pub(crate) fn in_force(mut self) -> Self {
        if self.trusted == Some(false) {
            self.check_on_save = false;
            self.module_paths.clear();
        }
        self
    }
}

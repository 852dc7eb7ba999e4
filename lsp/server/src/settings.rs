//! The user's settings.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The user's settings: `initializationOptions`, and `iree-dbg` in
/// `workspace/didChangeConfiguration`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Settings {
    /// Modules, or folders searched for `<name of the source>.vmfb`, in addition to the source's
    /// own folder.
    pub module_paths: Vec<PathBuf>,
    /// Whether `check_command` checks files when they are saved.
    pub check_on_save: bool,
    /// Whether iree-opt, where it is installed, checks what was edited once the text rests.
    pub check_while_typing: bool,
    /// Whether the `RUN:` lines of each test are run when it is saved.
    pub test_on_save: bool,
    /// The program that checks a file, and its arguments before the file's name.
    pub check_command: Vec<String>,
    /// The iree-compile that makes stages; otherwise the one that is found.
    #[serde(deserialize_with = "named")]
    pub iree_compile: Option<PathBuf>,
    /// The folder for the cache of stages, if not the user's own.
    pub cache_folder: Option<PathBuf>,
    /// The flags of stages' compilations.
    pub compiler_flags: Vec<String>,
    /// Whether inlay hints are shown.
    pub inlay_hints: bool,
    /// Whether hints and a lens show what the last run left.
    pub last_run_values: bool,
    /// Whether lenses are shown over exports.
    pub code_lens: bool,
    /// Whether the user trusts the workspace. `Some(false)` means that no program is started and
    /// that the workspace's own settings open no other folder. `None` means that the client said
    /// nothing, which leaves an earlier answer in force. Otherwise programs of the user's
    /// environment run, and those of the workspace once `iree-dbg trust` has named it.
    pub trusted: Option<bool>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            module_paths: Vec::new(),
            check_on_save: false,
            check_while_typing: true,
            test_on_save: false,
            check_command: vec!["iree-opt".into(), "--split-input-file".into()],
            iree_compile: None,
            cache_folder: None,
            compiler_flags: Vec::new(),
            inlay_hints: true,
            last_run_values: false,
            code_lens: true,
            trusted: None,
        }
    }
}

/// A program is not started for a workspace that the user does not trust.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{program} does not run in a workspace that is not trusted: trust it first")]
pub(crate) struct NotTrusted {
    program: &'static str,
}

/// A path; an empty one counts as none.
fn named<'d, D: Deserializer<'d>>(read: D) -> Result<Option<PathBuf>, D::Error> {
    let text = Option::<String>::deserialize(read)?;
    Ok(text.filter(|text| !text.trim().is_empty()).map(|text| text.trim().into()))
}

impl Settings {
    /// Reads settings. If they are malformed, all but `trusted` keep their defaults.
    pub(crate) fn read(value: Value) -> Self {
        // A fault in other settings must not make a workspace trusted.
        let trusted = value.get("trusted").and_then(Value::as_bool);
        let read: Self = serde_json::from_value(value).unwrap_or_default();
        Self { trusted, ..read }
    }

    /// These settings, with the trust of earlier ones where these do not mention it.
    pub(crate) fn after(mut self, earlier: &Self) -> Self {
        self.trusted = self.trusted.or(earlier.trusted);
        self
    }

    /// Refuses to start a program in an untrusted workspace.
    ///
    /// # Errors
    /// [`NotTrusted`]: the workspace is not trusted.
    pub(crate) fn may_run(&self, program: &'static str) -> Result<(), NotTrusted> {
        if self.trusted == Some(false) {
            return Err(NotTrusted { program });
        }
        Ok(())
    }

    /// The settings to act on. In an untrusted workspace they start no program and read no other
    /// folder.
    pub(crate) fn in_force(mut self) -> Self {
        if self.trusted == Some(false) {
            self.check_on_save = false;
            self.check_while_typing = false;
            self.test_on_save = false;
            self.module_paths.clear();
            self.cache_folder = None;
        }
        self
    }
}

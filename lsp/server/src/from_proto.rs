//! LSP's types to ours.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;
use tower_lsp::lsp_types::InitializeParams;

use crate::positions::Encoding;
use crate::session::{Abilities, Session};

/// What the user can set: `initializationOptions`, and `iree-dbg` in
/// `workspace/didChangeConfiguration`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
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
    pub fn read(value: Value) -> Self {
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

/// What the client offers to count columns in.
pub fn encoding(params: &InitializeParams) -> Encoding {
    let general = params.capabilities.general.as_ref();
    let offered = general.and_then(|general| general.position_encodings.as_deref());
    Encoding::negotiate(offered.unwrap_or_default())
}

/// The folders that are open.
fn roots(params: &InitializeParams) -> Vec<PathBuf> {
    let folders = params.workspace_folders.iter().flatten().map(|folder| &folder.uri);
    let found: Vec<_> = folders.filter_map(|uri| uri.to_file_path().ok()).collect();
    if !found.is_empty() {
        return found;
    }
    #[allow(deprecated)] // older clients send nothing else
    params.root_uri.iter().filter_map(|uri| uri.to_file_path().ok()).collect()
}

/// What was agreed on, from what the client said about itself. `raw` is the same as JSON, for what
/// the types do not know.
pub(crate) fn session(params: &InitializeParams, raw: &Value) -> Session {
    let text = params.capabilities.text_document.as_ref();
    let flag = |path: &str| raw.pointer(path).and_then(Value::as_bool).unwrap_or(false);
    let folding = text.and_then(|text| text.folding_range.as_ref());
    let abilities = Abilities {
        links: flag("/capabilities/textDocument/definition/linkSupport"),
        trees: flag("/capabilities/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
        snippets: flag("/capabilities/textDocument/completion/completionItem/snippetSupport"),
        folds_by_character: !folding.and_then(|folding| folding.line_folding_only).unwrap_or(false),
        folds: folding.and_then(|folding| folding.range_limit),
        content: raw.pointer("/capabilities/workspace/textDocumentContent").is_some(),
        progress: flag("/capabilities/window/workDoneProgress"),
        pulls: raw.pointer("/capabilities/textDocument/diagnostic").is_some(),
        watches: flag("/capabilities/workspace/didChangeWatchedFiles/dynamicRegistration"),
    };
    let settings = params.initialization_options.clone().map(Settings::read).unwrap_or_default();
    Session::new(abilities, settings, roots(params))
}

//! The session: what `initialize` settled, and state that lives until the client leaves.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

use ide::Modules;
use ide::Workspace;
use serde_json::Value;
use tower_lsp::lsp_types::{InitializeParams, SemanticToken, Url};

use crate::documents::Documents;
use crate::last_run::LastRuns;
use crate::positions::Encoding;
use crate::settings::Settings;
use crate::stages::trails::Trails;
use crate::stages::{StageError, Stages, cache};
use crate::test_results::TestResult;

/// The client's abilities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Abilities {
    /// It shows definitions with their origin.
    pub(crate) links: bool,
    /// It shows outlines as trees.
    pub(crate) trees: bool,
    /// It fills in the places of snippets.
    pub(crate) snippets: bool,
    /// It folds at characters, not only at whole lines.
    pub(crate) folds_by_character: bool,
    /// The most folds that it accepts.
    pub(crate) folds: Option<u32>,
    /// It shows documents that the server makes (`workspace/textDocumentContent`).
    pub(crate) content: bool,
    /// It shows progress that the server begins.
    pub(crate) progress: bool,
    /// It shows a document on request.
    pub(crate) shows_documents: bool,
    /// It requests diagnostics itself.
    pub(crate) pulls: bool,
    /// It watches files on request.
    pub(crate) watches: bool,
    /// It answers questions about its settings.
    pub(crate) configuration: bool,
    /// It tells when settings change, on request.
    pub(crate) tells_settings: bool,
    /// It asks for lenses again when it is told to.
    pub(crate) refreshes_lenses: bool,
}

/// The semantic tokens last sent for each document, and their number, for deltas.
pub(crate) type SentTokens = HashMap<Url, (u64, Vec<SemanticToken>)>;

/// For each file its time and length, and the name of the result that it had then.
pub(crate) type Reports = HashMap<PathBuf, ((SystemTime, u64), String)>;

/// The state of a session.
#[derive(Default)]
pub(crate) struct Session {
    pub(crate) abilities: Abilities,
    /// The commands that the client has.
    commands: Vec<String>,
    settings: RwLock<Settings>,
    modules: RwLock<Arc<Modules>>,
    roots: Vec<PathBuf>,
    pub(crate) workspace: Workspace,
    pub(crate) tokens: Mutex<SentTokens>,
    pub(crate) compiler: Mutex<HashMap<Url, Vec<ide::Diagnostic>>>,
    pub(crate) stages: Stages,
    /// Values of last runs.
    pub(crate) last_runs: LastRuns,
    /// What passes did, of the compilations that were asked about last.
    pub(crate) trails: Trails,
    pub(crate) graphs: ide::DispatchGraphs,
    /// The results of files that were checked as part of the workspace.
    pub(crate) reports: Mutex<Reports>,
    /// The last runs of tests, until the next edit.
    pub(crate) tests: Mutex<HashMap<Url, TestResult>>,
    /// The documents whose test was run by its lens.
    pub(crate) tested: Mutex<HashSet<Url>>,
}

impl Session {
    /// The session that a client's `initialize` asks for. `raw` is the same parameters as JSON,
    /// with members that the types do not know.
    pub(crate) fn agreed(params: &InitializeParams, raw: &Value) -> Self {
        let text = params.capabilities.text_document.as_ref();
        let flag = |path: &str| raw.pointer(path).and_then(Value::as_bool).unwrap_or(false);
        let folding = text.and_then(|text| text.folding_range.as_ref());
        let abilities = Abilities {
            links: flag("/capabilities/textDocument/definition/linkSupport"),
            trees: flag(
                "/capabilities/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport",
            ),
            snippets: flag("/capabilities/textDocument/completion/completionItem/snippetSupport"),
            folds_by_character: !folding
                .and_then(|folding| folding.line_folding_only)
                .unwrap_or(false),
            folds: folding.and_then(|folding| folding.range_limit),
            content: raw.pointer("/capabilities/workspace/textDocumentContent").is_some(),
            progress: flag("/capabilities/window/workDoneProgress"),
            shows_documents: flag("/capabilities/window/showDocument/support"),
            pulls: raw.pointer("/capabilities/textDocument/diagnostic").is_some(),
            watches: flag("/capabilities/workspace/didChangeWatchedFiles/dynamicRegistration"),
            configuration: flag("/capabilities/workspace/configuration"),
            tells_settings: flag(
                "/capabilities/workspace/didChangeConfiguration/dynamicRegistration",
            ),
            refreshes_lenses: flag("/capabilities/workspace/codeLens/refreshSupport"),
        };
        let commands = raw.pointer("/initializationOptions/commands").and_then(Value::as_array);
        let commands = commands.into_iter().flatten().filter_map(Value::as_str);
        let commands = commands.map(str::to_owned).collect();
        let settings =
            params.initialization_options.clone().map(Settings::read).unwrap_or_default();
        Self { commands, ..Self::new(abilities, settings, roots(params)) }
    }

    /// Whether the client has a command of this name.
    pub(crate) fn runs(&self, command: &str) -> bool {
        self.commands.iter().any(|known| known == command)
    }

    fn new(abilities: Abilities, settings: Settings, roots: Vec<PathBuf>) -> Self {
        let session =
            Self { abilities, workspace: Workspace::new(roots.clone()), roots, ..Self::default() };
        session.configure(settings);
        session
    }

    /// Replaces the settings. Paths are relative to the first folder of the workspace.
    pub(crate) fn configure(&self, mut settings: Settings) {
        settings = settings.after(&self.settings.read().unwrap_or_else(PoisonError::into_inner));
        if let Some(root) = self.roots.first() {
            settings.module_paths.iter_mut().for_each(|path| *path = root.join(&*path));
            settings.iree_compile = settings.iree_compile.map(|path| program(&path, root));
        }
        // An editor that has asked its user has asked about programs of the folder, too.
        compile::trust_projects(settings.trusted == Some(true));
        let module_paths = settings.clone().in_force().module_paths;
        *self.modules.write().unwrap_or_else(PoisonError::into_inner) =
            Arc::new(Modules::new(module_paths));
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    /// The folders and modules whose files a URI may name.
    pub(crate) fn places(&self, documents: &Documents) -> Vec<PathBuf> {
        let files = documents.iter().filter(|(uri, _)| uri.scheme() == "file");
        let open = files.filter_map(|(uri, _)| Some(uri.to_file_path().ok()?.parent()?.to_owned()));
        let configured = self.modules();
        let configured = configured.configured().iter().cloned();
        self.workspace.folders().into_iter().chain(configured).chain(open).collect()
    }

    /// The folder of the cache of stages.
    pub(crate) fn cache(&self) -> Result<PathBuf, StageError> {
        cache::folder(self.settings().cache_folder.as_deref())
    }

    /// The settings in force.
    pub(crate) fn settings(&self) -> Settings {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone().in_force()
    }

    pub(crate) fn modules(&self) -> Arc<Modules> {
        self.modules.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A program of the settings: `${workspaceFolder}` and a leading `~` are expanded, and a path is
/// relative to the first folder of the workspace. A mere name is looked for on the PATH.
fn program(path: &Path, root: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    let text = text.replace("${workspaceFolder}", &root.to_string_lossy());
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match (text.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ if text.contains(['/', '\\']) => root.join(text),
        _ => PathBuf::from(text),
    }
}

/// The encoding of columns, from what the client offers.
pub(crate) fn encoding(params: &InitializeParams) -> Encoding {
    let general = params.capabilities.general.as_ref();
    let offered = general.and_then(|general| general.position_encodings.as_deref());
    Encoding::negotiate(offered.unwrap_or_default())
}

/// The folders of the workspace.
fn roots(params: &InitializeParams) -> Vec<PathBuf> {
    let folders = params.workspace_folders.iter().flatten().map(|folder| &folder.uri);
    let found: Vec<_> = folders.filter_map(|uri| uri.to_file_path().ok()).collect();
    if !found.is_empty() {
        return found;
    }
    #[allow(deprecated)] // older clients send nothing else
    params.root_uri.iter().filter_map(|uri| uri.to_file_path().ok()).collect()
}

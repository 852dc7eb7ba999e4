//! LSP's types to ours.

use std::path::PathBuf;

use tower_lsp::lsp_types::{InitializeParams, TextDocumentPositionParams};

use crate::backend::Settings;
use crate::documents::Documents;
use crate::positions::{self, Encoding};

/// What the client offers to count columns in.
pub fn encoding(params: &InitializeParams) -> Encoding {
    let general = params.capabilities.general.as_ref();
    let offered = general.and_then(|general| general.position_encodings.as_deref());
    Encoding::negotiate(offered.unwrap_or_default())
}

/// The user's settings: `{"modulePaths": ["build", "/models/x.vmfb"]}`, relative to the workspace. What cannot be read is left
/// at its default.
pub fn settings(params: &InitializeParams) -> Settings {
    let mut settings: Settings = params
        .initialization_options
        .clone()
        .and_then(|options| serde_json::from_value(options).ok())
        .unwrap_or_default();
    let folders = params.workspace_folders.iter().flatten().map(|folder| &folder.uri);
    #[allow(deprecated)] // older clients send nothing else
    let root = params.root_uri.iter();
    if let Some(root) = folders.chain(root).find_map(|uri| uri.to_file_path().ok()) {
        settings.module_paths.iter_mut().for_each(|path| *path = root.join(&*path));
    }
    settings
}

/// The byte that a request is about.
pub fn offset(documents: &Documents, params: &TextDocumentPositionParams) -> Option<usize> {
    let open = documents.get(&params.text_document.uri)?;
    Some(positions::to_byte(&open.rope, params.position, documents.encoding()))
}

/// Paths as settings give them.
pub type Paths = Vec<PathBuf>;

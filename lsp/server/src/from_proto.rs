//! LSP's types to ours.

use std::path::PathBuf;

use ide::Modules;
use ropey::Rope;
use serde::Deserialize;
use tower_lsp::lsp_types::{InitializeParams, Position};

use crate::positions::{self, Encoding};
use crate::requests::Session;

/// What the user can set, as `initializationOptions`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// Modules, or folders to look for `<name of the source>.vmfb` in, besides the source's own folder.
    pub module_paths: Vec<PathBuf>,
}

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

/// The byte at a position.
pub fn offset(rope: &Rope, position: Position, encoding: Encoding) -> usize {
    positions::to_byte(rope, position, encoding)
}

/// What was agreed on, from what the client said about itself.
pub(crate) fn session(params: &InitializeParams) -> Session {
    let text = params.capabilities.text_document.as_ref();
    let links = text.and_then(|text| text.definition?.link_support);
    let trees =
        text.and_then(|text| text.document_symbol.as_ref()?.hierarchical_document_symbol_support);
    Session {
        modules: Modules::new(settings(params).module_paths),
        links: links.unwrap_or(false),
        trees: trees.unwrap_or(false),
    }
}

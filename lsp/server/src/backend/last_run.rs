//! The command that shows what the last run left.

use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::{MessageType, ShowDocumentParams, Url};

use super::Backend;
use crate::publish::show_document;
use crate::requests::edit::refused;
use crate::requests::last_run::{self, SHOW_LAST_RUN};

impl Backend {
    /// `iree-dbg.showLastRun` with a document.
    pub(super) async fn show_last_run(&self, arguments: &[Value]) -> Result<Value> {
        let uri = arguments.first().and_then(Value::as_str).and_then(|uri| Url::parse(uri).ok());
        let uri = uri.ok_or_else(|| Error::invalid_params("expected a document's URI"))?;
        let found = self.with_document(&uri, last_run::shown).await?.flatten();
        let (answer, place) =
            found.ok_or_else(|| refused("no run of this text is known: it was edited since"))?;
        let session = self.session();
        if session.abilities.shows_documents && place.is_some() {
            let params = ShowDocumentParams {
                uri,
                external: None,
                take_focus: Some(true),
                selection: place,
            };
            show_document(&self.client, params);
        }
        // A client without a command of this name would drop the answer.
        if !session.runs(SHOW_LAST_RUN) {
            let message = answer["message"].as_str().unwrap_or_default().to_owned();
            let client = self.client.clone();
            tokio::spawn(async move { client.show_message(MessageType::INFO, message).await });
        }
        Ok(answer)
    }
}

//! `iree-dbg.controlFlow`: the control-flow graph of a function as a picture. A client that has a
//! command of this name shows the answer itself; for others it is written to a file, which the
//! system's program for pictures shows.

use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::{MessageType, Position, ShowDocumentParams, Url};

use super::Backend;
use crate::publish::show_document;
use crate::requests::edit::{CONTROL_FLOW, refused};

/// What the command is given.
#[derive(Deserialize)]
struct Wanted {
    uri: Url,
    /// Where the function's head is.
    position: Position,
}

impl Backend {
    pub(super) async fn control_flow(&self, arguments: &[Value]) -> Result<Value> {
        let wanted = arguments.first().cloned().unwrap_or_default();
        let Wanted { uri, position } = serde_json::from_value(wanted)
            .map_err(|error| Error::invalid_params(error.to_string()))?;
        let drawn = self.with_document(&uri, move |view| {
            ide::control_flow(view.document(), view.offset(position))
        });
        let none = || refused("there is no function of several blocks here");
        let svg = drawn.await?.flatten().ok_or_else(none)?;
        let session = self.session();
        if session.runs(CONTROL_FLOW) {
            return Ok(json!({"svg": svg}));
        }
        let not_written = |error: std::io::Error| refused(format!("it cannot be written: {error}"));
        let file = tempfile::Builder::new().prefix("control-flow-").suffix(".svg").tempfile();
        // The program that shows it reads it later, so it stays.
        let (_, path) = file.map_err(not_written)?.keep().map_err(|it| not_written(it.error))?;
        std::fs::write(&path, &svg).map_err(not_written)?;
        let place = Url::from_file_path(&path);
        let place = place.map_err(|()| refused("the picture has no place"))?;
        if session.abilities.shows_documents {
            let (uri, external) = (place.clone(), Some(true));
            let params = ShowDocumentParams { uri, external, take_focus: None, selection: None };
            show_document(&self.client, params);
        } else {
            let text = format!("the control-flow graph is in {}", path.display());
            let client = self.client.clone();
            tokio::spawn(async move { client.show_message(MessageType::INFO, text).await });
        }
        Ok(json!({"svg": svg, "uri": place}))
    }
}

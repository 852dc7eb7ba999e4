//! Messages that no request asks for: diagnostics a little after the last edit, and refreshes.
//! Handlers never wait for them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tower_lsp::Client;
use tower_lsp::lsp_types::Url;
use tower_lsp::lsp_types::request::Request;

use crate::requests::{Cancelled, View, check};
use crate::session::Session;
use crate::transport::State;

/// How long the text must rest before its diagnostics are published.
const REST: Duration = Duration::from_millis(200);
/// How long the server waits for an answer that it does not need.
const PATIENCE: Duration = Duration::from_secs(30);

/// Publishes the diagnostics of a document after a rest at `version`. An edit in the meantime
/// cancels that.
pub(crate) fn after_rest(
    client: Client,
    state: Arc<State>,
    session: Arc<Session>,
    uri: Url,
    version: i32,
) {
    tokio::spawn(async move {
        tokio::time::sleep(REST).await;
        now(&client, &state, session, uri, version).await;
    });
}

/// Publishes the diagnostics of a document if it is still at `version`.
pub(crate) async fn now(
    client: &Client,
    state: &Arc<State>,
    session: Arc<Session>,
    uri: Url,
    version: i32,
) {
    let documents = state.latest();
    let Some(open) = documents.get(&uri).filter(|open| open.version == version).cloned() else {
        return;
    };
    let cancelled = Cancelled::default();
    let (flag, of) = (cancelled.clone(), uri.clone());
    let computed = tokio::task::spawn_blocking(move || {
        let view = View {
            uri: &of,
            open: &open,
            documents: &documents,
            session: &session,
            cancelled: &flag,
        };
        check::diagnostics(&view)
    });
    let superseded = state.changed_from(&uri, version);
    tokio::select! {
        diagnostics = computed => {
            if let Ok(Some(diagnostics)) = diagnostics {
                client.publish_diagnostics(uri, diagnostics, Some(version)).await;
            }
        }
        () = superseded => cancelled.cancel(),
    }
}

/// A request of LSP 3.18, which the types do not know.
enum RefreshContent {}

impl Request for RefreshContent {
    type Params = Value;
    type Result = Value;
    const METHOD: &'static str = "workspace/textDocumentContent/refresh";
}

/// Asks the client to request a made document again.
pub(crate) fn refresh_content(client: Client, uri: Url) {
    tokio::spawn(async move {
        let asked = client.send_request::<RefreshContent>(json!({"uri": uri}));
        // The client may ignore it.
        let _ = tokio::time::timeout(PATIENCE, asked).await;
    });
}

/// Asks the client to request diagnostics again.
pub(crate) async fn refresh_diagnostics(client: &Client) {
    let _ = tokio::time::timeout(PATIENCE, client.workspace_diagnostic_refresh()).await;
}

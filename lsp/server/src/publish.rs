//! Publishing diagnostics: a little after the last edit, only for the newest version, never in a handler.

use std::sync::Arc;
use std::time::Duration;

use tower_lsp::Client;
use tower_lsp::lsp_types::Url;

use crate::ordered::State;
use crate::to_proto;

/// How long the text must rest.
const REST: Duration = Duration::from_millis(200);

/// Publishes the diagnostics of a document once it rests at `version`; an edit meanwhile makes this do nothing.
pub(crate) fn after_rest(client: Client, state: Arc<State>, uri: Url, version: i32) {
    tokio::spawn(async move {
        tokio::time::sleep(REST).await;
        let documents = state.latest();
        let Some(open) = documents.get(&uri).filter(|open| open.version == version).cloned() else {
            return;
        };
        let encoding = documents.encoding();
        let computed = tokio::task::spawn_blocking(move || {
            let found = ide::diagnostics(&open.document);
            found
                .into_iter()
                .map(|found| to_proto::diagnostic(&open.rope, found, encoding))
                .collect::<Vec<_>>()
        });
        if let Ok(diagnostics) = computed.await {
            client.publish_diagnostics(uri, diagnostics, Some(version)).await;
        }
    });
}

//! Messages that no answer waits for: diagnostics a little after the last edit, refreshes, and
//! documents to show.
//! Handlers never wait for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tower_lsp::Client;
use tower_lsp::lsp_types::request::{Request, ShowDocument, WorkspaceDiagnosticRefresh};
use tower_lsp::lsp_types::{ShowDocumentParams, Url};

use crate::asking;
use crate::memory;
use crate::progress::Progress;
use crate::requests::{Cancelled, View, check};
use crate::session::Session;
use crate::transport::State;

/// How long the text must rest before its diagnostics are published.
const REST: Duration = Duration::from_millis(200);
/// How long the server waits for an answer that it does not need.
const PATIENCE: Duration = Duration::from_secs(30);

/// Lets the client show a document. Not awaited: a client that never answers must not block a
/// handler.
pub(crate) fn show_document(client: &Client, params: ShowDocumentParams) {
    let client = client.clone();
    tokio::spawn(async move {
        asking::answer::<ShowDocument>(&client, params, PATIENCE).await;
    });
}

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
    let done = Arc::new(AtomicUsize::new(0));
    let total = open.rope.len_bytes();
    let reported = reporting(client, session.abilities.progress, total, done.clone());
    let (flag, of) = (cancelled.clone(), uri.clone());
    let computed = tokio::task::spawn_blocking(move || {
        let view = View {
            uri: &of,
            open: &open,
            documents: &documents,
            session: &session,
            cancelled: &flag,
        };
        check::diagnostics(&view, &done)
    });
    let superseded = state.changed_from(&uri, version);
    tokio::select! {
        diagnostics = computed => {
            if total > GARBAGE {
                memory::give_back_after_rest();
            }
            if let Ok(Some(diagnostics)) = diagnostics {
                client.publish_diagnostics(uri, diagnostics, Some(version)).await;
            }
        }
        () = superseded => cancelled.cancel(),
        () = reported => {}
    }
}

/// A check of more bytes leaves much memory free.
const GARBAGE: usize = 256 << 10;
/// Texts of more bytes are checked for so long that the client is told how far the check is.
const LONG: usize = 8 << 20;
/// The time between two reports.
const REPORT: Duration = Duration::from_millis(500);

/// Tells the client how many of `total` bytes are checked, for ever.
async fn reporting(client: &Client, shows: bool, total: usize, done: Arc<AtomicUsize>) {
    if total <= LONG {
        return std::future::pending().await;
    }
    let progress = Progress::of_server(client, shows, "Checking").await;
    loop {
        let now = done.load(Ordering::Relaxed);
        let percentage = (now as u128 * 100 / total as u128) as u32;
        progress.report(percentage, &format!("{} of {} MB", now >> 20, total >> 20));
        tokio::time::sleep(REPORT).await;
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
        // The client may ignore it.
        asking::answer::<RefreshContent>(&client, json!({"uri": uri}), PATIENCE).await;
    });
}

/// Asks the client to request diagnostics again.
pub(crate) async fn refresh_diagnostics(client: &Client) {
    asking::answer::<WorkspaceDiagnosticRefresh>(client, (), PATIENCE).await;
}

//! What the user's compiler is doing for each document, and what it found.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ide::Diagnostic;
use tokio::task::AbortHandle;
use tower_lsp::Client;
use tower_lsp::lsp_types::Url;

use crate::publish;
use crate::session::Session;
use crate::transport::State;

/// What is done for a document: at most one of each at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A check of the text.
    Check,
    /// An inquiry about its exports.
    Exports,
    /// A run of its test after a save.
    Test,
}

/// The running checks and inquiries.
#[derive(Default)]
pub(crate) struct Checks {
    running: Mutex<HashMap<(Url, Kind), AbortHandle>>,
    /// Checks while typing, one at a time.
    pub(crate) turn: Arc<tokio::sync::Mutex<()>>,
    /// Tests, one at a time.
    pub(crate) test_turn: tokio::sync::Mutex<()>,
    /// Inquiries, one at a time, and the compiler that the last one asked: its identity and its
    /// name.
    pub(crate) inquiry: Arc<tokio::sync::Mutex<(String, String)>>,
}

impl Checks {
    fn running(&self) -> std::sync::MutexGuard<'_, HashMap<(Url, Kind), AbortHandle>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts work for a document, in the place of what is done for it.
    pub(crate) fn begin(
        &self,
        uri: Url,
        kind: Kind,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        let task = tokio::spawn(work);
        if let Some(earlier) = self.running().insert((uri, kind), task.abort_handle()) {
            earlier.abort();
        }
    }

    /// Whether such work is being done for a document.
    pub(crate) fn is_running(&self, uri: &Url, kind: Kind) -> bool {
        self.running().get(&(uri.clone(), kind)).is_some_and(|task| !task.is_finished())
    }

    /// Ends the work for a document and forgets its last findings.
    pub(crate) fn stop(&self, uri: &Url, session: &Session) {
        let mut running = self.running();
        for kind in [Kind::Check, Kind::Exports, Kind::Test] {
            if let Some(task) = running.remove(&(uri.clone(), kind)) {
                task.abort();
            }
        }
        drop(running);
        session.compiler.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
        session.tests.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    pub(crate) fn stop_all(&self) {
        self.running().drain().for_each(|(_, task)| task.abort());
    }
}

/// Keeps what a check found in a document, and tells the client.
pub(crate) async fn keep(
    client: &Client,
    state: &Arc<State>,
    session: Arc<Session>,
    uri: Url,
    version: i32,
    found: Vec<Diagnostic>,
) {
    session.compiler.lock().unwrap_or_else(PoisonError::into_inner).insert(uri.clone(), found);
    if session.abilities.pulls {
        publish::refresh_diagnostics(client).await;
    } else {
        publish::now(client, state, session, uri, version).await;
    }
}

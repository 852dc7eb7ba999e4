//! The test of a document, run when its lens is used, and then when the document is saved.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tower_lsp::Client;
use tower_lsp::lsp_types::request::CodeLensRefresh;
use tower_lsp::lsp_types::{ShowDocumentParams, Url};

use crate::asking;
use crate::checks::{Checks, Kind};
use crate::progress::Progress;
use crate::publish::{self, show_document};
use crate::session::Session;
use crate::test_runner::{TestError, run};
use crate::transport::State;

/// How long the server waits for an answer that it does not need.
const PATIENCE: Duration = Duration::from_secs(30);

impl Checks {
    /// Runs the test of a document. The answer says in one line how it ended.
    ///
    /// # Errors
    /// [`TestError`]: why nothing was run.
    pub(crate) async fn run_test(
        &self,
        client: &Client,
        state: &Arc<State>,
        session: &Arc<Session>,
        uri: &Url,
    ) -> Result<Value, TestError> {
        let documents = state.latest();
        let open = documents.get(uri).cloned().ok_or(TestError::NotOpen)?;
        let path = uri.to_file_path().ok();
        let shows = session.abilities.progress;
        let progress = Progress::of_server(client, shows, "Running the test").await;
        let turn = self.test_turn.lock().await;
        let result = run(&session.settings(), &open, path.as_deref()).await;
        drop(turn);
        progress.end();
        let result = result?;
        let version = open.version;
        let line_of = |at: usize| open.rope.byte_to_line(at.min(open.rope.len_bytes())) + 1;
        let message = match result.faults.first() {
            None => "the test passes".to_owned(),
            Some(first) => {
                let count = result.faults.len();
                let faults = if count == 1 { "1 fault".into() } else { format!("{count} faults") };
                format!("{faults}; line {}: {}", line_of(first.range.start), first.message)
            }
        };
        let answer = json!({"passed": result.is_right, "message": message});
        if state.latest().get(uri).is_none_or(|open| open.version != version) {
            return Err(TestError::Edited);
        }
        lock(&session.tests).insert(uri.clone(), result);
        let (client, state, session) = (client.clone(), state.clone(), session.clone());
        let uri = uri.clone();
        // Not awaited: a client that never answers must not block a handler.
        tokio::spawn(async move {
            if session.abilities.refreshes_lenses {
                asking::answer::<CodeLensRefresh>(&client, (), PATIENCE).await;
            }
            if session.abilities.pulls {
                publish::refresh_diagnostics(&client).await;
            } else {
                publish::now(&client, &state, session.clone(), uri, version).await;
            }
        });
        Ok(answer)
    }

    /// Runs the test of a saved document, if its lens was used or the settings ask for it.
    pub(crate) fn test_saved(
        self: &Arc<Self>,
        client: &Client,
        state: &Arc<State>,
        session: &Arc<Session>,
        uri: &Url,
    ) {
        let settings = session.settings();
        let is_asked_for = settings.test_on_save || lock(&session.tested).contains(uri);
        let documents = state.latest();
        let is_test =
            documents.get(uri).is_some_and(|open| ide::first_run_line(&open.document).is_some());
        if !is_asked_for || !is_test {
            return;
        }
        let (checks, client, state) = (self.clone(), client.clone(), state.clone());
        let (session, key, uri) = (session.clone(), uri.clone(), uri.clone());
        self.begin(key, Kind::Test, async move {
            // What cannot be run was said when the lens was used.
            let _ = checks.run_test(&client, &state, &session, &uri).await;
        });
    }
}

fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes what the last run printed to a file, and lets the client show it.
///
/// # Errors
/// [`TestError`]: why there is nothing to show.
pub(crate) fn show_output(
    client: &Client,
    session: &Arc<Session>,
    uri: &Url,
) -> Result<Value, TestError> {
    let result = lock(&session.tests).get(uri).cloned().ok_or(TestError::NotRun)?;
    let folder = result.scratch.clone().ok_or(TestError::NotRun)?;
    let path = uri.to_file_path().ok();
    let stem = path.as_deref().and_then(|path| path.file_stem()).unwrap_or("test".as_ref());
    let target = folder.path().join(format!("{}.output.mlir", stem.to_string_lossy()));
    let mut text = String::new();
    for (options, output) in &result.outputs {
        if result.outputs.len() > 1 {
            text += &format!("// What is compared with {}:\n", options.prefixes.join(", "));
        }
        text += output;
        text += "\n";
    }
    if let Err(source) = std::fs::write(&target, &text) {
        return Err(TestError::NotWritten { path: target, source });
    }
    let shown = Url::from_file_path(&target).map_err(|()| TestError::NoPlace)?;
    if session.abilities.shows_documents {
        let params = ShowDocumentParams {
            uri: shown.clone(),
            external: None,
            take_focus: Some(true),
            selection: None,
        };
        show_document(client, params);
    }
    Ok(json!({"uri": shown, "text": text}))
}

//! What the server does on its own after a message: it asks for settings, publishes diagnostics,
//! and lets the compiler check. No handler waits for it.

use serde_json::Value;
use tower_lsp::lsp_types as lsp;
use tower_lsp::lsp_types::Url;

use super::Backend;
use crate::settings::Settings;
use crate::transport::snapshot;
use crate::{compiler_operations, publish};

impl Backend {
    /// Asks the client for its settings, if it answers such questions. They replace those that came
    /// with `initialize`, except for what the user trusts.
    pub(super) fn ask_for_settings(&self) {
        let session = self.session();
        if !session.abilities.configuration {
            return;
        }
        let (client, state) = (self.client.clone(), self.state.clone());
        // Not awaited: a client that never answers must not block a handler.
        tokio::spawn(async move {
            let section = Some("iree-dbg".to_owned());
            let item = lsp::ConfigurationItem { scope_uri: None, section };
            let answer = client.configuration(vec![item]).await.unwrap_or_default();
            let Some(Value::Object(mut settings)) = answer.into_iter().next() else { return };
            // A folder's settings do not make it trusted.
            settings.remove("trusted");
            if settings.is_empty() {
                return;
            }
            session.configure(Settings::read(Value::Object(settings)));
            compiler_operations::load(session.clone());
            for (uri, open) in state.latest().iter() {
                let (client, state) = (client.clone(), state.clone());
                if !session.abilities.pulls {
                    publish::after_rest(client, state, session.clone(), uri.clone(), open.version);
                }
            }
        });
    }

    /// Publishes the diagnostics of a document, unless the client requests them itself.
    pub(super) fn publish(&self, uri: &Url) {
        let session = self.session();
        if session.abilities.pulls {
            return;
        }
        if let Some(open) = snapshot().get(uri) {
            let (client, state) = (self.client.clone(), self.state.clone());
            publish::after_rest(client, state, session, uri.clone(), open.version);
        }
    }

    /// Lets iree-opt check what was edited at `place`, and iree-compile say what it makes of the
    /// exports there, once the text rests.
    pub(super) fn check_while_typing(&self, uri: &Url, place: Option<lsp::Position>) {
        let session = self.session();
        self.checks.after_rest(&self.client, &self.state, &session, uri, place);
        self.checks.ask_after_rest(&self.state, &session, uri, place);
    }
}

//! The state that the transport and the handlers share: the open documents, and the snapshot of
//! each message.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::watch;
use tower_lsp::lsp_types::Url;

use super::held_texts::HeldTexts;
use crate::documents::Documents;

tokio::task_local! {
    static SNAPSHOT: Documents;
}

/// The documents at the arrival of the message that is being handled.
pub(crate) fn snapshot() -> Documents {
    SNAPSHOT.try_with(Clone::clone).unwrap_or_default()
}

/// Runs a handler with these documents as its snapshot.
pub(crate) async fn in_snapshot<F: Future>(documents: Documents, handler: F) -> F::Output {
    SNAPSHOT.scope(documents, handler).await
}

/// Starts a handler with these documents as its snapshot.
pub(super) fn start_in_snapshot<T>(documents: Documents, start: impl FnOnce() -> T) -> T {
    SNAPSHOT.sync_scope(documents, start)
}

/// The state that the service and the handlers share.
pub(crate) struct State {
    documents: Mutex<Documents>,
    /// Counts edits, so that work on an old text can notice them.
    edits: watch::Sender<u64>,
    /// Long texts that were taken out of their messages.
    pub(super) held: HeldTexts,
    pub(super) initialize_params: Mutex<Value>,
    pub(super) shut_down: AtomicBool,
    pub(super) exited: watch::Sender<bool>,
}

impl State {
    /// The state of a server without documents.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            documents: Mutex::default(),
            edits: watch::Sender::new(0),
            held: HeldTexts::default(),
            initialize_params: Mutex::default(),
            shut_down: AtomicBool::new(false),
            exited: watch::Sender::new(false),
        })
    }

    /// The documents after the last message.
    pub(crate) fn latest(&self) -> Documents {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the documents for all later messages.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Documents)) {
        change(&mut self.documents.lock().unwrap_or_else(PoisonError::into_inner));
        self.edits.send_modify(|edits| *edits += 1);
    }

    /// Waits until a document is no longer at `version`.
    pub(crate) async fn changed_from(&self, uri: &Url, version: i32) {
        let same =
            |state: &Self| state.latest().get(uri).is_some_and(|open| open.version == version);
        // This fails only without a sender, and `self` holds the sender.
        let _ = self.edits.subscribe().wait_for(|_| !same(self)).await;
    }

    /// The parameters of `initialize` as JSON: the types leave out unknown members.
    pub(crate) fn initialize_params(&self) -> Value {
        self.initialize_params.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the client has sent `shutdown`.
    pub(crate) fn is_shut_down(&self) -> bool {
        self.shut_down.load(Ordering::Acquire)
    }

    /// Whether the client has sent `exit`.
    pub(crate) fn is_exited(&self) -> bool {
        *self.exited.borrow()
    }

    /// Waits for the client's `exit`.
    pub(crate) async fn exited(&self) {
        // This fails only without a sender, and `self` holds the sender.
        let _ = self.exited.subscribe().wait_for(|exited| *exited).await;
    }
}

//! The service around tower-lsp that keeps messages in order.
//!
//! `call` runs once a message, in the order in which messages came, before tower-lsp starts
//! anything. Edits are applied right there, and every request carries away the documents as they
//! are at that moment. So an edit never waits for a slow request, and a request sees the text that
//! the client meant: not older, not newer.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use ropey::Rope;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::watch;
use tower::Service;
use tower_lsp::jsonrpc::{Error, Request, Response};
use tower_lsp::lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, Url,
};

use crate::capabilities;
use crate::documents::Documents;
use crate::frames::MALFORMED;
use crate::opening::{Held, number_of};

tokio::task_local! {
    static SNAPSHOT: Documents;
}

/// The documents as they were when the message that is being handled arrived.
pub fn snapshot() -> Documents {
    SNAPSHOT.try_with(Clone::clone).unwrap_or_default()
}

/// Runs a handler with these documents as its snapshot.
#[cfg(test)]
pub(crate) async fn in_snapshot<F: Future>(documents: Documents, handler: F) -> F::Output {
    SNAPSHOT.scope(documents, handler).await
}

/// What the service and the handlers share.
pub struct State {
    documents: Mutex<Documents>,
    /// Counts edits, so that work on an old text can notice.
    edits: watch::Sender<u64>,
    /// Long texts that were taken out of their messages before tower-lsp read those.
    pub(crate) held: Held,
    initialize_params: Mutex<Value>,
    shut_down: AtomicBool,
    exited: watch::Sender<bool>,
}

impl State {
    /// No documents yet.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            documents: Mutex::default(),
            edits: watch::Sender::new(0),
            held: Held::default(),
            initialize_params: Mutex::default(),
            shut_down: AtomicBool::new(false),
            exited: watch::Sender::new(false),
        })
    }

    /// The documents as of the last message.
    pub fn latest(&self) -> Documents {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the documents for all messages from now on.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Documents)) {
        change(&mut self.documents.lock().unwrap_or_else(PoisonError::into_inner));
        self.edits.send_modify(|edits| *edits += 1);
    }

    /// Until a document is no longer at `version`.
    pub(crate) async fn changed_from(&self, uri: &Url, version: i32) {
        let same =
            |state: &Self| state.latest().get(uri).is_some_and(|open| open.version == version);
        // Fails only where the sender is gone, and `self` holds it.
        let _ = self.edits.subscribe().wait_for(|_| !same(self)).await;
    }

    /// What the client said in `initialize`, as it said it: the types leave out what they do not
    /// know.
    pub(crate) fn initialize_params(&self) -> Value {
        self.initialize_params.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the client asked to shut down.
    pub fn is_shut_down(&self) -> bool {
        self.shut_down.load(Ordering::Acquire)
    }

    /// Whether the client said `exit`.
    pub fn is_exited(&self) -> bool {
        *self.exited.borrow()
    }

    /// Until the client says `exit`.
    pub async fn exited(&self) {
        // Fails only where the sender is gone, and `self` holds it.
        let _ = self.exited.subscribe().wait_for(|exited| *exited).await;
    }
}

/// The service; see the file's comment.
pub struct Ordered<S> {
    inner: S,
    state: Arc<State>,
}

impl<S> Ordered<S> {
    /// Around `inner`, which should be tower-lsp's.
    pub fn new(inner: S, state: Arc<State>) -> Self {
        Self { inner, state }
    }
}

impl<S> Service<Request> for Ordered<S>
where
    S: Service<Request, Response = Option<Response>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Option<Response>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        if self.state.is_exited() { Poll::Ready(Ok(())) } else { self.inner.poll_ready(context) }
    }

    fn call(&mut self, request: Request) -> Self::Future {
        if request.method() == "exit" {
            self.state.exited.send_replace(true);
        }
        if self.state.is_exited() {
            return Box::pin(std::future::ready(Ok(None)));
        }
        if request.method() == MALFORMED {
            let error = request.params().cloned().unwrap_or_default();
            let error = serde_json::from_value(error).unwrap_or_else(|_| Error::invalid_request());
            let answer = request.id().map(|id| Response::from_error(id.clone(), error));
            return Box::pin(std::future::ready(Ok(answer)));
        }
        if request.method() == "shutdown" {
            self.state.shut_down.store(true, Ordering::Release);
        }
        let initializes = request.method() == "initialize";
        if initializes {
            *self.state.initialize_params.lock().unwrap_or_else(PoisonError::into_inner) =
                request.params().cloned().unwrap_or_default();
        }
        let request = self.apply(request);
        let asked = request.id().cloned();
        let snapshot = self.state.latest();
        // tower-lsp may begin to work inside of `call` too.
        let answer = SNAPSHOT.sync_scope(snapshot.clone(), || self.inner.call(request));
        Box::pin(async move {
            let mut answer = SNAPSHOT.scope(snapshot, answer).await?;
            if initializes && let Some(answer) = &mut answer {
                amend(answer);
            }
            // tower-lsp keeps silent about an unknown method that begins with `$/`, also where an
            // answer is due.
            Ok(answer
                .or_else(|| asked.map(|id| Response::from_error(id, Error::method_not_found()))))
        })
    }
}

/// Adds to the answer of `initialize` what the types of tower-lsp cannot say.
fn amend(answer: &mut Response) {
    if let Some(mut result) = answer.result().cloned() {
        capabilities::amend(&mut result);
        *answer = Response::from_ok(answer.id().clone(), result);
    }
}

impl<S> Ordered<S> {
    /// Applies what a message does to texts. What goes on to tower-lsp is the message without the
    /// text: it may be a hundred megabytes, and nobody after this needs it.
    fn apply(&self, request: Request) -> Request {
        if request.id().is_some() {
            return request;
        }
        match request.method() {
            "textDocument/didOpen" => {
                let held = number_of(&request).and_then(|number| self.state.held.take(number));
                self.taking(request, |documents, mut params: DidOpenTextDocumentParams| {
                    let text = std::mem::take(&mut params.text_document.text);
                    let text = held.unwrap_or_else(|| Rope::from_str(&text));
                    documents.did_open(&params.text_document, text);
                    params
                })
            }
            "textDocument/didChange" => {
                self.taking(request, |documents, mut params: DidChangeTextDocumentParams| {
                    documents.did_change(&params);
                    params.content_changes.clear();
                    params
                })
            }
            "textDocument/didSave" => {
                self.taking(request, |documents, params: DidSaveTextDocumentParams| {
                    documents.did_save(&params);
                    params
                })
            }
            "textDocument/didClose" => {
                self.taking(request, |documents, params: DidCloseTextDocumentParams| {
                    documents.did_close(&params);
                    params
                })
            }
            _ => request,
        }
    }

    /// Reads a notification's parameters, lets `apply` act on them, and gives the notification with
    /// what it leaves. Malformed parameters of a notification have nobody to tell: it goes on
    /// without any, and tower-lsp passes it over.
    fn taking<P: DeserializeOwned + Serialize>(
        &self,
        request: Request,
        apply: impl FnOnce(&mut Documents, P) -> P,
    ) -> Request {
        let (method, _, params) = request.into_parts();
        let params = params.and_then(|params| serde_json::from_value::<P>(params).ok());
        let mut left = Value::Null;
        self.state.update(|documents| {
            if let Some(params) = params.map(|params| apply(documents, params)) {
                left = serde_json::to_value(params).unwrap_or_default();
            }
        });
        Request::build(method).params(left).finish()
    }
}

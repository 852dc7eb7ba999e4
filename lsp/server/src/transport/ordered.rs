//! The service around tower-lsp that keeps messages in order.
//!
//! `call` runs once per message, in the order of arrival, before tower-lsp starts anything. It
//! applies edits at once, and gives every request the documents of that moment. So an edit never
//! waits for a slow request, and a request sees exactly the text that the client meant.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};

use ropey::Rope;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower::Service;
use tower_lsp::jsonrpc::{Error, Request, Response};
use tower_lsp::lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams,
};

use super::framing::MALFORMED;
use super::held_texts::number_of;
use super::state::{State, in_snapshot, start_in_snapshot};
use crate::documents::Documents;

/// The service; see the top of this file.
pub(crate) struct Ordered<S> {
    inner: S,
    state: Arc<State>,
    amend_initialize: fn(&mut Value),
}

impl<S> Ordered<S> {
    /// A service around `inner`, which should be tower-lsp's. `amend_initialize` adds to the result
    /// of `initialize` what tower-lsp's types cannot express.
    pub(crate) fn new(inner: S, state: Arc<State>, amend_initialize: fn(&mut Value)) -> Self {
        Self { inner, state, amend_initialize }
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
        let amend_initialize = self.amend_initialize;
        let asked = request.id().cloned();
        let snapshot = self.state.latest();
        // tower-lsp may start the work inside `call`.
        let answer = start_in_snapshot(snapshot.clone(), || self.inner.call(request));
        Box::pin(async move {
            let mut answer = in_snapshot(snapshot, answer).await?;
            if initializes
                && let Some(answer) = &mut answer
                && let Some(mut result) = answer.result().cloned()
            {
                amend_initialize(&mut result);
                *answer = Response::from_ok(answer.id().clone(), result);
            }
            // tower-lsp does not answer an unknown method that begins with `$/`, even if an answer
            // is due.
            Ok(answer
                .or_else(|| asked.map(|id| Response::from_error(id, Error::method_not_found()))))
        })
    }
}

impl<S> Ordered<S> {
    /// Applies a message to the texts. tower-lsp receives the message without the text, which may
    /// take a hundred megabytes and is not needed any more.
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

    /// Reads a notification's parameters, lets `apply` act on them, and returns the notification
    /// with the parameters that `apply` leaves. Malformed parameters cannot be answered, so they
    /// are dropped, and tower-lsp ignores the notification.
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

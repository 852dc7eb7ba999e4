//! Requests that tower-lsp does not know: documents that the server makes, and questions before a
//! run. Those about stages are in `stages`.

use serde_json::{Value, json};
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::Url;

use super::Backend;
use crate::made_uris;
use crate::requests::{exports, made_documents, module};
use crate::stages::is_stage;
use crate::transport::snapshot;

impl Backend {
    /// `workspace/textDocumentContent`, and `iree-dbg/textDocumentContent` for clients of older
    /// versions of the protocol. A client sets `opened: true` if its user opened the file; then the
    /// file may lie anywhere.
    pub(crate) async fn text_document_content(&self, params: Value) -> Result<Value> {
        let uri = uri_of(&params)?;
        if is_stage(&uri) {
            let key = params["key"].as_str().map(str::to_owned);
            return self.stage_text(uri, key).await;
        }
        let is_opened = params["opened"].as_bool().unwrap_or_default();
        let places = self.session().places(&snapshot());
        let readable = made_documents::Readable { places, is_opened };
        let text = self.on_thread(move || made_documents::content(&uri, &readable)).await??;
        Ok(json!({"text": text}))
    }

    /// `iree-dbg/exports`: the functions of a document or a file that can be called, with their
    /// arguments and, in open documents, their places. `opened` as for
    /// `iree-dbg/textDocumentContent`.
    pub(crate) async fn exports(&self, params: Value) -> Result<Value> {
        let uri = uri_of(&params)?;
        let is_opened = params["opened"].as_bool().unwrap_or_default();
        let encoding = snapshot().encoding();
        // A made document shows a part of its file.
        if !made_uris::is_made(&uri)
            && let Some(open) = snapshot().get(&uri).cloned()
        {
            return self.on_thread(move || exports::of_document(&open, encoding)).await;
        }
        let places = self.session().places(&snapshot());
        let readable = made_documents::Readable { places, is_opened };
        self.on_thread(move || exports::of_file(&uri, &readable)).await?
    }

    /// `iree-dbg/compiler`: the iree-compile for programs in a folder, as the debugger finds it.
    pub(crate) async fn compiler(&self, params: Value) -> Result<Value> {
        let directory = params["directory"].as_str().map(std::path::PathBuf::from);
        let directory = directory.ok_or_else(|| Error::invalid_params("expected a directory"))?;
        self.on_thread(move || exports::compiler(&directory)).await
    }

    /// `iree-dbg/module`: what a module has, at a glance.
    pub(crate) async fn module(&self, params: Value) -> Result<Value> {
        let uri = uri_of(&params)?;
        self.on_thread(move || module::overview(&uri)).await?
    }

    /// `iree-dbg/dispatchGraph`: the dispatches of a module as a graph, with some groups `open` and
    /// with boxes for `weights` or without.
    pub(crate) async fn dispatch_graph(&self, params: Value) -> Result<Value> {
        let uri = uri_of(&params)?;
        let session = self.session();
        self.on_thread(move || module::graph(&uri, &params, &session.graphs)).await?
    }

    /// `iree-dbg/profile`: the times of a profile, by function.
    pub(crate) async fn profile(&self, params: Value) -> Result<Value> {
        let uri = uri_of(&params)?;
        self.on_thread(move || module::profile(&uri)).await?
    }

    /// `iree-dbg/moduleLines`: the lines, in the compiled modules of a source, that one of its
    /// lines became.
    pub(crate) async fn module_lines(&self, params: Value) -> Result<Value> {
        let uri = uri_of(&params)?;
        let line = params["position"]["line"].as_u64().and_then(|line| u32::try_from(line).ok());
        let line = line.ok_or_else(|| Error::invalid_params("expected a position"))?;
        let answer = self.with_document(&uri, move |view| {
            let found = view.session.modules().of(view.document());
            let paths: Vec<_> = found.into_iter().map(|found| found.path).collect();
            made_documents::lines_of_source(view.uri, line, &paths)
        });
        Ok(json!(answer.await?.unwrap_or_default()))
    }
}

/// The document that a request is about.
pub(super) fn uri_of(params: &Value) -> Result<Url> {
    let uri = params["uri"].as_str().or_else(|| params["textDocument"]["uri"].as_str());
    uri.and_then(|uri| Url::parse(uri).ok())
        .ok_or_else(|| Error::invalid_params("expected the URI of a document"))
}

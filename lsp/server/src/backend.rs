//! The methods of the server. Each takes its snapshot, gives the work to a thread, and converts.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DocumentSymbolParams, DocumentSymbolResponse, GotoDefinitionParams, GotoDefinitionResponse,
    Hover, HoverParams, HoverProviderCapability, InitializeParams, InitializeResult, OneOf,
    SaveOptions, ServerCapabilities, ServerInfo, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, TextDocumentSyncSaveOptions, Url,
};
use tower_lsp::{Client, LanguageServer};

use crate::ordered::{self, State};
use crate::requests::definition::definition;
use crate::requests::document_symbol::document_symbol;
use crate::requests::hover::hover;
use crate::requests::{Session, View};
use crate::{from_proto, positions, publish};

/// The server's side of tower-lsp.
pub(crate) struct Backend {
    client: Client,
    state: Arc<State>,
    session: OnceLock<Arc<Session>>,
}

impl Backend {
    pub(crate) fn new(client: Client, state: Arc<State>) -> Self {
        Self { client, state, session: OnceLock::new() }
    }

    /// Computes from an open document on a thread. Nothing where the document is not open; an error where it panics.
    async fn with_document<T: Send + 'static>(
        &self,
        uri: &Url,
        compute: impl FnOnce(&View<'_>) -> T + Send + 'static,
    ) -> Result<Option<T>> {
        let documents = ordered::snapshot();
        let Some(open) = documents.get(uri).cloned() else { return Ok(None) };
        let encoding = documents.encoding();
        let session = self.session.get().cloned().unwrap_or_default();
        let work = tokio::task::spawn_blocking(move || {
            compute(&View { open: &open, encoding, session: &session })
        });
        work.await.map(Some).map_err(|_| {
            let mut error = Error::internal_error();
            error.message =
                "the server failed at this request; its log on standard error says where".into();
            error
        })
    }

    fn publish(&self, uri: &Url) {
        if let Some(open) = ordered::snapshot().get(uri) {
            publish::after_rest(self.client.clone(), self.state.clone(), uri.clone(), open.version);
        }
    }
}

fn capabilities(encoding: positions::Encoding) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions {
                include_text: Some(false),
            })),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

#[async_trait]
impl LanguageServer for Backend {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let encoding = from_proto::encoding(&params);
        // A second `initialize` is refused by tower-lsp, so this is the first.
        let _ = self.session.set(Arc::new(from_proto::session(&params)));
        self.state
            .update(|documents| *documents = std::mem::take(documents).with_encoding(encoding));
        Ok(InitializeResult {
            capabilities: capabilities(encoding),
            server_info: Some(ServerInfo {
                name: "iree-dbg".into(),
                version: Some(env!("CARGO_PKG_VERSION").into()),
            }),
        })
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    // The texts were changed when the messages came; see `ordered`.
    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        self.publish(&params.text_document.uri);
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.publish(&params.text_document.uri);
    }

    async fn did_save(&self, _: tower_lsp::lsp_types::DidSaveTextDocumentParams) {}

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        // Not awaited: a client that does not read must not hold up a handler.
        let client = self.client.clone();
        tokio::spawn(async move {
            client.publish_diagnostics(params.text_document.uri, Vec::new(), None).await;
        });
    }

    // Modules are looked at anew whenever a hover needs one.
    async fn did_change_watched_files(&self, _: tower_lsp::lsp_types::DidChangeWatchedFilesParams) {
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let place = params.text_document_position_params;
        let answer =
            self.with_document(&place.text_document.uri, move |view| hover(view, place.position));
        Ok(answer.await?.flatten())
    }

    async fn goto_definition(
        &self,
        params: GotoDefinitionParams,
    ) -> Result<Option<GotoDefinitionResponse>> {
        let place = params.text_document_position_params;
        let uri = place.text_document.uri.clone();
        let answer = self.with_document(&uri, move |view| definition(view, &place));
        Ok(answer.await?.flatten())
    }

    async fn document_symbol(
        &self,
        params: DocumentSymbolParams,
    ) -> Result<Option<DocumentSymbolResponse>> {
        let uri = params.text_document.uri;
        let of = uri.clone();
        self.with_document(&uri, move |view| document_symbol(view, &of)).await
    }
}

#[cfg(test)]
mod tests {
    use tower_lsp::LspService;
    use tower_lsp::jsonrpc::ErrorCode;
    use tower_lsp::lsp_types::{TextDocumentItem, Url};

    use super::Backend;
    use crate::ordered::{State, in_snapshot};

    #[tokio::test]
    async fn a_panic_is_an_error_answer() {
        let state = State::new();
        let (service, _socket) = LspService::new(|client| Backend::new(client, state.clone()));
        let uri = Url::parse("file:///x.mlir").unwrap();
        state.update(|documents| {
            let item = TextDocumentItem::new(uri.clone(), "mlir".into(), 1, String::new());
            documents.did_open(&item, "module {}");
        });
        let backend = service.inner();
        let answer = in_snapshot(state.latest(), async {
            backend.with_document(&uri, |_| -> () { panic!("on purpose") }).await
        });
        assert_eq!(answer.await.unwrap_err().code, ErrorCode::InternalError);
        let answer =
            in_snapshot(state.latest(), backend.with_document(&uri, |view| view.open.version));
        assert_eq!(answer.await, Ok(Some(1)));
    }
}

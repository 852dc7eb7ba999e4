//! The methods of the server. Each takes its snapshot, gives the work to a thread, and converts.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use ide::Modules;
use serde::Deserialize;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DocumentSymbolParams, DocumentSymbolResponse, GotoDefinitionParams, GotoDefinitionResponse,
    Hover, HoverParams, HoverProviderCapability, InitializeParams, InitializeResult, OneOf,
    SaveOptions, ServerCapabilities, ServerInfo, TextDocumentPositionParams,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, Url,
};
use tower_lsp::{Client, LanguageServer};

use crate::documents::{Documents, Open};
use crate::ordered::{self, State};
use crate::{from_proto, positions, publish, to_proto};

/// More symbols than this make editors slow and help nobody.
const OUTLINE_LIMIT: usize = 20_000;

/// What the user can set, as `initializationOptions`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// Modules, or folders to look for `<source>.vmfb` in.
    pub module_paths: from_proto::Paths,
}

/// What is agreed on in `initialize`.
#[derive(Default)]
struct Session {
    modules: Arc<Modules>,
    /// The client shows definitions with their origin.
    links: bool,
    /// The client shows outlines as trees.
    trees: bool,
}

/// The server's side of tower-lsp.
pub(crate) struct Backend {
    client: Client,
    state: Arc<State>,
    session: OnceLock<Session>,
    default: Session,
}

impl Backend {
    pub(crate) fn new(client: Client, state: Arc<State>) -> Self {
        Self { client, state, session: OnceLock::new(), default: Session::default() }
    }

    fn session(&self) -> &Session {
        self.session.get().unwrap_or(&self.default)
    }

    /// Computes from an open document on a thread. Nothing where the document is not open; an error where it panics.
    async fn with_document<T: Send + 'static>(
        &self,
        uri: &Url,
        compute: impl FnOnce(&Open, &Documents, &Modules) -> T + Send + 'static,
    ) -> Result<Option<T>> {
        let documents = ordered::snapshot();
        let Some(open) = documents.get(uri).cloned() else { return Ok(None) };
        let modules = self.session().modules.clone();
        let work = tokio::task::spawn_blocking(move || compute(&open, &documents, &modules));
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
        let settings = from_proto::settings(&params);
        let text = params.capabilities.text_document.unwrap_or_default();
        let session = Session {
            modules: Arc::new(Modules::new(settings.module_paths)),
            links: text.definition.and_then(|definition| definition.link_support).unwrap_or(false),
            trees: text
                .document_symbol
                .and_then(|symbol| symbol.hierarchical_document_symbol_support)
                .unwrap_or(false),
        };
        // A second `initialize` is refused by tower-lsp, so this is the first.
        let _ = self.session.set(session);
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
        let place: TextDocumentPositionParams = params.text_document_position_params;
        let uri = place.text_document.uri.clone();
        let found = self.with_document(&uri, move |open, documents, modules| {
            let offset = from_proto::offset(documents, &place)?;
            let found = ide::hover(&open.document, modules, offset)?;
            Some(to_proto::hover(&open.rope, found, documents.encoding()))
        });
        Ok(found.await?.flatten())
    }

    async fn goto_definition(
        &self,
        params: GotoDefinitionParams,
    ) -> Result<Option<GotoDefinitionResponse>> {
        let place: TextDocumentPositionParams = params.text_document_position_params;
        let uri = place.text_document.uri.clone();
        let links = self.session().links;
        let found = self.with_document(&uri, move |open, documents, _| {
            let offset = from_proto::offset(documents, &place)?;
            let target = ide::definition(&open.document, offset)?;
            let uri = &place.text_document.uri;
            Some(to_proto::definition(uri, &open.rope, &target, documents.encoding(), links))
        });
        Ok(found.await?.flatten())
    }

    async fn document_symbol(
        &self,
        params: DocumentSymbolParams,
    ) -> Result<Option<DocumentSymbolResponse>> {
        let uri = params.text_document.uri;
        let trees = self.session().trees;
        let of = uri.clone();
        let found = self.with_document(&uri, move |open, documents, _| {
            let outline = ide::outline(&open.document, OUTLINE_LIMIT);
            let symbols = to_proto::document_symbols(&open.rope, &outline, documents.encoding());
            if trees {
                DocumentSymbolResponse::Nested(symbols)
            } else {
                DocumentSymbolResponse::Flat(to_proto::symbol_informations(&of, &symbols, None))
            }
        });
        found.await
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
            backend.with_document(&uri, |_, _, _| -> () { panic!("on purpose") }).await
        });
        assert_eq!(answer.await.unwrap_err().code, ErrorCode::InternalError);
        let answer =
            in_snapshot(state.latest(), backend.with_document(&uri, |open, _, _| open.version));
        assert_eq!(answer.await, Ok(Some(1)));
    }
}

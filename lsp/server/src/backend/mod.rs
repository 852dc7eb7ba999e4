//! The methods of the server. Each takes its snapshot, computes on a worker thread, and converts.
//! [`crate::capabilities`] lists what the server can do.

mod control_flow;
mod last_run;
mod own_requests;
mod rewriting;
mod sending;
mod show_abi;
mod stages;
mod test_commands;

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types as lsp;
use tower_lsp::lsp_types::Url;
use tower_lsp::{Client, LanguageServer};

use crate::capabilities::{capabilities, registrations};
use crate::checks::Checks;
use crate::compiler_operations;
use crate::made_uris::uri_of_module;
use crate::memory;
use crate::progress::{Progress, in_parts};
use crate::publish;
use crate::requests::describe::TEST_COMMANDS;
use crate::requests::edit::{CONTROL_FLOW, REWRITE_FORM};
use crate::requests::last_run::SHOW_LAST_RUN;
use crate::requests::{
    CancelOnDrop, Cancelled, View, check, describe, edit, navigate, semantic_tokens, stages::Way,
    workspace_symbols,
};
use crate::session::{self, Session};
use crate::settings::Settings;
use crate::transport::{State, snapshot, when_process_ends};
use crate::tried_fixes;

/// The server's side of tower-lsp.
pub(crate) struct Backend {
    client: Client,
    state: Arc<State>,
    session: OnceLock<Arc<Session>>,
    checks: Arc<Checks>,
}

fn internal(_: tokio::task::JoinError) -> Error {
    let mut error = Error::internal_error();
    error.message =
        "the server failed at this request; its log on standard error says where".into();
    error
}

impl Backend {
    pub(crate) fn new(client: Client, state: Arc<State>) -> Self {
        Self { client, state, session: OnceLock::new(), checks: Arc::default() }
    }

    fn session(&self) -> Arc<Session> {
        self.session.get().cloned().unwrap_or_default()
    }

    /// Computes on a worker thread. A panic there becomes an error answer.
    async fn on_thread<T: Send + 'static>(
        &self,
        compute: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        tokio::task::spawn_blocking(compute).await.map_err(internal)
    }

    /// Computes from an open document on a worker thread. `None` if the document is not open.
    async fn with_document<T: Send + 'static>(
        &self,
        uri: &Url,
        compute: impl FnOnce(&View<'_>) -> T + Send + 'static,
    ) -> Result<Option<T>> {
        let documents = snapshot();
        let Some(open) = documents.get(uri).cloned() else { return Ok(None) };
        let session = self.session();
        let cancelled = Cancelled::default();
        let _on_drop = CancelOnDrop(cancelled.clone());
        let uri = uri.clone();
        let work = self.on_thread(move || {
            let (uri, open, documents, session) = (&uri, &open, &documents, &session);
            compute(&View { uri, open, documents, session, cancelled: &cancelled })
        });
        work.await.map(Some)
    }
}

#[async_trait]
impl LanguageServer for Backend {
    async fn initialize(&self, params: lsp::InitializeParams) -> Result<lsp::InitializeResult> {
        let encoding = session::encoding(&params);
        let session = Session::agreed(&params, &self.state.initialize_params());
        let capabilities = capabilities(encoding, session.abilities);
        if let Some(client) = params.process_id {
            when_process_ends(client, self.state.clone());
        }
        // tower-lsp refuses a second `initialize`, so this is the first.
        let _ = self.session.set(Arc::new(session));
        self.state
            .update(|documents| *documents = std::mem::take(documents).with_encoding(encoding));
        Ok(lsp::InitializeResult {
            capabilities,
            server_info: Some(lsp::ServerInfo {
                name: "iree-dbg".into(),
                version: Some(env!("CARGO_PKG_VERSION").into()),
            }),
        })
    }

    async fn initialized(&self, _: lsp::InitializedParams) {
        compiler_operations::load(self.session());
        let (client, session) = (self.client.clone(), self.session());
        tokio::spawn(async move {
            let asked = move || compiler_operations::waiting_for_trust(&session);
            if let Ok(Some(text)) = tokio::task::spawn_blocking(asked).await {
                client.show_message(lsp::MessageType::WARNING, text).await;
            }
        });
        let wanted = registrations(self.session().abilities);
        if !wanted.is_empty() {
            let client = self.client.clone();
            // Not awaited: a client that never answers must not block a handler. One that refuses
            // goes without.
            tokio::spawn(async move { client.register_capability(wanted).await });
        }
        self.ask_for_settings();
    }

    async fn shutdown(&self) -> Result<()> {
        self.checks.stop_all();
        Ok(())
    }

    // The texts have changed already, when the messages arrived; see `transport::Ordered`.
    async fn did_open(&self, params: lsp::DidOpenTextDocumentParams) {
        self.publish(&params.text_document.uri);
        self.check_while_typing(&params.text_document.uri, None);
    }

    async fn did_change(&self, params: lsp::DidChangeTextDocumentParams) {
        let uri = params.text_document.uri;
        self.checks.stop(&uri, &self.session());
        self.publish(&uri);
        let place = params.content_changes.last().and_then(|change| change.range);
        self.check_while_typing(&uri, place.map(|range| range.start));
    }

    async fn did_save(&self, params: lsp::DidSaveTextDocumentParams) {
        let uri = params.text_document.uri;
        self.checks.start(&self.client, &self.state, &self.session(), &uri);
        self.checks.test_saved(&self.client, &self.state, &self.session(), &uri);
    }

    async fn did_close(&self, params: lsp::DidCloseTextDocumentParams) {
        let uri = params.text_document.uri;
        let session = self.session();
        self.checks.stop(&uri, &session);
        session.stages.closed(&uri);
        memory::give_back_after_rest();
        session.tokens.lock().unwrap_or_else(std::sync::PoisonError::into_inner).remove(&uri);
        // Not awaited: a client that never reads must not block a handler.
        let client = self.client.clone();
        tokio::spawn(async move {
            client.publish_diagnostics(uri, Vec::new(), None).await;
        });
    }

    async fn did_change_configuration(&self, params: lsp::DidChangeConfigurationParams) {
        let settings = match params.settings {
            Value::Object(mut all) => all.remove("iree-dbg").unwrap_or(Value::Object(all)),
            other => other,
        };
        // Newer clients only say that something changed.
        if settings.is_null() && self.session().abilities.configuration {
            self.ask_for_settings();
            return;
        }
        self.session().configure(Settings::read(settings));
        compiler_operations::load(self.session());
        for (uri, _) in snapshot().iter() {
            self.publish(uri);
        }
    }

    async fn did_change_workspace_folders(&self, params: lsp::DidChangeWorkspaceFoldersParams) {
        let paths = |folders: Vec<lsp::WorkspaceFolder>| {
            folders
                .into_iter()
                .filter_map(|folder| folder.uri.to_file_path().ok())
                .collect::<Vec<_>>()
        };
        let (added, removed) = (paths(params.event.added), paths(params.event.removed));
        self.session().workspace.change_folders(added, &removed);
    }

    // Each request reads modules and sources again if they have changed. Documents made from
    // modules are requested again by the client.
    async fn did_change_watched_files(&self, params: lsp::DidChangeWatchedFilesParams) {
        if !self.session().abilities.content {
            return;
        }
        for change in params.changes {
            let path = change.uri.to_file_path().ok();
            if let Some(uri) = path
                .filter(|path| path.extension().is_some_and(|extension| extension == "vmfb"))
                .and_then(|path| uri_of_module(&path))
            {
                publish::refresh_content(self.client.clone(), uri);
            }
        }
    }

    async fn hover(&self, params: lsp::HoverParams) -> Result<Option<lsp::Hover>> {
        let place = params.text_document_position_params;
        let uri = place.text_document.uri;
        let answer = self.with_document(&uri, move |view| {
            let wants = describe::wants_compiler(view, place.position);
            (describe::hover(view, place.position), wants)
        });
        let Some((hover, wants)) = answer.await? else { return Ok(None) };
        if wants {
            self.checks.ask_at_hover(&self.state, &self.session(), &uri, place.position);
        }
        Ok(hover)
    }

    async fn goto_definition(
        &self,
        params: lsp::GotoDefinitionParams,
    ) -> Result<Option<lsp::GotoDefinitionResponse>> {
        let place = params.text_document_position_params;
        let answer = self.with_document(&place.text_document.uri, move |view| {
            navigate::definition(view, place.position)
        });
        Ok(answer.await?.flatten())
    }

    async fn goto_declaration(
        &self,
        params: lsp::request::GotoDeclarationParams,
    ) -> Result<Option<lsp::request::GotoDeclarationResponse>> {
        let place = params.text_document_position_params;
        self.go_between_stages(place, Way::Before).await
    }

    async fn goto_implementation(
        &self,
        params: lsp::request::GotoImplementationParams,
    ) -> Result<Option<lsp::request::GotoImplementationResponse>> {
        let place = params.text_document_position_params;
        let (uri, position) = (&place.text_document.uri, place.position);
        let found =
            self.with_document(uri, move |view| workspace_symbols::implementations(view, position));
        let found = found.await?.unwrap_or_default();
        if !found.is_empty() {
            return Ok(Some(lsp::GotoDefinitionResponse::Array(found)));
        }
        self.go_between_stages(place, Way::After).await
    }

    async fn goto_type_definition(
        &self,
        params: lsp::request::GotoTypeDefinitionParams,
    ) -> Result<Option<lsp::request::GotoTypeDefinitionResponse>> {
        let place = params.text_document_position_params;
        let answer = self.with_document(&place.text_document.uri, move |view| {
            navigate::type_definition(view, place.position)
        });
        let found = answer.await?.filter(|found| !found.is_empty());
        Ok(found.map(lsp::GotoDefinitionResponse::Array))
    }

    async fn linked_editing_range(
        &self,
        params: lsp::LinkedEditingRangeParams,
    ) -> Result<Option<lsp::LinkedEditingRanges>> {
        let place = params.text_document_position_params;
        let answer = self.with_document(&place.text_document.uri, move |view| {
            navigate::linked(view, place.position)
        });
        Ok(answer.await?.flatten())
    }

    async fn workspace_diagnostic(
        &self,
        params: lsp::WorkspaceDiagnosticParams,
    ) -> Result<lsp::WorkspaceDiagnosticReportResult> {
        let (documents, session) = (snapshot(), self.session());
        let title = "Checking the workspace";
        let progress = Progress::begin(&self.client, params.work_done_progress_params, title);
        let cancelled = Cancelled::default();
        let _on_drop = CancelOnDrop(cancelled.clone());
        let previous = params.previous_result_ids;
        let items = self
            .on_thread(move || check::workspace_report(&documents, &session, previous, &cancelled))
            .await?;
        progress.end();
        Ok(lsp::WorkspaceDiagnosticReport { items }.into())
    }

    async fn references(&self, params: lsp::ReferenceParams) -> Result<Option<Vec<lsp::Location>>> {
        let place = params.text_document_position;
        let declaration = params.context.include_declaration;
        let progress =
            Progress::begin(&self.client, params.work_done_progress_params, "References");
        let answer = self.with_document(&place.text_document.uri, move |view| {
            navigate::references(view, place.position, declaration)
        });
        let found = answer.await?;
        progress.end();
        let token = params.partial_result_params.partial_result_token;
        Ok(found.map(|found| in_parts(&self.client, token, found)))
    }

    async fn document_highlight(
        &self,
        params: lsp::DocumentHighlightParams,
    ) -> Result<Option<Vec<lsp::DocumentHighlight>>> {
        let place = params.text_document_position_params;
        self.with_document(&place.text_document.uri, move |view| {
            navigate::highlights(view, place.position)
        })
        .await
    }

    async fn document_symbol(
        &self,
        params: lsp::DocumentSymbolParams,
    ) -> Result<Option<lsp::DocumentSymbolResponse>> {
        let answer =
            self.with_document(&params.text_document.uri, navigate::document_symbol).await?;
        let token = params.partial_result_params.partial_result_token;
        Ok(answer.map(|answer| match answer {
            lsp::DocumentSymbolResponse::Flat(list) => {
                lsp::DocumentSymbolResponse::Flat(in_parts(&self.client, token, list))
            }
            lsp::DocumentSymbolResponse::Nested(list) => {
                lsp::DocumentSymbolResponse::Nested(in_parts(&self.client, token, list))
            }
        }))
    }

    async fn symbol(
        &self,
        params: lsp::WorkspaceSymbolParams,
    ) -> Result<Option<Vec<lsp::SymbolInformation>>> {
        let documents = snapshot();
        let session = self.session();
        let progress = Progress::begin(
            &self.client,
            params.work_done_progress_params,
            "Symbols of the workspace",
        );
        let found = self
            .on_thread(move || workspace_symbols::symbols(&documents, &session, &params.query))
            .await?;
        progress.end();
        let token = params.partial_result_params.partial_result_token;
        Ok(Some(in_parts(&self.client, token, found)))
    }

    async fn folding_range(
        &self,
        params: lsp::FoldingRangeParams,
    ) -> Result<Option<Vec<lsp::FoldingRange>>> {
        self.with_document(&params.text_document.uri, navigate::folds).await
    }

    async fn selection_range(
        &self,
        params: lsp::SelectionRangeParams,
    ) -> Result<Option<Vec<lsp::SelectionRange>>> {
        self.with_document(&params.text_document.uri, move |view| {
            navigate::selection_ranges(view, &params.positions)
        })
        .await
    }

    async fn semantic_tokens_full(
        &self,
        params: lsp::SemanticTokensParams,
    ) -> Result<Option<lsp::SemanticTokensResult>> {
        let answer = self.with_document(&params.text_document.uri, |view| {
            (semantic_tokens::limit(view), semantic_tokens::tokens_full(view))
        });
        let Some((limit, tokens)) = answer.await? else { return Ok(None) };
        if let Some(limit) = limit {
            // Not awaited: a client that never reads must not block a handler.
            let client = self.client.clone();
            tokio::spawn(async move { client.log_message(lsp::MessageType::INFO, limit).await });
        }
        Ok(tokens.map(lsp::SemanticTokensResult::Tokens))
    }

    async fn semantic_tokens_full_delta(
        &self,
        params: lsp::SemanticTokensDeltaParams,
    ) -> Result<Option<lsp::SemanticTokensFullDeltaResult>> {
        let answer = self.with_document(&params.text_document.uri, move |view| {
            semantic_tokens::tokens_delta(view, &params.previous_result_id)
        });
        Ok(answer.await?.flatten())
    }

    async fn semantic_tokens_range(
        &self,
        params: lsp::SemanticTokensRangeParams,
    ) -> Result<Option<lsp::SemanticTokensRangeResult>> {
        let answer = self.with_document(&params.text_document.uri, move |view| {
            semantic_tokens::tokens_range(view, params.range)
        });
        Ok(answer.await?.map(lsp::SemanticTokensRangeResult::Tokens))
    }

    async fn inlay_hint(
        &self,
        params: lsp::InlayHintParams,
    ) -> Result<Option<Vec<lsp::InlayHint>>> {
        self.with_document(&params.text_document.uri, move |view| {
            describe::inlay_hints(view, params.range)
        })
        .await
    }

    async fn code_lens(&self, params: lsp::CodeLensParams) -> Result<Option<Vec<lsp::CodeLens>>> {
        self.with_document(&params.text_document.uri, describe::lenses).await
    }

    async fn completion(
        &self,
        params: lsp::CompletionParams,
    ) -> Result<Option<lsp::CompletionResponse>> {
        let place = params.text_document_position;
        self.with_document(&place.text_document.uri, move |view| {
            edit::completion(view, place.position)
        })
        .await
    }

    async fn signature_help(
        &self,
        params: lsp::SignatureHelpParams,
    ) -> Result<Option<lsp::SignatureHelp>> {
        let place = params.text_document_position_params;
        let answer = self.with_document(&place.text_document.uri, move |view| {
            describe::signature_help(view, place.position)
        });
        Ok(answer.await?.flatten())
    }

    async fn prepare_rename(
        &self,
        place: lsp::TextDocumentPositionParams,
    ) -> Result<Option<lsp::PrepareRenameResponse>> {
        let answer = self.with_document(&place.text_document.uri, move |view| {
            edit::prepare_rename(view, place.position)
        });
        answer.await?.unwrap_or(Ok(None))
    }

    async fn rename(&self, params: lsp::RenameParams) -> Result<Option<lsp::WorkspaceEdit>> {
        let place = params.text_document_position;
        let answer = self.with_document(&place.text_document.uri, move |view| {
            edit::rename(view, place.position, &params.new_name)
        });
        answer.await?.unwrap_or(Ok(None))
    }

    async fn code_action(
        &self,
        params: lsp::CodeActionParams,
    ) -> Result<Option<lsp::CodeActionResponse>> {
        let uri = params.text_document.uri.clone();
        let found = self.with_document(&uri, move |view| {
            let has_faults = !params.context.diagnostics.is_empty();
            let fixes = edit::quick_fixes(view, params.range, has_faults);
            (fixes, edit::code_actions(view, params.range))
        });
        let Some((fixes, others)) = found.await? else { return Ok(None) };
        let settings = self.session().settings();
        let fixes = tried_fixes::offered(&settings, &uri, fixes).await;
        Ok(Some(fixes.into_iter().chain(others).collect()))
    }

    async fn formatting(
        &self,
        params: lsp::DocumentFormattingParams,
    ) -> Result<Option<Vec<lsp::TextEdit>>> {
        self.with_document(&params.text_document.uri, |view| edit::format(view, None)).await
    }

    async fn range_formatting(
        &self,
        params: lsp::DocumentRangeFormattingParams,
    ) -> Result<Option<Vec<lsp::TextEdit>>> {
        self.with_document(&params.text_document.uri, move |view| {
            edit::format(view, Some(params.range))
        })
        .await
    }

    async fn on_type_formatting(
        &self,
        params: lsp::DocumentOnTypeFormattingParams,
    ) -> Result<Option<Vec<lsp::TextEdit>>> {
        let lsp::TextDocumentPositionParams { text_document, position } =
            params.text_document_position;
        self.with_document(&text_document.uri, move |view| edit::format_on_type(view, position))
            .await
    }

    async fn document_link(
        &self,
        params: lsp::DocumentLinkParams,
    ) -> Result<Option<Vec<lsp::DocumentLink>>> {
        self.with_document(&params.text_document.uri, navigate::links).await
    }

    async fn prepare_call_hierarchy(
        &self,
        params: lsp::CallHierarchyPrepareParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyItem>>> {
        let place = params.text_document_position_params;
        let answer = self.with_document(&place.text_document.uri, move |view| {
            navigate::prepare_calls(view, place.position)
        });
        Ok(answer.await?.flatten())
    }

    async fn incoming_calls(
        &self,
        params: lsp::CallHierarchyIncomingCallsParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyIncomingCall>>> {
        let item = params.item;
        self.with_document(&item.uri.clone(), move |view| navigate::incoming(view, &item)).await
    }

    async fn outgoing_calls(
        &self,
        params: lsp::CallHierarchyOutgoingCallsParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyOutgoingCall>>> {
        let item = params.item;
        self.with_document(&item.uri.clone(), move |view| navigate::outgoing(view, &item)).await
    }

    async fn diagnostic(
        &self,
        params: lsp::DocumentDiagnosticParams,
    ) -> Result<lsp::DocumentDiagnosticReportResult> {
        let progress = Progress::begin(&self.client, params.work_done_progress_params, "Checking");
        let previous = params.previous_result_id;
        let report = self.with_document(&params.text_document.uri, move |view| {
            check::report(view, previous.as_deref(), &AtomicUsize::new(0))
        });
        let report = report.await?;
        progress.end();
        let nothing = || lsp::RelatedFullDocumentDiagnosticReport::default();
        Ok(report.unwrap_or_else(|| lsp::DocumentDiagnosticReport::Full(nothing())).into())
    }

    async fn execute_command(&self, params: lsp::ExecuteCommandParams) -> Result<Option<Value>> {
        if params.command == "iree-dbg.whatBecomes" {
            return self.what_becomes(&params.arguments).await;
        }
        if params.command == CONTROL_FLOW {
            return self.control_flow(&params.arguments).await.map(Some);
        }
        if params.command == REWRITE_FORM {
            return self.rewrite_form(&params.arguments).await.map(|()| None);
        }
        if TEST_COMMANDS.contains(&params.command.as_str()) {
            return self.test_command(&params).await.map(Some);
        }
        if params.command == SHOW_LAST_RUN {
            return self.show_last_run(&params.arguments).await.map(Some);
        }
        if params.command != "iree-dbg.showAbi" {
            return Err(Error::invalid_params(format!("there is no command {}", params.command)));
        }
        self.show_abi(&params.arguments).await
    }
}

#[cfg(test)]
mod tests {
    use tower_lsp::LspService;
    use tower_lsp::jsonrpc::ErrorCode;
    use tower_lsp::lsp_types::{TextDocumentItem, Url};

    use super::Backend;
    use crate::transport::{State, in_snapshot};

    #[tokio::test]
    async fn a_panic_is_an_error_answer() {
        let state = State::new();
        let (service, _socket) = LspService::new(|client| Backend::new(client, state.clone()));
        let uri = Url::parse("file:///x.mlir").unwrap();
        state.update(|documents| {
            let item = TextDocumentItem::new(uri.clone(), "mlir".into(), 1, String::new());
            documents.did_open(&item, "module {}".into());
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

//! The capabilities that the server announces: exactly what [`crate::backend`] handles.

use serde_json::{Value, json};
use tower_lsp::lsp_types::{
    CallHierarchyServerCapability, CodeActionKind, CodeActionOptions, CodeActionProviderCapability,
    CodeLensOptions, CompletionOptions, DeclarationCapability, DiagnosticOptions,
    DiagnosticServerCapabilities, DocumentLinkOptions, DocumentOnTypeFormattingOptions,
    ExecuteCommandOptions, FoldingRangeProviderCapability, HoverProviderCapability,
    ImplementationProviderCapability, LinkedEditingRangeServerCapabilities, OneOf, Registration,
    RenameOptions, SaveOptions, SelectionRangeProviderCapability, SemanticTokensFullOptions,
    SemanticTokensOptions, SemanticTokensServerCapabilities, ServerCapabilities,
    SignatureHelpOptions, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, TextDocumentSyncSaveOptions, TypeDefinitionProviderCapability,
    WorkDoneProgressOptions, WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};

use crate::made_uris::SCHEMES;
use crate::positions::Encoding;
use crate::requests::describe::TEST_COMMANDS;
use crate::requests::edit::{CONTROL_FLOW, REWRITE_FORM};
use crate::requests::last_run::SHOW_LAST_RUN;
use crate::requests::semantic_tokens::legend;
use crate::session::Abilities;

fn characters(list: &str) -> Option<Vec<String>> {
    Some(list.chars().map(String::from).collect())
}

pub(crate) fn capabilities(encoding: Encoding, client: Abilities) -> ServerCapabilities {
    let diagnostics = DiagnosticServerCapabilities::Options(DiagnosticOptions {
        identifier: Some("iree-dbg".into()),
        inter_file_dependencies: false,
        workspace_diagnostics: true,
        work_done_progress_options: WorkDoneProgressOptions::default(),
    });
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
        // From stage to stage of a compilation.
        declaration_provider: Some(DeclarationCapability::Simple(true)),
        implementation_provider: Some(ImplementationProviderCapability::Simple(true)),
        type_definition_provider: Some(TypeDefinitionProviderCapability::Simple(true)),
        linked_editing_range_provider: Some(LinkedEditingRangeServerCapabilities::Simple(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        selection_range_provider: Some(SelectionRangeProviderCapability::Simple(true)),
        semantic_tokens_provider: Some(SemanticTokensServerCapabilities::SemanticTokensOptions(
            SemanticTokensOptions {
                legend: legend(),
                range: Some(true),
                full: Some(SemanticTokensFullOptions::Delta { delta: Some(true) }),
                ..SemanticTokensOptions::default()
            },
        )),
        inlay_hint_provider: Some(OneOf::Left(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: characters("%@^#!.:<[{\" "),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: characters("(,"),
            ..SignatureHelpOptions::default()
        }),
        call_hierarchy_provider: Some(CallHierarchyServerCapability::Simple(true)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![
                CodeActionKind::QUICKFIX,
                CodeActionKind::REFACTOR_REWRITE,
            ]),
            ..CodeActionOptions::default()
        })),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        document_link_provider: Some(DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_range_formatting_provider: Some(OneOf::Left(true)),
        document_on_type_formatting_provider: Some(DocumentOnTypeFormattingOptions {
            first_trigger_character: "\n".into(),
            more_trigger_character: characters("}"),
        }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: ["iree-dbg.showAbi", "iree-dbg.whatBecomes", CONTROL_FLOW, REWRITE_FORM]
                .into_iter()
                .chain(TEST_COMMANDS)
                .chain([SHOW_LAST_RUN])
                .map(str::to_owned)
                .collect(),
            ..ExecuteCommandOptions::default()
        }),
        diagnostic_provider: client.pulls.then_some(diagnostics),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        ..ServerCapabilities::default()
    }
}

/// What the client is asked for after `initialize`.
pub(crate) fn registrations(client: Abilities) -> Vec<Registration> {
    let registration = |method: &str, options: Value| Registration {
        id: method.to_owned(),
        method: method.to_owned(),
        register_options: Some(options),
    };
    let mut wanted = Vec::new();
    if client.watches {
        let watchers = ["**/*.vmfb", "**/*.mlir", "**/*.vmasm"]
            .map(|pattern| json!({"globPattern": pattern}))
            .to_vec();
        let options = json!({"watchers": watchers});
        wanted.push(registration("workspace/didChangeWatchedFiles", options));
    }
    if client.tells_settings {
        let options = json!({"section": "iree-dbg"});
        wanted.push(registration("workspace/didChangeConfiguration", options));
    }
    wanted
}

/// Adds to the result of `initialize` what the types of LSP 3.17 have no field for.
pub(crate) fn amend(answer: &mut Value) {
    if let Some(workspace) = answer.pointer_mut("/capabilities/workspace") {
        workspace["textDocumentContent"] = json!({"schemes": SCHEMES});
    }
}

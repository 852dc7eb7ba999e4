//! Changes to the text: rename, completion, code actions, formatting.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::PoisonError;

use ide::Replacement;
use ide::complete;
use serde_json::json;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, Command, CompletionItem, CompletionItemKind,
    CompletionList, CompletionResponse, CompletionTextEdit, Documentation, InsertTextFormat,
    MarkupContent, MarkupKind, Position, PrepareRenameResponse, Range, TextEdit, WorkspaceEdit,
};

use super::View;

/// The command that draws the control-flow graph of a function.
pub(crate) const CONTROL_FLOW: &str = "iree-dbg.controlFlow";

/// The command that has iree-opt rewrite a function.
pub(crate) const REWRITE_FORM: &str = "iree-dbg.rewriteForm";

pub(crate) fn refused(reason: impl Display) -> Error {
    // `RequestFailed`: the request is valid, but the answer is no.
    Error { code: ErrorCode::ServerError(-32803), message: reason.to_string().into(), data: None }
}

pub(crate) fn prepare_rename(
    view: &View<'_>,
    position: Position,
) -> Result<Option<PrepareRenameResponse>> {
    let found = ide::prepare_rename(view.document(), view.offset(position)).map_err(refused)?;
    Ok(Some(PrepareRenameResponse::RangeWithPlaceholder {
        range: view.range(&found.range),
        placeholder: found.name,
    }))
}

pub(crate) fn rename(
    view: &View<'_>,
    position: Position,
    new_name: &str,
) -> Result<Option<WorkspaceEdit>> {
    let document = view.document();
    let renaming = ide::rename(document, view.offset(position), new_name).map_err(refused)?;
    let edits = renaming
        .ranges
        .iter()
        .map(|range| TextEdit::new(view.range(range), renaming.text_for(document, range)))
        .collect();
    Ok(Some(changes(view, edits)))
}

fn changes(view: &View<'_>, edits: Vec<TextEdit>) -> WorkspaceEdit {
    let changes = HashMap::from([(view.uri.clone(), edits)]);
    WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
}

fn text_edits(view: &View<'_>, replacements: &[Replacement]) -> Vec<TextEdit> {
    replacements
        .iter()
        .map(|replacement| TextEdit::new(view.range(&replacement.range), replacement.text.clone()))
        .collect()
}

pub(crate) fn completion(view: &View<'_>, position: Position) -> CompletionResponse {
    let found = complete(view.document(), view.offset(position));
    let range = view.range(&found.replaces);
    let items = found
        .items
        .into_iter()
        .enumerate()
        .map(|(index, item)| {
            let snippet = item.snippet.filter(|_| view.session.abilities.snippets);
            let format = snippet.as_ref().map(|_| InsertTextFormat::SNIPPET);
            let text = snippet.unwrap_or_else(|| item.label.clone());
            CompletionItem {
                kind: Some(kind(item.kind)),
                detail: (!item.detail.is_empty()).then_some(item.detail),
                documentation: (!item.documentation.is_empty()).then(|| {
                    let value = item.documentation;
                    Documentation::MarkupContent(MarkupContent {
                        kind: MarkupKind::Markdown,
                        value,
                    })
                }),
                // The items are sorted already, nearest first.
                sort_text: Some(format!("{index:05}")),
                filter_text: Some(item.label.clone()),
                insert_text_format: format,
                text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, text))),
                label: item.label,
                ..CompletionItem::default()
            }
        })
        .collect();
    CompletionResponse::List(CompletionList { is_incomplete: found.is_incomplete, items })
}

fn kind(kind: ide::CompletionItemKind) -> CompletionItemKind {
    match kind {
        ide::CompletionItemKind::Value => CompletionItemKind::VARIABLE,
        ide::CompletionItemKind::Symbol => CompletionItemKind::FUNCTION,
        ide::CompletionItemKind::Block => CompletionItemKind::REFERENCE,
        ide::CompletionItemKind::Alias => CompletionItemKind::CONSTANT,
        ide::CompletionItemKind::Operation => CompletionItemKind::KEYWORD,
        ide::CompletionItemKind::Key => CompletionItemKind::PROPERTY,
        ide::CompletionItemKind::Type => CompletionItemKind::STRUCT,
        ide::CompletionItemKind::Word => CompletionItemKind::ENUM_MEMBER,
    }
}

pub(crate) fn code_actions(view: &View<'_>, range: Range) -> Vec<CodeActionOrCommand> {
    let bytes = view.bytes(range);
    let mut found = ide::code_actions(view.document(), &bytes);
    let tests = view.session.tests.lock().unwrap_or_else(PoisonError::into_inner);
    let test = tests.get(view.uri).filter(|test| test.version == view.open.version).cloned();
    drop(tests);
    let compiler = view.session.compiler.lock().unwrap_or_else(PoisonError::into_inner);
    let said = compiler.get(view.uri).cloned();
    drop(compiler);
    let said: Vec<_> = said
        .into_iter()
        .flatten()
        .chain(test.iter().flat_map(|test| test.faults.clone()))
        .filter(|fault| fault.code == "compiler")
        .collect();
    found.extend(ide::expect_errors(view.document(), &said, bytes.start));
    if let Some(test) = test {
        found.extend(ide::write_checks_action(view.document(), &test.outputs, bytes.start));
    }
    let rewriting = ide::rewriting(view.document(), bytes.start)
        .filter(|_| view.session.settings().trusted != Some(false));
    let rewriting = rewriting.map(|it| rewrite_command(view, range.start, it));
    let graph = ide::has_control_flow(view.document(), bytes.start).then(|| {
        let wanted = json!({"uri": view.uri, "position": range.start});
        let title = "Show the control-flow graph".to_owned();
        CodeActionOrCommand::CodeAction(CodeAction {
            command: Some(Command::new(title.clone(), CONTROL_FLOW.into(), Some(vec![wanted]))),
            title,
            kind: Some(CodeActionKind::EMPTY),
            ..CodeAction::default()
        })
    });
    found
        .into_iter()
        .map(|action| {
            let kind = if action.is_fix {
                CodeActionKind::QUICKFIX
            } else {
                CodeActionKind::REFACTOR_REWRITE
            };
            let edits = text_edits(view, &action.edits);
            CodeActionOrCommand::CodeAction(CodeAction {
                title: action.title,
                kind: Some(kind),
                edit: Some(changes(view, edits)),
                ..CodeAction::default()
            })
        })
        .chain(rewriting)
        .chain(graph)
        .collect()
}

/// The possible repairs of faults, the action of each, and what a compiler reads to try them.
pub(crate) struct QuickFixes {
    pub(crate) fixes: Vec<(ide::Fix, CodeAction)>,
    pub(crate) extract: Option<ide::Extract>,
}

/// Texts of more bytes are searched for faults only if the client knows of one.
const SEARCHED: usize = 256 << 10;

/// The possible repairs of the faults at a range.
pub(crate) fn quick_fixes(view: &View<'_>, range: Range, has_faults: bool) -> QuickFixes {
    let document = view.document();
    let bytes = view.bytes(range);
    let is_searched = has_faults || document.text().len() <= SEARCHED;
    let found = if is_searched { ide::quick_fixes(document, &bytes) } else { Vec::new() };
    let extract = found.first().and_then(|fix| ide::extract(document, fix.fault.start));
    let action = |fix: &ide::Fix| CodeAction {
        title: fix.title.clone(),
        kind: Some(CodeActionKind::QUICKFIX),
        edit: Some(changes(view, text_edits(view, &fix.edits))),
        ..CodeAction::default()
    };
    let fixes = found.into_iter().map(|fix| (fix.clone(), action(&fix))).collect();
    QuickFixes { fixes, extract }
}

/// The action that has iree-opt rewrite a function, when it is taken.
fn rewrite_command(
    view: &View<'_>,
    position: Position,
    rewriting: ide::Rewriting,
) -> CodeActionOrCommand {
    let wanted = json!({
        "uri": view.uri,
        "position": position,
        "function": rewriting.function,
        "toGeneric": rewriting.to_generic,
    });
    let command = Command::new("Rewrite".into(), REWRITE_FORM.into(), Some(vec![wanted]));
    CodeActionOrCommand::CodeAction(CodeAction {
        title: rewriting.title,
        kind: Some(CodeActionKind::REFACTOR_REWRITE),
        command: Some(command),
        ..CodeAction::default()
    })
}

/// The edits that format a range, or the whole document.
pub(crate) fn format(view: &View<'_>, range: Option<Range>) -> Vec<TextEdit> {
    let bytes = range.map_or(0..view.open.rope.len_bytes(), |range| view.bytes(range));
    text_edits(view, &ide::format(view.document(), &bytes))
}

/// The edit that indents the line in which something was just typed.
pub(crate) fn format_on_type(view: &View<'_>, position: Position) -> Vec<TextEdit> {
    let found = ide::format_on_type(view.document(), view.offset(position));
    text_edits(view, found.as_slice())
}

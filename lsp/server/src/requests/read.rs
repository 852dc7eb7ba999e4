//! Hover, outline, diagnostics, signature help.

use ide::Severity;
use tower_lsp::lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DocumentSymbolResponse, Hover,
    NumberOrString, ParameterInformation, ParameterLabel, Position, SignatureHelp,
    SignatureInformation,
};

use super::View;
use crate::to_proto;

/// More symbols than this make editors slow and help nobody.
const SYMBOLS: usize = 20_000;

pub(crate) fn hover(view: &View<'_>, position: Position) -> Option<Hover> {
    let found = ide::hover(view.document(), &view.session.modules(), view.offset(position))?;
    Some(to_proto::hover(&view.open.rope, found, view.encoding()))
}

pub(crate) fn document_symbol(view: &View<'_>) -> DocumentSymbolResponse {
    let outline = ide::outline(view.document(), SYMBOLS);
    let symbols = to_proto::document_symbols(&view.open.rope, &outline, view.encoding());
    if view.session.abilities.trees {
        DocumentSymbolResponse::Nested(symbols)
    } else {
        DocumentSymbolResponse::Flat(to_proto::symbol_informations(view.uri, &symbols, None))
    }
}

/// What is wrong, the compiler's word included; nothing once it is cancelled.
pub(crate) fn diagnostics(view: &View<'_>) -> Option<Vec<Diagnostic>> {
    let mut found = ide::diagnostics_unless(view.document(), &|| view.cancelled.is_set())?;
    let compiler = view.session.compiler.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    found.extend(compiler.get(view.uri).into_iter().flatten().cloned());
    drop(compiler);
    Some(found.into_iter().map(|found| diagnostic(view, found)).collect())
}

fn diagnostic(view: &View<'_>, found: ide::Diagnostic) -> Diagnostic {
    let related: Vec<_> = found
        .related
        .iter()
        .map(|(range, message)| DiagnosticRelatedInformation {
            location: view.location(range),
            message: message.clone(),
        })
        .collect();
    let severity = match found.severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
    };
    let source = if found.code == "compiler" { "iree" } else { "iree-dbg" };
    Diagnostic {
        range: view.range(&found.range),
        severity: Some(severity),
        code: Some(NumberOrString::String(found.code.to_owned())),
        source: Some(source.into()),
        message: found.message,
        related_information: (!related.is_empty()).then_some(related),
        ..Diagnostic::default()
    }
}

pub(crate) fn signature_help(view: &View<'_>, position: Position) -> Option<SignatureHelp> {
    let found = ide::signature_help(view.document(), view.offset(position))?;
    let parameters = found
        .parameters
        .iter()
        .map(|range| {
            // The protocol counts UTF-16 here whatever was agreed on for texts.
            let unit = |byte: usize| found.label[..byte].encode_utf16().count() as u32;
            let label = ParameterLabel::LabelOffsets([unit(range.start), unit(range.end)]);
            ParameterInformation { label, documentation: None }
        })
        .collect();
    let information = SignatureInformation {
        label: found.label.clone(),
        documentation: None,
        parameters: Some(parameters),
        active_parameter: None,
    };
    Some(SignatureHelp {
        signatures: vec![information],
        active_signature: Some(0),
        active_parameter: Some(found.active as u32),
    })
}

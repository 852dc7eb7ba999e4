//! Diagnostics, from [`ide`] and from the compiler's last check.

use std::hash::Hasher;
use std::sync::atomic::{AtomicUsize, Ordering};

use ide::Severity;
use tower_lsp::lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DocumentDiagnosticReport,
    FullDocumentDiagnosticReport, NumberOrString, RelatedFullDocumentDiagnosticReport,
    RelatedUnchangedDocumentDiagnosticReport, UnchangedDocumentDiagnosticReport,
};

use super::View;

/// The diagnostics of a document, including the compiler's. `None` after a cancellation. `done` is
/// the number of bytes that are checked.
pub(crate) fn diagnostics(view: &View<'_>, done: &AtomicUsize) -> Option<Vec<Diagnostic>> {
    let found = ide::diagnostics_while(view.document(), &|bytes| {
        done.store(bytes, Ordering::Relaxed);
        !view.cancelled.is_set()
    })?;
    let compiler = view.session.compiler.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let said = compiler.get(view.uri).cloned().unwrap_or_default();
    drop(compiler);
    let found: Vec<_> = found.into_iter().map(|found| diagnostic(view, found)).collect();
    let tests = view.session.tests.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let test = tests.get(view.uri).filter(|test| test.version == view.open.version);
    let tested = test.map(|test| test.faults.clone()).unwrap_or_default();
    drop(tests);
    let said = said.into_iter().map(|said| diagnostic(view, said));
    // One fault, one message: ours says how to mend it.
    let is_new = |said: &Diagnostic| {
        !found.iter().any(|found| {
            found.range.start.line == said.range.start.line
                && found.severity == Some(DiagnosticSeverity::ERROR)
        })
    };
    let new: Vec<_> = said.filter(is_new).collect();
    let tested = tested.into_iter().map(|fault| diagnostic(view, fault));
    Some(found.into_iter().chain(new).chain(tested).collect())
}

/// The diagnostics of a document for a client that has those under `previous`, if it still does:
/// equal ones have the same name and are not sent again.
pub(crate) fn report(
    view: &View<'_>,
    previous: Option<&str>,
    done: &AtomicUsize,
) -> DocumentDiagnosticReport {
    let items = diagnostics(view, done).unwrap_or_default();
    let text = serde_json::to_vec(&items).unwrap_or_default();
    let result_id = format!("{:016x}", hash(&text));
    if previous == Some(&result_id) {
        return DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport { result_id },
        });
    }
    DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
        related_documents: None,
        full_document_diagnostic_report: FullDocumentDiagnosticReport {
            result_id: Some(result_id),
            items,
        },
    })
}

fn hash(text: &[u8]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(text);
    hasher.finish()
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
        Severity::Information => DiagnosticSeverity::INFORMATION,
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

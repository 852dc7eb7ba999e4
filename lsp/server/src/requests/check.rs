//! Diagnostics, from [`ide`] and from the compiler's last check.

use std::collections::HashMap;
use std::hash::Hasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};

use ide::Severity;
use tower_lsp::lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DocumentDiagnosticReport,
    FullDocumentDiagnosticReport, NumberOrString, PreviousResultId,
    RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport,
    TextDocumentItem, UnchangedDocumentDiagnosticReport, Url, WorkspaceDocumentDiagnosticReport,
    WorkspaceFullDocumentDiagnosticReport, WorkspaceUnchangedDocumentDiagnosticReport,
};

use super::{Cancelled, View};
use crate::documents::Documents;
use crate::session::Session;

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

/// The diagnostics of the workspace's files, and of open documents. Files that a client knows, and
/// that have not changed, are not read. What tests expect to be wrong is left out.
pub(crate) fn workspace_report(
    documents: &Documents,
    session: &Arc<Session>,
    previous: Vec<PreviousResultId>,
    cancelled: &Cancelled,
) -> Vec<WorkspaceDocumentDiagnosticReport> {
    let previous: HashMap<Url, String> =
        previous.into_iter().map(|known| (known.uri, known.value)).collect();
    let mut found = Vec::new();
    for (uri, open) in documents.iter() {
        let view = View { uri, open, documents, session, cancelled };
        if !cancelled.is_set() && open.rope.len_bytes() as u64 <= LONGEST_FILE {
            let known = previous.get(uri).map(String::as_str);
            let made = report(&view, known, &AtomicUsize::new(0));
            found.push(of_workspace(uri, Some(i64::from(open.version)), made));
        }
    }
    let mut left = MOST_BYTES;
    for path in session.workspace.sources() {
        let Ok(uri) = Url::from_file_path(&path) else { continue };
        if documents.get(&uri).is_some() || cancelled.is_set() {
            continue;
        }
        let Ok(metadata) = path.metadata() else { continue };
        let Ok(modified) = metadata.modified() else { continue };
        let stamp = (modified, metadata.len());
        let known = previous.get(&uri);
        let reports = || session.reports.lock().unwrap_or_else(PoisonError::into_inner);
        let last = reports().get(&path).filter(|last| last.0 == stamp).map(|last| last.1.clone());
        if let (Some(known), Some(last)) = (known, &last)
            && known == last
        {
            found.push(unchanged(&uri, None, last.clone()));
            continue;
        }
        if metadata.len() > LONGEST_FILE || metadata.len() > left {
            continue;
        }
        left -= metadata.len();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let text = if text.contains("expected-error") { String::new() } else { text };
        let mut alone = Documents::default().with_encoding(documents.encoding());
        let language = if uri.path().ends_with(".vmasm") { "vmasm" } else { "mlir" };
        let item = TextDocumentItem::new(uri.clone(), language.into(), 0, String::new());
        alone.did_open(&item, text.into());
        let Some(open) = alone.get(&uri).cloned() else { continue };
        let view = View { uri: &uri, open: &open, documents: &alone, session, cancelled };
        let made = report(&view, known.map(String::as_str), &AtomicUsize::new(0));
        if cancelled.is_set() {
            break;
        }
        if let DocumentDiagnosticReport::Full(full) = &made
            && let Some(id) = &full.full_document_diagnostic_report.result_id
        {
            reports().insert(path, (stamp, id.clone()));
        } else if let Some(known) = known {
            reports().insert(path, (stamp, known.clone()));
        }
        found.push(of_workspace(&uri, None, made));
    }
    found
}

/// Longer files, in bytes, are checked when they are open.
const LONGEST_FILE: u64 = 4 << 20;
/// The most bytes that one request reads. A client asks again, and what it knows is not read.
const MOST_BYTES: u64 = 64 << 20;

fn unchanged(
    uri: &Url,
    version: Option<i64>,
    result_id: String,
) -> WorkspaceDocumentDiagnosticReport {
    WorkspaceUnchangedDocumentDiagnosticReport {
        uri: uri.clone(),
        version,
        unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport { result_id },
    }
    .into()
}

fn of_workspace(
    uri: &Url,
    version: Option<i64>,
    report: DocumentDiagnosticReport,
) -> WorkspaceDocumentDiagnosticReport {
    match report {
        DocumentDiagnosticReport::Full(full) => WorkspaceFullDocumentDiagnosticReport {
            uri: uri.clone(),
            version,
            full_document_diagnostic_report: full.full_document_diagnostic_report,
        }
        .into(),
        DocumentDiagnosticReport::Unchanged(same) => {
            unchanged(uri, version, same.unchanged_document_diagnostic_report.result_id)
        }
    }
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
    let source = if found.code == "compiler" { "iree-compile" } else { "iree-dbg" };
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

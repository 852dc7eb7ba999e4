//! The faults of a document, cheapest checks first: braces and quotes, from the chunk table; then
//! each chunk's tree and names (`chunk`); for `.vmasm`, the assembler's messages.
//!
//! One fault should give one message, so a chunk with a broken bracket is not searched for
//! undefined names. Only text that no dialect accepts is an error: nothing that iree-opt accepts
//! may be one.

use syntax::{ChunkKind, Language, Lexer, TextRange, TokenKind};

use super::chunk;
use super::diagnostic::Diagnostic;
use super::file_names::FileNames;
use crate::Document;

/// The most diagnostics of a document. Beyond that, a file has one fault many times.
const LIMIT: usize = 100;
/// The largest text, in bytes, whose chunks are all read. A longer one gets the checks of brackets
/// and quotes only.
const DEEP: usize = 24 << 20;
/// The largest `.vmasm`, in bytes, that is given to the assembler.
const ASSEMBLED: usize = 8 << 20;

/// The faults of a document that its text shows.
pub fn diagnostics(document: &Document) -> Vec<Diagnostic> {
    diagnostics_unless(document, &|| false).unwrap_or_default()
}

/// The faults of a document, or nothing if `cancelled`, which is asked between chunks, says so.
pub fn diagnostics_unless(
    document: &Document,
    cancelled: &dyn Fn() -> bool,
) -> Option<Vec<Diagnostic>> {
    let mut found = broken(document);
    match document.language() {
        Language::Vmasm if document.text().len() <= ASSEMBLED => found.extend(assembled(document)),
        Language::Mlir if document.text().len() <= DEEP => {
            let files = FileNames::of(document);
            for placed in document.chunks().iter() {
                if cancelled() {
                    return None;
                }
                if found.len() >= LIMIT {
                    break;
                }
                let damage = placed.chunk.damage;
                let damaged = damage.unclosed || damage.open_string || damage.stray_close;
                if !damaged && placed.chunk.kind != ChunkKind::Trivia {
                    found.extend(chunk::faults(document, &files, &placed));
                }
            }
        }
        Language::Mlir | Language::Vmasm => {}
    }
    found.sort_by_key(|diagnostic| diagnostic.range.start);
    found.truncate(LIMIT);
    Some(found)
}

/// The assembler's messages. It needs the text in one piece.
fn assembled(document: &Document) -> Vec<Diagnostic> {
    let text = document.text().slice(0..document.text().len());
    let said = match vmfb::assemble::assemble(text.as_bytes()) {
        Ok(assembly) => assembly.warnings,
        Err(said) => said,
    };
    said.into_iter()
        .map(|said| match said.severity {
            vmfb::assemble::Severity::Error => {
                Diagnostic::error(said.span, "assembler", said.message)
            }
            vmfb::assemble::Severity::Warning => {
                Diagnostic::warning(said.span, "assembler", said.message)
            }
        })
        .collect()
}

/// The faults of braces and quotes, in any language and at any size.
fn broken(document: &Document) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut open = Vec::new();
    for placed in document.chunks().iter() {
        if found.len() >= LIMIT {
            break;
        }
        let damage = placed.chunk.damage;
        let first = || first_token(document, placed.op_start());
        match placed.chunk.kind {
            ChunkKind::Open => open.push(placed),
            ChunkKind::Close => {
                open.pop();
            }
            ChunkKind::Separator => report_open(document, &mut open, &mut found),
            ChunkKind::Item | ChunkKind::Part | ChunkKind::Trivia => {}
        }
        if damage.stray_close {
            found.push(Diagnostic::error(
                first(),
                "stray-bracket",
                "this `}` closes nothing: remove it, or add the `{` that it belongs to",
            ));
        }
        if damage.unclosed {
            found.push(Diagnostic::error(
                first(),
                "unclosed-bracket",
                "a bracket of this operation is not closed before the next one begins",
            ));
        }
        if damage.open_string {
            found.extend(open_strings(document, placed.op_start(), placed.range().end));
        }
    }
    report_open(document, &mut open, &mut found);
    found
}

fn first_token(document: &Document, start: usize) -> TextRange {
    Lexer::new(document.text(), start).next().map_or(start..start, |token| token.range)
}

fn report_open(document: &Document, open: &mut Vec<syntax::Placed>, found: &mut Vec<Diagnostic>) {
    found.extend(open.drain(..).map(|placed| {
        Diagnostic::error(
            first_token(document, placed.op_start()),
            "unclosed-bracket",
            "the region of this operation is not closed: a `}` is missing",
        )
    }));
}

fn open_strings(document: &Document, start: usize, end: usize) -> Option<Diagnostic> {
    let token = Lexer::new(document.text(), start)
        .take_while(|token| token.range.start < end)
        .find(|token| token.kind == TokenKind::UnterminatedString)?;
    // A token may be a constant of megabytes; underlining its first 80 bytes is enough.
    let end = token.range.end.min(token.range.start + 80);
    Some(Diagnostic::error(
        token.range.start..end,
        "open-string",
        "this string is not closed on its line: a `\"` is missing",
    ))
}

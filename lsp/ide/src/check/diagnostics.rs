//! The faults of a document, cheapest checks first: braces and quotes, from the chunk table; then
//! each chunk's tree and names (`chunk`); for `.vmasm`, the assembler's messages.
//!
//! One fault should give one message, so a chunk with a broken bracket is not searched for
//! undefined names. Only text that no dialect accepts is an error: nothing that iree-opt accepts
//! may be one.

use syntax::{ChunkKind, Language, Lexer, TextRange, TokenKind};

use super::diagnostic::{Diagnostic, Severity};
use super::file_names::FileNames;
use super::undefined::Questions;
use super::{chunk, undefined};
use crate::Document;
use crate::text::Collector;

/// The most diagnostics of a document. Beyond that, a file has one fault many times.
const LIMIT: usize = 100;
/// The largest `.vmasm`, in bytes, that is given to the assembler.
const ASSEMBLED: usize = 8 << 20;

/// The faults of a document that its text shows.
pub fn diagnostics(document: &Document) -> Vec<Diagnostic> {
    diagnostics_while(document, &|_| true).unwrap_or_default()
}

/// The faults of a document. `go_on` is asked between chunks, with the number of bytes that were
/// read so far; if it says no, there is no answer.
pub fn diagnostics_while(
    document: &Document,
    go_on: &dyn Fn(usize) -> bool,
) -> Option<Vec<Diagnostic>> {
    let mut found = broken(document);
    match document.language() {
        Language::Mlir => each_chunk(document, go_on, &mut found)?,
        // Assembling would only find the parts that were left out.
        Language::Vmasm if document.is_excerpt() => {}
        Language::Vmasm if document.text().len() <= ASSEMBLED => found.extend(assembled(document)),
        Language::Vmasm => found.push(Diagnostic {
            severity: Severity::Information,
            ..Diagnostic::error(
                first_token(document, 0),
                "long-text",
                format!(
                    "of a .vmasm file of more than {} MB, only brackets and quotes are checked",
                    ASSEMBLED >> 20
                ),
            )
        }),
    }
    found.sort_by_key(|diagnostic| diagnostic.range.start);
    found.truncate(LIMIT);
    Some(found)
}

/// Adds the faults of each chunk, and of names that chunks share.
fn each_chunk(
    document: &Document,
    go_on: &dyn Fn(usize) -> bool,
    found: &mut Vec<Diagnostic>,
) -> Option<()> {
    let files = FileNames::of(document);
    let mut collector = Collector::new();
    let mut questions = Questions::default();
    for placed in document.chunks().iter() {
        if !go_on(placed.start) {
            return None;
        }
        if found.len() >= LIMIT {
            return Some(());
        }
        if placed.chunk.kind == ChunkKind::Trivia {
            continue;
        }
        let analysed = document.analysis_in_passing(&placed);
        let damage = placed.chunk.damage;
        if !(damage.unclosed || damage.open_string || damage.stray_close) {
            found.extend(chunk::faults(document, &files, &analysed, &collector, &mut questions));
        }
        collector.add(&analysed);
    }
    let shared = collector.finish();
    found.extend(undefined::repeated(document, &shared, LIMIT));
    found.extend(questions.answer(document, &shared, LIMIT));
    document.keep_shared_names(shared);
    Some(())
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
            let message = "this `}` closes nothing: remove it, or add the `{` that it belongs to";
            found.push(Diagnostic::error(first(), "stray-bracket", message).mended(first(), ""));
        }
        // A string that is not closed swallows what would close brackets.
        if damage.unclosed && !damage.open_string {
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

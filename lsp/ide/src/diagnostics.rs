//! What is visibly broken: braces and quotes. Cheap enough for every keystroke, since the chunk table already knows.

use syntax::{ChunkKind, Lexer, TextRange, TokenKind};

use crate::Document;
use crate::calling::{NoConvention, convention};

/// Something wrong and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What to underline.
    pub range: TextRange,
    /// What is wrong and what to do.
    pub message: String,
}

/// At most this many: after that a file is broken in one way, many times.
const LIMIT: usize = 100;

/// The visible faults of a document.
pub fn diagnostics(document: &Document) -> Vec<Diagnostic> {
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
            ChunkKind::Item | ChunkKind::Trivia => {}
        }
        if damage.stray_close {
            found.push(Diagnostic {
                range: first(),
                message: "this `}` closes nothing: remove it, or add the `{` that it belongs to"
                    .into(),
            });
        }
        if damage.unclosed {
            found.push(Diagnostic {
                range: first(),
                message: "a bracket of this operation is not closed before the next one begins"
                    .into(),
            });
        }
        if damage.open_string {
            found.extend(open_strings(document, placed.op_start(), placed.range().end));
        }
        if placed.chunk.class == syntax::OpClass::Import {
            found.extend(malformed_convention(document, &placed));
        }
    }
    report_open(document, &mut open, &mut found);
    found.sort_by_key(|diagnostic| diagnostic.range.start);
    found.truncate(LIMIT);
    found
}

fn first_token(document: &Document, start: usize) -> TextRange {
    Lexer::new(document.text(), start).next().map_or(start..start, |token| token.range)
}

fn report_open(
    document: &Document,
    open: &mut Vec<syntax::chunks::Placed>,
    found: &mut Vec<Diagnostic>,
) {
    found.extend(open.drain(..).map(|placed| Diagnostic {
        range: first_token(document, placed.op_start()),
        message: "the region of this operation is not closed: a `}` is missing".into(),
    }));
}

fn open_strings(document: &Document, start: usize, end: usize) -> Option<Diagnostic> {
    let token = Lexer::new(document.text(), start)
        .take_while(|token| token.range.start < end)
        .find(|token| token.kind == TokenKind::UnterminatedString)?;
    // A line may be a constant of megabytes; its first characters are enough to underline.
    let end = token.range.end.min(token.range.start + 80);
    Some(Diagnostic {
        range: token.range.start..end,
        message: "this string is not closed on its line: a `\"` is missing".into(),
    })
}

/// `vm.import @m.f cconv "0x"`.
fn malformed_convention(
    document: &Document,
    placed: &syntax::chunks::Placed,
) -> Option<Diagnostic> {
    let symbol = syntax::Symbol::read(document.text(), placed)?;
    let (_, range) = symbol.calling_convention.clone()?;
    match convention(&symbol, "") {
        Err(NoConvention::Malformed(error)) => {
            let start = (range.start + error.position).min(range.end);
            Some(Diagnostic { range: start..range.end.max(start), message: error.to_string() })
        }
        _ => None,
    }
}
